// From a wrong candidate to feedback that names what is wrong, through judge and runners.
#include "harness/evaluate/diagnose/investigate.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "harness/evaluate/diagnose/look.h"
#include "kbench/candidate.h"
#include "kbench/error.h"
#include "libkbench/base/text.h"
#include "tests/candidate/support.h"
#include "tests/diagnose/faults.h"
#include "tests/error_of.h"
#include "tests/support/devices.h"

namespace kbench {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class Investigate : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    if (testing::has_device()) judge_ = new client::JudgeClient(KBENCH_PROGRAM, "auto", false);
  }
  static void TearDownTestSuite() {
    delete judge_;
    judge_ = nullptr;
  }
  void SetUp() override { KBENCH_NEED_DEVICE(); }

  static diagnose::InvestigateOptions options() {
    diagnose::InvestigateOptions options;
    options.question.preset = "smoke";
    options.question.plan.max_seconds = 0.02;
    options.question.plan.min_samples = 4;
    options.question.rule.other_sizes = OtherSizes::none;
    options.size_tries = 3;
    options.seed = 12345;
    return options;
  }

  static judge::EvaluateRequest asking(const std::string& file,
                                       const diagnose::InvestigateOptions& options) {
    judge::EvaluateRequest request{.question = options.question, .more = true};
    request.question.candidate = file;
    return request;
  }

  struct Outcome {
    Result result;
    Evidence evidence;
    std::string text;
  };
  Outcome investigate(const std::string& file, const diagnose::InvestigateOptions& options) {
    Outcome outcome;
    outcome.result = judge_->run(asking(file, options));
    diagnose::InvestigateOptions about = options;
    about.question.candidate = file;
    outcome.evidence = diagnose::investigate(*judge_, outcome.result, about);
    const Candidate candidate = load_candidate(file);
    outcome.text = feedback(outcome.result, &candidate, outcome.evidence).text;
    EXPECT_LE(outcome.text.size(), FeedbackOptions().max_characters);
    return outcome;
  }
  Outcome of_text(const std::string& yaml, const diagnose::InvestigateOptions& chosen = options()) {
    folder_.write("candidate.yaml", yaml);
    return investigate(folder_.path("candidate.yaml"), chosen);
  }

  static client::JudgeClient* judge_;
  testing_support::ScratchFolder folder_;
};

client::JudgeClient* Investigate::judge_ = nullptr;

TEST_F(Investigate, NamesTheFaultsOfTheList) {
  diagnose::InvestigateOptions quick = options();
  quick.size_tries = 0;  // what is shown beside the pattern is tried below
  for (const testing::Fault& fault : testing::faults()) {
    SCOPED_TRACE(fault.name);
    // Without the evaluation, which takes as long again: the inspection comes to a verdict too.
    folder_.write("candidate.yaml", fault.yaml);
    const std::string file = folder_.path("candidate.yaml");
    const Candidate candidate = load_candidate(file);
    Result result;
    result.task = candidate.task;
    result.preset = "smoke";
    result.variables = build_graph(find_task(candidate.task), Preset::smoke)->variables();
    result.verdict = Verdict::wrong_values;
    Outcome outcome;
    quick.question.candidate = file;
    outcome.evidence = diagnose::investigate(*judge_, result, quick);
    ASSERT_TRUE(outcome.evidence.smallest.has_value());
    result.verdict = outcome.evidence.smallest->verdict;
    EXPECT_NE(result.verdict, Verdict::passed);
    outcome.text = feedback(result, &candidate, outcome.evidence).text;
    if (fault.found) {
      EXPECT_THAT(outcome.text, HasSubstr(fault.named));
    } else {
      EXPECT_THAT(outcome.text, Not(HasSubstr(fault.named))) << "the document can say so";
    }
  }
}

TEST_F(Investigate, TheDocumentHasTheRate) {
  size_t named = 0;
  std::ifstream file(KBENCH_FEEDBACK_DOC);
  std::ostringstream document;
  document << file.rdbuf();
  for (const testing::Fault& fault : testing::faults()) {
    named += fault.found ? 1 : 0;
    EXPECT_THAT(document.str(), HasSubstr("| " + fault.name + " |"));
  }
  EXPECT_THAT(document.str(),
              HasSubstr(std::to_string(named) + " of " + std::to_string(testing::faults().size())));
}

