// Shortcuts of scans and recurrent layers: only some of the steps, or all of them at once as if
// they did not depend on each other. And by half the depth: of a chain of layers with results of
// one shape, such as the blocks of residual networks and transformers, the second half is left out.

#include <vector>

#include "harness/measure/audit/shortcut_rules.h"
#include "libkbench/mutants/mutant_rules.h"

namespace kbench {
namespace {

/// The scan up to `end`; its last value repeated for all elements behind.
Value scan_until(const Rewriting& rewriting, int number, int axis, int64_t end) {
  const Value x = inputs_of(rewriting, number)[0];
  const Value some = again(rewriting, number, {first_of(x, axis, end)})[0];
  Shape rest = x.shape();
  rest[static_cast<size_t>(axis)] -= end;
  return cat({some, expand(range_of(some, axis, end - 1, end), rest)}, axis);
}

void shorten_scan(const Graph::Node& node, const AddMutant& add) {
  const int axis = static_cast<int>(node.call.attributes.integer("axis"));
  const int64_t n = node.call.inputs[0].shape[static_cast<size_t>(axis)];
  if (n < 2) return;
  for (const int64_t pieces : {2, 8}) {
    if (n < 2 * pieces) continue;
    add(pieces == 2 ? "@ begun anew half way" : "@ begun anew every eighth of the way",
        [axis, pieces](const Rewriting& rewriting, int number) -> std::vector<Value> {
          std::vector<Value> parts = pieces_of(inputs_of(rewriting, number)[0], axis, pieces);
          for (Value& part : parts) part = again(rewriting, number, {part})[0];
          return {joined(parts, axis)};
        });
  }
  struct End {
    const char* text;
    int64_t at;
  };
  for (const End& end : {End{"half", n / 2}, {"eighth", n / 8}, {"64 elements", 64}}) {
    if (end.at < 1 || end.at >= n) continue;
    add(std::string("@ over the first ") + end.text + ", constant from there on",
        [axis, at = end.at](const Rewriting& rewriting, int number) -> std::vector<Value> {
          return {scan_until(rewriting, number, axis, at)};
        });
  }
}

// --- recurrent layers ----------------------------------------------------------------------------

/// The parts of a recurrent call: its inputs are x, one or two states, and four parameters for each
/// cell; a layer has one cell for each direction.
struct Layers {
  explicit Layers(const Graph::Node& node)
      : axis(node.call.attributes.flag("batch_first") ? 1 : 0),
        states(node.call.op->name == "lstm" ? 2 : 1),
        steps(node.call.inputs[0].shape[static_cast<size_t>(axis)]),
        batch(node.call.inputs[0].shape[static_cast<size_t>(1 - axis)]),
        hidden(node.call.attributes.integer("hidden")),
        layers(node.call.attributes.integer("layers")),
        directions(node.call.attributes.flag("bidirectional") ? 2 : 1) {}

