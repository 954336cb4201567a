// The whole loop on a real device without a network: a model that writes kernels letter by letter.

#include <set>
#include <sstream>

#include "harness/evaluate/generate/device_evaluator.h"
#include "kbench/metrics.h"
#include "tests/generate/ngram_model.h"
#include "tests/generate/support.h"
#include "tests/support/devices.h"

namespace kbench::testing {
namespace {

/// The shader with what it includes in its place.
std::string flat(const Candidate& candidate, const std::string& source, const std::string& file) {
  std::istringstream lines(source);
  std::string text;
  for (std::string line; std::getline(lines, line);) {
    const std::string include = "#include \"";
    if (!line.starts_with(include)) {
      text += line + "\n";
      continue;
    }
    const auto found = find_include(
        candidate, line.substr(include.size(), line.size() - include.size() - 1), file);
    EXPECT_TRUE(found) << line;
    if (found) text += flat(candidate, found->second, found->first);
  }
  return text;
}

/// A set's candidate for ReLU as an answer of a model.
std::string as_answer(const std::string& set) {
  const std::string file = KBENCH_CANDIDATES "/" + set + "/level1_019_relu.yaml";
  const Candidate candidate = load_candidate(file);
  std::ifstream stream(file);
  std::string text =
      "```yaml\n" + std::string(std::istreambuf_iterator<char>(stream), {}) + "```\n";
  const Kernel& kernel = candidate.kernels.at(0);
  return text + "\n```glsl " + std::filesystem::path(kernel.file).filename().string() + "\n" +
         flat(candidate, kernel.source, kernel.file) + "```\n";
}

class NgramTest : public RunTest {
 protected:
  void SetUp() override { KBENCH_NEED_DEVICE(); }
  generate::RunOptions with_device(Plan plan, double temperature, int attempts) {
    // One far more often than the other: most answers are its own, some begin as one and go on as
    // the other.
    std::vector<std::string> texts(20, as_answer("simple"));
    texts.push_back(as_answer("fused"));
    const auto model = std::make_shared<NgramModel>(texts, 24);
    generate::RunOptions options = this->options(std::move(plan), {model}, attempts);
    options.members[0].sampling.temperature = temperature;
    EvaluateOptions evaluation;
    evaluation.program = KBENCH_PROGRAM;
    evaluation.plan = {.precision = 1, .max_seconds = 0.02, .min_samples = 4, .max_samples = 8};
    options.evaluators[0] =
        std::make_unique<generate::DeviceEvaluator>(evaluation, Roofline{}, /*evidence=*/false);
    return options;
  }
};

TEST_F(NgramTest, SolvesSomeSamplesAndTheReportHasSomethingToSay) {
  const generate::RunOutcome outcome = run(with_device(plan({"ngram"}, 8), 1, 2));
  EXPECT_TRUE(outcome.complete());
  EXPECT_GT(outcome.status.passed, 0);
  EXPECT_LT(outcome.status.passed, outcome.status.attempts);
  const std::vector<Attempt> all = attempts();
  const AttemptSet set(all);
  const auto found = draws(set, 0, {.tasks = {{1, 19}}, .samples = 8});
  const auto pass_at_1 = pass_at_k(found.at(0), 1);
  ASSERT_TRUE(pass_at_1);
  EXPECT_TRUE(pass_at_1->exact());
  EXPECT_GT(pass_at_1->low, 0);
  EXPECT_LT(pass_at_1->low, 1);
  std::set<Verdict> verdicts;
  for (const Attempt& attempt : all) {
    if (attempt.verdict) verdicts.insert(*attempt.verdict);
  }
  EXPECT_GT(verdicts.size(), 1u);
  RecordProperty("pass_at_1", std::to_string(pass_at_1->low));
  RecordProperty("busy", std::to_string(outcome.status.device_seconds / outcome.status.seconds));
}

TEST_F(NgramTest, AtTemperatureZeroAllSamplesAreOne) {
  const generate::RunOutcome outcome = run(with_device(plan({"ngram"}, 4), 0, 1));
  EXPECT_TRUE(outcome.complete());
  EXPECT_LE(outcome.status.judged, 1) << results().at(0).message;
}

}  // namespace
}  // namespace kbench::testing
