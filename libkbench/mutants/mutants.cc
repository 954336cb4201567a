#include "kbench/mutants.h"

#include <algorithm>
#include <cstring>

#include "kbench/error.h"
#include "libkbench/mutants/mutant_rules.h"

namespace kbench {
namespace {

/// The one place to add a rule: a line here, a function in one of mutants_*.cc. Likeliest first, as
/// `diagnose` has little time to look for the fault of a candidate.
constexpr MutantRule kRules[] = {
    {"left_out", mutate_by_leaving_out},
    {"parameter", mutate_parameters},
    {"operand", mutate_operands},
    {"layout", mutate_layout},
    {"other_operator", mutate_by_other_operator},
    {"other_form", mutate_by_other_form},
    {"attribute", mutate_attributes},
    {"order", mutate_by_order},
    {"range", mutate_ranges},
    {"shift", mutate_by_shift},
    {"constant", mutate_by_constant},
};

bool same_types(const Graph& graph, const Graph::Node& node, const std::vector<Value>& values) {
  if (values.size() != node.outputs.size()) return false;
  for (size_t i = 0; i < values.size(); ++i) {
    if (values[i].type() != graph.value(node.outputs[i]).type) return false;
  }
  return true;
}

/// Whether a replacement gives values of the node's types: tried on inputs of the right types.
bool fits(const Graph& graph, int node, const Replacement& replacement) {
  Graph scratch(graph.variables());
  std::map<int, Value> made;
  const Rewriting rewriting{
      graph, scratch, [&](int id) {
        const auto known = made.find(id);
        if (known != made.end()) return known->second;
        const TensorType& type = graph.value(id).type;
        return made
            .emplace(id, scratch.input("i" + std::to_string(id), type.shape, normal(), type.dtype))
            .first->second;
      }};
  try {
    return same_types(graph, graph.node(node), replacement(rewriting, node));
  } catch (const Error&) {
    return false;
  }
}

}  // namespace

void read_variables(const Graph& from, const Graph& to) {
  for (const std::string& name : from.variables_read()) {
    const VariableValue& value = from.variables().find(name)->second;
    if (std::holds_alternative<int64_t>(value)) {
      to[name];
    } else if (std::holds_alternative<double>(value)) {
      to.real(name);
    } else {
      to.list(name);
    }
  }
}

std::unique_ptr<Graph> copied(const Graph& graph, const std::vector<bool>& wanted,
                              const std::map<int, Replacement>& replacements) {
  auto copy = std::make_unique<Graph>(graph.variables(), graph.dtype());
  read_variables(graph, *copy);
  std::vector<Value> values(graph.values().size());
  const auto lookup = [&](int id) {
    const Value value = values.at(static_cast<size_t>(id));
    if (value.graph() == nullptr) {
      throw Error(ErrorCode::kInternal, "a replacement reads what comes after its node");
    }
    return value;
  };
  const Rewriting rewriting{graph, *copy, lookup};
  const auto make_node = [&](int number) {
    const Graph::Node& node = graph.node(number);
    const auto replacement = replacements.find(number);
    const std::vector<Value> made = replacement == replacements.end()
                                        ? again(rewriting, number, inputs_of(rewriting, number))
                                        : replacement->second(rewriting, number);
    if (!same_types(graph, node, made)) {
      throw Error(ErrorCode::kInternal,
                  "the replacement of " + node.call.op->name + " gives values of other types");
    }
    for (size_t i = 0; i < made.size(); ++i) {
      values[static_cast<size_t>(node.outputs[i])] = made[i];
    }
  };
  // In the order of values, so that without a replacement each has the name it had.
  for (size_t id = 0; id < graph.values().size(); ++id) {
    if (!wanted[id]) continue;
    const Graph::ValueInfo& info = graph.values()[id];
    switch (info.kind) {
      case Graph::Kind::input:
        values[id] = copy->input(info.name, info.type.shape, info.distribution, info.type.dtype);
        break;
      case Graph::Kind::parameter:
        values[id] = copy->parameter(info.name, info.type.shape, info.distribution);
        break;
      case Graph::Kind::constant:
        values[id] = copy->constant(info.name, info.data);
        break;
      case Graph::Kind::intermediate:
        if (values[id].graph() == nullptr) make_node(info.producer);
        break;
    }
  }
  for (const int id : graph.outputs()) copy->output(lookup(id));
  return copy;
}

std::unique_ptr<Graph> rewrite(const Graph& graph, const std::map<int, Replacement>& replacements) {
  return copied(graph, std::vector<bool>(graph.values().size(), true), replacements);
}

std::vector<std::string> labels_of(const Graph& graph) {
  std::map<const Operator*, int> count, seen;
  for (const Graph::Node& node : graph.nodes()) ++count[node.call.op];
  std::vector<std::string> labels;
  for (const Graph::Node& node : graph.nodes()) {
    const std::string& name = node.call.op->name;
    const int number = ++seen[node.call.op];
    std::string module;
    for (const int id : node.inputs) {
      const Graph::ValueInfo& value = graph.value(id);
      const size_t dot = value.name.rfind('.');
      if (module.empty() && value.kind == Graph::Kind::parameter && dot != std::string::npos) {
        module = value.name.substr(0, dot);
      }
    }
    if (count[node.call.op] == 1) {
      labels.push_back(name);
    } else if (!module.empty()) {
      labels.push_back(name + " '" + module + "'");
    } else {
      labels.push_back(name + " (number " + std::to_string(number) + " of " +
                       std::to_string(count[node.call.op]) + ")");
    }
  }
  return labels;
}

std::string filled_in(std::string text, const std::string& operator_text) {
  const size_t at = text.find('@');
  return at == std::string::npos ? text : text.replace(at, 1, operator_text);
}

std::vector<FoundMutant> find_mutants(const Graph& graph, const MutantRule& rule) {
  std::vector<FoundMutant> found;
  for (size_t i = 0; i < graph.nodes().size(); ++i) {
    const int node = static_cast<int>(i);
    rule.apply(graph, node, [&](const std::string& text, Replacement replacement) {
      if (fits(graph, node, replacement)) found.push_back({node, text, std::move(replacement)});
    });
  }
  return found;
}

std::vector<Mutation> mutations(const Graph& graph) {
  const std::vector<std::string> labels = labels_of(graph);
  std::vector<Mutation> all;
  for (const MutantRule& rule : kRules) {
    std::vector<FoundMutant> found = find_mutants(graph, rule);
    std::map<std::pair<const Operator*, std::string>, std::vector<size_t>> alike;
    for (size_t i = 0; i < found.size(); ++i) {
      const Operator* op = graph.node(found[i].node).call.op;
      alike[{op, found[i].text}].push_back(i);
    }
    // All of a kind together come first: a candidate's kernel often serves them all.
    for (const auto& [key, which] : alike) {
      if (which.size() < 2) continue;
      Mutation together{rule.name, "", {}};
      for (const size_t each : which) {
        together.replacements.emplace(found[each].node, found[each].replacement);
      }
      if (together.replacements.size() < 2) continue;
      const std::string every =
          std::to_string(together.replacements.size()) + " calls of " + key.first->name;
      together.description = filled_in(key.second, every);
      all.push_back(std::move(together));
    }
    for (FoundMutant& each : found) {
      all.push_back({rule.name,
                     filled_in(each.text, labels[static_cast<size_t>(each.node)]),
                     {{each.node, std::move(each.replacement)}}});
    }
  }
  return all;
}

std::unique_ptr<Graph> mutate(const Graph& graph, const Mutation& mutation) {
  return rewrite(graph, mutation.replacements);
}

const Graph::Node& node_of(const Rewriting& rewriting, int node) {
  return rewriting.from.node(node);
}

std::vector<Value> inputs_of(const Rewriting& rewriting, int node) {
  std::vector<Value> inputs;
  for (const int id : node_of(rewriting, node).inputs) inputs.push_back(rewriting.value(id));
  return inputs;
}

std::vector<Value> again(const Rewriting& rewriting, int node, const std::vector<Value>& inputs) {
  return again(rewriting, node, inputs, node_of(rewriting, node).call.attributes);
}

std::vector<Value> again(const Rewriting& rewriting, int node, const std::vector<Value>& inputs,
                         Attributes attributes) {
  return rewriting.to.apply(*node_of(rewriting, node).call.op, inputs, std::move(attributes));
}

Value filled(Graph& graph, const Shape& shape, float value) {
  Tensor one(DType::f32, Shape(shape.size(), 1));
  one.data<float>()[0] = value;
  const Value constant =
      graph.constant("filled" + std::to_string(graph.values().size()), std::move(one));
  if (element_count(shape) == 1) return constant;
  return graph.apply(find_operator("expand"), {constant}, {{"shape", shape}})[0];
}

Value misread(Value x) {
  Shape swapped = x.shape();
  std::swap(swapped[swapped.size() - 1], swapped[swapped.size() - 2]);
  Graph& graph = *x.graph();
  const Value read = graph.apply(find_operator("reshape"), {x}, {{"shape", swapped}})[0];
  std::vector<int64_t> axes(x.shape().size());
  for (size_t i = 0; i < axes.size(); ++i) axes[i] = static_cast<int64_t>(i);
  std::swap(axes[axes.size() - 1], axes[axes.size() - 2]);
  return graph.apply(find_operator("permute"), {read}, {{"axes", axes}})[0];
}

}  // namespace kbench
