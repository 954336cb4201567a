#include "libkbench/core/least_work.h"

#include <algorithm>
#include <string>
#include <vector>

#include "libkbench/core/operator_kinds.h"

namespace kbench {
namespace {

bool is_pool(const Operator& op) { return op.name.find("_pool") != op.name.npos; }

/// The extents of a window that moves over the input's last dimensions.
Shape window_of(const OperatorCall& call) {
  if (is_convolution(*call.op)) return convolution_window(call);
  if (const AttributeValue* kernel = call.attributes.find("kernel")) {
    if (const auto* list = std::get_if<std::vector<int64_t>>(kernel)) return *list;
  }
  return {};
}

/// Whether a window leaves elements of the input out between its places, or might.
bool leaves_gaps(const OperatorCall& call) {
  const Shape window = window_of(call);
  const auto list = [&](const char* name) -> Shape {
    const AttributeValue* value = call.attributes.find(name);
    const auto* given = value ? std::get_if<std::vector<int64_t>>(value) : nullptr;
    return given ? *given : Shape();
  };
  const Shape stride = list("stride"), dilation = list("dilation"), padding = list("padding");
  for (size_t i = 0; i < window.size(); ++i) {
    if (i < dilation.size() && dilation[i] > 1) return true;
    if (i < stride.size() && stride[i] > window[i]) return true;
    // The last places of a window that does not fit are left out; cropping takes away whole rows.
    if (i < stride.size() && stride[i] > 1) return true;
    if (call.op->name.starts_with("conv_transpose") && i < padding.size() && padding[i] > 0) {
      return true;
    }
  }
  return window.empty() && call.op->name != "adaptive_avg_pool2d";
}

/// Operators of which every element of every operand changes the result, where all of it counts.
bool uses_all(const Graph::Node& node) {
  const OperatorCall& call = node.call;
  const std::string& name = call.op->name;
  if (is_convolution(*call.op) || is_pool(*call.op)) return !leaves_gaps(call);
  // These leave out elements, or which ones count is in values.
  return !is_one_of(
      name, {"slice", "chunk", "index_rows", "triu", "tril", "mul_mask", "pad", "cross_entropy"});
}

/// Operators that give an element of a result for each element of the first operand, by it alone.
bool is_elementwise(const Operator& op) {
  return op.is_view ||
         is_one_of(op.name, {"abs", "add", "add_scalar", "div_scalar", "elu", "gelu", "hardswish",
                             "leaky_relu", "mish", "mul_scalar", "neg", "permute", "selu",
                             "sigmoid", "softplus", "sub", "sub_scalar", "tanh", "relu"});
}

/// Values of which all elements count for an output.
std::vector<bool> wholly_needed(const Graph& graph) {
  std::vector<bool> needed(graph.values().size());
  for (const int id : graph.outputs()) needed[static_cast<size_t>(id)] = true;
  for (auto node = graph.nodes().rbegin(); node != graph.nodes().rend(); ++node) {
    const bool all =
        std::ranges::all_of(node->outputs, [&](int id) { return needed[static_cast<size_t>(id)]; });
    if (!all || !uses_all(*node)) continue;
    for (const int id : node->inputs) needed[static_cast<size_t>(id)] = true;
  }
  return needed;
}

/// Values of which every element has an element of an output of its own.
std::vector<bool> passed_through(const Graph& graph) {
  std::vector<bool> passed(graph.values().size());
  for (const int id : graph.outputs()) passed[static_cast<size_t>(id)] = true;
  for (auto node = graph.nodes().rbegin(); node != graph.nodes().rend(); ++node) {
    if (!is_elementwise(*node->call.op)) continue;
    const int from = node->inputs[0];
    const bool same_size = node->call.inputs[0].elements() == node->call.outputs[0].elements();
    if (same_size && passed[static_cast<size_t>(node->outputs[0])]) {
      passed[static_cast<size_t>(from)] = true;
    }
  }
  return passed;
}

/// Whether its values are drawn one by one: no triangle, no symmetry.
bool is_free(const Graph& graph, int id) {
  const Graph::ValueInfo& value = graph.values()[static_cast<size_t>(id)];
  if (value.kind == Graph::Kind::intermediate) {
    const Graph::Node& node = graph.node(value.producer);
    return node.call.op->is_view && is_free(graph, node.inputs[0]);
  }
  return value.kind != Graph::Kind::constant &&
         value.distribution.then == Distribution::Then::nothing;
}

double least_flops(const OperatorCall& call) {
  constexpr double kStrassen = 2;
  const double flops = call.op->flops(call);
  if (!is_convolution(*call.op)) return flops / kStrassen;
  return flops / std::max(kStrassen, static_cast<double>(element_count(convolution_window(call))));
}

}  // namespace

LeastWork least_work(const Graph& graph) {
  LeastWork work;
  const std::vector<bool> needed = wholly_needed(graph), passed = passed_through(graph);
  for (size_t id = 0; id < needed.size(); ++id) {
    const Graph::ValueInfo& value = graph.values()[id];
    if (value.kind == Graph::Kind::intermediate || !needed[id]) continue;
    work.read_bytes += static_cast<double>(graph.stored(value.type).bytes());
  }
  for (const int id : graph.outputs()) {
    work.written_bytes += static_cast<double>(graph.stored_type(id).bytes());
  }
  for (const Graph::Node& node : graph.nodes()) {
    if (!is_product(*node.call.op) || !passed[static_cast<size_t>(node.outputs[0])]) continue;
    if (!is_free(graph, node.inputs[0]) || !is_free(graph, node.inputs[1])) continue;
    if (node.inputs[0] == node.inputs[1]) continue;
    work.flops += least_flops(node.call);
  }
  return work;
}

}  // namespace kbench
