#include "libkbench/core/operator_kinds.h"

#include <algorithm>

namespace kbench {

bool is_one_of(const std::string& name, std::initializer_list<const char*> names) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

bool is_convolution(const Operator& op) { return op.name.starts_with("conv"); }

Shape convolution_window(const OperatorCall& call) {
  const Shape& weight = call.inputs[1].shape;
  return {weight.begin() + 2, weight.end()};
}

bool is_product(const Operator& op) {
  return is_one_of(op.name, {"linear", "matmul"}) || is_convolution(op);
}

bool is_recurrent(const Operator& op) { return is_one_of(op.name, {"lstm", "gru"}); }

bool is_norm(const Operator& op) {
  return is_one_of(op.name, {"batch_norm", "instance_norm", "group_norm", "layer_norm"});
}

int64_t terms_of_statistics(const Graph::Node& node) {
  const Shape& x = node.call.inputs[0].shape;
  const Attributes& attributes = node.call.attributes;
  const std::string& name = node.call.op->name;
  const int64_t all = element_count(x);
  if (name == "batch_norm") return all / x[1];
  if (name == "group_norm") return all / (x[0] * attributes.integer("groups"));
  if (name != "layer_norm") return all / (x[0] * x[1]);
  const auto dims = static_cast<int64_t>(attributes.integer("dims"));
  return element_count({x.end() - dims, x.end()});
}

}  // namespace kbench
