// Shortcuts by fewer bits: operands and results rounded to formats that hardware computes faster,
// all else in float32.
#include <set>

#include "libkbench/shortcuts/rule_parts.h"

namespace kbench {
namespace {

constexpr const char* kFormats[] = {"float16", "bfloat16", "tf32"};
/// TF32 is a format of operands only: in memory it is as large as float32.
constexpr const char* kStored[] = {"float16", "bfloat16"};

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

/// Operators that copy: rounding their inputs has rounded their results.
bool only_moves(const Operator& op) {
  return op.is_view || is_one_of(op.name, {"permute", "slice", "cat", "pad", "roll", "flip",
                                           "expand", "triu", "tril", "index_rows", "round_to"});
}

}  // namespace

void round_operands(const Graph& graph, int number, const AddMutant& add) {
  const Graph::Node& node = graph.node(number);
  if (node.call.op->is_view || node.call.op->name == "round_to") return;
  const std::set<size_t> operands = operands_of(graph, node);
  if (operands.empty()) return;
  for (const std::string format : kFormats) {
    add("@ with operands rounded to " + format,
        [operands, format](const Rewriting& rewriting, int n) {
          return again(rewriting, n, rounded(rewriting, n, operands, format));
        });
  }
  if (!is_recurrent(*node.call.op) || node.call.attributes.flag("bidirectional")) return;
  const bool batch_first = node.call.attributes.flag("batch_first");
  const int64_t steps = node.call.inputs[0].shape[batch_first ? 1 : 0];
  if (steps < 2 || steps > kMostSteps) return;
  for (const std::string format : kFormats) {
    add("@ with operands and the states between steps rounded to " + format,
        [operands, format](const Rewriting& rewriting, int n) {
          return step_by_step(rewriting, n, operands, format);
        });
  }
}

void round_results(const Graph& graph, int number, const AddMutant& add) {
  const Graph::Node& node = graph.node(number);
  if (only_moves(*node.call.op) || !is_float(graph, node.outputs[0])) return;
  for (const std::string format : kStored) {
    add("@ with its result rounded to " + format, [format](const Rewriting& rewriting, int n) {
      std::vector<Value> made = again(rewriting, n, inputs_of(rewriting, n));
      for (Value& value : made) value = round_to(value, format);
      return made;
    });
  }
}

}  // namespace kbench