TEST_F(Investigate, ShowsTheSmallestSizesWithAllArrays) {
  diagnose::InvestigateOptions patient = options();
  patient.size_tries = 12;
  const Outcome outcome =
      of_text(testing::one_kernel("level1/19", {"x", "output"}, "batch_size * dim",
                                  "if (i < KB_batch_size * KB_dim) b1[i] = b0[i];"),
              patient);
  ASSERT_TRUE(outcome.evidence.smallest.has_value());
  const FailingCase& smallest = *outcome.evidence.smallest;
  EXPECT_EQ(smallest.verdict, Verdict::wrong_values);
  ASSERT_EQ(smallest.arrays.size(), 3u);
  EXPECT_EQ(smallest.arrays[0].name, "x");
  EXPECT_EQ(smallest.arrays[2].name, "output (expected)");
  // The candidate gives back x, and the right values are those of ReLU.
  ASSERT_FALSE(smallest.arrays[0].values.empty());
  EXPECT_LE(smallest.arrays[0].values.size(), 64u);
  EXPECT_EQ(smallest.arrays[1].values, smallest.arrays[0].values);
  for (size_t i = 0; i < smallest.arrays[2].values.size(); ++i) {
    EXPECT_EQ(smallest.arrays[2].values[i], std::max(0.0, smallest.arrays[0].values[i]));
  }
  ASSERT_FALSE(smallest.wrong.empty());
  EXPECT_THAT(outcome.text, HasSubstr("output (expected) ["));
}

/// "[0, 7]: got 0, expected 3.98": as a result's message has it.
std::string first_wrong(const FailingCase& found) {
  const WrongElement& wrong = found.wrong.at(0);
  return "the first at " + to_string(wrong.index) + ": got " + digits_text(wrong.got, 9) +
         ", expected " + digits_text(wrong.expected, 9);
}

TEST_F(Investigate, ShowsTheCaseThatFailed) {
  diagnose::InvestigateOptions many = options();
  many.question.plan.min_samples = 1000;
  many.question.plan.max_seconds = 20;
  // Of 400 values between -4 and 4 one is so large in one draw of three.
  const Outcome outcome =
      of_text(testing::one_kernel("level1/19", {"x", "output"}, "batch_size * dim",
                                  "if (i < KB_batch_size * KB_dim) b1[i] = b0[i] > 3.992 ? 0.0 : "
                                  "max(b0[i], 0.0);"),
              many);
  ASSERT_EQ(outcome.result.verdict, Verdict::wrong_values) << outcome.result.message;
  ASSERT_TRUE(outcome.evidence.failed);
  EXPECT_FALSE(outcome.evidence.right_alone);
  EXPECT_THAT(outcome.result.message, HasSubstr(first_wrong(*outcome.evidence.failed)));
  EXPECT_THAT(outcome.text, HasSubstr("The case that failed (wrong_values) at batch_size = 2"));
}

TEST_F(Investigate, ShowsTheCaseThatFailedAtOtherSizes) {
  diagnose::InvestigateOptions everywhere = options();
  everywhere.size_tries = 0;
  everywhere.question.rule.other_sizes = OtherSizes::require;
  const std::string drawn = testing::one_kernel(
      "level1/19", {"x", "output"}, "batch_size * dim",
      "const uint n = KB_batch_size * KB_dim; if (i < n) b1[i] = i < n / 8 * 8 ? max(b0[i], 0.0) : "
      "1e3;");
  const std::string fixed = testing::one_kernel(
      "level1/1", {"A", "B", "output"}, "N * N",
      "const uint n = KB_N; float s = 0.0; if (i >= n * n) return; for (uint k = 0; k < n; ++k) s "
      "+= b0[i / n * n + k] * b1[k * n + i % n]; b2[i] = i < n * n / 256 * 256 ? s : 1e3;");
  for (const auto& [yaml, verdict] :
       {std::pair(drawn, Verdict::not_general), std::pair(fixed, Verdict::wrong_values)}) {
    const Outcome outcome = of_text(yaml, everywhere);
    EXPECT_EQ(outcome.result.verdict, verdict) << outcome.result.message;
    ASSERT_TRUE(outcome.evidence.failed);
    EXPECT_THAT(outcome.result.message, HasSubstr(first_wrong(*outcome.evidence.failed)));
    EXPECT_THAT(outcome.text, HasSubstr("The case that failed"));
  }
}

