// Shortcuts by fewer bits: operands, results and sums rounded to formats that hardware computes
// faster, all else in float32. In a task of halves, what is rounded to its own type is honest.
#include <set>

#include "libkbench/mutants/mutant_rules.h"

namespace kbench {
namespace {

/// Formats of operands that are shortcuts where a task has this type.
std::vector<std::string> operand_formats(DType dtype) {
  switch (dtype) {
    case DType::f16:
      return {"bfloat16", "float8_e4m3"};
    case DType::bf16:
      return {"float8_e4m3"};
    default:
      return {"float16", "bfloat16", "tf32"};
  }
}

/// TF32 is a format of operands only: in memory it is as large as float32.
std::vector<std::string> stored_formats(DType dtype) {
  std::vector<std::string> formats = operand_formats(dtype);
  std::erase(formats, "tf32");
  return formats;
}

bool is_float(const Graph& graph, int id) { return graph.value(id).type.dtype == DType::f32; }

/// Whether a value is one of the task's inputs, in this shape or in another.
bool is_input(const Graph& graph, int id) {
  while (graph.value(id).producer >= 0) {
    const Graph::Node& producer = graph.node(graph.value(id).producer);
    if (!producer.call.op->is_view) return false;
    id = producer.inputs[0];
  }
  return graph.value(id).kind == Graph::Kind::input;
}

/// The operands that hardware takes in fewer bits: not biases, which are added to the sum, nor a
/// recurrent layer's cell states, which are in no matrix product. A recurrent layer's weights are
/// matrices; x and its hidden states have three dimensions.
std::set<size_t> operands_of(const Graph& graph, const Graph::Node& node) {
  std::set<size_t> operands;
  for (size_t i = 0; i < node.inputs.size(); ++i) {
    if (!is_float(graph, node.inputs[i])) continue;
    const bool cell = node.call.op->name == "lstm" && i == 2;
    const bool taken = is_product(*node.call.op)     ? i < 2
                       : is_recurrent(*node.call.op) ? node.call.inputs[i].shape.size() > 1 && !cell
                                                     : is_input(graph, node.inputs[i]);
    if (taken) operands.insert(i);
  }
  return operands;
}

std::vector<Value> rounded(const Rewriting& rewriting, int node, const std::set<size_t>& operands,
                           const std::string& format) {
  std::vector<Value> inputs = inputs_of(rewriting, node);
  for (const size_t i : operands) inputs[i] = round_to(inputs[i], format);
  return inputs;
}

/// Steps of a recurrent layer that are written out one by one.
constexpr int64_t kMostSteps = 1024;

/// A layer of one direction, step by step: the hidden state that enters each step is an operand
/// too.
std::vector<Value> step_by_step(const Rewriting& rewriting, int number,
                                const std::set<size_t>& operands, const std::string& format) {
  const Graph::Node& node = node_of(rewriting, number);
  const int axis = node.call.attributes.flag("batch_first") ? 1 : 0;
  const bool cell = node.call.op->name == "lstm";
  const std::vector<Value> given = rounded(rewriting, number, operands, format);
  std::vector<Value> inputs = given, made;
  std::vector<Value> outputs;
  for (int64_t step = 0; step < given[0].dim(axis); ++step) {
    inputs[0] = range_of(given[0], axis, step, step + 1);
    made = again(rewriting, number, inputs);
    inputs[1] = round_to(made[1], format);
    if (cell) inputs[2] = made[2];
    outputs.push_back(made[0]);
  }
  made[0] = joined(outputs, axis);
  return made;
}

/// Whether a node is a recurrent layer for step_by_step().
bool steps_can_be_written_out(const Graph::Node& node) {
  if (!is_recurrent(*node.call.op) || node.call.attributes.flag("bidirectional")) return false;
  const bool batch_first = node.call.attributes.flag("batch_first");
  const int64_t steps = node.call.inputs[0].shape[batch_first ? 1 : 0];
  return steps >= 2 && steps <= kMostSteps;
}

/// Operators that copy: rounding their inputs has rounded their results.
bool only_moves(const Operator& op) {
  return op.is_view ||
         is_one_of(op.name, {"permute", "slice", "cat", "pad", "roll", "flip", "expand", "triu",
                             "tril", "index_rows", "gather", "round_to"});
}

/// A node whose results are rounded.
Replacement rounded_result(const std::string& format) {
  return [format](const Rewriting& rewriting, int number) {
    std::vector<Value> made = again(rewriting, number, inputs_of(rewriting, number));
    for (Value& value : made) value = round_to(value, format);
    return made;
  };
}

/// A sum kept in 16 bits is rounded with every term, or with every 16 by a matrix instruction; here
/// so many times, which errs less.
constexpr int64_t kSumPieces = 64;
constexpr int64_t kLeastTerms = 256;  ///< shorter sums err too little to tell

}  // namespace

void round_operands(const Graph& graph, int number, const AddMutant& add) {
  const Graph::Node& node = graph.node(number);
  if (node.call.op->is_view || node.call.op->name == "round_to") return;
  const std::set<size_t> operands = operands_of(graph, node);
  if (operands.empty()) return;
  const std::vector<std::string> formats = operand_formats(graph.dtype());
  for (const std::string& format : formats) {
    add("@ with operands rounded to " + format,
        [operands, format](const Rewriting& rewriting, int n) {
          return again(rewriting, n, rounded(rewriting, n, operands, format));
        });
  }
  if (is_half(graph.dtype()) && operands.size() > 1) {
    const std::set<size_t> one = {*operands.begin()};
    add("@ with one operand rounded to " + formats.front(),
        [one, format = formats.front()](const Rewriting& rewriting, int n) {
          return again(rewriting, n, rounded(rewriting, n, one, format));
        });
  }
  if (!steps_can_be_written_out(node)) return;
  for (const std::string& format : formats) {
    add("@ with operands and the states between steps rounded to " + format,
        [operands, format](const Rewriting& rewriting, int n) {
          return step_by_step(rewriting, n, operands, format);
        });
  }
}

void round_results(const Graph& graph, int number, const AddMutant& add) {
  const Graph::Node& node = graph.node(number);
  if (only_moves(*node.call.op) || !is_float(graph, node.outputs[0])) return;
  for (const std::string& format : stored_formats(graph.dtype())) {
    add("@ with its result rounded to " + format, rounded_result(format));
  }
}

void store_halves(const Graph& graph, int number, const AddMutant& add) {
  const Graph::Node& node = graph.node(number);
  if (!is_half(graph.dtype()) || only_moves(*node.call.op) || !is_float(graph, node.outputs[0])) {
    return;
  }
  const std::string format(long_name_of(graph.dtype()));
  add("@ with its result stored in " + format, rounded_result(format));
  if (!steps_can_be_written_out(node)) return;
  add("@ with its result and the states between steps stored in " + format,
      [format](const Rewriting& rewriting, int n) {
        std::vector<Value> made = step_by_step(rewriting, n, {}, format);
        for (Value& value : made) value = round_to(value, format);
        return made;
      });
}

void add_up_in_halves(const Graph& graph, int number, const AddMutant& add) {
  const Graph::Node& node = graph.node(number);
  if (!is_half(graph.dtype()) || !is_float(graph, node.outputs[0])) return;
  const std::string format(long_name_of(graph.dtype()));
  const std::string text = "@ with its sum kept in " + format;
  if (is_product(*node.call.op)) {
    const Inner inner = inner_of(node);
    if (!inner.splits || inner.extent < kLeastTerms) return;
    add(text, [inner, format](const Rewriting& rewriting, int n) -> std::vector<Value> {
      const std::vector<Value> inputs = inputs_of(rewriting, n);
      const std::vector<Value> a = pieces_of(inputs[0], inner.a, kSumPieces),
                               b = pieces_of(inputs[1], inner.b, kSumPieces);
      Value total = product_of(rewriting, n, a[0], b[0]);
      for (size_t i = 1; i < a.size(); ++i) {
        total = round_to(total + product_of(rewriting, n, a[i], b[i]), format);
      }
      return {with_bias(rewriting, n, total)};
    });
  } else if (is_one_of(node.call.op->name, {"sum", "mean"})) {
    const Reduce reduce = reduce_of(node);
    const int64_t terms = node.call.inputs[0].shape[static_cast<size_t>(reduce.axis)];
    if (terms < kLeastTerms) return;
    const double factor = node.call.op->name == "mean" ? 1.0 / static_cast<double>(terms) : 1.0;
    add(text, [reduce, factor, format](const Rewriting& rewriting, int n) -> std::vector<Value> {
      const std::vector<Value> parts =
          pieces_of(inputs_of(rewriting, n)[0], reduce.axis, kSumPieces);
      Value total = sum(parts[0], reduce) * factor;
      for (size_t i = 1; i < parts.size(); ++i) {
        total = round_to(total + sum(parts[i], reduce) * factor, format);
      }
      return {total};
    });
  }
}

}  // namespace kbench
