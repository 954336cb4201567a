#include "kbench/listing.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kbench/prompts.h"
#include "tests/prompts/unfold.h"

namespace kbench {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

std::string listing_of(const std::string& task, Preset preset = Preset::v0_1) {
  const Task& found = find_task(parse_task_id(task));
  return folded_listing(found, *build_graph(found, preset));
}

class Level : public ::testing::TestWithParam<int> {};

/// The proof that nothing is lost: the text alone gives back every operator with its operands,
/// attributes and types, and every name with its shape.
TEST_P(Level, IsGivenBackByItsListings) {
  for (const Task& task : tasks()) {
    if (task.id.level != GetParam()) continue;
    for (const Preset preset : {Preset::smoke, Preset::v0_1}) {
      const auto graph = build_graph(task, preset);
      EXPECT_EQ(test::unfold(folded_listing(task, *graph), task, *graph), "");
    }
  }
}
INSTANTIATE_TEST_SUITE_P(All, Level, ::testing::Values(1, 2, 3));

TEST(Listing, IsHeadedByThePresetAskedForWhereOthersHaveItsSizes) {
  EXPECT_THAT(listing_of("1/8", Preset::v0), HasSubstr("(preset v0)\n"));
  EXPECT_THAT(listing_of("1/8", Preset::v0_1), HasSubstr("(preset v0.1)\n"));
}

TEST(Listing, OfUnrolledStepsIsALoop) {
  const Task& task = find_task({3, 34});
  const auto graph = build_graph(task, Preset::v0_1);
  const std::string text = folded_listing(task, *graph);
  EXPECT_LT(text.size(), 2500u);
  EXPECT_THAT(text,
              HasSubstr("for i in range(256):\n    v2 = slice(x, axis=0, start=i, stop=1+i)"));
}

TEST(Listing, SaysWhatOnlySomePassesHave) {
  const std::string text = listing_of("3/10");
  EXPECT_THAT(text, HasSubstr("if i in [0, 3, 7, 30]:\n"));
  EXPECT_THAT(text, HasSubstr("layer{A}.{B}.conv1.weight:[C, D, 1, 1]"));
}

/// The words of distributions that are more than a drawing are explained.
TEST(Listing, ExplainsDistributionsWhereTheyOccur) {
  EXPECT_THAT(listing_of("1/13"), HasSubstr("  symmetrize: then (X + its transpose) / 2"));
  EXPECT_THAT(listing_of("1/14"), HasSubstr("  triu: then zero below the diagonal"));
  EXPECT_THAT(listing_of("1/15"), HasSubstr("  tril: then zero above the diagonal"));
  EXPECT_THAT(listing_of("1/98"), HasSubstr("  softmax_last: then softmax over the last"));
  EXPECT_THAT(listing_of("1/100"), HasSubstr("  plus_minus_one: then 2 x - 1"));
  EXPECT_THAT(listing_of("1/37"), HasSubstr("  offset: plus a number for each index"));
  EXPECT_THAT(listing_of("1/1"), Not(HasSubstr("symmetrize")));
}

TEST(Listing, HasALoopForEachOfSeveralRepeats) {
  const std::string text = listing_of("3/15");
  for (const char* times : {"6", "12", "24", "16"}) {
    EXPECT_THAT(text, HasSubstr("  for i in range(" + std::string(times) + "):\n"));
  }
  EXPECT_THAT(text, HasSubstr("dense_blocks.3.layers.{i}.0.weight:"));
}

TEST(Listing, OfAShortTaskHasNoLoop) {
  EXPECT_THAT(listing_of("2/12"), Not(HasSubstr("in range(")));
}

TEST(Listing, HasTheNamesThatExpressionsKnow) {
  const std::string text = listing_of("3/10");
  EXPECT_THAT(text, HasSubstr("layers_0 = 3, layers_1 = 4, layers_2 = 23, layers_3 = 3"));
  EXPECT_THAT(listing_of("2/12"), HasSubstr("negative_slope = 0.1"));
}

TEST(Listing, HasTheToleranceThatApplies) {
  EXPECT_THAT(listing_of("1/19"), HasSubstr("<= 0.0001 * (s + |r|)"));
  EXPECT_THAT(listing_of("3/10"), HasSubstr("<= 0.003 * (s + |r|)"));
}

/// A reading that is off by one anywhere is noticed.
TEST(Unfolding, FindsWhatDiffers) {
  const Task& task = find_task({3, 16});
  const auto graph = build_graph(task, Preset::v0_1);
  const std::string text = folded_listing(task, *graph);
  const auto changed = [&](const std::string& from, const std::string& to) {
    std::string other = text;
    const size_t at = other.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    return test::unfold(other.replace(at, from.size(), to), task, *graph);
  };
  EXPECT_THAT(changed("range(12)", "range(13)"), HasSubstr("level3/16: "));
  EXPECT_THAT(changed("64 + 32*i", "65 + 32*i"), HasSubstr("another type"));
  EXPECT_THAT(changed("blocks.0.layers.{i}.0.bias", "blocks.1.layers.{i}.0.bias"),
              HasSubstr("level3/16: "));
  EXPECT_THAT(changed("cat(v4, v7", "cat(v7, v4"), HasSubstr("other operands"));
  EXPECT_THAT(changed("stride=2", "stride=3"), HasSubstr("stride has another value"));
  EXPECT_THAT(changed("classifier.bias:[10]", "classifier.bias"), HasSubstr("has no shape"));
}

}  // namespace
}  // namespace kbench
