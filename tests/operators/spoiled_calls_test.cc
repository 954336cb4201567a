// Calls spoiled at random: a rule refuses with one error that names operator and shapes, or takes
// the call and is right about it. Nothing may crash or overflow (the asan preset watches).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <limits>

#include "kbench/error.h"
#include "tests/operators/table.h"

namespace kbench::definitions {
namespace {

using ::testing::HasSubstr;

constexpr int64_t kLargest = std::numeric_limits<int64_t>::max();
constexpr int64_t kSmallest = std::numeric_limits<int64_t>::min();

size_t place(Dice& dice, size_t size) {
  return static_cast<size_t>(dice.between(0, static_cast<int64_t>(size) - 1));
}

int64_t strange_number(Dice& dice, int64_t instead_of) {
  constexpr std::array kNumbers = {int64_t{0}, int64_t{-1}, int64_t{1} << 31, int64_t{1} << 62,
                                   kLargest,   kSmallest,   int64_t{7},       int64_t{2}};
  const int64_t chosen = kNumbers[place(dice, kNumbers.size())];
  const bool is_strange = instead_of > 1000 || instead_of < -1000;  // spoiled once already
  return is_strange || dice.coin() ? chosen : instead_of + dice.between(-2, 2);
}

void spoil_shape(Dice& dice, Shape& shape) {
  switch (dice.between(0, 3)) {
    case 0:
      if (!shape.empty()) shape.erase(shape.begin() + dice.between(0, int64_t(shape.size()) - 1));
      break;
    case 1:
      shape.insert(shape.begin() + dice.between(0, int64_t(shape.size())), dice.between(1, 5));
      break;
    default:
      if (shape.empty()) break;
      int64_t& extent = shape[place(dice, shape.size())];
      extent = strange_number(dice, extent);
      break;
  }
}

AttributeValue spoiled_value(Dice& dice, const AttributeValue& value) {
  if (dice.between(0, 9) == 0) return std::string("word");
  if (const auto* integer = std::get_if<int64_t>(&value)) return strange_number(dice, *integer);
  if (std::holds_alternative<double>(value)) {
    constexpr std::array kReals = {0.0, -1.0, std::numeric_limits<double>::quiet_NaN(),
                                   std::numeric_limits<double>::infinity(), 1e300};
    return kReals[place(dice, kReals.size())];
  }
  if (const auto* list = std::get_if<std::vector<int64_t>>(&value)) {
    Shape changed = *list;
    spoil_shape(dice, changed);
    return changed;
  }
  return value;
}

void spoil(Dice& dice, Sizes& call) {
  switch (dice.between(0, 9)) {
    case 0:
      if (!call.inputs.empty()) call.inputs.pop_back();
      break;
    case 1:
      call.inputs.push_back({DType::f32, dice.shape(0, 3)});
      break;
    case 2: {
      constexpr std::array kTypes = {DType::f32, DType::i64, DType::boolean};
      if (!call.inputs.empty()) {
        call.inputs[place(dice, call.inputs.size())].dtype = kTypes[place(dice, kTypes.size())];
      }
      break;
    }
    case 3:
    case 4:
    case 5:
      if (!call.inputs.empty()) {
        spoil_shape(dice, call.inputs[place(dice, call.inputs.size())].shape);
      }
      break;
    case 6:
      call.attributes.set("no_such_attribute", int64_t{1});
      break;
    default:
      if (call.attributes.empty()) break;
      const auto chosen = call.attributes.begin() + place(dice, call.attributes.size());
      call.attributes.set(chosen->first, spoiled_value(dice, chosen->second));
      break;
  }
}

void expect_named(const Error& error, const Definition& definition, const Sizes& call) {
  EXPECT_EQ(error.code(), ErrorCode::kShape);
  EXPECT_EQ(error.message().rfind(definition.op + "(", 0), 0u) << error.message();
  constexpr size_t kShown = 24;  // of the many weights a recurrent layer may have
  for (size_t i = 0; i < std::min(call.inputs.size(), kShown); ++i) {
    EXPECT_THAT(error.message(), HasSubstr(to_string(call.inputs[i])));
  }
}

/// What a rule took must be what walking through the definition gives.
void expect_right(const Definition& definition, const OperatorCall& call) {
  for (const TensorType& output : call.outputs) EXPECT_GT(output.bytes(), 0);
  EXPECT_GE(least_bytes(call), 0);
  EXPECT_GE(call.op->flops ? call.op->flops(call) : 0, 0);
  if (!is_quick(call)) return;
  std::vector<Array> inputs;
  for (const TensorType& type : call.inputs) inputs.emplace_back(type.shape, type.dtype);
  const Answer answer = definition.work_out(call, inputs);
  std::vector<TensorType> types;
  for (const Array& output : answer.outputs) types.push_back(output.type());
  EXPECT_EQ(call.outputs, types);
  EXPECT_EQ(call.op->flops ? call.op->flops(call) : 0, answer.flops);
}

class SpoiledCalls : public ::testing::TestWithParam<Family> {};

TEST_P(SpoiledCalls, AreRefusedByNameOrTakenRightly) {
  int refused = 0, taken = 0;
  for (const Definition& definition : GetParam().definitions()) {
    std::vector<Row> rows;
    for (const Row& row : table(GetParam())) {
      if (row.call.op->name == definition.op) rows.push_back(row);
    }
    for (uint32_t seed = 1; seed <= 300; ++seed) {
      Dice dice(seed);
      Sizes call = sizes_of(rows[place(dice, rows.size())]);
      for (int64_t times = dice.between(1, 2); times > 0; --times) spoil(dice, call);
      std::string trace = definition.op + ", seed " + std::to_string(seed);
      for (const TensorType& type : call.inputs) trace += ", " + to_string(type);
      for (const auto& [name, value] : call.attributes) {
        trace += ", " + name + "=" + to_string(value);
      }
      SCOPED_TRACE(trace);
      try {
        expect_right(definition,
                     make_call(find_operator(definition.op), call.inputs, call.attributes));
        ++taken;
      } catch (const Error& error) {
        expect_named(error, definition, call);
        ++refused;
      }
    }
  }
  EXPECT_GT(refused, 100);
  EXPECT_GT(taken, 20);
}

INSTANTIATE_TEST_SUITE_P(Families, SpoiledCalls, ::testing::ValuesIn(families()),
                         [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace kbench::definitions
