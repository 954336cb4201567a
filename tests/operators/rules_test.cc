// Shape rules, FLOPs and bytes against walking through the operator's definition.
#include <gtest/gtest.h>

#include <set>

#include "tests/operators/definition.h"

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

TEST(OperatorDefinitions, EveryOperatorOfTheTableHasOne) {
  std::set<std::string> defined, declared;
  for (const Family& family : families()) {
    for (const Definition& d : family.definitions()) {
      EXPECT_TRUE(defined.insert(d.op).second) << d.op << " is defined twice";
    }
  }
  for (const Operator* op : operators()) declared.insert(op->name);
  EXPECT_EQ(defined, declared) << "a new operator needs its definition in tests/operators/";
}

class OperatorRules : public ::testing::TestWithParam<Family> {};

TEST_P(OperatorRules, ShapesFlopsAndBytesMatchTheDefinition) {
  for (const Definition& definition : GetParam().definitions()) {
    for (uint32_t seed = 1; seed <= 60; ++seed) {
      Dice dice(seed, seed % 6 == 0 ? Extents::odd : Extents::any);
      const Sample sample = definition.draw(dice);
      const OperatorCall call = call_of(definition, sample);
      double (*count)(const OperatorCall&) = call.op->flops;
      if (count && count(call) > 1e6) continue;
      SCOPED_TRACE(text_of(call));
      const Answer answer = definition.work_out(call, sample.inputs);
      std::vector<TensorType> types;
      for (const Array& output : answer.outputs) types.push_back(output.type());
      EXPECT_EQ(call.outputs, types);
      EXPECT_EQ(count ? count(call) : 0, answer.flops);
      EXPECT_EQ(least_bytes(call), bytes_of(call, sample.inputs, answer));
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Families, OperatorRules, ::testing::ValuesIn(families()),
                         [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace kbench::definitions
