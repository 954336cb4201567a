#include <algorithm>

#include "libkbench/mutants/mutant_rules.h"

namespace kbench {
namespace {

bool has(const Slice& range, int64_t i) {
  return i >= range.start && i < range.stop && (i - range.start) % range.step == 0;
}

/// [1, ..., extent, ..., 1] with `in` where the part has elements and `out` elsewhere.
Value pattern(Value x, const AxisPart& part, float in, float out) {
  Shape shape(x.shape().size(), 1);
  shape[static_cast<size_t>(part.range.axis)] = x.dim(part.range.axis);
  Tensor values(DType::f32, shape);
  for (int64_t i = 0; i < values.elements(); ++i) {
    values.data<float>()[static_cast<size_t>(i)] = has(part.range, i) ? in : out;
  }
  Graph& graph = *x.graph();
  return graph.constant("pattern" + std::to_string(graph.values().size()), std::move(values));
}

}  // namespace

Value range_of(Value x, int axis, int64_t start, int64_t stop) {
  return slice(x, {.axis = axis, .start = start, .stop = stop});
}

Value first_of(Value x, int axis, int64_t end) { return range_of(x, axis, 0, end); }

std::vector<Value> pieces_of(Value x, int axis, int64_t pieces) {
  const int64_t extent = x.dim(axis), count = std::min(pieces, extent);
  std::vector<Value> all;
  for (int64_t i = 0; i < count; ++i) {
    all.push_back(range_of(x, axis, extent * i / count, extent * (i + 1) / count));
  }
  return all;
}

std::vector<AxisPart> halves_of(int axis, int64_t extent) {
  if (extent < 2) return {};
  return {{"the first half", {.axis = axis, .start = 0, .stop = extent / 2}},
          {"the last half", {.axis = axis, .start = extent - extent / 2, .stop = extent}},
          {"every second element", {.axis = axis, .start = 0, .stop = extent, .step = 2}}};
}

std::vector<AxisPart> most_of(int axis, int64_t extent) {
  std::vector<AxisPart> parts;
  for (const int64_t share : {4, 8, 16, 32}) {
    const int64_t left_out = extent / share;
    if (left_out == 0) break;
    const std::string name = std::to_string(share);
    parts.push_back({"all but the last 1/" + name, {.axis = axis, .stop = extent - left_out}});
    // Elements behind the last whole group are left out, too.
    parts.push_back({"all but every " + name + (share == 32 ? "nd" : "th") + " element",
                     {.axis = axis, .stop = left_out * share},
                     share});
  }
  return parts;
}

Value part_of(Value x, const AxisPart& part) {
  const Value range = slice(x, part.range);
  if (part.without == 0) return range;
  const int axis = part.range.axis;
  const auto at = static_cast<size_t>(axis);
  const int64_t groups = range.dim(axis) / part.without;
  Shape shape = range.shape();
  shape[at] = groups;
  shape.insert(shape.begin() + axis + 1, part.without);
  const Value kept = first_of(reshape(range, shape), axis + 1, part.without - 1);
  shape.erase(shape.begin() + axis + 1);
  shape[at] = groups * (part.without - 1);
  return reshape(kept, shape);
}

double times_of(const AxisPart& part, int64_t extent) {
  int64_t count = (part.range.stop - part.range.start - 1) / part.range.step + 1;
  if (part.without > 0) count = count / part.without * (part.without - 1);
  return static_cast<double>(extent) / static_cast<double>(count);
}

Value outside(Value x, const AxisPart& part, float value) { return pattern(x, part, 0, value); }

Value inside(Value x, const AxisPart& part) { return pattern(x, part, 1, 0); }

Value joined(std::vector<Value> pieces, int axis) {
  constexpr size_t kTogether = 64;  // as many as cat takes
  while (pieces.size() > 1) {
    std::vector<Value> longer;
    for (size_t i = 0; i < pieces.size(); i += kTogether) {
      const auto end =
          pieces.begin() + static_cast<int64_t>(std::min(i + kTogether, pieces.size()));
      longer.push_back(cat({pieces.begin() + static_cast<int64_t>(i), end}, axis));
    }
    pieces = std::move(longer);
  }
  return pieces[0];
}

Value added(const std::vector<Value>& parts) {
  Value total = parts[0];
  for (size_t i = 1; i < parts.size(); ++i) total = total + parts[i];
  return total;
}

Reduce reduce_of(const Graph::Node& node) {
  const AttributeValue* keep = node.call.attributes.find("keepdim");
  return {.axis = static_cast<int>(node.call.attributes.integer("axis")),
          .keepdim = keep != nullptr && std::get<int64_t>(*keep) != 0};
}

Value by_channel(Value parameter, int rank) {
  Shape shape(static_cast<size_t>(rank), 1);
  shape[1] = parameter.dim(0);
  return reshape(parameter, shape);
}

Inner inner_of(const Graph::Node& node) {
  const Shape &a = node.call.inputs[0].shape, &b = node.call.inputs[1].shape;
  const Attributes& attributes = node.call.attributes;
  if (is_convolution(*node.call.op)) {
    const bool transposed = node.call.op->name.starts_with("conv_transpose");
    return {1, transposed ? 0 : 1, a[1], attributes.integer("groups") == 1};
  }
  const bool linear = node.call.op->name == "linear";
  const bool ta = !linear && attributes.flag("transpose_a");
  const bool tb = linear || attributes.flag("transpose_b");
  const int axis_a = static_cast<int>(a.size()) - (ta ? 2 : 1);
  const int axis_b = static_cast<int>(b.size()) - (tb ? 1 : 2);
  return {axis_a, axis_b, a[static_cast<size_t>(axis_a)]};
}

Value product_of(const Rewriting& rewriting, int node, Value a, Value b) {
  return again(rewriting, node, {a, b})[0];
}

Value with_bias(const Rewriting& rewriting, int node, Value product) {
  const Graph::Node& call = node_of(rewriting, node);
  if (call.inputs.size() < 3) return product;
  const Value bias = rewriting.value(call.inputs[2]);
  return product + (is_convolution(*call.call.op) ? by_channel(bias, product.rank()) : bias);
}

NormView norm_view(const Rewriting& rewriting, int node) {
  const Graph::Node& norm = node_of(rewriting, node);
  const Attributes& attributes = norm.call.attributes;
  const Value x = rewriting.value(norm.inputs[0]);
  const int64_t all = x.type().elements(), samples = x.dim(0);
  NormView view{{}, false, samples, attributes.real("eps")};
  const std::string& name = norm.call.op->name;
  if (name == "batch_norm") {
    view.batch = true;
    view.x = reshape(x, {samples, x.dim(1), all / samples / x.dim(1)});
    return view;
  }
  int64_t rows = 1;
  if (name == "layer_norm") {
    const int dims = static_cast<int>(attributes.integer("dims"));
    for (int i = 0; i < x.rank() - dims; ++i) rows *= x.dim(i);
  } else {
    rows = samples * (name == "group_norm" ? attributes.integer("groups") : x.dim(1));
  }
  if (rows % samples != 0) view.samples = 1;  // all of x is one row
  view.x = reshape(x, {rows, 1, all / rows});
  return view;
}

Value mean_over(const NormView& view, Value x) {
  const Value rows = mean(x, {.axis = 2, .keepdim = true});
  return view.batch ? mean(rows, {.axis = 0, .keepdim = true}) : rows;
}

Value norm_result(const Rewriting& rewriting, int node, Value normalised) {
  const std::vector<Value> in = inputs_of(rewriting, node);
  const Value y = reshape(normalised, in[0].shape());
  if (in.size() < 3) return y;
  if (node_of(rewriting, node).call.op->name == "layer_norm") return y * in[1] + in[2];
  return y * by_channel(in[1], y.rank()) + by_channel(in[2], y.rank());
}

}  // namespace kbench
