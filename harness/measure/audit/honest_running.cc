// Honest variants that add up in one float: one accumulator in an invocation, or atomicAdd of the
// sums of blocks.
#include <algorithm>
#include <limits>

#include "harness/measure/audit/shortcut_rules.h"

namespace kbench {
namespace {

/// With more terms, fewer than five bits of each reach the total: the sum is then biased, and not
/// only rounded. The longest row that one invocation may be given has 393216.
constexpr int64_t kMostTerms = 400'000;
constexpr int64_t kBlock = 256;
constexpr int64_t kMostBlocks = 65'536;  ///< as many as any device launches along a dimension

/// [outer, n, inner], n being the axis's extent.
Value as_lines(Value x, int axis) {
  int64_t outer = 1;
  for (int i = 0; i < axis; ++i) outer *= x.dim(i);
  return reshape(x, {outer, x.dim(axis), x.type().elements() / outer / x.dim(axis)});
}

using Scan = Value (*)(Value x, int axis);

/// The running values of lines along dimension 0, as columns: [n, columns]. The eager baseline
/// scans columns one element after another, and rows in pieces; so does the CPU reference where it
/// is asked for sums in sequence.
Value running_columns(Value lines, Scan scan) {
  const int64_t outer = lines.dim(0), n = lines.dim(1);
  if (outer == 1) return scan(expand(reshape(lines, {n, 1}), {n, 2}), 0);
  return scan(transpose(reshape(lines, {outer, n}), 0, 1), 0);
}

Value running_values(Value x, int axis, Scan scan) {
  const Value lines = as_lines(x, axis);
  if (lines.dim(2) > 1) return reshape(scan(lines, 1), x.shape());
  const Value columns = first_of(running_columns(lines, scan), 1, lines.dim(0));
  return reshape(transpose(columns, 0, 1), x.shape());
}

Value running_sum(Value x, Reduce reduce) {
  Shape shape = x.shape();
  shape[static_cast<size_t>(reduce.axis)] = 1;
  if (!reduce.keepdim) shape.erase(shape.begin() + reduce.axis);
  const Value lines = as_lines(x, reduce.axis);
  const int64_t outer = lines.dim(0), n = lines.dim(1);
  if (lines.dim(2) > 1) return reshape(range_of(cumsum(lines, 1), 1, n - 1, n), shape);
  const Value last = range_of(running_columns(lines, cumsum), 0, n - 1, n);
  return reshape(first_of(last, 1, outer), shape);
}

/// Every 16th element first, then every next one.
Value out_of_order(Value x, int axis) {
  const Value rows = in_rows(x, axis, 16);
  const Value mixed = transpose(rows, axis, axis + 1);
  Shape shape = x.shape();
  shape[static_cast<size_t>(axis)] = mixed.dim(axis) * mixed.dim(axis + 1);
  return reshape(mixed, shape);
}

/// Sums of blocks in no fixed order, as atomicAdd adds them.
Value sum_of_blocks(Value x, Reduce reduce) {
  const int64_t n = x.dim(reduce.axis);
  const int64_t width = std::max(kBlock, (n + kMostBlocks - 1) / kMostBlocks);
  const Value blocks = sum(in_rows(x, reduce.axis, width), {.axis = reduce.axis + 1});
  return running_sum(out_of_order(blocks, reduce.axis), reduce);
}

struct RunningSum {
  const char* text;
  Sum sum;
  int64_t least, most;  ///< terms
};
constexpr RunningSum kRunningSums[] = {
    {"in one float, one element after another", running_sum, 4, kMostTerms},
    {"in one float, the sums of blocks in any order", sum_of_blocks, 4 * kBlock,
     std::numeric_limits<int64_t>::max()}};

/// Adds a variant by `make` for each way to sum that suits this number of terms.
template <class Make>
void add_each(int64_t terms, const char* before, const AddMutant& add, const Make& make) {
  for (const RunningSum& each : kRunningSums) {
    if (terms < each.least || terms > each.most) continue;
    add(std::string("@ ") + before + each.text,
        [make, sum = each.sum](const Rewriting& rewriting, int number) -> std::vector<Value> {
          return {make(rewriting, number, sum)};
        });
  }
}

// --- statistics of norms -------------------------------------------------------------------------

/// The mean over the dimensions of the statistics, all in one sum.
Value mean_by(const NormView& view, Value x, Sum sum) {
  if (!view.batch) {
    return sum(x, {.axis = 2, .keepdim = true}) / static_cast<double>(x.dim(2));
  }
  const int64_t channels = x.dim(1), terms = x.dim(0) * x.dim(2);
  const Value columns = reshape(permute(x, {0, 2, 1}), {terms, channels});
  const Value total = sum(columns, {.axis = 0, .keepdim = true});
  return reshape(total, {1, channels, 1}) / static_cast<double>(terms);
}

Value norm_by(const Rewriting& rewriting, int number, Sum sum) {
  const NormView view = norm_view(rewriting, number);
  const Value below = view.x - mean_by(view, view.x, sum);
  const Value variance = mean_by(view, square(below), sum);
  return norm_result(rewriting, number, below / sqrt(variance + view.eps));
}

// --- losses, softmax, pooling --------------------------------------------------------------------

Value loss_by(const Rewriting& rewriting, int number, Sum sum) {
  const Graph::Node& node = node_of(rewriting, number);
  const std::vector<Value> in = inputs_of(rewriting, number);
  if (node.call.op->name != "cross_entropy") {
    const LossTerms loss = loss_terms(node.call.op->name, in, node.call.attributes);
    return sum(loss.terms, {.axis = 0}) / loss.count;
  }
  // The loss of a row is its logsumexp less x[target]. Only the logsumexps are added up in the
  // other order.
  const Value rows = logsumexp(in[0], {.axis = 1});
  const Value in_parts =
      kbench::sum(kbench::sum(in_rows(rows, 0, kBlock), {.axis = 1}), {.axis = 0});
  const Value change = (sum(rows, {.axis = 0}) - in_parts) / static_cast<double>(rows.dim(0));
  return again(rewriting, number, in)[0] + change;
}

int64_t terms_of_loss(const Graph::Node& node) {
  const Shape& x = node.call.inputs[0].shape;
  const bool by_row = is_one_of(node.call.op->name, {"cross_entropy", "triplet_margin_loss"});
  return by_row ? x[0] : element_count(x);
}

Value softmax_by(const Rewriting& rewriting, int number, Sum sum) {
  const Graph::Node& node = node_of(rewriting, number);
  const int axis = static_cast<int>(node.call.attributes.integer("axis"));
  const Value x = inputs_of(rewriting, number)[0], most = largest_of(x, axis), e = exp(x - most);
  return from_exponentials(node, x, most, e, sum(e, {.axis = axis, .keepdim = true}));
}

/// Of whole images.
Value image_mean_by(const Rewriting& rewriting, int number, Sum sum) {
  const Value x = inputs_of(rewriting, number)[0];
  const Value images = reshape(x, {x.dim(0) * x.dim(1), x.dim(2) * x.dim(3)});
  const Value means = sum(images, {.axis = 1}) / static_cast<double>(images.dim(1));
  return reshape(means, node_of(rewriting, number).call.outputs[0].shape);
}

void add_scan(const Graph::Node& node, int64_t n, const AddMutant& add) {
  if (n < 4 || n > kMostTerms) return;
  const Scan scan = node.call.op->name == "cumsum" ? cumsum : cumprod;
  add("@ in one float, one element after another",
      [scan](const Rewriting& rewriting, int number) -> std::vector<Value> {
        const auto axis = node_of(rewriting, number).call.attributes.integer("axis");
        return {running_values(inputs_of(rewriting, number)[0], static_cast<int>(axis), scan)};
      });
}

}  // namespace

void add_up_in_one_float(const Graph& graph, int number, const AddMutant& add) {
  const Graph::Node& node = graph.node(number);
  const std::string& name = node.call.op->name;
  const AttributeValue* axis = node.call.attributes.find("axis");
  const int64_t along =
      axis == nullptr
          ? 0
          : node.call.inputs[0].shape[static_cast<size_t>(node.call.attributes.integer("axis"))];
  if (is_one_of(name, {"sum", "mean", "norm"})) {
    add_each(along, "", add, [](const Rewriting& rewriting, int n, Sum sum) {
      return reduced_by(sum, rewriting, n);
    });
  } else if (is_one_of(name, {"softmax", "log_softmax", "logsumexp"})) {
    add_each(along, "with its sum ", add, softmax_by);
  } else if (is_one_of(name, {"cumsum", "cumprod"})) {
    add_scan(node, along, add);
  } else if (is_norm(*node.call.op)) {
    add_each(terms_of_statistics(node), "in two passes, its sums ", add, norm_by);
  } else if (is_one_of(name, {"cross_entropy", "smooth_l1_loss", "triplet_margin_loss",
                              "kl_div_batchmean"})) {
    add_each(terms_of_loss(node), "", add, loss_by);
  } else if (name == "adaptive_avg_pool2d") {
    const Shape &x = node.call.inputs[0].shape, &y = node.call.outputs[0].shape;
    if (y[2] == 1 && y[3] == 1) add_each(x[2] * x[3], "", add, image_mean_by);
  }
}

}  // namespace kbench
