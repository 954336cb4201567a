// Operators that rename, move, repeat or drop elements without computing on them.
#include <algorithm>
#include <numeric>

#include "kbench/error.h"
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
      known = multiply_add(known, extent, 0);
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
  type.shape[axis] = (stop - start - 1) / step + 1;
  return {type};
}

std::vector<TensorType> cat_type(const OperatorCall& call) {
  const int64_t axis = checked_axis(call);
  TensorType type = call.inputs[0];
  for (size_t i = 1; i < call.inputs.size(); ++i) {
    TensorType part = call.inputs[i];
    require_shape(part.shape.size() == type.shape.size(), "all inputs must be of one rank");
    type.shape[axis] = multiply_add(1, type.shape[axis], part.shape[axis]);
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
  type.shape[axis] = multiply_add(1, before, multiply_add(1, after, type.shape[axis]));
  return {type};
}

std::vector<TensorType> type_along_axis(const OperatorCall& call) {
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

std::vector<TensorType> gather_type(const OperatorCall& call) {
  require_float(call, 0);
  const TensorType &x = call.inputs[0], &index = call.inputs[1];
  require_shape(index.dtype == DType::i64, "the index must be i64");
  require_shape(!x.shape.empty() && x.shape.size() == index.shape.size() &&
                    std::equal(x.shape.begin(), x.shape.end() - 1, index.shape.begin()),
                "the index must have x's shape but for its last dimension");
  return {{DType::f32, index.shape}};
}

double no_flops(const OperatorCall&) { return 0; }

}  // namespace

const std::vector<Operator>& shape_operators() {
  static const AttributeSpec axis{"axis", int64_t{0}, true};
  static const std::vector<Operator> operators = {
      {.name = "reshape",
       .formula = "the same elements in row-major order under another shape; an extent of -1 is "
                  "what is left; a view, no kernel",
       .shapes = "x [...] -> shape",
       .follows = "torch.reshape(x, shape)",
       .attributes = {{"shape", std::vector<int64_t>{}, true}},
       .infer = reshape_type,
       .is_view = true},
      {.name = "permute",
       .formula = "dimension k of y is dimension axes[k] of x; a copy",
       .shapes = "x [...] -> [...] with its extents in the order of axes",
       .follows = "torch.permute(x, axes).contiguous()",
       .attributes = {{"axes", std::vector<int64_t>{}, true}},
       .infer = permute_type,
       .flops = no_flops},
      {.name = "slice",
       .formula = "elements start, start + step, ... before stop along axis; a copy",
       .shapes = "x [...] -> [...], along axis (stop - start) / step rounded up",
       .follows = "x[start:stop:step].contiguous() along dimension axis",
       .attributes =
           {axis, {"start", int64_t{0}}, {"stop", int64_t{0}, true}, {"step", int64_t{1}}},
       .infer = slice_type,
       .flops = no_flops},
      {.name = "cat",
       .formula = "the inputs one after the other along axis",
       .shapes = "1 to 64 x [...], alike but along axis -> [...], along axis their sum",
       .follows = "torch.cat(inputs, dim=axis)",
       .min_inputs = 1,
       .max_inputs = 64,
       .attributes = {axis},
       .infer = cat_type,
       .flops = no_flops},
      {.name = "pad",
       .formula = "`before` zeros, x and `after` zeros along axis",
       .shapes = "x [...] -> [...], along axis before + extent + after",
       .follows = "torch.nn.functional.pad(x, ..., mode='constant', value=0)",
       .attributes = {axis, {"before", int64_t{0}}, {"after", int64_t{0}}},
       .infer = pad_type,
       .flops = no_flops},
      {.name = "roll",
       .formula = "element i of x at (i + shift) mod extent along axis",
       .follows = "torch.roll(x, shift, dims=axis)",
       .attributes = {axis, {"shift", int64_t{0}, true}},
       .infer = type_along_axis,
       .flops = no_flops},
      {.name = "flip",
       .formula = "x in reverse order along axis",
       .follows = "torch.flip(x, [axis])",
       .attributes = {axis},
       .infer = type_along_axis,
       .flops = no_flops},
      {.name = "expand",
       .formula = "x repeated along dimensions of extent 1, and along new leading ones, to fill "
                  "the shape; a copy",
       .shapes = "x [...] -> shape",
       .follows = "x.expand(shape).contiguous()",
       .attributes = {{"shape", std::vector<int64_t>{}, true}},
       .infer = expand_type,
       .flops = no_flops},
      {.name = "triu",
       .formula = "x with zeros below the diagonal of the last two dimensions",
       .shapes = "x [..., R, C] -> [..., R, C]",
       .follows = "torch.triu(x)",
       .attributes = {},
       .infer = matrix_type,
       .flops = no_flops},
      {.name = "tril",
       .formula = "x with zeros above the diagonal of the last two dimensions",
       .shapes = "x [..., R, C] -> [..., R, C]",
       .follows = "torch.tril(x)",
       .attributes = {},
       .infer = matrix_type,
       .flops = no_flops},
      {.name = "index_rows",
       .formula = "y[i..., :] = table[index[i...], :]",
       .shapes = "table [R, C], index i64 [...] -> [..., C]",
       .follows = "torch.nn.functional.embedding(index, table)",
       .min_inputs = 2,
       .max_inputs = 2,
       .attributes = {},
       .infer = index_rows_type,
       .flops = no_flops},
      {.name = "gather",
       .formula = "y[i..., j] = x[i..., index[i..., j]]: along the last dimension",
       .follows = "torch.gather(x, -1, index)",
       .min_inputs = 2,
       .max_inputs = 2,
       .attributes = {},
       .infer = gather_type,
       .flops = no_flops},
  };
  return operators;
}

Value reshape(Value x, Shape shape) {
  return call_operator("reshape", {x}, {{"shape", std::move(shape)}});
}

Value flatten(Value x, int from, int to) {
  const int first = normalized_axis("flatten", x, from), last = normalized_axis("flatten", x, to);
  require_for("flatten", x, first <= last,
              "dimension " + std::to_string(from) + " comes after " + std::to_string(to));
  Shape shape(x.shape().begin(), x.shape().begin() + first);
  shape.push_back(1);
  for (int i = first; i <= last; ++i) shape.back() *= x.dim(i);
  shape.insert(shape.end(), x.shape().begin() + last + 1, x.shape().end());
  return reshape(x, shape);
}

Value unsqueeze(Value x, int axis) {
  Shape shape = x.shape();
  const int at = axis < 0 ? axis + x.rank() + 1 : axis;
  require_for("unsqueeze", x, at >= 0 && at <= x.rank(),
              "there is no place " + std::to_string(axis) + " for a dimension");
  shape.insert(shape.begin() + at, 1);
  return reshape(x, shape);
}

Value squeeze(Value x, int axis) {
  const int at = normalized_axis("squeeze", x, axis);
  require_for("squeeze", x, x.dim(at) == 1,
              "dimension " + std::to_string(axis) + " is not of extent 1");
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
  std::swap(axes[normalized_axis("transpose", x, a)], axes[normalized_axis("transpose", x, b)]);
  return permute(x, axes);
}

Value slice(Value x, Slice options) {
  const int64_t axis = normalized_axis("slice", x, options.axis);
  const int64_t extent = x.dim(static_cast<int>(axis));
  const int64_t stop = options.stop <= 0 ? options.stop + extent : options.stop;
  return call_operator(
      "slice", {x},
      {{"axis", axis}, {"start", options.start}, {"stop", stop}, {"step", options.step}});
}

std::vector<Value> chunk(Value x, int pieces, int axis) {
  const int64_t whole = dim_for("chunk", x, axis);
  require_for(
      "chunk", x, pieces > 0 && whole % pieces == 0,
      std::to_string(pieces) + " pieces of equal extent do not make " + std::to_string(whole));
  const int64_t extent = whole / pieces;
  std::vector<Value> parts;
  for (int i = 0; i < pieces; ++i) {
    parts.push_back(slice(x, {.axis = axis, .start = i * extent, .stop = (i + 1) * extent}));
  }
  return parts;
}

Value cat(const std::vector<Value>& parts, int axis) {
  if (parts.empty()) throw Error(ErrorCode::kShape, "cat() needs at least one input");
  return call_operator("cat", parts, {{"axis", int64_t{normalized_axis("cat", parts[0], axis)}}});
}

Value pad(Value x, int axis, int64_t before, int64_t after) {
  return call_operator(
      "pad", {x},
      {{"axis", int64_t{normalized_axis("pad", x, axis)}}, {"before", before}, {"after", after}});
}

Value roll(Value x, int axis, int64_t shift) {
  return call_operator("roll", {x},
                       {{"axis", int64_t{normalized_axis("roll", x, axis)}}, {"shift", shift}});
}

Value flip(Value x, int axis) {
  return call_operator("flip", {x}, {{"axis", int64_t{normalized_axis("flip", x, axis)}}});
}

Value expand(Value x, Shape shape) {
  return call_operator("expand", {x}, {{"shape", std::move(shape)}});
}

Value triu(Value x) { return call_operator("triu", {x}); }
Value tril(Value x) { return call_operator("tril", {x}); }
Value index_rows(Value table, Value index) { return call_operator("index_rows", {table, index}); }

}  // namespace kbench
