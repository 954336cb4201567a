// Operators that rename, move, repeat or drop elements without computing on them.
#include <algorithm>
#include <numeric>

#include "kbench/ops.h"
#include "libkbench/ops/families.h"

namespace kbench {
namespace {

std::vector<TensorType> reshape_type(const OperatorCall& call) {
  Shape shape = call.attributes.list("shape");
  int64_t known = 1;
  int64_t* open = nullptr;
  for (int64_t& extent : shape) {
    if (extent == -1) {
      require_shape(open == nullptr, "only one extent may be -1");
      open = &extent;
    } else {
      require_shape(extent > 0, "extents must be positive, or -1 once");
      known *= extent;
    }
  }
  const int64_t elements = call.inputs[0].elements();
  if (open != nullptr && elements % known == 0) *open = elements / known;
  require_shape(element_count(shape) == elements,
                "the shape must hold the input's " + std::to_string(elements) + " elements");
  return {{call.inputs[0].dtype, shape}};
}

std::vector<TensorType> permute_type(const OperatorCall& call) {
  const auto& axes = call.attributes.list("axes");
  const Shape& x = call.inputs[0].shape;
  std::vector<int64_t> sorted = axes, all(x.size());
  std::sort(sorted.begin(), sorted.end());
  std::iota(all.begin(), all.end(), int64_t{0});
  require_shape(sorted == all, "axes must name every dimension once");
  Shape shape;
  for (int64_t axis : axes) shape.push_back(x[axis]);
  return {{call.inputs[0].dtype, shape}};
}

std::vector<TensorType> slice_type(const OperatorCall& call) {
  const int64_t axis = checked_axis(call);
  const int64_t start = call.attributes.integer("start"), stop = call.attributes.integer("stop");
  const int64_t step = call.attributes.integer("step");
  TensorType type = call.inputs[0];
  require_shape(step > 0, "step must be positive");
  require_shape(start >= 0 && start < stop && stop <= type.shape[axis],
                "the range must lie inside the input's " + std::to_string(type.shape[axis]) +
                    " elements along axis " + std::to_string(axis));
  type.shape[axis] = (stop - start + step - 1) / step;
  return {type};
}

std::vector<TensorType> cat_type(const OperatorCall& call) {
  const int64_t axis = checked_axis(call);
  TensorType type = call.inputs[0];
  for (size_t i = 1; i < call.inputs.size(); ++i) {
    TensorType part = call.inputs[i];
    require_shape(part.shape.size() == type.shape.size(), "all inputs must be of one rank");
    type.shape[axis] += part.shape[axis];
    part.shape[axis] = type.shape[axis];
    require_shape(part == type, "inputs may differ only along axis " + std::to_string(axis));
  }
  return {type};
}

std::vector<TensorType> pad_type(const OperatorCall& call) {
  const int64_t axis = checked_axis(call);
  const int64_t before = call.attributes.integer("before"),
                after = call.attributes.integer("after");
  require_float(call, 0);
  require_shape(before >= 0 && after >= 0, "padding must not be negative");
  TensorType type = call.inputs[0];
  type.shape[axis] += before + after;
  return {type};
}

std::vector<TensorType> along_axis(const OperatorCall& call) {
  checked_axis(call);
  return {call.inputs[0]};
}

std::vector<TensorType> expand_type(const OperatorCall& call) {
  const Shape& to = call.attributes.list("shape");
  const Shape& from = call.inputs[0].shape;
  require_shape(to.size() >= from.size(), "the shape must have at least the input's rank");
  for (size_t i = 0; i < from.size(); ++i) {
    const int64_t extent = from[from.size() - 1 - i];
    require_shape(extent == 1 || extent == to[to.size() - 1 - i],
                  "only extents of 1 can be expanded");
  }
  return {{call.inputs[0].dtype, to}};
}

std::vector<TensorType> matrix_type(const OperatorCall& call) {
  require_float(call, 0);
  require_shape(call.inputs[0].shape.size() >= 2, "the input needs at least two dimensions");
  return {call.inputs[0]};
}

std::vector<TensorType> index_rows_type(const OperatorCall& call) {
  require_float(call, 0);
  require_shape(call.inputs[0].shape.size() == 2, "the table must be [rows, columns]");
  require_shape(call.inputs[1].dtype == DType::i64, "the index must be i64");
  Shape shape = call.inputs[1].shape;
  shape.push_back(call.inputs[0].shape[1]);
  return {{DType::f32, shape}};
}

double no_flops(const OperatorCall&) { return 0; }

}  // namespace

const std::vector<Operator>& shape_operators() {
  static const AttributeSpec axis{"axis", int64_t{0}, true};
  static const std::vector<Operator> operators = {
      {.name = "reshape",
       .formula = "the same elements in row-major order under another shape; a view",
       .attributes = {{"shape", std::vector<int64_t>{}, true}},
       .infer = reshape_type,
       .is_view = true},
      {.name = "permute",
       .formula = "y[i0, i1, ...] = x with dimension k of y being dimension axes[k] of x; a copy",
       .attributes = {{"axes", std::vector<int64_t>{}, true}},
       .infer = permute_type,
       .flops = no_flops},
      {.name = "slice",
       .formula = "elements start, start + step, ... before stop along axis; a copy",
       .attributes =
           {axis, {"start", int64_t{0}}, {"stop", int64_t{0}, true}, {"step", int64_t{1}}},
       .infer = slice_type,
       .flops = no_flops},
      {.name = "cat",
       .formula = "the inputs one after the other along axis",
       .min_inputs = 1,
       .max_inputs = 64,
       .attributes = {axis},
       .infer = cat_type,
       .flops = no_flops},
      {.name = "pad",
       .formula = "zeros before and after x along axis",
       .attributes = {axis, {"before", int64_t{0}}, {"after", int64_t{0}}},
       .infer = pad_type,
       .flops = no_flops},
      {.name = "roll",
       .formula = "element i of x at (i + shift) mod extent along axis",
       .attributes = {axis, {"shift", int64_t{0}, true}},
       .infer = along_axis,
       .flops = no_flops},
      {.name = "flip",
       .formula = "x in reverse order along axis",
       .attributes = {axis},
       .infer = along_axis,
       .flops = no_flops},
      {.name = "expand",
       .formula = "x repeated along dimensions of extent 1 to fill the shape",
       .attributes = {{"shape", std::vector<int64_t>{}, true}},
       .infer = expand_type,
       .flops = no_flops},
      {.name = "triu",
       .formula = "x with zeros below the diagonal of the last two dimensions",
       .attributes = {},
       .infer = matrix_type,
       .flops = no_flops},
      {.name = "tril",
       .formula = "x with zeros above the diagonal of the last two dimensions",
       .attributes = {},
       .infer = matrix_type,
       .flops = no_flops},
      {.name = "index_rows",
       .formula = "y[i..., :] = table[index[i...], :]",
       .min_inputs = 2,
       .max_inputs = 2,
       .attributes = {},
       .infer = index_rows_type,
       .flops = no_flops},
  };
  return operators;
}

Value reshape(Value x, Shape shape) {
  return call_operator("reshape", {x}, {{"shape", std::move(shape)}});
}

Value flatten(Value x, int from, int to) {
  const int first = normalized_axis(x, from), last = normalized_axis(x, to);
  Shape shape(x.shape().begin(), x.shape().begin() + first);
  shape.push_back(1);
  for (int i = first; i <= last; ++i) shape.back() *= x.dim(i);
  shape.insert(shape.end(), x.shape().begin() + last + 1, x.shape().end());
  return reshape(x, shape);
}

Value unsqueeze(Value x, int axis) {
  Shape shape = x.shape();
  const int at = axis < 0 ? axis + x.rank() + 1 : axis;
  require_shape(at >= 0 && at <= x.rank(), "unsqueeze: axis " + std::to_string(axis) +
                                               " is outside a value of shape " +
                                               to_string(x.shape()));
  shape.insert(shape.begin() + at, 1);
  return reshape(x, shape);
}

Value squeeze(Value x, int axis) {
  const int at = normalized_axis(x, axis);
  require_shape(x.dim(at) == 1, "squeeze: dimension " + std::to_string(axis) + " of " +
                                    to_string(x.shape()) + " is not of extent 1");
  Shape shape = x.shape();
  shape.erase(shape.begin() + at);
  return reshape(x, shape);
}

Value permute(Value x, std::vector<int64_t> axes) {
  return call_operator("permute", {x}, {{"axes", std::move(axes)}});
}

Value transpose(Value x, int a, int b) {
  std::vector<int64_t> axes(static_cast<size_t>(x.rank()));
  std::iota(axes.begin(), axes.end(), int64_t{0});
  std::swap(axes[normalized_axis(x, a)], axes[normalized_axis(x, b)]);
  return permute(x, axes);
}

Value slice(Value x, Slice options) {
  const int64_t axis = normalized_axis(x, options.axis);
  const int64_t extent = x.dim(static_cast<int>(axis));
  const int64_t stop = options.stop <= 0 ? options.stop + extent : options.stop;
  return call_operator(
      "slice", {x},
      {{"axis", axis}, {"start", options.start}, {"stop", stop}, {"step", options.step}});
}

std::vector<Value> chunk(Value x, int pieces, int axis) {
  const int64_t extent = x.dim(axis) / pieces;
  std::vector<Value> parts;
  for (int i = 0; i < pieces; ++i) {
    parts.push_back(slice(x, {.axis = axis, .start = i * extent, .stop = (i + 1) * extent}));
  }
  return parts;
}

Value cat(const std::vector<Value>& parts, int axis) {
  return call_operator("cat", parts, {{"axis", int64_t{normalized_axis(parts[0], axis)}}});
}

Value pad(Value x, int axis, int64_t before, int64_t after) {
  return call_operator(
      "pad", {x},
      {{"axis", int64_t{normalized_axis(x, axis)}}, {"before", before}, {"after", after}});
}

Value roll(Value x, int axis, int64_t shift) {
  return call_operator("roll", {x},
                       {{"axis", int64_t{normalized_axis(x, axis)}}, {"shift", shift}});
}

Value flip(Value x, int axis) {
  return call_operator("flip", {x}, {{"axis", int64_t{normalized_axis(x, axis)}}});
}

Value expand(Value x, Shape shape) {
  return call_operator("expand", {x}, {{"shape", std::move(shape)}});
}

Value triu(Value x) { return call_operator("triu", {x}); }
Value tril(Value x) { return call_operator("tril", {x}); }
Value index_rows(Value table, Value index) { return call_operator("index_rows", {table, index}); }

}  // namespace kbench
