// Shape rules, FLOPs and bytes, and the reference in float32 and float64, against every operator's
// definition: on the table's calls and on others like them.
#include "kbench/reference.h"

#include <gtest/gtest.h>
#include <tbb/global_control.h>
#include <tbb/task_arena.h>

#include "kbench/error.h"
#include "tests/operators/table.h"
#include "tests/reference/calls.h"

namespace kbench::definitions {
namespace {

/// Bytes of the inputs and outputs, counted an element at a time; a view moves none.
double bytes_of(const OperatorCall& call, const std::vector<Array>& in, const Answer& answer) {
  double bytes = 0;
  for (const auto* arrays : {&in, &answer.outputs}) {
    for (const Array& array : *arrays) {
      for (size_t i = 0; i < array.values.size(); ++i) {
        const bool byte = array.dtype == DType::boolean || array.dtype == DType::u8;
        bytes += byte ? 1 : array.dtype == DType::i64 ? 8 : 4;
      }
    }
  }
  return call.op->is_view ? 0 : bytes;
}

void expect_rules(const Example& example) {
  std::vector<TensorType> types;
  for (const Array& output : example.answer.outputs) types.push_back(output.type());
  EXPECT_EQ(example.call.outputs, types);
  double (*count)(const OperatorCall&) = example.call.op->flops;
  EXPECT_EQ(count ? count(example.call) : 0, example.answer.flops);
  EXPECT_EQ(least_bytes(example.call), bytes_of(example.call, example.inputs, example.answer));
}

/// The error that the reference may have: the definition's units in the last place, more for sums,
/// whose rounding errors add up like a walk's steps. In float64 the definition itself has as many.
double allowed_error(const OperatorCall& call, double units, DType real) {
  const double flops = call.op->flops ? call.op->flops(call) : 0;
  const double steps = flops / static_cast<double>(call.outputs[0].elements());
  const double growing = units * (1 + std::sqrt(steps) / 4);
  if (real == DType::f32) return growing * std::numeric_limits<float>::epsilon();
  return units == 0 ? 0 : std::max(1e-13, growing * std::numeric_limits<double>::epsilon());
}

/// `error` in place of the definition's units.
void expect_values(const Example& example, double units, std::optional<double> error = {}) {
  if (example.call.op->is_view) {
    Graph graph;  // which is what runs views
    const auto& [dtype, shape] = example.call.inputs[0];
    const Value x = graph.input("x", shape, normal(), dtype);
    graph.output(graph.apply(*example.call.op, {x}, example.call.attributes)[0]);
    const auto got = run_reference(graph, {{"x", tensor_of(example.inputs[0])}});
    return expect_answer(got, example.answer.outputs, 0);
  }
  for (const DType real : {DType::f32, DType::f64}) {
    SCOPED_TRACE(name_of(real));
    const std::vector<Tensor> inputs = tensors_of(example.inputs, real);
    const auto got = reference::run_call(example.call, inputs, real);
    expect_answer(got, example.answer.outputs,
                  error.value_or(allowed_error(example.call, units, real)));
    if (!reference::find_implementation(example.call.op->name).in_place) continue;
    if (got[0].type() != inputs[0].type()) continue;
    const auto again = reference::run_call(example.call, inputs, real, true);
    EXPECT_TRUE(reference::same_bits(again[0], got[0])) << "in place";
  }
}

class Operators : public ::testing::TestWithParam<Family> {};

TEST_P(Operators, OfTheTableGiveWhatTheDefinitionDoes) {
  for (const Row& row : table(GetParam())) {
    if (row.has("threads")) continue;
    SCOPED_TRACE(row.text);
    const Example example = example_of(row);
    const bool exact = !row.inputs.empty();
    if (!exact) expect_rules(example);
    expect_values(example, row.definition().reference_units * row.condition(),
                  exact ? row.error() : std::nullopt);
  }
}

TEST_P(Operators, OfOtherSizesGiveWhatTheDefinitionDoes) {
  std::map<std::string, int> held;
  for (const Row& row : table(GetParam())) {
    for (uint32_t seed = 1; seed <= 16 && row.inputs.empty(); ++seed) {
      Dice dice(seed);
      const std::optional<Row> other = varied(row, dice);
      if (!other || !is_quick(other->call)) continue;
      SCOPED_TRACE(text_of(other->call));
      const Example example = example_of(*other);
      expect_rules(example);
      expect_values(example, row.definition().reference_units * row.condition());
      ++held[row.call.op->name];
    }
  }
  for (const Definition& definition : GetParam().definitions()) {
    EXPECT_GE(held[definition.op], 8) << definition.op;
  }
}

INSTANTIATE_TEST_SUITE_P(Families, Operators, ::testing::ValuesIn(families()),
                         [](const auto& info) { return info.param.name; });

class Threads : public ::testing::TestWithParam<std::string> {};

TEST_P(Threads, GiveTheSameBits) {
  // As many as the largest arena has places for, however few cores there are.
  const tbb::global_control allowed(tbb::global_control::max_allowed_parallelism, 16);
  int rows = 0;
  for (const Row& row : table()) {
    if (row.call.op->name != GetParam() || !row.has("threads")) continue;
    SCOPED_TRACE(row.text);
    ++rows;
    const std::vector<Array> arrays = inputs_of(row);
    for (const DType real : {DType::f32, DType::f64}) {
      const std::vector<Tensor> inputs = tensors_of(arrays, real);
      std::vector<Tensor> one;
      for (const int threads : {1, 2, 3, 8, 16}) {
        tbb::task_arena arena(threads);
        auto got = arena.execute([&] { return reference::run_call(row.call, inputs, real); });
        if (threads == 1) one = got;
        for (size_t i = 0; i < got.size(); ++i) {
          EXPECT_TRUE(reference::same_bits(got[i], one[i]))
              << name_of(real) << " on " << threads << " threads";
        }
      }
    }
  }
  EXPECT_GT(rows, 0) << "an operator without a row for threads";
}

std::vector<std::string> implemented() {
  std::vector<std::string> names;
  for (const Operator* op : operators()) {
    if (!op->is_view) names.push_back(op->name);
  }
  return names;
}

INSTANTIATE_TEST_SUITE_P(Operators, Threads, ::testing::ValuesIn(implemented()),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace kbench::definitions