  int axis;       ///< of the steps
  size_t states;  ///< h, or h and c
  int64_t steps, batch, hidden, layers, directions;
};

void clear_states(const Rewriting& rewriting, const Layers& l, std::vector<Value>& inputs) {
  for (size_t i = 1; i <= l.states; ++i) inputs[i] = filled(rewriting.to, inputs[i].shape(), 0);
}

/// Steps [first, end) alone, from zero states where first > 0; the outputs of other steps are
/// zeros.
std::vector<Value> some_steps(const Rewriting& rewriting, int number, int64_t first, int64_t end) {
  const Layers l(node_of(rewriting, number));
  std::vector<Value> inputs = inputs_of(rewriting, number);
  inputs[0] = range_of(inputs[0], l.axis, first, end);
  if (first > 0) clear_states(rewriting, l, inputs);
  std::vector<Value> made = again(rewriting, number, inputs);
  made[0] = pad(made[0], l.axis, first, l.steps - end);
  return made;
}

/// Every step as if it were a sequence of its own: one large product for all of them.
std::vector<Value> no_recurrence(const Rewriting& rewriting, int number) {
  const Layers l(node_of(rewriting, number));
  std::vector<Value> inputs = inputs_of(rewriting, number);
  const int64_t all = l.steps * l.batch, cells = l.layers * l.directions;
  Shape alone = inputs[0].shape();
  alone[static_cast<size_t>(l.axis)] = 1;
  alone[static_cast<size_t>(1 - l.axis)] = all;
  inputs[0] = reshape(inputs[0], alone);
  for (size_t i = 1; i <= l.states; ++i) {
    inputs[i] = filled(rewriting.to, {cells, all, l.hidden}, 0);
  }
  std::vector<Value> made = again(rewriting, number, inputs);
  made[0] = reshape(made[0], node_of(rewriting, number).call.outputs[0].shape);
  for (size_t i = 1; i < made.size(); ++i) {
    const Shape apart = l.axis == 1 ? Shape{cells, l.batch, l.steps, l.hidden}
                                    : Shape{cells, l.steps, l.batch, l.hidden};
    const int axis = l.axis + 1;
    made[i] = squeeze(range_of(reshape(made[i], apart), axis, l.steps - 1, l.steps), axis);
  }
  return made;
}

/// The first layers alone, the final states of the others zeros.
std::vector<Value> some_layers(const Rewriting& rewriting, int number, int64_t count) {
  const Graph::Node& node = node_of(rewriting, number);
  const Layers l(node);
  std::vector<Value> inputs = inputs_of(rewriting, number);
  inputs.resize(1 + l.states + static_cast<size_t>(4 * count * l.directions));
  for (size_t i = 1; i <= l.states; ++i) inputs[i] = first_of(inputs[i], 0, count * l.directions);
  Attributes attributes = node.call.attributes;
  attributes.set("layers", count);
  std::vector<Value> made = again(rewriting, number, inputs, attributes);
  for (size_t i = 1; i < made.size(); ++i) {
    made[i] = pad(made[i], 0, 0, (l.layers - count) * l.directions);
  }
  return made;
}

/// Of two directions the outputs of one, zeros for the other's.
std::vector<Value> one_direction(const Rewriting& rewriting, int number) {
  const Layers l(node_of(rewriting, number));
  std::vector<Value> made = again(rewriting, number, inputs_of(rewriting, number));
  made[0] = pad(first_of(made[0], 2, l.hidden), 2, 0, l.hidden);
  for (size_t i = 1; i < made.size(); ++i) {
    const Value apart = reshape(made[i], {l.layers, 2, l.batch, l.hidden});
    made[i] = reshape(pad(first_of(apart, 1, 1), 1, 0, 1), made[i].shape());
  }
  return made;
}

void shorten_recurrence(const Graph::Node& node, const AddMutant& add) {
  const Layers l(node);
  add("@ with initial states of 0", [](const Rewriting& rewriting, int number) {
    std::vector<Value> inputs = inputs_of(rewriting, number);
    clear_states(rewriting, Layers(node_of(rewriting, number)), inputs);
    return again(rewriting, number, inputs);
  });
  struct Range {
    const char* text;
    int64_t first, end;
  };
  const int64_t half = l.steps - l.steps / 2, eighth = l.steps - l.steps / 8;
  for (const Range& range : {Range{"the first half of the steps", 0, l.steps / 2},
                             {"the last half of the steps, from states of 0", half, l.steps},
                             {"the last eighth of the steps, from states of 0", eighth, l.steps},
                             {"the last 64 steps, from states of 0", l.steps - 64, l.steps}}) {
    if (range.first < 0 || range.first >= range.end || range.end < 1) continue;
    if (range.end - range.first == l.steps) continue;
    add(std::string("@ over ") + range.text, [range](const Rewriting& rewriting, int number) {
      return some_steps(rewriting, number, range.first, range.end);
    });
  }
  if (l.steps > 1) add("@ with every step from states of 0", no_recurrence);
  if (l.layers > 1) {
    add("@ with the first half of its layers", [](const Rewriting& rewriting, int number) {
      return some_layers(rewriting, number, Layers(node_of(rewriting, number)).layers / 2);
    });
  }
  if (l.directions > 1) add("@ with its forward direction alone", one_direction);
}

}  // namespace

void shorten_steps(const Graph& graph, int number, const AddMutant& add) {
  const Graph::Node& node = graph.node(number);
  if (is_one_of(node.call.op->name, {"cumsum", "cumprod"})) {
    shorten_scan(node, add);
  } else if (is_recurrent(*node.call.op)) {
    shorten_recurrence(node, add);
  }
}

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
