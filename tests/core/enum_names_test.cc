// An enum's names are read back as the values that have them.
#include "libkbench/base/enum_names.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kbench/attempt.h"
#include "kbench/compare.h"
#include "kbench/error.h"
#include "kbench/random.h"
#include "kbench/variables.h"
#include "tests/error_of.h"

namespace kbench {
namespace {

template <class E>
void expect_read_back(E last) {
  const std::vector<std::string> names = names_to(last);
  ASSERT_EQ(names.size(), static_cast<size_t>(last) + 1);
  for (size_t i = 0; i < names.size(); ++i) {
    EXPECT_FALSE(names[i].empty());
    EXPECT_EQ(value_named(names[i], last), static_cast<E>(i)) << names[i];
  }
  EXPECT_EQ(value_named("no such name", last), std::nullopt);
  EXPECT_EQ(value_named("", last), std::nullopt);
}

TEST(EnumNames, AreReadBack) {
  expect_read_back(Preset::v0_1);
  expect_read_back(ToleranceRule::kernelbench);
  expect_read_back(Distribution::Kind::randint);
  expect_read_back(Distribution::Then::offset);
  expect_read_back(Outcome::unanswered);
  expect_read_back(ErrorCode::kInternal);
}

TEST(EnumNames, AnUnknownOneIsRefusedWithThoseThereAre) {
  EXPECT_EQ(tolerance_rule_from_name("kernelbench"), ToleranceRule::kernelbench);
  EXPECT_THAT(error_of([] { tolerance_rule_from_name("tight"); }).what(),
              ::testing::HasSubstr("'tight'; known: kbench, kernelbench"));
}

}  // namespace
}  // namespace kbench
