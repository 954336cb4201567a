#include "harness/measure/audit/honest_sums.h"

namespace kbench {

Value in_rows(Value x, int axis, int64_t columns) {
  const int64_t n = x.dim(axis), rows = (n + columns - 1) / columns;
  if (rows * columns > n) x = pad(x, axis, 0, rows * columns - n);
  Shape shape = x.shape();
  shape[static_cast<size_t>(axis)] = rows;
  shape.insert(shape.begin() + axis + 1, columns);
  return reshape(x, shape);
}

Value reduced_by(Sum sum, const Rewriting& rewriting, int number) {
  const Graph::Node& node = node_of(rewriting, number);
  const Value x = inputs_of(rewriting, number)[0];
  const Reduce reduce = reduce_of(node);
  if (node.call.op->name == "norm") return sqrt(sum(square(x), reduce));
  const Value total = sum(x, reduce);
  return node.call.op->name == "mean" ? total / static_cast<double>(x.dim(reduce.axis)) : total;
}

LossTerms loss_terms(const std::string& loss, const std::vector<Value>& in,
                     const Attributes& attributes) {
  if (loss == "smooth_l1_loss") {
    const Value d = abs(in[0] - in[1]), bounded = clamp_max(d, 1);
    return {flatten(bounded * (d - bounded * 0.5)), static_cast<double>(d.type().elements())};
  }
  if (loss == "triplet_margin_loss") {
    const auto distance = [&](size_t i) { return norm(in[0] - in[i] + 1e-6, {.axis = -1}); };
    const Value rows = clamp_min(distance(1) - distance(2) + attributes.real("margin"), 0);
    return {flatten(rows), static_cast<double>(rows.type().elements())};
  }
  // kl_div_batchmean. The bound keeps the logarithm finite, so that a target of 0 gives 0.
  const Value terms = in[1] * log(clamp_min(in[1], 1e-37)) - in[1] * in[0];
  return {flatten(terms), static_cast<double>(in[0].dim(0))};
}

Value largest_of(Value x, int axis) {
  return clamp_min(max(x, {.axis = axis, .keepdim = true}), -1e30);
}

Value from_exponentials(const Graph::Node& node, Value x, Value max, Value exponentials,
                        Value sum) {
  const std::string& name = node.call.op->name;
  if (name == "softmax") return exponentials / sum;
  if (name == "log_softmax") return x - max - log(sum);
  const Reduce reduce = reduce_of(node);
  const Value y = max + log(sum);
  return reduce.keepdim ? y : squeeze(y, reduce.axis);
}

}  // namespace kbench
