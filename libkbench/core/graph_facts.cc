#include "libkbench/core/graph_facts.h"

#include <algorithm>
#include <cstddef>

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
  return !is_one_of(name, {"slice", "chunk", "index_rows", "gather", "triu", "tril", "mul_mask",
                           "pad", "cross_entropy"});
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

std::vector<int> memory_owners(const Graph& graph) {
  std::vector<int> owner(graph.values().size());
  for (size_t id = 0; id < owner.size(); ++id) owner[id] = static_cast<int>(id);
  for (const Graph::Node& node : graph.nodes()) {
    if (node.call.op->is_view) owner[node.outputs[0]] = owner[node.inputs[0]];
  }
  return owner;
}

std::vector<int> last_uses(const Graph& graph, const std::vector<int>& owner) {
  const auto& nodes = graph.nodes();
  std::vector<int> last(owner.size(), -1);
  for (size_t n = 0; n < nodes.size(); ++n) {
    for (const auto* ids : {&nodes[n].inputs, &nodes[n].outputs}) {
      for (const int id : *ids) last[owner[id]] = static_cast<int>(n);
    }
  }
  for (const int id : graph.outputs()) last[owner[id]] = static_cast<int>(nodes.size());
  return last;
}

std::vector<bool> needed_values(const Graph& graph) {
  std::vector<bool> needed(graph.values().size());
  for (const int id : graph.outputs()) needed[static_cast<size_t>(id)] = true;
  for (size_t i = graph.nodes().size(); i-- > 0;) {
    const Graph::Node& node = graph.nodes()[i];
    const auto is_needed = [&](int id) { return needed[static_cast<size_t>(id)]; };
    if (std::ranges::none_of(node.outputs, is_needed)) continue;
    for (const int id : node.inputs) needed[static_cast<size_t>(id)] = true;
  }
  return needed;
}

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
