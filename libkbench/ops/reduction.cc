// Reductions, scans and softmax: operators along one dimension.
#include "kbench/ops.h"
#include "libkbench/ops/families.h"

namespace kbench {
namespace {

TensorType reduced(const OperatorCall& call, DType dtype) {
  require_float(call, 0);
  const int64_t axis = checked_axis(call);
  Shape shape = call.inputs[0].shape;
  if (call.attributes.flag("keepdim")) {
    shape[axis] = 1;
  } else {
    shape.erase(shape.begin() + axis);
  }
  return {dtype, shape};
}

std::vector<TensorType> reduced_float(const OperatorCall& call) {
  return {reduced(call, DType::f32)};
}

std::vector<TensorType> reduced_index(const OperatorCall& call) {
  return {reduced(call, DType::i64)};
}

std::vector<TensorType> same_float_type(const OperatorCall& call) {
  require_float(call, 0);
  checked_axis(call);
  return {call.inputs[0]};
}

Operator reduction(std::string name, std::string formula, std::string follows,
                   std::vector<TensorType> (*infer)(const OperatorCall&)) {
  return {.name = std::move(name),
          .formula = std::move(formula) +
                     "; the dimension is dropped, or where keepdim is 1 kept with extent 1",
          .shapes = std::string("x [...] -> ") + (infer == reduced_index ? "i64 " : "") +
                    "[...] without axis, or with extent 1 there",
          .follows = std::move(follows),
          .attributes = {{"axis", int64_t{0}, true}, {"keepdim", int64_t{0}}},
          .infer = infer,
          .flops = flops_per_input<1>};
}

/// An element compared, taken off the maximum, exponentiated and added up.
Operator logsumexp_operator() {
  Operator op = reduction("logsumexp", "max + log(sum(exp(x - max))) along axis",
                          "torch.logsumexp(x, dim=axis)", reduced_float);
  op.flops = flops_per_input<4>;
  return op;
}

/// An element squared and added up.
Operator norm_operator() {
  Operator op = reduction("norm", "sqrt(sum(x^2)) along axis, the 2-norm",
                          "torch.linalg.vector_norm(x, dim=axis)", reduced_float);
  op.flops = flops_per_input<2>;
  return op;
}

Operator along(std::string name, std::string formula, std::string follows,
               double (*flops)(const OperatorCall&)) {
  return {.name = std::move(name),
          .formula = std::move(formula),
          .follows = std::move(follows),
          .attributes = {{"axis", int64_t{0}, true}},
          .infer = same_float_type,
          .flops = flops};
}

Value reduce(const std::string& name, Value x, Reduce options) {
  return call_operator(name, {x},
                       {{"axis", int64_t{normalized_axis(name, x, options.axis)}},
                        {"keepdim", int64_t{options.keepdim}}});
}

/// Neighbouring dimensions flattened, reduced as one, and put back as ones where they are kept.
Value reduce_several(const std::string& name, Value x, int first, int last, bool keepdim) {
  first = normalized_axis(name, x, first);
  last = normalized_axis(name, x, last);
  const Value y = reduce(name, flatten(x, first, last), {.axis = first, .keepdim = keepdim});
  if (!keepdim || first == last) return y;
  Shape shape = y.shape();
  shape.insert(shape.begin() + first, static_cast<size_t>(last - first), 1);
  return reshape(y, shape);
}

Value scan(const std::string& name, Value x, int axis) {
  return call_operator(name, {x}, {{"axis", int64_t{normalized_axis(name, x, axis)}}});
}

}  // namespace

const std::vector<Operator>& reduction_operators() {
  static const std::vector<Operator> operators = {
      reduction("sum", "the sum along dimension `axis`", "torch.sum(x, dim=axis)", reduced_float),
      reduction("mean",
                "the sum along dimension `axis`, and that divided by the dimension's extent",
                "torch.mean(x, dim=axis)", reduced_float),
      reduction("argmax", "the index of the first largest element along axis; NaN is largest",
                "torch.argmax(x, dim=axis)", reduced_index),
      reduction("max", "the largest element along dimension `axis`; NaN wins",
                "torch.amax(x, dim=axis)", reduced_float),
      reduction("min", "the smallest element along dimension `axis`; NaN wins",
                "torch.amin(x, dim=axis)", reduced_float),
      reduction("argmin", "the index of the first smallest element along axis; NaN is smallest",
                "torch.argmin(x, dim=axis)", reduced_index),
      logsumexp_operator(),
      norm_operator(),
      along("cumsum", "y[i] = x[0] + ... + x[i] along axis", "torch.cumsum(x, dim=axis)",
            flops_per_output<1>),
      along("cumprod", "y[i] = x[0] * ... * x[i] along axis", "torch.cumprod(x, dim=axis)",
            flops_per_output<1>),
      along("log_softmax", "x - max - log(sum(exp(x - max))) along axis",
            "torch.log_softmax(x, dim=axis)", flops_per_output<5>),
      along("softmax", "exp(x - max) / sum(exp(x - max)) along axis", "torch.softmax(x, dim=axis)",
            flops_per_output<5>),
  };
  return operators;
}

Value sum(Value x, Reduce options) { return reduce("sum", x, options); }
Value mean(Value x, Reduce options) { return reduce("mean", x, options); }
Value argmax(Value x, Reduce options) { return reduce("argmax", x, options); }
Value max(Value x, Reduce options) { return reduce("max", x, options); }
Value min(Value x, Reduce options) { return reduce("min", x, options); }
Value argmin(Value x, Reduce options) { return reduce("argmin", x, options); }
Value logsumexp(Value x, Reduce options) { return reduce("logsumexp", x, options); }
Value norm(Value x, Reduce options) { return reduce("norm", x, options); }
Value sum(Value x, int first, int last, bool keepdim) {
  return reduce_several("sum", x, first, last, keepdim);
}
Value mean(Value x, int first, int last, bool keepdim) {
  return reduce_several("mean", x, first, last, keepdim);
}
Value mean_all(Value x) { return mean(flatten(x), {.axis = 0}); }
Value cumprod(Value x, int axis) { return scan("cumprod", x, axis); }
Value log_softmax(Value x, int axis) { return scan("log_softmax", x, axis); }
Value normalize(Value x, int axis) {
  return x / clamp_min(norm(x, {.axis = axis, .keepdim = true}), 1e-12);
}
Value cumsum(Value x, int axis) { return scan("cumsum", x, axis); }
Value softmax(Value x, int axis) { return scan("softmax", x, axis); }

}  // namespace kbench
