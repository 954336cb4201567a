// Planning at absurd extents: a plan within a device's limits, or a refusal. No count may wrap on
// the way (the asan preset watches).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <set>
#include <variant>

#include "harness/measure/eager/eager.h"
#include "kbench/error.h"
#include "tests/operators/definition.h"

namespace kbench::eager {
namespace {

using namespace kbench::definitions;

struct Sizes {
  std::vector<TensorType> inputs;
  Attributes attributes;
};

/// Every number of the call, replaced by what `change` gives for it.
template <class Change>
void for_each_number(Sizes& call, Change change) {
  for (TensorType& type : call.inputs) {
    for (int64_t& extent : type.shape) extent = change(extent);
  }
  for (const auto& [name, value] : Attributes(call.attributes)) {
    if (const auto* number = std::get_if<int64_t>(&value)) {
      call.attributes.set(name, change(*number));
    } else if (const auto* list = std::get_if<std::vector<int64_t>>(&value)) {
      std::vector<int64_t> changed = *list;
      for (int64_t& each : changed) each = change(each);
      call.attributes.set(name, changed);
    }
  }
}

/// One number made absurd wherever it stands: samples with odd extents have no two alike, so that
/// what belongs together stays together.
void blow_up(Dice& dice, Sizes& call) {
  constexpr std::array kAbsurd = {
      int64_t{65537},         int64_t{INT32_MAX}, int64_t{1} << 31,
      int64_t{UINT32_MAX},    int64_t{1} << 32,   int64_t{1} << 40,
      (int64_t{1} << 53) + 1, int64_t{1} << 60,   int64_t{INT64_MAX} / 4 - 3,
      int64_t{INT64_MAX}};
  std::set<int64_t> numbers;
  for_each_number(call, [&](int64_t n) { return *numbers.insert(n).first; });
  if (numbers.empty()) return;
  const int64_t chosen =
      *std::next(numbers.begin(), dice.between(0, static_cast<int64_t>(numbers.size()) - 1));
  const int64_t absurd =
      kAbsurd[static_cast<size_t>(dice.between(0, static_cast<int64_t>(kAbsurd.size()) - 1))];
  for_each_number(call, [&](int64_t n) { return n == chosen ? absurd : n; });
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
  for (const Launch& launch : plan.launches) {
    for (int axis = 0; axis < 3; ++axis) {
      EXPECT_GE(launch.groups[axis], 1u) << launch.shader;
      EXPECT_LE(launch.groups[axis], traits.max_group_count[axis]) << launch.shader;
    }
  }
  for (const int64_t bytes : plan.scratch_bytes) EXPECT_GE(bytes, 0);
  EXPECT_GE(plan.scratch_total(), 0);
}

class AbsurdPlans : public ::testing::TestWithParam<Family> {};

TEST_P(AbsurdPlans, AreMadeWithinLimitsOrRefused) {
  int planned = 0;
  for (const Definition& definition : GetParam().definitions()) {
    if (find_operator(definition.op).is_view) continue;
    for (uint32_t seed = 1; seed <= 100; ++seed) {
      Dice dice(seed, Extents::odd);
      const Sample sample = definition.draw(dice);
      Sizes sizes{{}, sample.attributes};
      for (const Array& input : sample.inputs) sizes.inputs.push_back(input.type());
      for (int64_t times = dice.between(1, 3); times > 0; --times) blow_up(dice, sizes);
      OperatorCall call;
      try {
        call = make_call(find_operator(definition.op), sizes.inputs, sizes.attributes);
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
