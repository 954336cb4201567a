// Sixteen ways to be wrong, and the verdict of each. Runs on the device that KBENCH_TEST_DEVICE
// names, else on the one that "auto" chooses.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <set>
#include <string>

#include "kbench/evaluate.h"
#include "tests/candidate/format_doc.h"
#include "tests/candidate/support.h"
#include "tests/support/devices.h"

namespace kbench {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

struct Bad {
  const char* file;
  Verdict verdict;
  const char* message;
};

const Bad kBad[] = {
    {"broken_yaml", Verdict::invalid_candidate, "broken_yaml.yaml:5:35: not valid YAML"},
    {"unknown_key", Verdict::invalid_candidate,
     "unknown_key.yaml:4:1: unknown key 'dispach' in the candidate; did you mean 'dispatch'?"},
    {"does_not_compile", Verdict::compile_error, "does_not_compile.yaml:14:"},
    {"wrong_binding", Verdict::invalid_candidate, "kernel relu declares binding 2"},
    {"unbound_output", Verdict::invalid_candidate, "no step of dispatch binds the output 'output'"},
    {"never_written", Verdict::not_written, "400 of 400 elements wrong, 400 of them never written"},
    {"half_written", Verdict::partly_written, "never written"},
    {"inputs_overwritten", Verdict::input_modified, "input x was written to"},
    {"past_the_end", Verdict::out_of_bounds, "wrote 1 words outside output"},
    {"nan", Verdict::not_finite, "4 not finite"},
    {"off_by_one", Verdict::wrong_values, "of 400 elements wrong, the first at ["},
    {"float16", Verdict::low_precision, "kernel matmul computes in float16"},
    {"gelu_by_tanh", Verdict::low_precision,
     "the task's gelu is x * (1 + erf(x / sqrt(2))) / 2, the exact form"},
    {"zeros", Verdict::all_zero, "400 of 400 elements wrong, the first at [0, 0]: got 0, expected"},
    {"endless", Verdict::timeout, "took longer than 1 s"},
    {"glutton", Verdict::out_of_memory, "its temporaries need 4.4e+03 GB"},
    {"outside_file", Verdict::invalid_candidate,
     "outside_file.yaml:5:16: path '../relu.comp' leaves the folder by '..'"},
};

class BadCandidates : public ::testing::Test {
 protected:
  void SetUp() override { KBENCH_NEED_DEVICE(); }

  /// `endless`: has a short limit, which others would exceed on a busy machine.
  static Question about(const std::string& candidate, bool endless = false) {
    Question question{.candidate = candidate, .preset = "smoke"};
    question.plan.max_seconds = 0.1;
    if (endless) question.limits.device_seconds = 1;
    return question;
  }

  static void expect_refused(const Bad& bad, const Result& result) {
    SCOPED_TRACE(bad.file);
    EXPECT_EQ(result.verdict, bad.verdict) << name_of(result.verdict);
    EXPECT_FALSE(result.correct());
    EXPECT_TRUE(is_candidates_fault(result.verdict));
    EXPECT_FALSE(result.message.empty());
    EXPECT_THAT(result.message, HasSubstr(bad.message));
    EXPECT_EQ(result.message.find('\n'), std::string::npos) << result.message;
    RecordProperty(bad.file, result.message);
  }
};

/// The control: the judge that has just refused the others passes a right candidate.
TEST_F(BadCandidates, HaveTheirVerdictsAndTheDocumentedOnePasses) {
  const char* device = std::getenv("KBENCH_TEST_DEVICE");
  JudgeProcess judge({.device = device ? device : "auto", .program = KBENCH_PROGRAM});
  for (const Bad& bad : kBad) {
    const std::string file = std::string(KBENCH_BAD_CANDIDATES "/") + bad.file + ".yaml";
    const bool endless = bad.verdict == Verdict::timeout;
    expect_refused(bad, judge.evaluate(about(file, endless)));
  }
  testing_support::ScratchFolder folder;
  for (const auto& [name, text] : testing_support::documented_files(KBENCH_FORMAT_DOC)) {
    folder.write(name, text);
  }
  const Result result = judge.evaluate(about(folder.path("candidate.yaml")));
  EXPECT_EQ(result.verdict, Verdict::passed) << name_of(result.verdict) << ": " << result.message;
  EXPECT_GT(result.samples, 0);
}

TEST(BadCandidateFiles, AreAllListed) {
  std::set<std::string> listed, present;
  for (const Bad& bad : kBad) listed.insert(bad.file);
  for (const auto& entry : fs::directory_iterator(KBENCH_BAD_CANDIDATES)) {
    present.insert(entry.path().stem().string());
  }
  EXPECT_EQ(listed, present);
  EXPECT_EQ(listed.size(), 17u);
}

}  // namespace
}  // namespace kbench
