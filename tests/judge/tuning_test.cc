// Which configurations are timed, and which is judged. Pure: times are numbers.
#include "harness/measure/judge/tuning.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

namespace kbench::judge {
namespace {

using ::testing::ElementsAre;
using Choice = std::vector<uint32_t>;

/// All that is timed, where a choice takes what `ns` says.
std::vector<Choice> run(Tuning& tuning, const std::function<double(const Choice&)>& ns) {
  std::vector<Choice> timed;
  while (const auto choice = tuning.next()) {
    timed.push_back(*choice);
    tuning.add(ns(*choice));
  }
  return timed;
}

TEST(Tuning, OfOneKernelTimesEachOnceAndTakesTheFastest) {
  Tuning tuning({4});
  const std::vector<double> times = {5, 3, 2, 4};
  const auto timed = run(tuning, [&](const Choice& choice) { return times[choice[0]]; });
  EXPECT_THAT(timed, ElementsAre(Choice{0}, Choice{1}, Choice{2}, Choice{3}));
  EXPECT_THAT(tuning.best(), ElementsAre(2u));
  EXPECT_THAT(tuning.times(), ElementsAre(times));
}

TEST(Tuning, OfSeveralTimesTheirSumAndKeepsTheBestOfThoseBefore) {
  Tuning tuning({2, 3});
  const auto timed = run(
      tuning, [](const Choice& c) { return (c[0] == 1 ? 10.0 : 20.0) + (c[1] == 2 ? 1.0 : 2.0); });
  EXPECT_THAT(timed, ElementsAre(Choice{0, 0}, Choice{1, 0}, Choice{1, 1}, Choice{1, 2}));
  EXPECT_THAT(tuning.best(), ElementsAre(1u, 2u));
  EXPECT_THAT(tuning.times()[0], ElementsAre(22.0, 12.0));
  EXPECT_THAT(tuning.times()[1], ElementsAre(12.0, 12.0, 11.0));
}

TEST(Tuning, OfEqualsTakesTheFirst) {
  Tuning tuning({3, 2});
  run(tuning, [](const Choice&) { return 1.0; });
  EXPECT_THAT(tuning.best(), ElementsAre(0u, 0u));
}

TEST(Tuning, KernelsWithoutAChoiceTakeNoRuns) {
  Tuning tuning({1, 2, 1});
  const auto timed = run(tuning, [](const Choice& c) { return c[1] == 1 ? 1.0 : 2.0; });
  EXPECT_THAT(timed, ElementsAre(Choice{0, 0, 0}, Choice{0, 1, 0}));
  EXPECT_THAT(tuning.best(), ElementsAre(0u, 1u, 0u));
  EXPECT_FALSE(Tuning({}).next());
}

}  // namespace
}  // namespace kbench::judge
