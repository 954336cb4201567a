// Operators that move, repeat or drop elements.

#include "harness/measure/eager/planning.h"
#include "harness/measure/eager/strided_copy.h"
#include "kbench/error.h"

namespace kbench::eager {
namespace {

/// What an element is moved as: one unit of 2 or 4 bytes, or two words. No task of kbench moves
/// bytes.
int64_t units_of(const TensorType& type) {
  const size_t bytes = size_of(type.dtype);
  if (bytes == 1) {
    throw Error(ErrorCode::kUnsupported,
                "the eager kernels that move elements take those of 2, 4 and 8 bytes, not " +
                    std::string(name_of(type.dtype)));
  }
  return bytes == 8 ? 2 : 1;
}

/// The tensor's extents, in units: an element of two is a last dimension.
Shape unit_shape(const TensorType& type) {
  Shape shape = type.shape;
  if (units_of(type) > 1) shape.push_back(units_of(type));
  return shape;
}

std::vector<int64_t> strides_of(const Shape& shape) {
  std::vector<int64_t> strides(shape.size(), 1);
  for (size_t d = shape.size(); d-- > 1;) strides[d - 1] = strides[d] * shape[d];
  return strides;
}

CallPlan permute(const OperatorCall& call, const DeviceTraits& traits) {
  std::vector<int64_t> axes = call.attributes.list("axes");
  const Shape x = unit_shape(call.inputs[0]), y = unit_shape(call.outputs[0]);
  if (axes.size() < x.size()) axes.push_back(static_cast<int64_t>(axes.size()));
  const auto from = strides_of(x), to = strides_of(y);
  CopyDims dims;
  for (size_t d = 0; d < y.size(); ++d) dims.push_back({y[d], from[axes[d]], to[d]});
  return {{copy_launch(dims, input(0), output(0), traits)}, {}};
}

CallPlan slice(const OperatorCall& call, const DeviceTraits& traits) {
  const int64_t axis = call.attributes.integer("axis");
  const Shape x = unit_shape(call.inputs[0]), y = unit_shape(call.outputs[0]);
  // A step that leads out of x at once is never taken.
  const int64_t step = y[axis] > 1 ? call.attributes.integer("step") : 1;
  const auto from = strides_of(x), to = strides_of(y);
  CopyDims dims;
  for (size_t d = 0; d < y.size(); ++d) {
    dims.push_back({y[d], from[d] * (static_cast<int64_t>(d) == axis ? step : 1), to[d]});
  }
  const int64_t first = call.attributes.integer("start") * from[axis];
  return {{copy_launch(dims, from_element(input(0), first), output(0), traits)}, {}};
}

CallPlan flip(const OperatorCall& call, const DeviceTraits& traits) {
  const int64_t axis = call.attributes.integer("axis");
  const Shape y = unit_shape(call.outputs[0]);
  const auto strides = strides_of(y);
  CopyDims dims;
  for (size_t d = 0; d < y.size(); ++d) {
    dims.push_back({y[d], strides[d] * (static_cast<int64_t>(d) == axis ? -1 : 1), strides[d]});
  }
  const int64_t first = (y[axis] - 1) * strides[axis];
  return {{copy_launch(dims, from_element(input(0), first), output(0), traits)}, {}};
}

CallPlan expand(const OperatorCall& call, const DeviceTraits& traits) {
  const Shape x = unit_shape(call.inputs[0]), y = unit_shape(call.outputs[0]);
  const auto from = strides_of(x), to = strides_of(y);
  const size_t added = y.size() - x.size();
  CopyDims dims;
  for (size_t d = 0; d < y.size(); ++d) {
    const bool repeated = d < added || x[d - added] == 1;
    dims.push_back({y[d], repeated ? 0 : from[d - added], to[d]});
  }
  return {{copy_launch(dims, input(0), output(0), traits)}, {}};
}

/// A launch an input.
CallPlan cat(const OperatorCall& call, const DeviceTraits& traits) {
  const int64_t axis = call.attributes.integer("axis");
  const auto to = strides_of(unit_shape(call.outputs[0]));
  CallPlan plan;
  int64_t first = 0;
  for (size_t i = 0; i < call.inputs.size(); ++i) {
    const Shape x = unit_shape(call.inputs[i]);
    if (element_count(x) == 0) continue;
    const auto from = strides_of(x);
    CopyDims dims;
    for (size_t d = 0; d < x.size(); ++d) dims.push_back({x[d], from[d], to[d]});
    plan.launches.push_back(
        copy_launch(dims, input(static_cast<int>(i)), from_element(output(0), first), traits));
    plan.launches.back().beside_last = true;
    first += x[axis] * to[axis];
  }
  return plan;
}

/// Rows of `x_row` units written `shift` units further on in rows of `row` units.
CallPlan shifted(const OperatorCall& call, int64_t row, int64_t x_row, int64_t shift, bool wrap,
                 const DeviceTraits& traits) {
  const int64_t width = row % 4 == 0 && x_row % 4 == 0 && shift % 4 == 0 ? 4 : 1;
  const int64_t pieces = call.outputs[0].elements() * units_of(call.outputs[0]) / width;
  const int64_t groups = ceil_div(pieces, kThreads * kPieces);
  Launch launch = make_launch(
      "shift.comp", {{"THREADS", kThreads}, {"PIECES", kPieces}, {"WIDTH", width}, {"WRAP", wrap}},
      {input(0), output(0)}, groups, traits);
  launch.add(pieces).add(row / width).add(x_row / width).add(shift / width).add(groups);
  return {{launch}, {}};
}

CallPlan pad(const OperatorCall& call, const DeviceTraits& traits) {
  const int64_t axis = call.attributes.integer("axis");
  const AxisView x = axis_view(call.inputs[0].shape, axis);
  const AxisView y = axis_view(call.outputs[0].shape, axis);
  return shifted(call, y.n * y.inner, x.n * x.inner, call.attributes.integer("before") * x.inner,
                 false, traits);
}

CallPlan roll(const OperatorCall& call, const DeviceTraits& traits) {
  const AxisView view = axis_view(call.inputs[0].shape, call.attributes.integer("axis"));
  const int64_t inner = view.inner * units_of(call.inputs[0]);
  const int64_t shift = (call.attributes.integer("shift") % view.n + view.n) % view.n;
  return shifted(call, view.n * inner, view.n * inner, shift * inner, true, traits);
}

CallPlan triangle(const OperatorCall& call, const DeviceTraits& traits) {
  const Shape& x = call.inputs[0].shape;
  const int64_t columns = x.back(), rows = x[x.size() - 2];
  const int64_t width = columns % 4 == 0 ? 4 : 1;
  const int64_t pieces = call.inputs[0].elements() / width;
  const int64_t groups = ceil_div(pieces, kThreads * kPieces);
  Launch launch = make_launch("triangle.comp",
                              {{"THREADS", kThreads},
                               {"PIECES", kPieces},
                               {"WIDTH", width},
                               {"UPPER", call.op->name == "triu"}},
                              {input(0), output(0)}, groups, traits);
  launch.add(pieces).add(columns / width).add(rows).add(groups);
  return {{launch}, {}};
}

CallPlan indexed(const OperatorCall& call, int64_t rows, int64_t columns, int64_t share,
                 const DeviceTraits& traits) {
  const int64_t width = columns % 4 == 0 ? 4 : 1;
  const int64_t pieces = call.outputs[0].elements() / width;
  const int64_t groups = ceil_div(pieces, kThreads * kPieces);
  Launch launch =
      make_launch("index_rows.comp", {{"THREADS", kThreads}, {"PIECES", kPieces}, {"WIDTH", width}},
                  {input(0), input(1), output(0)}, groups, traits);
  launch.add(pieces).add(columns / width).add(rows).add(share).add(groups);
  return {{launch}, {}};
}

CallPlan index_rows(const OperatorCall& call, const DeviceTraits& traits) {
  const Shape& table = call.inputs[0].shape;
  return indexed(call, table[0], table[1], call.inputs[1].elements(), traits);
}

/// The kernel of index_rows: each row of x is taken for a table whose rows have one element.
CallPlan gather(const OperatorCall& call, const DeviceTraits& traits) {
  return indexed(call, call.inputs[0].shape.back(), 1, call.inputs[1].shape.back(), traits);
}

}  // namespace

const std::vector<EagerKernel>& shape_kernels() {
  static const std::vector<EagerKernel> kernels = {
      {"permute", permute}, {"slice", slice},
      {"cat", cat},         {"pad", pad},
      {"roll", roll},       {"flip", flip},
      {"expand", expand},   {"triu", triangle},
      {"tril", triangle},   {"index_rows", index_rows},
      {"gather", gather},
  };
  return kernels;
}

}  // namespace kbench::eager
