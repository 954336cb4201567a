// The task of a manifest that is not parsed.
#include "harness/evaluate/client/named_task.h"

#include <gtest/gtest.h>

#include <map>
#include <string>

namespace kbench::client {
namespace {

const Task* task_of(const std::string& manifest) {
  return named_task(std::map<std::string, std::string>{{"candidate.yaml", manifest}});
}

TEST(NamedTask, IsTheOneThatTheManifestNames) {
  for (const char* text : {"kbench: 1\ntask: level1/19\n", "task: \"1/19\"  # ReLU\n",
                           "{\"kbench\": 1, \"task\": \"level1/19\"}"}) {
    ASSERT_NE(task_of(text), nullptr) << text;
    EXPECT_EQ(to_string(task_of(text)->id), "level1/19");
  }
}

TEST(NamedTask, IsNullWhereTheManifestNamesNone) {
  for (const char* text : {"", "kbench: 1\n", "task: level9/1\n", "task: 7\n",
                           "kernels:\n  a:\n    source: |\n      task: level1/19\n"}) {
    EXPECT_EQ(task_of(text), nullptr) << text;
  }
  EXPECT_EQ(named_task(std::map<std::string, std::string>{{"other.yaml", "task: level1/19"}}),
            nullptr);
  EXPECT_EQ(named_task("no/such/file.yaml"), nullptr);
}

}  // namespace
}  // namespace kbench::client
