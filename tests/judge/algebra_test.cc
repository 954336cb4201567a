// The known rewritings by legal algebra compute their tasks, and what was measured of them is of
// the files as they are.
#include "kbench/candidate.h"
#include "kbench/certificate.h"
#include "tests/judge/evaluator_fixture.h"

namespace kbench {
namespace {

TEST(Algebra, EveryRewritingSaysHowAndWasMeasuredAsItIs) {
  ASSERT_GE(known_algebra().size(), 11u);
  for (const Algebra& known : known_algebra()) {
    EXPECT_GT(known.how.size(), 20u) << to_string(known.task);
    EXPECT_EQ(lookup_algebra(known.task), &known);
    const Result* best = best_measured(known, Preset::v0_1, DType::f32);
    ASSERT_NE(best, nullptr) << to_string(known.task);
    EXPECT_GT(best->speedup.low, 1.0) << to_string(known.task);
    EXPECT_FALSE(best->software_device);
    EXPECT_EQ(best->candidate_hash, parse_candidate(known.candidate, "", "").hash)
        << to_string(known.task);
  }
  EXPECT_EQ(lookup_algebra({1, 19}), nullptr);
}

class AlgebraTest : public testing::EvaluatorTest {};

TEST_F(AlgebraTest, EveryRewritingPasses) {
  asked_.plan.min_samples = asked_.plan.max_samples = 2;
  asked_.limits.device_seconds = 60;  // seconds of work on a software device, more on a busy one
  for (const Algebra& known : known_algebra()) {
    const Result result = run(known.candidate);
    EXPECT_EQ(name_of(result.verdict), "passed") << to_string(known.task) << result.message;
  }
}

}  // namespace
}  // namespace kbench
