#include "libkbench/scoring/settings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <set>
#include <string>
#include <type_traits>

namespace kbench {
namespace {

constexpr char kUsual[] =
    "tolerance=kbench other_sizes=note precision=0.01 max_seconds=0 min_samples=0 max_samples=1000 "
    "compile_seconds=30 device_seconds=10 total_seconds=120 host_bytes=17179869184";

TEST(Settings, AreAllThatIsSet) {
  EXPECT_EQ(settings_text({}), kUsual);
  Question question;
  question.rule.validate = true;
  question.rule.tolerance = ToleranceRule::kernelbench;
  question.plan.thresholds = {0.5, 2};
  question.plan.seed = ~uint64_t{0};
  question.limits.total_seconds = 0.1;
  EXPECT_EQ(settings_text(question),
            "tolerance=kernelbench other_sizes=note validate=true precision=0.01 max_seconds=0 "
            "min_samples=0 max_samples=1000 thresholds=[0.5,2.0] seed=18446744073709551615 "
            "compile_seconds=30 device_seconds=10 total_seconds=0.1 host_bytes=17179869184");
}

/// Another value than the usual one.
template <class T>
void change(T& value) {
  if constexpr (std::is_same_v<T, bool>) {
    value = !value;
  } else if constexpr (std::is_enum_v<T>) {
    value = static_cast<T>(static_cast<int>(value) == 0);
  } else if constexpr (std::is_arithmetic_v<T>) {
    value += 1;
  } else {
    value = T{typename T::value_type(1)};
  }
}

TEST(Settings, OfAnyFieldOfRulePlanAndLimitsAreOthersOnceItChanges) {
  std::set<std::string> seen = {settings_text({})};
  size_t fields = 0;
  Question question;
  each_field(
      [&](const char*, auto& part) {
        if constexpr (IsPart<std::remove_reference_t<decltype(part)>>) {
          each_field(
              [&](const char* name, auto& value) {
                const auto before = value;
                change(value);
                EXPECT_TRUE(seen.insert(settings_text(question)).second) << name;
                value = before;
                ++fields;
              },
              part);
        }
      },
      question);
  EXPECT_EQ(fields, 17u);
}

TEST(Settings, OfEarlierVersionsAreReadAsTodays) {
  EXPECT_EQ(settings_of_today("tolerance=kbench precision=0.01 max_seconds=0 samples=8..1000"),
            settings_text({.plan = {.min_samples = 8}}));
  Question question;
  question.rule = {.other_sizes = OtherSizes::none, .validate = true};
  question.plan = {.precision = 0.5, .max_seconds = 2, .min_samples = 3, .max_samples = 9};
  question.plan.seed = 7;
  question.limits.total_seconds = 128;  // as a long measurement was given
  EXPECT_EQ(settings_of_today("tolerance=kbench precision=0.5 max_seconds=2 samples=3..9 validate "
                              "seed=7 own sizes alone task=0123456789abcdef"),
            settings_text(question) + " task=0123456789abcdef");
  question.rule = {.other_sizes = OtherSizes::require};
  question.plan.seed.reset();
  EXPECT_EQ(settings_of_today("tolerance=kbench precision=0.5 max_seconds=2 samples=3..9 general"),
            settings_text(question));
  for (const std::string& text :
       {std::string(), std::string(kUsual), settings_text(question) + " task=0123456789abcdef",
        std::string("tolerance=kbench precision=x max_seconds=0 samples=8..1000"),
        std::string("tolerance=kbench samples=8 more")}) {
    EXPECT_EQ(settings_of_today(text), text);
  }
}

}  // namespace
}  // namespace kbench
