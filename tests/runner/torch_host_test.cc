// What is made of a ModelNew's process's answers: whose fault it is that something failed.
#include "harness/measure/runner/torch/torch_host.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "harness/measure/runner/protocol.h"
#include "harness/measure/runner/python_helper.h"
#include "kbench/error.h"
#include "tests/error_of.h"

namespace kbench::runner {
namespace {

using ::testing::HasSubstr;
using Json = nlohmann::json;

Refused refused_by(const Json& answer) {
  try {
    read_answer({.text = answer.dump()});
  } catch (const Refused& refused) {
    return refused;
  }
  ADD_FAILURE() << answer << " is no refusal";
  return {};
}

Verdict verdict_of(const char* kind, const char* message) {
  return refused_by({{"refused", kind}, {"message", message}}).verdict;
}

constexpr const char* kNone = "OutOfMemoryError: CUDA out of memory. Tried to allocate 8.00 GiB";

TEST(TorchAnswers, MemoryThatKbenchLacksThereIsNotTheCandidatesFault) {
  const Error error = error_of([] { read_answer({.text = Json({{"failed", kNone}}).dump()}); });
  EXPECT_EQ(error.code(), ErrorCode::kOutOfMemory);
  EXPECT_THAT(error.message(), HasSubstr("Tried to allocate 8.00 GiB"));
  EXPECT_EQ(refused_by({{"failed", "KeyError: 'do'"}}).verdict, Verdict::crashed);
}

TEST(TorchAnswers, MemoryThatItsCodeLacksIsNamedSo) {
  EXPECT_EQ(verdict_of("init", kNone), Verdict::out_of_memory);
  EXPECT_EQ(verdict_of("forward", kNone), Verdict::out_of_memory);
  EXPECT_EQ(verdict_of("init", "ValueError: no"), Verdict::invalid_candidate);
}

TEST(TorchAnswers, ARefusedLaunchIsNamed) {
  const Refused refused = refused_by(
      {{"refused", "launch"}, {"message", "CUDA says invalid argument, and it does not look"}});
  EXPECT_EQ(refused.verdict, Verdict::crashed);
  EXPECT_EQ(refused.message, "its forward fails: CUDA says invalid argument, and it does not look");
}

}  // namespace
}  // namespace kbench::runner
