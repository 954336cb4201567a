// Honest variants that add up or multiply the same terms in another order, as kernels with tiles,
// splits and trees do; and the terms that these and other honest variants add up.

#include <cmath>

#include "harness/measure/audit/shortcut_rules.h"

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

namespace {

constexpr int64_t kMostPieces = 16;

// --- products ------------------------------------------------------------------------------------

void reorder_product(const Graph::Node& node, const AddMutant& add) {
  const Inner inner = inner_of(node);
  if (!inner.splits || inner.extent < 2) return;
  const std::string over =
      is_convolution(*node.call.op) ? "the input channels" : "the inner dimension";
  for (const int64_t pieces : {int64_t{2}, kMostPieces}) {
    if (pieces > 2 && inner.extent < 3) continue;
    add(std::string("@ with ") + over + (pieces == 2 ? " in two parts" : " in up to 16 parts"),
        [inner, pieces](const Rewriting& rewriting, int number) -> std::vector<Value> {
          const std::vector<Value> inputs = inputs_of(rewriting, number);
          const std::vector<Value> a = pieces_of(inputs[0], inner.a, pieces),
                                   b = pieces_of(inputs[1], inner.b, pieces);
          std::vector<Value> parts;
          for (size_t i = 0; i < a.size(); ++i) {
            parts.push_back(product_of(rewriting, number, a[i], b[i]));
          }
          return {with_bias(rewriting, number, added(parts))};
        });
  }
  add("@ with " + over + " from last to first", [inner](const Rewriting& rewriting, int number) {
    std::vector<Value> inputs = inputs_of(rewriting, number);
    inputs[0] = flip(inputs[0], inner.a);
    inputs[1] = flip(inputs[1], inner.b);
    return again(rewriting, number, inputs);
  });
}

/// Whether a convolution of mirrored x and weight is the mirrored result: where the last window
/// ends with the last element.
bool mirrors(const Graph::Node& node) {
  const Attributes& a = node.call.attributes;
  const Shape &x = node.call.inputs[0].shape, &weight = node.call.inputs[1].shape;
  const bool transposed = node.call.op->name.starts_with("conv_transpose");
  for (size_t d = 0; d + 2 < x.size(); ++d) {
    if (transposed && a.list("output_padding")[d] != 0) return false;
    const int64_t span = a.list("dilation")[d] * (weight[d + 2] - 1) + 1;
    const int64_t rest = x[d + 2] + 2 * a.list("padding")[d] - span;
    if (!transposed && rest % a.list("stride")[d] != 0) return false;
  }
  return true;
}

void reorder_taps(const Graph::Node& node, const AddMutant& add) {
  const Shape& weight = node.call.inputs[1].shape;
  if (!mirrors(node) || element_count({weight.begin() + 2, weight.end()}) < 2) return;
  add("@ with the taps from last to first", [](const Rewriting& rewriting, int number) {
    std::vector<Value> inputs = inputs_of(rewriting, number);
    const int rank = inputs[0].rank();
    for (int axis = 2; axis < rank; ++axis) {
      inputs[0] = flip(inputs[0], axis);
      inputs[1] = flip(inputs[1], axis);
    }
    std::vector<Value> made = again(rewriting, number, inputs);
    for (int axis = 2; axis < rank; ++axis) made[0] = flip(made[0], axis);
    return made;
  });
}

// --- reductions and scans ------------------------------------------------------------------------

/// An axis of n elements as rows of about sqrt(n).
Value in_square_rows(Value x, int axis) {
  const int64_t n = x.dim(axis);
  const auto rows = static_cast<int64_t>(std::sqrt(static_cast<double>(n)));
  return in_rows(x, axis, (n + rows - 1) / rows);
}

/// Sums of rows of about sqrt(n), then their sum.
Value sum_by_rows(Value x, Reduce reduce) {
  return sum(sum(in_square_rows(x, reduce.axis), {.axis = reduce.axis + 1}), reduce);
}

Value sum_backwards(Value x, Reduce reduce) { return sum(flip(x, reduce.axis), reduce); }

struct Order {
  const char* text;
  Sum sum;
};
constexpr Order kOrders[] = {{"by rows of about sqrt(n)", sum_by_rows},
                             {"from last to first", sum_backwards}};

void reorder_reduction(const Graph::Node& node, const AddMutant& add) {
  const int64_t n =
      node.call.inputs[0].shape[static_cast<size_t>(node.call.attributes.integer("axis"))];
  if (n < 4) return;
  for (const Order& order : kOrders) {
    add(std::string("@ ") + order.text,
        [order](const Rewriting& rewriting, int number) -> std::vector<Value> {
          return {reduced_by(order.sum, rewriting, number)};
        });
  }
}

/// `first`, then all but the last total along an axis: for each row the total of the rows before
/// it.
Value before_each(Value totals, int axis, float first) {
  Shape one = totals.shape();
  one[static_cast<size_t>(axis)] = 1;
  const Value begin = filled(*totals.graph(), one, first);
  if (totals.dim(axis) == 1) return begin;
  return cat({begin, first_of(totals, axis, totals.dim(axis) - 1)}, axis);
}

/// A scan within rows, then over their ends, as kernels of many workgroups do it.
void reorder_scan(const Graph::Node& node, const AddMutant& add) {
  const int axis = static_cast<int>(node.call.attributes.integer("axis"));
  const int64_t n = node.call.inputs[0].shape[static_cast<size_t>(axis)];
  if (n < 4) return;
  add("@ by rows of about sqrt(n)",
      [axis, n](const Rewriting& rewriting, int number) -> std::vector<Value> {
        const bool adds = node_of(rewriting, number).call.op->name == "cumsum";
        const auto scan = [&](Value x, int along) {
          return adds ? cumsum(x, along) : cumprod(x, along);
        };
        const Value x = inputs_of(rewriting, number)[0];
        const Value inner = scan(in_square_rows(x, axis), axis + 1);
        const int64_t columns = inner.dim(axis + 1);
        const Value ends = scan(range_of(inner, axis + 1, columns - 1, columns), axis);
        const Value before = before_each(ends, axis, adds ? 0.0f : 1.0f);
        const Value y = adds ? inner + before : inner * before;
        Shape shape = x.shape();
        shape[static_cast<size_t>(axis)] = y.dim(axis) * columns;
        return {first_of(reshape(y, shape), axis, n)};
      });
}

/// Means of two halves of the rows, weighted by how many they have.
void reorder_loss(const Graph::Node& node, const AddMutant& add) {
  const int64_t rows = node.call.inputs[0].shape.empty() ? 1 : node.call.inputs[0].shape[0];
  if (rows < 2) return;
  add("@ in two halves of the rows",
      [rows](const Rewriting& rewriting, int number) -> std::vector<Value> {
        const std::vector<Value> inputs = inputs_of(rewriting, number);
        std::vector<Value> parts;
        for (const auto& [first, end] : {std::pair{int64_t{0}, rows / 2}, {rows / 2, rows}}) {
          std::vector<Value> some;
          for (const Value& input : inputs) some.push_back(range_of(input, 0, first, end));
          const double share = static_cast<double>(end - first) / static_cast<double>(rows);
          parts.push_back(again(rewriting, number, some)[0] * share);
        }
        return {added(parts)};
      });
}

/// Along one axis after another.
void reorder_average(const Graph::Node& node, const AddMutant& add) {
  const Attributes& attributes = node.call.attributes;
  const size_t dims = attributes.list("kernel").size();
  if (dims < 2 || attributes.flag("ceil_mode")) return;
  add("@ along one axis after another", [dims](const Rewriting& rewriting, int number) {
    const Attributes& all = node_of(rewriting, number).call.attributes;
    std::vector<Value> x = inputs_of(rewriting, number);
    for (size_t d = dims; d-- > 0;) {
      Attributes one = all;
      for (const char* name : {"kernel", "stride", "padding"}) {
        std::vector<int64_t> list(dims, name[0] == 'p' ? 0 : 1);
        list[d] = all.list(name)[d];
        one.set(name, list);
      }
      x = again(rewriting, number, x, one);
    }
    return x;
  });
}

// --- statistics of norms -------------------------------------------------------------------------

/// The mean over the dimensions of the statistics, in that order.
Value mean_in_order(const NormView& view, Value x, Sum order) {
  const auto n = static_cast<double>(view.x.dim(2));
  const Value rows = order(x, {.axis = 2, .keepdim = true}) / n;
  if (!view.batch) return rows;
  return sum(rows, {.axis = 0, .keepdim = true}) / static_cast<double>(view.x.dim(0));
}

void reorder_statistics(const AddMutant& add) {
  add("@ in one pass, the variance as E[x^2] - E[x]^2",
      [](const Rewriting& rewriting, int number) -> std::vector<Value> {
        const NormView view = norm_view(rewriting, number);
        const Value average = mean_over(view, view.x);
        const Value variance = clamp_min(mean_over(view, square(view.x)) - square(average), 0);
        return {norm_result(rewriting, number, (view.x - average) / sqrt(variance + view.eps))};
      });
  for (const Order& order : kOrders) {
    add(std::string("@ in two passes, its sums ") + order.text,
        [order](const Rewriting& rewriting, int number) -> std::vector<Value> {
          const NormView view = norm_view(rewriting, number);
          const Value below = view.x - mean_in_order(view, view.x, order.sum);
          const Value variance = mean_in_order(view, square(below), order.sum);
          return {norm_result(rewriting, number, below / sqrt(variance + view.eps))};
        });
  }
}

// --- recurrent layers ----------------------------------------------------------------------------

/// Mirrors each of `groups` neighbouring runs that an axis consists of.
Value flip_runs(Value x, int axis, int64_t groups) {
  Shape shape = x.shape();
  shape[static_cast<size_t>(axis)] = groups;
  shape.insert(shape.begin() + axis + 1, x.dim(axis) / groups);
  return reshape(flip(reshape(x, shape), axis + 1), x.shape());
}

/// The units of every layer and the features of x numbered from last to first: every sum's terms in
/// the other order, the results the same.
std::vector<Value> units_backwards(const Rewriting& rewriting, int number) {
  const Graph::Node& node = node_of(rewriting, number);
  const Attributes& attributes = node.call.attributes;
  const int64_t directions = attributes.flag("bidirectional") ? 2 : 1;
  const bool cell = node.call.op->name == "lstm";
  const int64_t gates = cell ? 4 : 3, cells = attributes.integer("layers") * directions;
  const size_t states = cell ? 2 : 1;
  std::vector<Value> in = inputs_of(rewriting, number);
  for (size_t i = 0; i <= states; ++i) in[i] = flip(in[i], 2);
  for (int64_t c = 0; c < cells; ++c) {
    Value* own = &in[1 + states + 4 * static_cast<size_t>(c)];
    for (int i = 0; i < 4; ++i) own[i] = flip_runs(own[i], 0, gates);
    own[0] = flip_runs(own[0], 1, c < directions ? 1 : directions);
    own[1] = flip(own[1], 1);
  }
  std::vector<Value> made = again(rewriting, number, in);
  made[0] = flip_runs(made[0], 2, directions);
  for (size_t i = 1; i < made.size(); ++i) made[i] = flip(made[i], 2);
  return made;
}

}  // namespace

void reorder_sums(const Graph& graph, int number, const AddMutant& add) {
  const Graph::Node& node = graph.node(number);
  const std::string& name = node.call.op->name;
  if (is_product(*node.call.op)) {
    reorder_product(node, add);
    if (is_convolution(*node.call.op)) reorder_taps(node, add);
  } else if (is_one_of(name, {"sum", "mean", "norm"})) {
    reorder_reduction(node, add);
  } else if (is_one_of(name, {"cumsum", "cumprod"})) {
    reorder_scan(node, add);
  } else if (is_one_of(name, {"cross_entropy", "smooth_l1_loss", "triplet_margin_loss",
                              "kl_div_batchmean"})) {
    reorder_loss(node, add);
  } else if (name.starts_with("avg_pool")) {
    reorder_average(node, add);
  } else if (is_norm(*node.call.op)) {
    reorder_statistics(add);
  } else if (is_recurrent(*node.call.op)) {
    add("@ with its units and features from last to first", units_backwards);
  }
}

}  // namespace kbench
