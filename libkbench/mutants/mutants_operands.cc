// Mutants by what operators are given: parameters, attributes, operands.
#include <algorithm>
#include <cmath>
#include <set>

#include "kbench/ops.h"
#include "libkbench/mutants/mutant_rules.h"

namespace kbench {
namespace {

/// Operators without parameters of their own: their further inputs are operands.
bool elementwise(const Operator& op) {
  return is_one_of(op.name, {"add", "sub", "mul", "div", "maximum", "minimum"});
}

/// Values that an attribute is easily mistaken for.
std::vector<AttributeValue> alternatives(const std::string& name, const AttributeValue& value,
                                         const TensorType& input) {
  std::vector<AttributeValue> others;
  const auto real = [&](std::initializer_list<double> list) {
    for (const double each : list) others.emplace_back(each);
  };
  if (name == "axis") {
    for (size_t i = 0; i < input.shape.size(); ++i) others.emplace_back(static_cast<int64_t>(i));
  } else if (name == "groups") {
    const int64_t most = input.shape.size() > 1 ? input.shape[1] : 1;
    for (int64_t g = 1; g <= most; g *= 2) others.emplace_back(g);
    others.emplace_back(most);
  } else if (name == "dims") {
    for (size_t i = 1; i <= input.shape.size(); ++i) others.emplace_back(static_cast<int64_t>(i));
  } else if (name == "eps") {
    real({0.0, 1e-3, 1e-5, 1e-6, 1e-8, 1e-12});
  } else if (name == "slope") {
    real({0.01, 0.1, 0.2, 0.3});
  } else if (name == "alpha") {
    real({0.5, 1.0, 2.0});
  } else if (name == "margin") {
    real({0.0, 0.5, 1.0});
  } else if (const auto* integer = std::get_if<int64_t>(&value)) {
    if (is_one_of(name, {"transpose_a", "transpose_b", "ceil_mode"})) {
      others.emplace_back(1 - *integer);
    } else if (!is_one_of(name, {"keepdim", "hidden", "layers"})) {
      others = {*integer - 1, *integer + 1, -*integer};
    }
  } else if (const auto* number = std::get_if<double>(&value)) {
    real({-*number, *number * 2, *number / 2});
    if (*number != 0) real({1 / *number});
    if (*number > 0) real({std::sqrt(*number), *number * *number});
  } else if (const auto* list = std::get_if<std::vector<int64_t>>(&value)) {
    for (const int64_t step : {-1, 1}) {
      std::vector<int64_t> all = *list;
      for (int64_t& each : all) each += step;
      others.emplace_back(std::move(all));
    }
    others.emplace_back(std::vector<int64_t>(list->rbegin(), list->rend()));
    for (size_t i = 0; i + 1 < list->size(); ++i) {
      std::vector<int64_t> swapped = *list;
      std::swap(swapped[i], swapped[i + 1]);
      others.emplace_back(std::move(swapped));
    }
  }
  std::set<AttributeValue> seen{value};
  std::vector<AttributeValue> different;
  for (AttributeValue& each : others) {
    if (seen.insert(each).second) different.push_back(std::move(each));
  }
  return different;
}

}  // namespace

void mutate_parameters(const Graph& graph, int number, const AddMutant& add) {
  const Graph::Node& node = graph.node(number);
  if (elementwise(*node.call.op)) return;
  const bool many = node.inputs.size() > 3;  // a recurrent layer
  if (is_norm(*node.call.op) && node.inputs.size() == 3) {
    add("without the weight and the bias of @", [](const Rewriting& rewriting, int n) {
      return again(rewriting, n, {inputs_of(rewriting, n)[0]});
    });
  }
  for (size_t i = 1; i < node.inputs.size(); ++i) {
    const Graph::ValueInfo& value = graph.value(node.inputs[i]);
    if (value.kind != Graph::Kind::parameter || value.type.dtype != DType::f32) continue;
    const bool bias = value.name.ends_with("bias") || value.name.find("bias_") != std::string::npos;
    if (!bias && value.type.shape.size() != 1) continue;
    const std::string what = many ? value.name : bias ? "the bias" : "the weight";
    add("without " + what + " of @", [i, bias](const Rewriting& rewriting, int n) {
      std::vector<Value> inputs = inputs_of(rewriting, n);
      inputs[i] = filled(rewriting.to, inputs[i].shape(), bias ? 0.0f : 1.0f);
      return again(rewriting, n, inputs);
    });
  }
  const bool biases = std::any_of(node.inputs.begin(), node.inputs.end(), [&](int id) {
    return graph.value(id).kind == Graph::Kind::parameter &&
           graph.value(id).name.find("bias") != std::string::npos;
  });
  if (many && biases) {
    add("without any bias of @", [](const Rewriting& rewriting, int n) {
      std::vector<Value> inputs = inputs_of(rewriting, n);
      const Graph::Node& layer = node_of(rewriting, n);
      for (size_t i = 1; i < inputs.size(); ++i) {
        const std::string& name = rewriting.from.value(layer.inputs[i]).name;
        if (name.find("bias") == std::string::npos) continue;
        inputs[i] = filled(rewriting.to, inputs[i].shape(), 0);
      }
      return again(rewriting, n, inputs);
    });
  }
}

void mutate_attributes(const Graph& graph, int number, const AddMutant& add) {
  const Graph::Node& node = graph.node(number);
  if (node.call.op->is_view) return;
  for (const auto& [name, value] : node.call.attributes) {
    for (AttributeValue& other : alternatives(name, value, node.call.inputs[0])) {
      const std::string text =
          "@ with " + name + " " + to_string(other) + ", not " + to_string(value);
      add(text, [name = name, other](const Rewriting& rewriting, int n) {
        Attributes attributes = node_of(rewriting, n).call.attributes;
        attributes.set(name, other);
        return again(rewriting, n, inputs_of(rewriting, n), attributes);
      });
    }
  }
}

/// Operands of two that are swapped, and inputs of the task that are taken for zeros.
void mutate_operands(const Graph& graph, int number, const AddMutant& add) {
  const Graph::Node& node = graph.node(number);
  const std::string& name = node.call.op->name;
  if (is_one_of(name, {"sub", "div", "matmul", "kl_div_batchmean"})) {
    add("@ with its operands swapped", [](const Rewriting& rewriting, int n) {
      const std::vector<Value> inputs = inputs_of(rewriting, n);
      return again(rewriting, n, {inputs[1], inputs[0]});
    });
  }
  for (size_t i = 1; i < node.inputs.size(); ++i) {
    const Graph::ValueInfo& value = graph.value(node.inputs[i]);
    if (value.kind != Graph::Kind::input || value.type.dtype != DType::f32) continue;
    if (elementwise(*node.call.op)) continue;
    add("zeros for " + value.name + " in @", [i](const Rewriting& rewriting, int n) {
      std::vector<Value> inputs = inputs_of(rewriting, n);
      inputs[i] = filled(rewriting.to, inputs[i].shape(), 0);
      return again(rewriting, n, inputs);
    });
  }
}

}  // namespace kbench
