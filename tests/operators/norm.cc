// Norms: each element finds the set it is normalised with, whose mean and biased variance are
// summed up in two passes. Counted an element: an addition for the mean; a difference, a product
// and an addition for the variance; a difference and a product; and where there are a weight and
// a bias, a product and an addition.
#include <cmath>
#include <map>

#include "tests/operators/definition.h"

namespace kbench::definitions {
namespace {

using SetOf = Index (*)(const OperatorCall& call,
                        const Index& at);  ///< what an element's set is called
using PlaceOf = Index (*)(const OperatorCall& call, const Index& at);  ///< its weight and bias

Answer normalised(const OperatorCall& call, const std::vector<Array>& in, SetOf set_of,
                  PlaceOf place_of) {
  struct Statistics {
    double count = 0, mean = 0, variance = 0;
  };
  const Array& x = in[0];
  Answer answer{{Array(x.shape)}, 0};
  std::map<Index, Statistics> sets;
  for_each_index(x.shape, [&](const Index& at) {
    Statistics& s = sets[set_of(call, at)];
    s.count += 1;
    s.mean += x.at(at);
    answer.flops += 1;
  });
  for (auto& [name, s] : sets) s.mean /= s.count;
  for_each_index(x.shape, [&](const Index& at) {
    Statistics& s = sets[set_of(call, at)];
    s.variance += (x.at(at) - s.mean) * (x.at(at) - s.mean);
    answer.flops += 3;
  });
  for (auto& [name, s] : sets) s.variance /= s.count;
  for_each_index(x.shape, [&](const Index& at) {
    const Statistics& s = sets[set_of(call, at)];
    double y = (x.at(at) - s.mean) * (1 / std::sqrt(s.variance + call.attributes.real("eps")));
    answer.flops += 2;
    if (in.size() > 1) {
      y = y * in[1].at(place_of(call, at)) + in[2].at(place_of(call, at));
      answer.flops += 2;
    }
    answer.outputs[0].at(at) = y;
  });
  return answer;
}

Index channel(const OperatorCall&, const Index& at) { return {at[1]}; }
Index sample_and_channel(const OperatorCall&, const Index& at) { return {at[0], at[1]}; }
Index sample_and_group(const OperatorCall& call, const Index& at) {
  const int64_t in_group = call.inputs[0].shape[1] / call.attributes.integer("groups");
  return {at[0], at[1] / in_group};
}
Index leading(const OperatorCall& call, const Index& at) {
  return {at.begin(), at.end() - call.attributes.integer("dims")};
}
Index trailing(const OperatorCall& call, const Index& at) {
  return {at.end() - call.attributes.integer("dims"), at.end()};
}

Definition norm(const char* op, SetOf set_of, PlaceOf place_of) {
  return {op,
          [=](const OperatorCall& call, const std::vector<Array>& in) {
            return normalised(call, in, set_of, place_of);
          },
          1e-5, 16};
}

}  // namespace

std::vector<Definition> norm_definitions() {
  return {
      norm("batch_norm", channel, channel),
      norm("instance_norm", sample_and_channel, channel),
      norm("group_norm", sample_and_group, channel),
      norm("layer_norm", leading, trailing),
  };
}

}  // namespace kbench::definitions