TEST_F(Investigate, SaysThatItIsRightAlone) {
  // Wrong over whole numbers, which memory holds in some samples and in no inspection.
  std::string yaml = testing::one_kernel(
      "level1/19", {"x", "output", "t"}, "batch_size * dim",
      "bool whole = false; for (int k = 0; k < 16; ++k) whole = whole || (b2[k] != 0.0 && "
      "fract(b2[k]) == 0.0); if (i < KB_batch_size * KB_dim) b1[i] = whole ? 7.0 : max(b0[i], "
      "0.0);");
  yaml.insert(yaml.find("kernels:"), "temps:\n  t: {dtype: f32, shape: [16]}\n");
  const Outcome outcome = of_text(yaml);
  ASSERT_EQ(outcome.result.verdict, Verdict::wrong_values) << outcome.result.message;
  EXPECT_TRUE(outcome.evidence.right_alone);
  EXPECT_FALSE(outcome.evidence.failed);
  EXPECT_THAT(outcome.text, HasSubstr("it was right when it ran once more, by itself"));
}

TEST_F(Investigate, FindsSizesThatAreNoMultipleOfATile) {
  // Right at 2 x 200, wrong at sizes that are not a multiple of 8.
  const Outcome at_smoke = of_text(testing::one_kernel(
      "level1/19", {"x", "output"}, "batch_size * dim",
      "const uint n = KB_batch_size * KB_dim; if (i < n) b1[i] = i < n / 8 * 8 ? max(b0[i], 0.0) : "
      "1e3;"));
  EXPECT_EQ(at_smoke.result.verdict, Verdict::passed) << at_smoke.result.message;
  Result larger = at_smoke.result;
  larger.verdict = Verdict::wrong_values;
  larger.preset = "v0.1";  // too large for the reference, so that smoke is tried and others near it
  diagnose::InvestigateOptions about = options();
  about.question.candidate = folder_.path("candidate.yaml");
  const Evidence evidence = diagnose::investigate(*judge_, larger, about);
  EXPECT_TRUE(evidence.right_when_small);
  EXPECT_THAT(evidence.pattern, HasSubstr("they hold 1000 at each of them"));
  EXPECT_THAT(feedback(larger, nullptr, evidence).text, HasSubstr("look at what depends on size"));
}

/// Held to float32's tolerance on inputs that were not rounded, it would be wrong at every size.
TEST_F(Investigate, LooksAtHalvesInTheirOwnType) {
  diagnose::InvestigateOptions half = options();
  half.question.dtype = DType::f16;
  const Task& task = find_task({1, 26});
  const auto graph = build_graph(task, Preset::smoke, {}, DType::f16);
  const Outcome right = of_text(eager_candidate_yaml(task, *graph), half);
  EXPECT_EQ(right.result.verdict, Verdict::passed) << right.result.message;
  ASSERT_EQ(right.evidence.steps.size(), 1u);
  EXPECT_EQ(right.evidence.steps[0].bytes, graph->least_bytes()) << "of two bytes an element";
  Result larger = right.result;
  larger.verdict = Verdict::wrong_values;
  larger.preset = "v0.1";
  half.question.candidate = folder_.path("candidate.yaml");
  const Evidence evidence = diagnose::investigate(*judge_, larger, half);
  EXPECT_TRUE(evidence.right_when_small);
}

TEST_F(Investigate, SaysWhatChangesFromRunToRun) {
  // Reads what stood in the output, which differs.
  const Outcome outcome = of_text(testing::one_kernel(
      "level1/19", {"x", "output"}, "batch_size * dim",
      "if (i < KB_batch_size * KB_dim) b1[i] = max(b0[i], 0.0) + (i % 2 == 0 ? b1[i] : 0.0);"));
  EXPECT_THAT(outcome.evidence.pattern, HasSubstr("not the same in two runs on the same inputs"));
  EXPECT_EQ(outcome.evidence.racing, 0) << "over the same values it computes the same";
  EXPECT_GT(outcome.evidence.elements, 0);
  EXPECT_GT(outcome.evidence.wrong, 0);
}

TEST_F(Investigate, LooksAtTheSecondRunWhereTheFirstIsRight) {
  std::string yaml = testing::one_kernel(
      "level1/19", {"x", "output", "t"}, "batch_size * dim",
      "if (i < KB_batch_size * KB_dim) b1[i] = b2[1] != 0.0 ? max(b0[i], 0.0) : 7.0;");
  yaml.insert(yaml.find("kernels:"), "temps:\n  t: {dtype: f32, shape: [4]}\n");
  const Outcome outcome = of_text(yaml);
  EXPECT_EQ(outcome.result.verdict, Verdict::wrong_values) << outcome.result.message;
  EXPECT_THAT(outcome.evidence.pattern, HasSubstr("memory that is read before it is written"));
  EXPECT_THAT(outcome.evidence.pattern, HasSubstr("7"));
  EXPECT_EQ(outcome.evidence.racing, 0);
}

