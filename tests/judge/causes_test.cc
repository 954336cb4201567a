#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "harness/measure/judge/failure_verdict.h"
#include "kbench/certificate.h"
#include "kbench/task.h"

namespace kbench::judge {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

Finding slightly_wrong(const runner::Built& built, std::string_view certificate) {
  const auto graph = build_graph(find_task({1, 22}), Preset::smoke);
  return with_causes({Verdict::low_precision, "wrong"}, built, *graph, certificate);
}

TEST(Causes, ValuesSayLowPrecisionOnlyWhereTheyCanTell) {
  EXPECT_EQ(slightly_wrong({}, kCertifiedPrecision).verdict, Verdict::low_precision);
  EXPECT_EQ(slightly_wrong({}, kUntried).verdict, Verdict::low_precision);
  EXPECT_EQ(slightly_wrong({}, kCertifiedValues).verdict, Verdict::wrong_values);
  EXPECT_EQ(slightly_wrong({}, kNotCertified).verdict, Verdict::wrong_values);
}

TEST(Causes, AModulesOwnTypesSayLowPrecisionEverywhere) {
  runner::Built built;
  built.float16_kernel = "half";
  const Finding found = slightly_wrong(built, kCertifiedValues);
  EXPECT_EQ(found.verdict, Verdict::low_precision);
  EXPECT_THAT(found.message, HasSubstr("kernel half computes in float16"));
}

TEST(Causes, ApproximateFunctionsAreNamed) {
  runner::Built built;
  built.approximations = "kernel t uses tanh.approx.f32";
  EXPECT_THAT(slightly_wrong(built, kCertifiedPrecision).message,
              HasSubstr("wrong; kernel t uses tanh.approx.f32, approximate functions as "
                        "--use_fast_math and intrinsics make them"));
  EXPECT_THAT(slightly_wrong({}, kCertifiedPrecision).message, Not(HasSubstr("approximate")));
}

}  // namespace
}  // namespace kbench::judge
