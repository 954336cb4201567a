// The hints for mistakes that authors make, of candidates that are run and of recorded messages.
#include "tests/diagnose/mistakes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <memory>
#include <sstream>

#include "harness/evaluate/diagnose/investigate.h"
#include "kbench/candidate.h"
#include "tests/candidate/support.h"
#include "tests/support/devices.h"
#include "tests/support/needs_torch.h"

namespace kbench {
namespace {

using ::testing::HasSubstr;
using testing::Mistake;
using ::testing::Not;

/// The hints of a feedback, which stand at its end.
std::string hints_in(const std::string& text) {
  const size_t begin = text.find("What was found points to this:\n");
  return begin == std::string::npos ? "" : text.substr(begin);
}

Result recorded_result(const Mistake& mistake) {
  Result result;
  result.task = {1, 19};
  result.preset = "smoke";
  result.variables = build_graph(find_task(result.task), Preset::smoke)->variables();
  result.verdict = mistake.verdict;
  result.message = mistake.recorded->message;
  if (mistake.recorded->error.empty()) return result;
  const size_t at = mistake.candidate.find(mistake.recorded->error_at);
  EXPECT_NE(at, std::string::npos) << "the line is in the candidate";
  const auto line = std::count(mistake.candidate.begin(),
                               mistake.candidate.begin() + static_cast<std::ptrdiff_t>(at), '\n');
  result.diagnostics.push_back({.severity = "error",
                                .file = "candidate.yaml",
                                .line = static_cast<int>(line) + 1,
                                .message = mistake.recorded->error});
  return result;
}

class Mistakes : public ::testing::Test {
 protected:
  /// Runs the candidates that are modules, or those of steps: without PyTorch there are no modules.
  void expect_hints(bool modules) {
    client::JudgeClient judge(KBENCH_PROGRAM, "cpu", false);
    for (const Mistake& mistake : testing::mistakes()) {
      if (mistake.recorded || mistake.is_module() != modules) continue;
      SCOPED_TRACE(mistake.name);
      const std::string name = modules ? "model_new.py" : "candidate.yaml";
      folder_.write(name, mistake.candidate);
      diagnose::InvestigateOptions options;
      options.question.candidate = folder_.path(name);
      options.question.preset = "smoke";
      options.question.plan.max_seconds = 0.02;
      options.question.plan.min_samples = 4;
      options.question.rule.other_sizes = OtherSizes::none;
      options.size_tries = 0;
      options.seed = 12345;
      const Result result = judge.run({.question = options.question, .more = true});
      // Which of the verdicts about values it is depends on what stood in memory.
      if (!is_about_values(result.verdict) || !is_about_values(mistake.verdict)) {
        EXPECT_EQ(name_of(result.verdict), name_of(mistake.verdict)) << result.message;
      }
      expect_hint(mistake, result, diagnose::investigate(judge, result, options),
                  load_candidate(folder_.path(name)));
    }
  }
  static void expect_hint(const Mistake& mistake, const Result& result, const Evidence& evidence,
                          const Candidate& candidate) {
    const std::string text = feedback(result, &candidate, evidence).text;
    if (mistake.named) {
      EXPECT_THAT(hints_in(text), HasSubstr(mistake.hint)) << text;
    } else {
      EXPECT_THAT(hints_in(text), Not(HasSubstr(mistake.hint))) << "the document can say so";
    }
  }

  testing_support::ScratchFolder folder_;
};

TEST_F(Mistakes, OfStepsAreHintedAt) {
  KBENCH_NEED_DEVICE();
  expect_hints(/*modules=*/false);
}

TEST_F(Mistakes, OfModulesAreHintedAt) {
  KBENCH_NEED_DEVICE();
  KBENCH_NEED_TORCH();
  expect_hints(/*modules=*/true);
}

TEST_F(Mistakes, AsRecordedAreHintedAt) {
  for (const Mistake& mistake : testing::mistakes()) {
    if (!mistake.recorded) continue;
    SCOPED_TRACE(mistake.name);
    expect_hint(mistake, recorded_result(mistake), mistake.recorded->evidence,
                parse_candidate(mistake.candidate, "candidate.yaml", "."));
  }
}

TEST_F(Mistakes, TheDocumentHasTheRate) {
  size_t named = 0;
  std::ifstream file(KBENCH_FEEDBACK_DOC);
  std::ostringstream document;
  document << file.rdbuf();
  for (const Mistake& mistake : testing::mistakes()) {
    named += mistake.named ? 1 : 0;
    EXPECT_THAT(document.str(), HasSubstr("| " + mistake.name + " | " +
                                          (mistake.named ? mistake.hint : "(not named)") + " |"));
  }
  EXPECT_EQ(testing::mistakes().size(), 40u);
  EXPECT_GE(named, 36u);
  EXPECT_THAT(document.str(), HasSubstr(std::to_string(named) + " of " +
                                        std::to_string(testing::mistakes().size()) + " mistakes"));
}

}  // namespace
}  // namespace kbench
