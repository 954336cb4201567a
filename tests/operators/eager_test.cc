// The eager kernels against every operator's definition, without the reference in between.
#include "tests/eager/eager_fixture.h"
#include "tests/operators/samples.h"

namespace kbench::eager {
namespace {

using namespace kbench::definitions;

class EagerOperators : public EagerTest, public ::testing::WithParamInterface<Family> {};

TEST_P(EagerOperators, MatchTheirDefinitions) {
  for (const Definition& definition : GetParam().definitions()) {
    if (find_operator(definition.op).is_view) continue;
    for (uint32_t seed = 1; seed <= 1; ++seed) {
      const Example example = example_of(definition, seed * 1000);
      SCOPED_TRACE(text_of(example.call));
      std::vector<Tensor> inputs;
      for (const Array& input : example.inputs) inputs.push_back(definitions::tensor_of(input));
      expect_answer(run(example.call, plan_call(example.call, device_traits()), inputs),
                    example.answer, definition.float_error);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Families, EagerOperators, ::testing::ValuesIn(families()),
                         [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace kbench::eager
