// Mutants by indices and loop bounds: transposed, shifted by one, a range that ends too early.
#include <algorithm>
#include <set>

#include "libkbench/mutants/mutant_rules.h"

namespace kbench {
namespace {

/// Ends of ranges that were meant to reach n: one short, the last whole tile, a half.
std::vector<int64_t> short_ends(int64_t n) {
  std::set<int64_t, std::greater<>> ends;
  ends.insert(n - 1);
  for (const int64_t tile : {2, 4, 8, 16, 32, 64, 128, 256}) ends.insert(n - n % tile);
  ends.insert(n / 2);
  std::vector<int64_t> list;
  for (const int64_t end : ends) {
    if (end > 0 && end < n) list.push_back(end);
  }
  return list;
}

std::string range_text(int64_t end, int64_t n, const std::string& of) {
  return "@ over the first " + std::to_string(end) + " of " + std::to_string(n) + " " + of;
}

Value moved(Value x, int axis, int64_t by) {
  const int64_t n = x.dim(axis);
  if (by > 0) return slice(pad(x, axis, by, 0), {.axis = axis, .start = 0, .stop = n});
  return slice(pad(x, axis, 0, -by), {.axis = axis, .start = -by, .stop = n - by});
}

void reduction_ranges(const Graph::Node& node, const AddMutant& add) {
  const int axis = static_cast<int>(node.call.attributes.integer("axis"));
  const int64_t n = node.call.inputs[0].shape[static_cast<size_t>(axis)];
  const std::string along = "along axis " + std::to_string(axis);
  const bool mean = node.call.op->name == "mean";
  for (const int64_t end : short_ends(n)) {
    add(range_text(end, n, along), [axis, end, n, mean](const Rewriting& rewriting, int number) {
      const Value part = first_of(inputs_of(rewriting, number)[0], axis, end);
      std::vector<Value> made = again(rewriting, number, {part});
      if (mean) made[0] = made[0] * (static_cast<double>(end) / static_cast<double>(n));
      return made;
    });
  }
  if (mean) {
    for (const int64_t end : short_ends(n)) {
      add(range_text(end, n, along) + " alone",
          [axis, end](const Rewriting& rewriting, int number) {
            return again(rewriting, number, {first_of(inputs_of(rewriting, number)[0], axis, end)});
          });
    }
  }
  const bool adds = node.call.op->name == "sum";
  for (const int64_t step : {2, 4}) {
    if (n < 2 * step) break;
    for (const bool scaled : {false, true}) {
      if (scaled && !adds) continue;
      add(std::string("@ over every ") + (step == 2 ? "second" : "fourth") + " element " + along +
              (scaled ? ", times " + std::to_string(step) : ""),
          [axis, n, step, scaled](const Rewriting& rewriting, int number) {
            const Value x = inputs_of(rewriting, number)[0];
            const Slice some{.axis = axis, .start = 0, .stop = n, .step = step};
            std::vector<Value> made = again(rewriting, number, {slice(x, some)});
            if (scaled) made[0] = made[0] * static_cast<double>(step);
            return made;
          });
    }
  }
  if (n > 1) {
    add("@ without the first element " + along, [axis, n](const Rewriting& rewriting, int number) {
      const Value x = inputs_of(rewriting, number)[0];
      return again(rewriting, number, {slice(x, {.axis = axis, .start = 1, .stop = n})});
    });
  }
}

/// A softmax whose sum is of a part, as it is or scaled to all.
void softmax_ranges(const Graph::Node& node, const AddMutant& add) {
  const int axis = static_cast<int>(node.call.attributes.integer("axis"));
  const int64_t n = node.call.inputs[0].shape[static_cast<size_t>(axis)];
  std::vector<Slice> parts;
  std::vector<std::string> texts;
  for (const int64_t end : short_ends(n)) {
    parts.push_back({.axis = axis, .start = 0, .stop = end});
    texts.push_back("the first " + std::to_string(end) + " of " + std::to_string(n));
  }
  for (const int64_t step : {2, 4}) {
    if (n < 2 * step) break;
    parts.push_back({.axis = axis, .start = 0, .stop = n, .step = step});
    texts.push_back(step == 2 ? "every second element" : "every fourth element");
  }
  for (size_t i = 0; i < parts.size(); ++i) {
    for (const bool scaled : {false, true}) {
      add("@ with the sum over " + texts[i] + " along axis " + std::to_string(axis) +
              (scaled ? ", scaled to all" : ""),
          [axis, n, scaled, part = parts[i]](const Rewriting& rewriting,
                                             int number) -> std::vector<Value> {
            const Value x = inputs_of(rewriting, number)[0];
            const Value e = exp(x - max(x, {.axis = axis, .keepdim = true}));
            const Value some = slice(e, part);
            const double factor = static_cast<double>(n) / static_cast<double>(some.dim(axis));
            const Value total = sum(some, {.axis = axis, .keepdim = true});
            return {e / (scaled ? total * factor : total)};
          });
    }
  }
}

void product_ranges(const Graph::Node& node, const AddMutant& add) {
  const Inner inner = inner_of(node);
  for (const int64_t end : short_ends(inner.extent)) {
    add(range_text(end, inner.extent, "of the inner dimension"),
        [inner, end](const Rewriting& rewriting, int number) {
          std::vector<Value> inputs = inputs_of(rewriting, number);
          inputs[0] = first_of(inputs[0], inner.a, end);
          inputs[1] = first_of(inputs[1], inner.b, end);
          return again(rewriting, number, inputs);
        });
  }
}

/// Input channels and taps of the kernel that are left out of the sum.
void convolution_ranges(const Graph::Node& node, const AddMutant& add) {
  const bool transposed = node.call.op->name.starts_with("conv_transpose");
  const Shape& weight = node.call.inputs[1].shape;
  const int64_t channels = node.call.inputs[0].shape[1];
  if (node.call.attributes.integer("groups") == 1) {
    for (const int64_t end : short_ends(channels)) {
      add(range_text(end, channels, "input channels"),
          [end, transposed](const Rewriting& rewriting, int number) {
            std::vector<Value> inputs = inputs_of(rewriting, number);
            inputs[0] = first_of(inputs[0], 1, end);
            inputs[1] = first_of(inputs[1], transposed ? 0 : 1, end);
            return again(rewriting, number, inputs);
          });
    }
  }
  for (int axis = 2; axis < static_cast<int>(weight.size()); ++axis) {
    const int64_t taps = weight[static_cast<size_t>(axis)];
    if (taps < 2) continue;
    add(range_text(taps - 1, taps, "taps along axis " + std::to_string(axis)),
        [axis, taps](const Rewriting& rewriting, int number) {
          std::vector<Value> inputs = inputs_of(rewriting, number);
          inputs[1] = pad(first_of(inputs[1], axis, taps - 1), axis, 0, 1);
          return again(rewriting, number, inputs);
        });
  }
}

}  // namespace

void mutate_ranges(const Graph& graph, int number, const AddMutant& add) {
  const Graph::Node& node = graph.node(number);
  const std::string& name = node.call.op->name;
  if (is_one_of(name, {"sum", "mean", "max", "min", "logsumexp", "norm", "argmax", "argmin"})) {
    reduction_ranges(node, add);
  } else if (name == "softmax") {
    softmax_ranges(node, add);
  } else if (is_one_of(name, {"linear", "matmul"})) {
    product_ranges(node, add);
  } else if (is_convolution(*node.call.op)) {
    convolution_ranges(node, add);
  }
}

void mutate_layout(const Graph& graph, int number, const AddMutant& add) {
  const Graph::Node& node = graph.node(number);
  const std::string& name = node.call.op->name;
  if (is_one_of(name, {"linear", "matmul"})) {
    for (size_t i = name == "linear" ? 1 : 0; i < 2; ++i) {
      if (node.call.inputs[i].shape.size() < 2) continue;
      const std::string which = name == "linear" ? "the weight"
                                : i == 0         ? "the first operand"
                                                 : "the second operand";
      add("@ with " + which + " read as its transpose", [i](const Rewriting& rewriting, int n) {
        std::vector<Value> inputs = inputs_of(rewriting, n);
        inputs[i] = misread(inputs[i]);
        return again(rewriting, n, inputs);
      });
    }
  }
  if (is_convolution(*node.call.op)) {
    add("@ with the kernel mirrored", [](const Rewriting& rewriting, int n) {
      std::vector<Value> inputs = inputs_of(rewriting, n);
      for (int axis = 2; axis < inputs[1].rank(); ++axis) inputs[1] = flip(inputs[1], axis);
      return again(rewriting, n, inputs);
    });
    add("@ with the kernel's last two extents exchanged", [](const Rewriting& rewriting, int n) {
      std::vector<Value> inputs = inputs_of(rewriting, n);
      if (inputs[1].rank() > 3) inputs[1] = misread(inputs[1]);
      return again(rewriting, n, inputs);
    });
    add("@ with the weight's input and output channels exchanged",
        [](const Rewriting& rewriting, int n) {
          std::vector<Value> inputs = inputs_of(rewriting, n);
          const Shape shape = inputs[1].shape();
          Shape swapped = shape;
          std::swap(swapped[0], swapped[1]);
          inputs[1] = transpose(reshape(inputs[1], swapped), 0, 1);
          return again(rewriting, n, inputs);
        });
  }
  if (name == "permute") {
    add("without @: its input read as if it already had the other order",
        [](const Rewriting& rewriting, int n) -> std::vector<Value> {
          const Graph::Node& replaced = node_of(rewriting, n);
          return {reshape(inputs_of(rewriting, n)[0], replaced.call.outputs[0].shape)};
        });
  }
}

/// Windows that begin one element too early or too late.
void mutate_by_shift(const Graph& graph, int number, const AddMutant& add) {
  const Graph::Node& node = graph.node(number);
  const std::string& name = node.call.op->name;
  const bool windows = is_convolution(*node.call.op) || name.find("_pool") != std::string::npos;
  if (!windows) return;
  for (int axis = 2; axis < static_cast<int>(node.call.inputs[0].shape.size()); ++axis) {
    for (const int64_t by : {1, -1}) {
      add("@ with its windows one element too " + std::string(by > 0 ? "early" : "late") +
              " along axis " + std::to_string(axis),
          [axis, by](const Rewriting& rewriting, int n) {
            std::vector<Value> inputs = inputs_of(rewriting, n);
            inputs[0] = moved(inputs[0], axis, by);
            return again(rewriting, n, inputs);
          });
    }
  }
  add("@ with its windows one element too early along every axis",
      [](const Rewriting& rewriting, int n) {
        std::vector<Value> inputs = inputs_of(rewriting, n);
        for (int axis = 2; axis < inputs[0].rank(); ++axis) inputs[0] = moved(inputs[0], axis, 1);
        return again(rewriting, n, inputs);
      });
}

}  // namespace kbench
