// Honest variants by other formulas for the same function: each one that a kernel's author would
// defend as float32.
#include <cmath>
#include <numbers>

#include "harness/measure/audit/shortcut_rules.h"

namespace kbench {
namespace {

// --- functions of one value ----------------------------------------------------------------------

/// exp(x) as processors compute it: 2^(x log2 e), with x log2 e rounded.
Value fast_exp(Value x) { return exp(x * std::numbers::log2e * std::numbers::ln2); }

Value reciprocal(Value x) { return filled(*x.graph(), {}, 1) / x; }

/// 1 / (1 + exp(-x)).
Value logistic(Value x) { return reciprocal(exp(-x) + 1.0); }

/// exp(x) - 1 below zero, zero above.
Value expm1_below(Value x) { return exp(clamp_max(x, 0)) - 1.0; }

using Unary = Value (*)(Value x, const Attributes& a);
struct Formula {
  const char* op;
  const char* text;
  Unary make;
};
using A = const Attributes&;
constexpr double kSeluScale = 1.0507009873554805, kSeluAlpha = 1.6732632423543772;

const Formula kFormulas[] = {
    {"exp", "@ as 2^(x log2 e)", [](Value x, A) { return fast_exp(x); }},
    {"exp", "@ as exp(x / 2)^2", [](Value x, A) { return square(exp(x * 0.5)); }},
    {"sigmoid", "@ as 1 / (1 + exp(-x))", [](Value x, A) { return logistic(x); }},
    {"sigmoid", "@ as 1 / (1 + 2^(-x log2 e))",
     [](Value x, A) { return reciprocal(fast_exp(-x) + 1.0); }},
    {"sigmoid", "@ as tanh(x / 2) / 2 + 1 / 2",
     [](Value x, A) { return tanh(x * 0.5) * 0.5 + 0.5; }},
    {"tanh", "@ as 2 sigmoid(2 x) - 1", [](Value x, A) { return sigmoid(x * 2.0) * 2.0 - 1.0; }},
    {"tanh", "@ as 1 - 2 / (exp(2 x) + 1)",
     [](Value x, A) { return -(reciprocal(exp(x * 2.0) + 1.0) * 2.0) + 1.0; }},
    {"gelu", "@ as x + gelu(-x)", [](Value x, A) { return x + gelu(-x); }},
    {"elu", "@ as max(x, 0) + alpha (exp(min(x, 0)) - 1)",
     [](Value x, A a) { return clamp_min(x, 0) + expm1_below(x) * a.real("alpha"); }},
    {"selu", "@ as scale (max(x, 0) + alpha (exp(min(x, 0)) - 1))",
     [](Value x, A) { return (clamp_min(x, 0) + expm1_below(x) * kSeluAlpha) * kSeluScale; }},
    {"softplus", "@ as max(x, 0) + log(1 + exp(-|x|))",
     [](Value x, A) { return clamp_min(x, 0) + log(exp(-abs(x)) + 1.0); }},
    {"softplus", "@ as log(1 + exp(x)) up to 20, x beyond",
     [](Value x, A) { return log(exp(clamp_max(x, 20)) + 1.0) + clamp_min(x - 20.0, 0); }},
    {"mish", "@ as x tanh(log(1 + exp(x)))", [](Value x, A) { return x * tanh(softplus(x)); }},
    {"mish", "@ as x e (e + 2) / (e (e + 2) + 2) with e = exp(x)",
     [](Value x, A) {
       const Value e = exp(clamp_max(x, 20)), s = e * (e + 2.0);
       return x * (s / (s + 2.0));
     }},
    {"hardsigmoid", "@ as min(max(x + 3, 0), 6) / 6",
     [](Value x, A) { return clamp(x + 3.0, 0, 6) / 6.0; }},
    {"hardswish", "@ as x min(max(x + 3, 0), 6) / 6",
     [](Value x, A) { return x * clamp(x + 3.0, 0, 6) / 6.0; }},
    {"div_scalar", "@ as a product with the reciprocal",
     [](Value x, A a) { return x * (1 / a.real("value")); }},
    {"mean", "@ as the sum times 1 / n",
     [](Value x, A a) {
       const Reduce reduce{.axis = static_cast<int>(a.integer("axis")),
                           .keepdim = a.flag("keepdim")};
       return sum(x, reduce) * (1 / static_cast<double>(x.dim(reduce.axis)));
     }},
    {"norm", "@ with the largest element taken out",
     [](Value x, A a) {
       const int axis = static_cast<int>(a.integer("axis"));
       const Value most = clamp_min(max(abs(x), {.axis = axis, .keepdim = true}), 1e-30);
       const Value y = most * sqrt(sum(square(x / most), {.axis = axis, .keepdim = true}));
       return a.flag("keepdim") ? y : squeeze(y, axis);
     }},
};

// --- softmax -------------------------------------------------------------------------------------

/// log(sum of exp(x)) as max + log(sum).
struct ExponentialSum {
  Value max, sum;
};
using MakeSum = ExponentialSum (*)(Value x, int axis);

ExponentialSum in_two_blocks(Value x, int axis) {
  const std::vector<Value> blocks = pieces_of(x, axis, 2);
  ExponentialSum total;
  for (const Value& block : blocks) {
    const Value own = largest_of(block, axis);
    const Value terms = sum(exp(block - own), {.axis = axis, .keepdim = true});
    if (total.sum.graph() == nullptr) {
      total = {own, terms};
      continue;
    }
    const Value both = maximum(total.max, own);
    total = {both, total.sum * exp(total.max - both) + terms * exp(own - both)};
  }
  return total;
}

ExponentialSum by_fast_exp(Value x, int axis) {
  const Value most = largest_of(x, axis);
  return {most, sum(fast_exp(x - most), {.axis = axis, .keepdim = true})};
}

ExponentialSum without_maximum(Value x, int axis) {
  const Value terms = sum(exp(x), {.axis = axis, .keepdim = true});
  return {filled(*x.graph(), terms.shape(), 0), terms};
}

struct SumFormula {
  const char* text;
  MakeSum make;
  int64_t least;  ///< elements
};
constexpr SumFormula kSoftmaxSums[] = {
    {"@ online, in two blocks", in_two_blocks, 2},
    {"@ with exp(x) as 2^(x log2 e)", by_fast_exp, 1},
    {"@ without the maximum taken out (may overflow)", without_maximum, 1},
};

void other_softmax(const Graph::Node& node, const AddMutant& add) {
  const int axis = static_cast<int>(node.call.attributes.integer("axis"));
  const int64_t n = node.call.inputs[0].shape[static_cast<size_t>(axis)];
  for (const SumFormula& formula : kSoftmaxSums) {
    if (n < formula.least) continue;
    add(formula.text,
        [axis, formula](const Rewriting& rewriting, int number) -> std::vector<Value> {
          const Value x = inputs_of(rewriting, number)[0];
          const ExponentialSum s = formula.make(x, axis);
          const bool fast = formula.make == by_fast_exp;
          const Value e = fast ? fast_exp(x - s.max) : exp(x - s.max);
          return {from_exponentials(node_of(rewriting, number), x, s.max, e, s.sum)};
        });
  }
  if (node.call.op->name != "log_softmax") return;
  add("@ as x - logsumexp(x)",
      [axis](const Rewriting& rewriting, int number) -> std::vector<Value> {
        const Value x = inputs_of(rewriting, number)[0];
        return {x - logsumexp(x, {.axis = axis, .keepdim = true})};
      });
}

// --- several operands ----------------------------------------------------------------------------

Value smooth_l1(const std::vector<Value>& in, const Attributes& a) {
  return mean_all(loss_terms("smooth_l1_loss", in, a).terms);
}

Value triplet(const std::vector<Value>& in, const Attributes& a) {
  return mean_all(loss_terms("triplet_margin_loss", in, a).terms);
}

Value kl_div(const std::vector<Value>& in, const Attributes& a) {
  const LossTerms loss = loss_terms("kl_div_batchmean", in, a);
  return sum(loss.terms, {.axis = 0}) / loss.count;
}

Value cross_entropy_of_logarithms(const std::vector<Value>& in, const Attributes&) {
  return cross_entropy(log_softmax(in[0], 1), in[1]);
}

Value by_reciprocal(const std::vector<Value>& in, const Attributes&) {
  return in[0] * reciprocal(in[1]);
}

struct WholeFormula {
  const char* op;
  const char* text;
  Value (*make)(const std::vector<Value>& in, const Attributes& a);
};
constexpr WholeFormula kWholes[] = {
    {"smooth_l1_loss", "@ as the mean of b (|d| - b / 2) with b = min(|d|, 1)", smooth_l1},
    {"triplet_margin_loss", "@ by its parts", triplet},
    {"kl_div_batchmean", "@ as the sum of t log t - t x", kl_div},
    {"cross_entropy", "@ of log_softmax(x)", cross_entropy_of_logarithms},
    {"div", "@ as a product with the reciprocal", by_reciprocal},
};

/// Which operand of the node is x where it computes x * sigmoid(x); else -1.
int silu_operand(const Graph& graph, const Graph::Node& node) {
  if (node.call.op->name != "mul") return -1;
  for (const size_t i : {0, 1}) {
    const int producer = graph.value(node.inputs[1 - i]).producer;
    if (producer < 0 || graph.node(producer).call.op->name != "sigmoid") continue;
    if (graph.node(producer).inputs[0] == node.inputs[i]) return static_cast<int>(i);
  }
  return -1;
}

/// A norm as x * scale - mean * scale, before weight and bias.
Value as_scale_and_shift(const Rewriting& rewriting, int number) {
  const NormView view = norm_view(rewriting, number);
  const Value average = mean_over(view, view.x);
  const Value scale = reciprocal(sqrt(mean_over(view, square(view.x - average)) + view.eps));
  return norm_result(rewriting, number, view.x * scale - average * scale);
}

}  // namespace

void other_formulas(const Graph& graph, int number, const AddMutant& add) {
  const Graph::Node& node = graph.node(number);
  const std::string& name = node.call.op->name;
  for (const Formula& formula : kFormulas) {
    if (name != formula.op) continue;
    add(formula.text,
        [make = formula.make](const Rewriting& rewriting, int n) -> std::vector<Value> {
          return {make(inputs_of(rewriting, n)[0], node_of(rewriting, n).call.attributes)};
        });
  }
  for (const WholeFormula& formula : kWholes) {
    if (name != formula.op) continue;
    add(formula.text,
        [make = formula.make](const Rewriting& rewriting, int n) -> std::vector<Value> {
          return {make(inputs_of(rewriting, n), node_of(rewriting, n).call.attributes)};
        });
  }
  if (is_one_of(name, {"softmax", "log_softmax", "logsumexp"})) other_softmax(node, add);
  if (const int operand = silu_operand(graph, node); operand >= 0) {
    add("@ of x and sigmoid(x) as x / (1 + exp(-x))",
        [operand](const Rewriting& rewriting, int n) -> std::vector<Value> {
          const Value x = inputs_of(rewriting, n)[static_cast<size_t>(operand)];
          return {x / (exp(-x) + 1.0)};
        });
  }
  if (is_norm(*node.call.op)) {
    add("@ as a scale and a shift", [](const Rewriting& rewriting, int n) -> std::vector<Value> {
      return {as_scale_and_shift(rewriting, n)};
    });
  }
}

}  // namespace kbench