TEST(Look, WhatDiffersOverTheSameValuesIsARace) {
  diagnose::Look look;
  const auto values = [](float first, float last) {
    Tensor tensor(DType::f32, {3});
    tensor.data<float>()[0] = first;
    tensor.data<float>()[1] = 7;
    tensor.data<float>()[2] = last;
    return tensor;
  };
  look.inspection.outputs.push_back({values(9, 9), values(1, 2), values(3, 4), values(3, 5), {}});
  EXPECT_EQ(look.racing(), 1);
  look.inspection.outputs.push_back({values(9, 9), values(1, 2), values(3, 4), values(3, 4), {}});
  EXPECT_EQ(look.racing(), 1);
}

TEST_F(Investigate, SaysWhatItCouldNotLookAt) {
  // 290,400 outputs, and no variable that makes them fewer.
  const Outcome outcome = of_text(
      testing::one_kernel("level1/50", {"x", "output"}, "290400", "if (i < 290400) b1[i] = 0.0;"));
  EXPECT_EQ(outcome.result.verdict, Verdict::all_zero) << outcome.result.message;
  ASSERT_GE(outcome.evidence.not_tried.size(), 2u);
  EXPECT_THAT(outcome.evidence.not_tried[0], HasSubstr("290400 elements, and at most 65536"));
  EXPECT_THAT(outcome.text, HasSubstr("Sizes that could not be looked at:\n- preset smoke"));
}

TEST_F(Investigate, TimesTheStepsOfWhatPasses) {
  diagnose::InvestigateOptions with_roof = options();
  with_roof.roofline = Roofline{1e10, 1e11};
  const Outcome outcome =
      investigate(KBENCH_CANDIDATES "/simple/level2_076_gemm_add_relu.yaml", with_roof);
  EXPECT_EQ(outcome.result.verdict, Verdict::passed) << outcome.result.message;
  const Evidence& evidence = outcome.evidence;
  ASSERT_GT(evidence.steps.size(), 1u);
  ASSERT_EQ(evidence.baseline.size(), 3u);
  EXPECT_EQ(evidence.baseline[0].name, "linear");
  EXPECT_EQ(evidence.baseline[0].bytes, 4.0 * (5 * 48 + 64 * 48 + 5 * 64));
  EXPECT_EQ(evidence.baseline[0].flops, 2.0 * 5 * 64 * 48);
  for (const auto* steps : {&evidence.steps, &evidence.baseline}) {
    double share = 0;
    for (const StepProfile& step : *steps) {
      EXPECT_GT(step.ms, 0);
      EXPECT_GT(step.bytes, 0);
      share += step.share;
    }
    EXPECT_NEAR(share, 1, 1e-9);
  }
  EXPECT_THAT(outcome.text, HasSubstr("Speedup "));
  EXPECT_THAT(outcome.text, HasSubstr("roof measured here: 10 GB/s, 0.1 TFLOP/s"));
  EXPECT_THAT(outcome.text, HasSubstr("The baseline's time by operator"));
  EXPECT_THAT(outcome.text, HasSubstr("linear: "));
}

TEST_F(Investigate, LooksOnlyAtTheTextWhereNothingRan) {
  folder_.write("candidate.yaml", "kbench: 1\ntask: level1/19\ndispach: []\n");
  const std::string file = folder_.path("candidate.yaml");
  const Result result = judge_->run(asking(file, options()));
  diagnose::InvestigateOptions about = options();
  about.question.candidate = file;
  const Evidence evidence = diagnose::investigate(*judge_, result, about);
  EXPECT_FALSE(evidence.smallest.has_value());
  EXPECT_EQ(evidence.files.at("candidate.yaml"), "kbench: 1\ntask: level1/19\ndispach: []\n");
  EXPECT_THAT(feedback(result, nullptr, evidence).text, HasSubstr("    | dispach: []\n"));
}

TEST_F(Investigate, AnInspectionOfTooMuchIsRefused) {
  folder_.write("candidate.yaml",
                testing::one_kernel("level1/19", {"x", "output"}, "batch_size * dim",
                                    "if (i < KB_batch_size * KB_dim) b1[i] = b0[i];"));
  judge::EvaluateRequest request = asking(folder_.path("candidate.yaml"), options());
  request.question.overrides = {{"dim", int64_t{1 << 16}}};
  request.inspect = {1, 1, 2};
  const Error e = error_of([&] { judge_->run(request); });
  EXPECT_EQ(e.code(), ErrorCode::kInvalidArgument);
  EXPECT_THAT(e.what(), HasSubstr("131072 elements"));
}

}  // namespace
}  // namespace kbench
