// The reference in float32 and float64 against every operator's definition.
#include "kbench/reference.h"

#include <gtest/gtest.h>

#include "tests/operators/samples.h"

namespace kbench::definitions {
namespace {

std::vector<Tensor> run(const Example& example, Precision precision) {
  Graph graph;
  std::vector<Value> values;
  NamedTensors given;
  for (const Array& input : example.inputs) {
    const std::string name = "input" + std::to_string(values.size());
    values.push_back(graph.input(name, input.shape, normal(), input.dtype));
    given[name] = tensor_of(input);
  }
  const OperatorCall& call = example.call;
  for (const Value& value : graph.apply(*call.op, values, call.attributes)) graph.output(value);
  return run_reference(graph, std::move(given), {.precision = precision, .threads = 2});
}

class ReferenceOperators : public ::testing::TestWithParam<Family> {};

TEST_P(ReferenceOperators, MatchTheirDefinitionsInBothPrecisions) {
  for (const Definition& definition : GetParam().definitions()) {
    for (uint32_t seed = 1; seed <= 12; ++seed) {
      const Example example = example_of(definition, seed * 1000);
      SCOPED_TRACE(text_of(example.call));
      {
        SCOPED_TRACE("float32");
        expect_answer(run(example, Precision::f32), example.answer, definition.float_error);
      }
      {
        SCOPED_TRACE("float64");
        expect_answer(run(example, Precision::f64), example.answer, 1e-13);
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Families, ReferenceOperators, ::testing::ValuesIn(families()),
                         [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace kbench::definitions
