// Shortcuts by a part of the work: reductions, losses and windows over half or most of the
// elements, products over half the inner dimension.
#include <cmath>

#include "libkbench/mutants/mutant_rules.h"

namespace kbench {
namespace {

constexpr float kLowest = -3e38f;  // loses every maximum; never added up

/// The parts that a rule tries along an axis: halves_of or most_of.
using Parts = std::vector<AxisPart> (*)(int axis, int64_t extent);

/// Scales the result of a part to what the whole would give if it were like the part.
Value scaled_to_all(const std::string& reduction, Value value, double times) {
  if (reduction == "sum") return value * times;
  if (reduction == "norm") return value * std::sqrt(times);
  if (reduction == "logsumexp") return value + std::log(times);
  return value;  // mean, max, min
}

void shorten_reduction(const Graph::Node& node, Parts parts, const AddMutant& add) {
  const Reduce reduce = reduce_of(node);
  const int64_t n = node.call.inputs[0].shape[static_cast<size_t>(reduce.axis)];
  const bool scales = is_one_of(node.call.op->name, {"sum", "norm", "logsumexp"});
  for (const AxisPart& part : parts(reduce.axis, n)) {
    add("@ over " + part.text + (scales ? ", scaled to all" : ""),
        [part, n](const Rewriting& rewriting, int number) -> std::vector<Value> {
          const Value x = part_of(inputs_of(rewriting, number)[0], part);
          return {scaled_to_all(node_of(rewriting, number).call.op->name,
                                again(rewriting, number, {x})[0], times_of(part, n))};
        });
  }
}

/// Indices count all elements, so the elements left out stay in place with values that cannot win.
void shorten_search(const Graph::Node& node, const AddMutant& add) {
  const Reduce reduce = reduce_of(node);
  const float loses = node.call.op->name == "argmax" ? kLowest : -kLowest;
  const int64_t n = node.call.inputs[0].shape[static_cast<size_t>(reduce.axis)];
  for (const AxisPart& part : halves_of(reduce.axis, n)) {
    add("@ over " + part.text, [part, loses](const Rewriting& rewriting, int number) {
      const Value x = inputs_of(rewriting, number)[0];
      return again(rewriting, number, {x * inside(x, part) + outside(x, part, loses)});
    });
  }
}

void shorten_softmax(const Graph::Node& node, Parts parts, const AddMutant& add) {
  const int axis = static_cast<int>(node.call.attributes.integer("axis"));
  const int64_t n = node.call.inputs[0].shape[static_cast<size_t>(axis)];
  const bool logarithm = node.call.op->name == "log_softmax";
  for (const AxisPart& part : parts(axis, n)) {
    add("@ with the sum over " + part.text + ", scaled to all",
        [=](const Rewriting& rewriting, int number) -> std::vector<Value> {
          const Value x = inputs_of(rewriting, number)[0];
          const Value below = x - max(x, {.axis = axis, .keepdim = true}), e = exp(below);
          const Value total =
              sum(part_of(e, part), {.axis = axis, .keepdim = true}) * times_of(part, n);
          return {logarithm ? below - log(total) : e / total};
        });
  }
}

/// Cross entropy with the sum of exponentials over some of the classes: the whole loss, with each
/// row's logsumexp replaced by that of the part.
Value cross_entropy_over(Value x, Value target, const AxisPart& part) {
  const Reduce classes{.axis = 1};
  const Value over_part = logsumexp(part_of(x, part), classes) + std::log(times_of(part, x.dim(1)));
  return cross_entropy(x, target) +
         mean(over_part - logsumexp(x, classes), {.axis = 0, .keepdim = false});
}

void shorten_loss(const Graph::Node& node, Parts parts, const AddMutant& add) {
  const std::string& name = node.call.op->name;
  const Shape& shape = node.call.inputs[0].shape;
  for (const AxisPart& part : parts(0, shape[0])) {
    add("@ over " + part.text + " of the rows", [part](const Rewriting& rewriting, int number) {
      std::vector<Value> inputs = inputs_of(rewriting, number);
      for (Value& input : inputs) input = part_of(input, part);
      return again(rewriting, number, inputs);
    });
  }
  if (shape.size() < 2) return;
  for (const AxisPart& part : parts(1, shape[1])) {
    add("@ over " + part.text + " of each row, scaled to all",
        [part, name](const Rewriting& rewriting, int number) -> std::vector<Value> {
          std::vector<Value> inputs = inputs_of(rewriting, number);
          if (name == "cross_entropy") return {cross_entropy_over(inputs[0], inputs[1], part)};
          const double times = times_of(part, inputs[0].dim(1));
          for (Value& input : inputs) {
            input = part_of(input, part);
            if (name == "triplet_margin_loss") input = input * std::sqrt(times);  // of distances
          }
          const Value loss = again(rewriting, number, inputs)[0];
          return {name == "kl_div_batchmean" ? loss * times : loss};
        });
  }
}

/// Reductions, softmax and losses over each of the parts.
void shorten_sum(const Graph::Node& node, Parts parts, const AddMutant& add) {
  const std::string& name = node.call.op->name;
  if (is_one_of(name, {"sum", "mean", "max", "min", "logsumexp", "norm"})) {
    shorten_reduction(node, parts, add);
  } else if (is_one_of(name, {"softmax", "log_softmax"})) {
    shorten_softmax(node, parts, add);
  } else if (is_one_of(name, {"cross_entropy", "smooth_l1_loss", "kl_div_batchmean",
                              "triplet_margin_loss"})) {
    shorten_loss(node, parts, add);
  }
}

/// Windows that end half way along one axis. Padding becomes part of x, since an option for it may
/// not be larger than half the window.
void shorten_windows(const Graph::Node& node, const AddMutant& add) {
  const Attributes& attributes = node.call.attributes;
  const bool largest = node.call.op->name.starts_with("max_pool");
  if (attributes.flag("ceil_mode")) return;
  for (size_t d = 0; d < attributes.list("kernel").size(); ++d) {
    const int64_t taps = attributes.list("kernel")[d];
    if (taps < 2) continue;
    const int axis = static_cast<int>(d) + 2;
    add("@ over the first half of each window along axis " + std::to_string(axis),
        [=](const Rewriting& rewriting, int number) -> std::vector<Value> {
          const OperatorCall& call = node_of(rewriting, number).call;
          Attributes changed = call.attributes;
          std::vector<int64_t> kernel = changed.list("kernel"), padding = changed.list("padding");
          const int64_t border = padding[d];
          kernel[d] = taps / 2;
          padding[d] = 0;
          changed.set("kernel", kernel);
          changed.set("padding", padding);
          Value x = inputs_of(rewriting, number)[0];
          if (border > 0) {
            const AxisPart own{"", {.axis = axis, .start = border, .stop = border + x.dim(axis)}};
            x = pad(x, axis, border, border);
            if (largest) x = x + outside(x, own, kLowest);
          }
          const Value y = again(rewriting, number, {x}, changed)[0];
          return {first_of(y, axis, call.outputs[0].shape[static_cast<size_t>(axis)])};
        });
  }
}

/// Where all cells have one extent: the first half of each cell's rows.
void shorten_cells(const Graph::Node& node, const AddMutant& add) {
  const Shape &x = node.call.inputs[0].shape, &y = node.call.outputs[0].shape;
  if (x[2] % y[2] != 0 || x[3] % y[3] != 0 || x[2] / y[2] < 2) return;
  add("@ over the first half of each cell's rows",
      [x, y](const Rewriting& rewriting, int number) -> std::vector<Value> {
        const Value cells = reshape(inputs_of(rewriting, number)[0],
                                    {x[0] * x[1], y[2], x[2] / y[2], y[3], x[3] / y[3]});
        const Value rows = mean(cells, {.axis = 4});
        return {reshape(mean(first_of(rows, 2, x[2] / y[2] / 2), {.axis = 2}), y)};
      });
}

/// Half the input channels of every group.
std::vector<Value> half_the_channels(const Rewriting& rewriting, int number) {
  const Graph::Node& node = node_of(rewriting, number);
  const Value x = rewriting.value(node.inputs[0]), weight = rewriting.value(node.inputs[1]);
  const int64_t groups = node.call.attributes.integer("groups"), channels = x.dim(1) / groups;
  const auto half = [&](Value value, int axis) {  // of a dimension of groups * channels
    Shape shape = value.shape();
    shape[static_cast<size_t>(axis)] = groups;
    shape.insert(shape.begin() + axis + 1, channels);
    const Value some = first_of(reshape(value, shape), axis + 1, channels / 2);
    shape = value.shape();
    shape[static_cast<size_t>(axis)] = groups * (channels / 2);
    return reshape(some, shape);
  };
  const bool transposed = node.call.op->name.starts_with("conv_transpose");
  return {half(x, 1), transposed ? half(weight, 0) : first_of(weight, 1, channels / 2)};
}

void shorten_convolution(const Graph::Node& node, const AddMutant& add) {
  const int64_t channels = node.call.inputs[0].shape[1] / node.call.attributes.integer("groups");
  for (const bool scaled : {false, true}) {
    if (channels < 2) break;
    add(scaled ? "@ over half the input channels, scaled to all" : "@ over half the input channels",
        [channels, scaled](const Rewriting& rewriting, int number) -> std::vector<Value> {
          const std::vector<Value> half = half_the_channels(rewriting, number);
          const Value y = product_of(rewriting, number, half[0], half[1]);
          const double times = static_cast<double>(channels) / static_cast<double>(channels / 2);
          return {with_bias(rewriting, number, scaled ? y * times : y)};
        });
  }
  const Shape& weight = node.call.inputs[1].shape;
  bool several = false;
  for (int axis = 2; axis < static_cast<int>(weight.size()); ++axis) {
    const int64_t taps = weight[static_cast<size_t>(axis)];
    if (taps < 2) continue;
    several = true;
    add("@ without the last tap along axis " + std::to_string(axis),
        [axis, taps](const Rewriting& rewriting, int number) {
          std::vector<Value> inputs = inputs_of(rewriting, number);
          inputs[1] = pad(first_of(inputs[1], axis, taps - 1), axis, 0, 1);
          return again(rewriting, number, inputs);
        });
  }
  if (!several) return;
  add("@ with the middle tap alone", [](const Rewriting& rewriting, int number) {
    std::vector<Value> inputs = inputs_of(rewriting, number);
    for (int axis = 2; axis < inputs[1].rank(); ++axis) {
      const int64_t taps = inputs[1].dim(axis), middle = taps / 2;
      inputs[1] =
          pad(range_of(inputs[1], axis, middle, middle + 1), axis, middle, taps - middle - 1);
    }
    return again(rewriting, number, inputs);
  });
}

}  // namespace

void shorten_reductions(const Graph& graph, int number, const AddMutant& add) {
  const Graph::Node& node = graph.node(number);
  const std::string& name = node.call.op->name;
  shorten_sum(node, halves_of, add);
  if (is_one_of(name, {"argmax", "argmin"})) {
    shorten_search(node, add);
  } else if (name == "adaptive_avg_pool2d") {
    shorten_cells(node, add);
  } else if (name.starts_with("max_pool") || name.starts_with("avg_pool")) {
    shorten_windows(node, add);
  }
}

void leave_out_terms(const Graph& graph, int number, const AddMutant& add) {
  shorten_sum(graph.node(number), most_of, add);
}

void shorten_products(const Graph& graph, int number, const AddMutant& add) {
  const Graph::Node& node = graph.node(number);
  if (!is_product(*node.call.op)) return;
  if (is_convolution(*node.call.op)) return shorten_convolution(node, add);
  const Inner inner = inner_of(node);
  if (inner.extent < 2) return;
  const int64_t half = inner.extent / 2;
  for (const bool scaled : {false, true}) {
    add(scaled ? "@ over the first half of the inner dimension, scaled to all"
               : "@ over the first half of the inner dimension",
        [inner, half, scaled](const Rewriting& rewriting, int n) -> std::vector<Value> {
          const std::vector<Value> inputs = inputs_of(rewriting, n);
          const Value y = product_of(rewriting, n, first_of(inputs[0], inner.a, half),
                                     first_of(inputs[1], inner.b, half));
          const double times = static_cast<double>(inner.extent) / static_cast<double>(half);
          return {with_bias(rewriting, n, scaled ? y * times : y)};
        });
  }
}

}  // namespace kbench
