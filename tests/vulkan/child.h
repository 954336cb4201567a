// A test that goes on in a child: this program started again with that test alone, which finds
// shared memory at the other end of a socket.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <sstream>
#include <string>
#include <vector>

#include "harness/measure/process/child_process.h"
#include "harness/measure/vulkan/buffer.h"

namespace kbench::vulkan {

constexpr int kChildPassed = 42;  // told apart from a child that ran no test at all
constexpr int kChildSocket = 3;

inline bool in_child() { return std::getenv("KBENCH_TEST_CHILD") != nullptr; }
/// By _Exit(): a driver's exit handlers may wait for work in flight.
[[noreturn]] inline void end_child() {
  std::_Exit(::testing::Test::HasFailure() ? 1 : kChildPassed);
}

inline std::vector<std::string> own_environment() {
  std::vector<std::string> variables;
  for (char** each = environ; *each != nullptr; ++each) variables.emplace_back(*each);
  return variables;
}

/// Runs the current test in a child of these variables and returns how that ended.
inline process::Exit run_child(std::vector<std::string> variables,
                               const std::vector<SharedMemory>& memories = {}) {
  const ::testing::TestInfo* test = ::testing::UnitTest::GetInstance()->current_test_info();
  auto [here, there] = process::make_socket_pair();
  variables.emplace_back("KBENCH_TEST_CHILD=1");
  process::Spawn spawn;
  spawn.program = "/proc/self/exe";
  spawn.arguments = {"--gtest_filter=" + std::string(test->test_suite_name()) + "." + test->name()};
  spawn.descriptors = {{there.get(), kChildSocket}};
  spawn.environment = std::move(variables);
  process::ChildProcess child(spawn);
  there.reset();
  std::string sizes;
  std::vector<int> descriptors;
  for (const SharedMemory& each : memories) {
    sizes += std::to_string(each.bytes) + " " + std::to_string(each.memory_type) + " ";
    descriptors.push_back(each.descriptor.get());
  }
  process::Channel(std::move(here)).send(0, sizes, descriptors);
  const process::Exit end = child.finish(std::chrono::minutes(10));
  if (end.status != kChildPassed && end.signal == 0) ADD_FAILURE() << child.output();
  return end;
}

/// In the child: the memories that it was given.
inline std::vector<SharedMemory> take_over() {
  auto frame =
      process::Channel(UniqueFd(dup(kChildSocket))).receive(std::chrono::minutes(1), 1 << 10);
  std::vector<SharedMemory> memories;
  std::istringstream sizes(frame.value().payload);
  for (UniqueFd& descriptor : frame->descriptors) {
    SharedMemory& memory = memories.emplace_back();
    sizes >> memory.bytes >> memory.memory_type;
    memory.descriptor = std::move(descriptor);
  }
  return memories;
}

}  // namespace kbench::vulkan
