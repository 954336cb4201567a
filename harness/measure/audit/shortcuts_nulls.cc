// Computations that do none of a task's work: zeros, constants, the outputs for other inputs.
#include <string>

#include "harness/measure/audit/shortcut_rules.h"
#include "kbench/error.h"
#include "kbench/ops.h"
#include "libkbench/core/graph_facts.h"
#include "libkbench/mutants/mutant_rules.h"

namespace kbench {
namespace {

constexpr int kOtherDraws = 4;  ///< draws of other inputs that outputs are averaged over

/// For each value whether it depends on an input.
std::vector<bool> follows_from_inputs(const Graph& graph) {
  std::vector<bool> follows;
  for (const Graph::ValueInfo& value : graph.values()) {
    bool does = value.kind == Graph::Kind::input;
    if (value.kind == Graph::Kind::intermediate) {
      for (const int id : graph.node(value.producer).inputs) {
        does = does || follows[static_cast<size_t>(id)];
      }
    }
    follows.push_back(does);
  }
  return follows;
}

/// The values of a graph computed from other inputs.
class OtherRun {
 public:
  using InputFor = std::function<Value(const Graph::ValueInfo& input)>;
  OtherRun(const Rewriting& rewriting, InputFor input_for)
      : rewriting_(rewriting), input_for_(std::move(input_for)) {}

  Value value(int id) {
    const auto known = made_.find(id);
    if (known != made_.end()) return known->second;
    const Graph::ValueInfo& info = rewriting_.from.value(id);
    if (info.kind == Graph::Kind::input) return made_[id] = input_for_(info);
    if (info.kind != Graph::Kind::intermediate) return rewriting_.value(id);
    const Graph::Node& node = node_of(rewriting_, info.producer);
    std::vector<Value> inputs;
    for (const int input : node.inputs) inputs.push_back(value(input));
    const std::vector<Value> outputs = again(rewriting_, info.producer, inputs);
    for (size_t i = 0; i < outputs.size(); ++i) made_[node.outputs[i]] = outputs[i];
    return made_[id];
  }

