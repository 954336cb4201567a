// Shortcuts by half the depth: of a chain of layers with results of one shape, such as the blocks
// of residual networks and transformers, the second half is left out.
#include <vector>

#include "harness/measure/audit/shortcut_rules.h"
#include "libkbench/mutants/rule_parts.h"

namespace kbench {
namespace {

constexpr size_t kLeastLayers = 4;

bool same_layer(const Graph::Node& a, const Graph::Node& b) {
  return a.call.op == b.call.op && a.call.outputs.size() == 1 && b.call.outputs.size() == 1 &&
         a.call.outputs[0].shape == b.call.outputs[0].shape &&
         a.call.outputs[0].dtype == b.call.outputs[0].dtype;
}

/// For each node whether its result depends on `from`.
std::vector<bool> behind(const Graph& graph, int from) {
  std::vector<bool> reached_value(graph.values().size(), false), reached(graph.nodes().size());
  for (size_t n = static_cast<size_t>(from); n < graph.nodes().size(); ++n) {
    const Graph::Node& node = graph.nodes()[n];
    bool reaches = n == static_cast<size_t>(from);
    for (const int id : node.inputs) reaches = reaches || reached_value[static_cast<size_t>(id)];
    if (!reaches) continue;
    reached[n] = true;
    for (const int id : node.outputs) reached_value[static_cast<size_t>(id)] = true;
  }
  return reached;
}

/// The chain of like layers that begins with a node; each is the first that follows the one before.
std::vector<int> chain_from(const Graph& graph, int first) {
  std::vector<int> chain = {first};
  std::vector<bool> after = behind(graph, first);
  for (int n = first + 1; n < static_cast<int>(graph.nodes().size()); ++n) {
    const auto at = static_cast<size_t>(n);
    if (!after[at] || !same_layer(graph.nodes()[at], graph.node(first))) continue;
    chain.push_back(n);
    after = behind(graph, n);
  }
  return chain;
}

bool begins_a_chain(const Graph& graph, int number) {
  for (int n = 0; n < number; ++n) {
    if (same_layer(graph.node(n), graph.node(number)) &&
        behind(graph, n)[static_cast<size_t>(number)]) {
      return false;
    }
  }
  return true;
}

}  // namespace

void halve_depth(const Graph& graph, int number, const AddMutant& add) {
  const Graph::Node& node = graph.node(number);
  // A block ends with the residual addition or with an activation.
  if (!is_one_of(node.call.op->name, {"add", "relu", "gelu", "relu6", "hardswish", "tanh"})) return;
  int last_alike = number;
  for (int n = number + 1; n < static_cast<int>(graph.nodes().size()); ++n) {
    if (same_layer(graph.node(n), node)) last_alike = n;
  }
  if (last_alike != number) return;
  for (int first = 0; first < number; ++first) {
    if (!same_layer(graph.node(first), node) || !begins_a_chain(graph, first)) continue;
    const std::vector<int> chain = chain_from(graph, first);
    if (chain.back() != number || chain.size() < kLeastLayers) continue;
    const int middle = chain[chain.size() / 2 - 1];
    add("@ with the first " + std::to_string(chain.size() / 2) + " of " +
            std::to_string(chain.size()) + " layers alone",
        [middle](const Rewriting& rewriting, int) -> std::vector<Value> {
          return {rewriting.value(node_of(rewriting, middle).outputs[0])};
        });
    return;
  }
}

}  // namespace kbench
