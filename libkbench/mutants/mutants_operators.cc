// Mutants by whole operators: left out, in another order, another in its place, another form of it.
#include <cmath>

#include "libkbench/base/text.h"
#include "libkbench/core/graph_facts.h"
#include "libkbench/mutants/mutant_rules.h"

namespace kbench {
namespace {

/// Whether the node has one output, which is of its first input's type.
bool keeps_type(const Graph& graph, const Graph::Node& node) {
  return node.outputs.size() == 1 && !node.inputs.empty() && !node.call.op->is_view &&
         graph.value(node.inputs[0]).type == graph.value(node.outputs[0]).type;
}

/// Operators that are easily taken for one another. Attributes of the same name are kept.
struct Other {
  const char* from;
  const char* to;  ///< one or more, between blanks
};
constexpr Other kOthers[] = {
    {"sum", "mean"},
    {"mean", "sum"},
    {"max", "min mean"},
    {"min", "max"},
    {"argmax", "argmin"},
    {"argmin", "argmax"},
    {"logsumexp", "sum max"},
    {"norm", "sum"},
    {"cumsum", "cumprod"},
    {"cumprod", "cumsum"},
    {"softmax", "log_softmax"},
    {"log_softmax", "softmax"},
    {"max_pool1d", "avg_pool1d"},
    {"max_pool2d", "avg_pool2d"},
    {"max_pool3d", "avg_pool3d"},
    {"avg_pool1d", "max_pool1d"},
    {"avg_pool2d", "max_pool2d"},
    {"avg_pool3d", "max_pool3d"},
    {"add", "sub mul"},
    {"sub", "add"},
    {"mul", "add div"},
    {"div", "mul"},
    {"maximum", "minimum add"},
    {"minimum", "maximum add"},
    {"add_scalar", "sub_scalar mul_scalar"},
    {"sub_scalar", "add_scalar"},
    {"mul_scalar", "div_scalar add_scalar"},
    {"div_scalar", "mul_scalar"},
    {"clamp_min", "clamp_max"},
    {"clamp_max", "clamp_min"},
    {"relu", "leaky_relu gelu sigmoid tanh abs"},
    {"leaky_relu", "relu"},
    {"sigmoid", "tanh hardsigmoid relu"},
    {"tanh", "sigmoid relu"},
    {"gelu", "relu"},
    {"selu", "elu relu"},
    {"elu", "relu selu"},
    {"softplus", "relu exp"},
    {"mish", "relu gelu"},
    {"hardsigmoid", "sigmoid"},
    {"hardswish", "relu hardsigmoid"},
    {"sin", "cos"},
    {"cos", "sin"},
    {"square", "abs"},
    {"cube", "square"},
    {"triu", "tril"},
    {"tril", "triu"},
    {"batch_norm", "instance_norm"},
    {"instance_norm", "batch_norm"},
};

Attributes shared_attributes(const Operator& to, const Attributes& given) {
  Attributes shared;
  for (const AttributeSpec& spec : to.attributes) {
    if (const AttributeValue* value = given.find(spec.name)) shared.set(spec.name, *value);
  }
  return shared;
}

/// Other formulas for an operator of one name.
struct Form {
  const char* op;
  const char* text;
  Value (*make)(const Graph::Node& node, const std::vector<Value>& inputs);
};
using Node = const Graph::Node&;
using Values = const std::vector<Value>&;

Value swish(Node, Values in) { return in[0] * sigmoid(in[0]); }
Value soft(Node, Values in) { return in[0] * tanh(in[0]); }

int axis_of(Node node) { return static_cast<int>(node.call.attributes.integer("axis")); }

Value rows_for(Values in, Value loss) { return loss * static_cast<double>(in[0].dim(0)); }

constexpr Form kForms[] = {
    {"gelu", "@ by its tanh form", [](Node, Values in) { return gelu_tanh(in[0]); }},
    {"gelu", "x * sigmoid(1.702 x) in place of @",
     [](Node, Values in) { return in[0] * sigmoid(in[0] * 1.702); }},
    {"gelu", "x * sigmoid(x) in place of @", swish},
    {"mish", "x * sigmoid(x) in place of @", swish},
    {"mish", "x * tanh(x) in place of @", soft},
    {"hardswish", "x * sigmoid(x) in place of @", swish},
    {"softmax", "@ without the division by the sum",
     [](Node node, Values in) {
       return exp(in[0] - max(in[0], {.axis = axis_of(node), .keepdim = true}));
     }},
    {"softmax", "exp(x) alone in place of @", [](Node, Values in) { return exp(in[0]); }},
    {"log_softmax", "@ without the logarithm of the sum",
     [](Node node, Values in) {
       return in[0] - max(in[0], {.axis = axis_of(node), .keepdim = true});
     }},
    {"log_softmax", "@ without the maximum taken off",
     [](Node node, Values in) {
       const Reduce rows{.axis = axis_of(node), .keepdim = true};
       return in[0] - logsumexp(in[0], rows) + max(in[0], rows);
     }},
    {"logsumexp", "@ without the logarithm",
     [](Node node, Values in) { return sum(exp(in[0]), reduce_of(node)); }},
    {"logsumexp", "@ without the maximum put back",
     [](Node node, Values in) {
       return logsumexp(in[0], reduce_of(node)) - max(in[0], reduce_of(node));
     }},
    {"norm", "@ without the square root",
     [](Node node, Values in) { return sum(square(in[0]), reduce_of(node)); }},
    {"norm", "the sum of absolute values in place of @",
     [](Node node, Values in) { return sum(abs(in[0]), reduce_of(node)); }},
    {"norm", "the root of the mean square in place of @",
     [](Node node, Values in) { return sqrt(mean(square(in[0]), reduce_of(node))); }},
    {"cumsum", "@ without the element itself",
     [](Node node, Values in) { return cumsum(in[0], axis_of(node)) - in[0]; }},
    {"cumsum", "@ from the other end",
     [](Node node, Values in) {
       return flip(cumsum(flip(in[0], axis_of(node)), axis_of(node)), axis_of(node));
     }},
    {"cumprod", "@ from the other end",
     [](Node node, Values in) {
       return flip(cumprod(flip(in[0], axis_of(node)), axis_of(node)), axis_of(node));
     }},
    {"cross_entropy", "@ without the division by the number of rows",
     [](Node, Values in) { return rows_for(in, cross_entropy(in[0], in[1])); }},
    {"cross_entropy", "@ with its sign turned",
     [](Node, Values in) { return -cross_entropy(in[0], in[1]); }},
    {"triplet_margin_loss", "@ without the division by the number of rows",
     [](Node node, Values in) {
       return rows_for(
           in, triplet_margin_loss(in[0], in[1], in[2], node.call.attributes.real("margin")));
     }},
    {"smooth_l1_loss", "@ without the division by the number of elements",
     [](Node, Values in) {
       return smooth_l1_loss(in[0], in[1]) * static_cast<double>(in[0].type().elements());
     }},
    {"smooth_l1_loss", "the mean of |x - target| in place of @",
     [](Node, Values in) { return mean_all(abs(in[0] - in[1])); }},
    {"smooth_l1_loss", "the mean of (x - target)^2 in place of @",
     [](Node, Values in) { return mean_all(square(in[0] - in[1])); }},
    {"kl_div_batchmean", "@ without the division by the number of rows",
     [](Node, Values in) { return rows_for(in, kl_div_batchmean(in[0], in[1])); }},
    {"kl_div_batchmean", "@ divided by the number of elements, not of rows",
     [](Node, Values in) {
       return kl_div_batchmean(in[0], in[1]) *
              (static_cast<double>(in[0].dim(0)) / static_cast<double>(in[0].type().elements()));
     }},
};

/// (x - mean) / sqrt(var n / (n - 1) + eps) = s (x - mean) / sqrt(var + s^2 eps), s^2 = (n - 1) /
/// n.
std::vector<Value> unbiased(const Rewriting& rewriting, int number) {
  const Graph::Node& node = node_of(rewriting, number);
  std::vector<Value> inputs = inputs_of(rewriting, number);
  const auto n = static_cast<double>(terms_of_statistics(node));
  const double share = (n - 1) / n;
  Attributes attributes = node.call.attributes;
  attributes.set("eps", attributes.real("eps") * share);
  if (inputs.size() > 1) {
    inputs[1] = inputs[1] * std::sqrt(share);
    return again(rewriting, number, inputs, attributes);
  }
  return {again(rewriting, number, inputs, attributes)[0] * std::sqrt(share)};
}

/// layer_norm with the mean left in x, and so the mean square for the variance.
std::vector<Value> uncentred(const Rewriting& rewriting, int number) {
  const Graph::Node& node = node_of(rewriting, number);
  const std::vector<Value> in = inputs_of(rewriting, number);
  const int rank = in[0].rank(), dims = static_cast<int>(node.call.attributes.integer("dims"));
  const Value squares = mean(square(in[0]), rank - dims, rank - 1, true);
  Value y = in[0] / sqrt(squares + node.call.attributes.real("eps"));
  if (in.size() > 2) y = y * in[1] + in[2];
  return {y};
}

}  // namespace

void mutate_by_leaving_out(const Graph& graph, int number, const AddMutant& add) {
  const Graph::Node& node = graph.node(number);
  if (node.outputs.size() != 1 || node.call.op->is_view) return;
  const TensorType& type = graph.value(node.outputs[0]).type;
  const size_t operands = is_norm(*node.call.op) ? 1 : node.inputs.size();
  for (size_t i = 0; i < operands; ++i) {
    if (graph.value(node.inputs[i]).type != type) continue;
    const std::string text =
        i == 0 ? "without @" : "operand " + std::to_string(i + 1) + " of @ alone";
    add(text, [i](const Rewriting& rewriting, int n) -> std::vector<Value> {
      return {rewriting.value(node_of(rewriting, n).inputs[i])};
    });
  }
}

/// Exchanges two neighbouring operators that each keep their first input's type.
void mutate_by_order(const Graph& graph, int number, const AddMutant& add) {
  const Graph::Node& second = graph.node(number);
  if (!keeps_type(graph, second)) return;
  const int before = graph.value(second.inputs[0]).producer;
  if (before < 0 || !keeps_type(graph, graph.node(before))) return;
  const Graph::Node& first = graph.node(before);
  if (first.call.op == second.call.op) return;
  for (size_t i = 1; i < second.inputs.size(); ++i) {
    if (second.inputs[i] == second.inputs[0]) return;
  }
  add("@ before " + first.call.op->name + ", not after it",
      [before](const Rewriting& rewriting, int n) {
        std::vector<Value> outer = inputs_of(rewriting, before), inner = inputs_of(rewriting, n);
        inner[0] = outer[0];
        outer[0] = again(rewriting, n, inner)[0];
        return again(rewriting, before, outer);
      });
}

void mutate_by_other_operator(const Graph& graph, int number, const AddMutant& add) {
  const Graph::Node& node = graph.node(number);
  for (const Other& other : kOthers) {
    if (node.call.op->name != other.from) continue;
    for (const std::string_view name : words_in(other.to)) {
      const Operator& to = find_operator(name);
      add(to.name + " in place of @", [&to](const Rewriting& rewriting, int n) {
        const Graph::Node& replaced = node_of(rewriting, n);
        return rewriting.to.apply(to, inputs_of(rewriting, n),
                                  shared_attributes(to, replaced.call.attributes));
      });
    }
  }
}

void mutate_by_other_form(const Graph& graph, int number, const AddMutant& add) {
  const Graph::Node& node = graph.node(number);
  for (const Form& form : kForms) {
    if (node.call.op->name != form.op) continue;
    add(form.text, [make = form.make](const Rewriting& rewriting, int n) -> std::vector<Value> {
      return {make(node_of(rewriting, n), inputs_of(rewriting, n))};
    });
  }
  if (!is_norm(*node.call.op)) return;
  if (terms_of_statistics(node) > 1) {
    add("@ with the unbiased variance (over n - 1, not n)", unbiased);
  }
  if (node.call.op->name == "layer_norm") add("@ with the mean left in", uncentred);
}

void mutate_by_constant(const Graph& graph, int number, const AddMutant& add) {
  const Graph::Node& node = graph.node(number);
  if (node.outputs.size() != 1 || graph.value(node.outputs[0]).type.dtype != DType::f32) return;
  for (const float value : {0.0f, 1.0f}) {
    add(value == 0 ? "zeros in place of @" : "ones in place of @",
        [value](const Rewriting& rewriting, int n) -> std::vector<Value> {
          const Graph::Node& replaced = node_of(rewriting, n);
          return {filled(rewriting.to, replaced.call.outputs[0].shape, value)};
        });
  }
}

}  // namespace kbench
