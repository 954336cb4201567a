// What is made of a ModelNew's process's answers: whose fault it is that something failed.
#include "harness/measure/runner/torch/torch_host.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "harness/measure/runner/protocol.h"
#include "harness/measure/runner/python_helper.h"
#include "harness/measure/runner/torch/torch_process.h"
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

TEST(TorchAnswers, AnEndedProcessSaysInWhichPhase) {
  const auto said = [](const std::string& words) -> std::string {
    try {
      read_answer({.last_words = words}, " while ModelNew was made");
    } catch (const Refused& refused) {
      return refused.message;
    }
    return "";
  };
  EXPECT_EQ(said("signal 11"), "its Python process ended while ModelNew was made: signal 11");
  EXPECT_EQ(said(""), "its Python process ended while ModelNew was made");
}

TEST(LastWords, OfAProcessThatDiesHaveFunctionAndLine) {
  EXPECT_EQ(
      last_words_in("/s/model_new.py:3: UserWarning: old\n  old()\n"
                    "Fatal Python error: Segmentation fault\n\n"
                    "Stack (most recent call first):\n"
                    "  File \"/usr/lib/python3.11/ctypes/__init__.py\", line 519 in string_at\n"
                    "  File \"/tmp/s/model_new.py\", line 12 in forward\n"
                    "  File \"/tmp/s/model_new.py\", line 40 in outer\n\n"
                    "Extension modules: numpy.core (total: 1)\n"),
      "Segmentation fault in forward (line 12)");
  EXPECT_EQ(last_words_in("Fatal Python error: Bus error\n"), "Bus error");
  EXPECT_EQ(last_words_in("Fatal Python error: a\x1b\n/model_new.py\", line x in forward\n"),
            "a\\x1b");
}

TEST(LastWords, AreNoWarning) {
  EXPECT_EQ(last_words_in("terminate called after an instance\n"
                          "/s/model_new.py:3: UserWarning: old\n  return old()\n"
                          "[W context.cpp:70] Warning: deterministic (function operator())\n \n"),
            "terminate called after an instance");
  EXPECT_EQ(last_words_in("UserWarning: old\n"), "");
  EXPECT_EQ(last_words_in("one\n  two\n"), "  two");
  EXPECT_EQ(last_words_in(""), "");
}

}  // namespace
}  // namespace kbench::runner