 private:
  const Rewriting& rewriting_;
  InputFor input_for_;
  std::map<int, Value> made_;
};

/// Another draw of an input: declared once in a graph.
Value other_draw(Graph& to, const Graph::ValueInfo& input, int number) {
  const std::string name = std::string(kOtherPrefix) + std::to_string(number) + ":" + input.name;
  for (size_t id = 0; id < to.values().size(); ++id) {
    if (to.values()[id].name == name) return Value(&to, static_cast<int>(id));
  }
  return to.input(name, input.type.shape, input.distribution, input.type.dtype);
}

OtherRun::InputFor other_draws(Graph& to, int number) {
  return [&to, number](const Graph::ValueInfo& input) { return other_draw(to, input, number); };
}

/// The value for other inputs: of one draw, or the mean over several.
Value other_value(const Rewriting& rewriting, int id) {
  return OtherRun(rewriting, other_draws(rewriting.to, 1)).value(id);
}

Value expected_value(const Rewriting& rewriting, int id) {
  Value total = other_value(rewriting, id);
  for (int number = 2; number <= kOtherDraws; ++number) {
    total = total + OtherRun(rewriting, other_draws(rewriting.to, number)).value(id);
  }
  return total * (1.0 / kOtherDraws);
}

/// A tensor of one integer.
Value filled_integers(Graph& to, const TensorType& type, int64_t value) {
  Tensor tensor(DType::i64, type.shape);
  for (int64_t& each : tensor.data<int64_t>()) each = value;
  return to.constant("filled" + std::to_string(to.values().size()), tensor.converted(type.dtype));
}

Value constant(Graph& to, const TensorType& type, float value) {
  if (type.dtype != DType::f32) return filled_integers(to, type, static_cast<int64_t>(value));
  return filled(to, type.shape, value);
}

/// An input filled with the middle of its distribution (a boolean one with another draw).
Value alike(Graph& to, const Graph::ValueInfo& input) {
  const Distribution& drawn = input.distribution;
  if (input.type.dtype == DType::boolean) return other_draw(to, input, 1);
  const bool integers = input.type.dtype != DType::f32;
  const double middle =
      drawn.kind == Distribution::Kind::normal ? drawn.lo : (drawn.lo + drawn.hi) / 2;
  return constant(to, input.type, integers ? static_cast<float>(drawn.lo) : float(middle));
}

/// The mean along every axis but `kept` (-1: none), repeated along them.
Value averaged(Value x, int kept) {
  const Shape shape = x.shape();
  for (int axis = 0; axis < x.rank(); ++axis) {
    if (axis != kept && x.dim(axis) > 1) x = mean(x, {.axis = axis, .keepdim = true});
  }
  return x.shape() == shape ? x : expand(x, shape);
}

Value row_mean(Value x) {
  return expand(mean(x, {.axis = x.rank() - 1, .keepdim = true}), x.shape());
}

using MakeOutput = std::function<Value(const Rewriting& rewriting, int id)>;

/// All outputs by the same rule; nothing where the rule does not fit one of them.
void add_null(const Graph& graph, std::vector<Null>& all, const std::string& rule,
              const std::string& description, const MakeOutput& make) {
  Null null{rule, description, {}};
  for (const int id : graph.outputs()) {
    const int producer = graph.value(id).producer;
    if (producer < 0) return;  // an output that is an input: nothing to replace
    const Graph::Node& node = graph.node(producer);
    null.replacements.emplace(producer, [make, node](const Rewriting& rewriting, int) {
      std::vector<Value> values;
      for (const int output : node.outputs) values.push_back(make(rewriting, output));
      return values;
    });
  }
  all.push_back(std::move(null));
}

bool all_outputs(const Graph& graph, const std::function<bool(const TensorType&)>& holds) {
  for (const int id : graph.outputs()) {
    const int producer = graph.value(id).producer;
    if (producer < 0) return false;
    for (const int each : graph.node(producer).outputs) {
      if (!holds(graph.value(each).type)) return false;
    }
  }
  return true;
}

}  // namespace

void use_other_inputs(const Graph& graph, int number, const AddMutant& add) {
  const Graph::Node& node = graph.node(number);
  if (node.call.op->is_view) return;
  const std::vector<bool> follows = follows_from_inputs(graph);
  if (!follows[static_cast<size_t>(node.outputs[0])]) return;
  add("@ of other inputs", [](const Rewriting& rewriting, int n) {
    OtherRun run(rewriting, other_draws(rewriting.to, 1));
    std::vector<Value> values;
    for (const int id : node_of(rewriting, n).outputs) values.push_back(run.value(id));
    return values;
  });
}

std::vector<Null> nulls(const Graph& graph) {
  std::vector<Null> all;
  const auto type = [&graph](int id) -> const TensorType& { return graph.value(id).type; };
  for (const float value : {0.0f, 1.0f}) {
    add_null(graph, all, value == 0 ? "zeros" : "ones", value == 0 ? "zeros" : "ones",
             [type, value](const Rewriting& rewriting, int id) {
               return constant(rewriting.to, type(id), value);
             });
  }
  add_null(graph, all, "other_inputs", "the outputs for other inputs", other_value);
  add_null(graph, all, "alike", "the outputs for inputs that are the same number everywhere",
           [](const Rewriting& rewriting, int id) {
             return OtherRun(rewriting,
                             [&to = rewriting.to](const Graph::ValueInfo& input) {
                               return alike(to, input);
                             })
                 .value(id);
           });
  for (const int id : graph.values_of(Graph::Kind::input)) {
    const Graph::ValueInfo& input = graph.value(id);
    if (!all_outputs(graph, [&](const TensorType& output) { return output == input.type; })) {
      continue;
    }
    add_null(graph, all, "identity", "input " + input.name,
             [id](const Rewriting& rewriting, int) { return rewriting.value(id); });
  }
  if (!all_outputs(graph, [](const TensorType& t) { return t.dtype == DType::f32; })) return all;
  add_null(graph, all, "constant", "one number: the mean of the outputs for other inputs",
           [](const Rewriting& rewriting, int id) {
             return averaged(expected_value(rewriting, id), -1);
           });
  add_null(graph, all, "expected", "the mean outputs for other inputs, element by element",
           expected_value);
  if (all_outputs(graph, [](const TensorType& t) { return t.shape.size() >= 2; })) {
    add_null(graph, all, "per_channel", "a number a channel: the mean for other inputs",
             [](const Rewriting& rewriting, int id) {
               return averaged(expected_value(rewriting, id), 1);
             });
  }
  if (all_outputs(graph,
                  [](const TensorType& t) { return !t.shape.empty() && t.shape.back() > 1; })) {
    add_null(graph, all, "per_row", "a number a row: the mean of the outputs along it",
             [](const Rewriting& rewriting, int id) {
               const int producer = rewriting.from.value(id).producer;
               const std::vector<Value> own =
                   again(rewriting, producer, inputs_of(rewriting, producer));
               const auto& outputs = node_of(rewriting, producer).outputs;
               for (size_t i = 0; i < outputs.size(); ++i) {
                 if (outputs[i] == id) return row_mean(own[i]);
               }
               throw Error(ErrorCode::kInternal, "an output of another node");
             });
  }
  return all;
}

std::unique_ptr<Graph> pruned(const Graph& graph) {
  std::vector<bool> needed = needed_values(graph);
  for (size_t id = 0; id < needed.size(); ++id) {
    const Graph::ValueInfo& info = graph.values()[id];
    const bool other = info.name.rfind(kOtherPrefix, 0) == 0;
    if (info.kind == Graph::Kind::parameter || (info.kind == Graph::Kind::input && !other)) {
      needed[id] = true;
    }
  }
  return copied(graph, needed);
}

}  // namespace kbench
