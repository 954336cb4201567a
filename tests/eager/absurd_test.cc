// Planning at absurd extents: a plan within a device's limits, or a refusal. No count may wrap on
// the way (the asan preset watches).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <set>

#include "kbench/error.h"
#include "tests/eager/planned.h"

namespace kbench::eager {
namespace {

using namespace kbench::definitions;

/// One number made absurd wherever it stands: a row's extents are seldom alike, so that what
/// belongs together mostly stays together.
void blow_up(Dice& dice, Sizes& call) {
  constexpr std::array kAbsurd = {
      int64_t{65537},         int64_t{INT32_MAX}, int64_t{1} << 31,
      int64_t{UINT32_MAX},    int64_t{1} << 32,   int64_t{1} << 40,
      (int64_t{1} << 53) + 1, int64_t{1} << 60,   int64_t{INT64_MAX} / 4 - 3,
      int64_t{INT64_MAX}};
  std::set<int64_t> numbers;
  call.for_each_number([&](int64_t n) { return *numbers.insert(n).first; });
  if (numbers.empty()) return;
  const int64_t chosen =
      *std::next(numbers.begin(), dice.between(0, static_cast<int64_t>(numbers.size()) - 1));
  const int64_t absurd =
      kAbsurd[static_cast<size_t>(dice.between(0, static_cast<int64_t>(kAbsurd.size()) - 1))];
  call.for_each_number([&](int64_t n) { return n == chosen ? absurd : n; });
}

std::vector<DeviceTraits> devices() {
  DeviceTraits small, large, software;
  large.max_group_count[0] = INT32_MAX;
  software.software = true;
  return {small, large, software};
}

void expect_a_plan_or_a_refusal(const OperatorCall& call, const DeviceTraits& traits) {
  CallPlan plan;
  try {
    plan = plan_call(call, traits);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kUnsupported) << error.message();
    return;
  }
  expect_groups_within(plan, traits);
  for (const int64_t bytes : plan.scratch_bytes) EXPECT_GE(bytes, 0);
  EXPECT_GE(plan.scratch_total(), 0);
}

class AbsurdPlans : public ::testing::TestWithParam<Family> {};

TEST_P(AbsurdPlans, AreMadeWithinLimitsOrRefused) {
  int planned = 0;
  for (const Row& row : table(GetParam())) {
    if (row.call.op->is_view) continue;
    for (uint32_t seed = 1; seed <= 12; ++seed) {
      Dice dice(seed);
      Sizes sizes = sizes_of(row);
      for (int64_t times = dice.between(1, 3); times > 0; --times) blow_up(dice, sizes);
      OperatorCall call;
      try {
        call = make_call(*row.call.op, sizes.inputs, sizes.attributes);
      } catch (const Error&) {
        continue;  // the operator itself has no such sizes
      }
      SCOPED_TRACE(text_of(call));
      for (const DeviceTraits& traits : devices()) expect_a_plan_or_a_refusal(call, traits);
      ++planned;
    }
  }
  EXPECT_GT(planned, 0);
}

INSTANTIATE_TEST_SUITE_P(Families, AbsurdPlans, ::testing::ValuesIn(families()),
                         [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace kbench::eager
