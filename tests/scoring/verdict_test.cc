#include "kbench/verdict.h"

#include <gtest/gtest.h>

#include <set>

#include "kbench/error.h"
#include "tests/error_of.h"

namespace kbench {
namespace {

constexpr int kVerdictCount = static_cast<int>(Verdict::compiles) + 1;

TEST(Verdict, NamesAreUniqueAndReadBack) {
  std::set<std::string_view> names;
  for (int i = 0; i < kVerdictCount; ++i) {
    const auto verdict = static_cast<Verdict>(i);
    EXPECT_TRUE(names.insert(name_of(verdict)).second) << name_of(verdict);
    EXPECT_EQ(verdict_from_name(name_of(verdict)), verdict);
    EXPECT_TRUE(explain(verdict).ends_with('.')) << name_of(verdict);
  }
  EXPECT_EQ(name_of(Verdict::partly_written), "partly_written");
}

TEST(Verdict, UnknownNameIsAnError) {
  const Error e = error_of([&] { verdict_from_name("pased"); });
  EXPECT_EQ(e.code(), ErrorCode::kInvalidArgument);
  EXPECT_NE(e.message().find("'pased'"), std::string::npos) << e.message();
}

TEST(Verdict, BlamesTheCandidateForAllButTwoFailures) {
  EXPECT_FALSE(is_candidates_fault(Verdict::passed));
  EXPECT_FALSE(is_candidates_fault(Verdict::compiles));
  EXPECT_FALSE(is_candidates_fault(Verdict::does_not_fit));
  EXPECT_FALSE(is_candidates_fault(Verdict::harness_error));
  int faults = 0;
  for (int i = 0; i < kVerdictCount; ++i) faults += is_candidates_fault(static_cast<Verdict>(i));
  EXPECT_EQ(faults, kVerdictCount - 4);
}

}  // namespace
}  // namespace kbench
