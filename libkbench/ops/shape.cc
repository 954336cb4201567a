// Operators that only rename an input's elements: views, without a kernel.
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

}  // namespace

const std::vector<Operator>& shape_operators() {
  static const std::vector<Operator> operators = {
      {.name = "reshape",
       .formula = "the same elements in row-major order under another shape; a view",
       .attributes = {{"shape", std::vector<int64_t>{}, true}},
       .infer = reshape_type,
       .is_view = true},
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

}  // namespace kbench
