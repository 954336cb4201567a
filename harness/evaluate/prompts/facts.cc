// `kbench show --json` (docs/prompts.md describes the document).
#include <nlohmann/json.hpp>
#include <set>

#include "kbench/candidate.h"
#include "kbench/prompts.h"
#include "libkbench/base/json_text.h"
#include "libkbench/core/in_words.h"
#include "libkbench/core/variables_json.h"

namespace kbench {
namespace {

using nlohmann::ordered_json;

ordered_json tensor(const std::string& name, const TensorType& type) {
  return {{"name", name}, {"dtype", std::string(name_of(type.dtype))}, {"shape", type.shape}};
}

class Facts {
 public:
  explicit Facts(const Graph& graph) : graph_(graph) {
    for (const auto& node : graph.nodes()) read_.insert(node.inputs.begin(), node.inputs.end());
    read_.insert(graph.outputs().begin(), graph.outputs().end());
  }

  ordered_json values(Graph::Kind kind) const {
    ordered_json list = ordered_json::array();
    for (const int id : graph_.values_of(kind)) {
      const auto& value = graph_.value(id);
      ordered_json one = tensor(value.name, graph_.stored(value.type));
      if (kind == Graph::Kind::constant) {
        one["contents"] = contents_of(value.data);
      } else {
        one["drawn_from"] = to_string(value.distribution);
      }
      one["read"] = read_.contains(id);
      list.push_back(std::move(one));
    }
    return list;
  }

  ordered_json outputs() const {
    ordered_json list = ordered_json::array();
    for (size_t i = 0; i < graph_.outputs().size(); ++i) {
      list.push_back(tensor(graph_.output_name(i), graph_.stored_type(graph_.outputs()[i])));
    }
    return list;
  }

  ordered_json nodes() const {
    ordered_json list = ordered_json::array();
    for (const auto& node : graph_.nodes()) {
      ordered_json in = ordered_json::array(), out = ordered_json::array();
      for (const int id : node.inputs) in.push_back(name_of_value(id));
      for (const int id : node.outputs) {
        out.push_back(tensor(name_of_value(id), graph_.stored_type(id)));
      }
      ordered_json attributes = ordered_json::object();
      for (const auto& [name, value] : node.call.attributes) {
        std::visit([&, &key = name](const auto& v) { attributes[key] = v; }, value);
      }
      const Operator& op = *node.call.op;
      list.push_back({{"operator", op.name},
                      {"inputs", in},
                      {"attributes", attributes},
                      {"outputs", out},
                      {"flops", op.flops ? op.flops(node.call) : 0.0},
                      {"least_bytes", least_bytes(graph_.stored(node.call))}});
    }
    return list;
  }

  ordered_json operators() const {
    std::set<std::string> names;
    for (const auto& node : graph_.nodes()) names.insert(node.call.op->name);
    ordered_json all = ordered_json::object();
    for (const std::string& name : names) {
      const Operator& op = find_operator(name);
      all[name] = {{"formula", op.formula}, {"follows", op.follows}, {"view", op.is_view}};
    }
    return all;
  }

 private:
  std::string name_of_value(int id) const {
    for (size_t i = 0; i < graph_.outputs().size(); ++i) {
      if (graph_.outputs()[i] == id) return graph_.output_name(i);
    }
    return graph_.value(id).name;
  }

  const Graph& graph_;
  std::set<int> read_;
};

}  // namespace

std::string facts_json(const Task& task, const Graph& graph) {
  const Facts facts(graph);
  ordered_json names = ordered_json::object();
  for (const auto& [name, value] : graph.variables()) {
    for (const auto& [plain, number] : expression_names({{name, value}})) {
      if (std::holds_alternative<double>(value)) {
        names[plain] = number;
      } else {
        names[plain] = int64_t(number);
      }
    }
  }
  ordered_json document;
  document["kbench_task"] = 1;
  document["task"] = to_string(task.id);
  document["name"] = task.name;
  document["family"] = task.family;
  document["dtype"] = std::string(name_of(graph.dtype()));
  document["sizes"] = sizes_of(task, graph.variables(), graph.preset());
  document["variables"] = variables_json<ordered_json>(graph.variables());
  document["expression_names"] = names;
  document["inputs"] = facts.values(Graph::Kind::input);
  document["parameters"] = facts.values(Graph::Kind::parameter);
  document["constants"] = facts.values(Graph::Kind::constant);
  document["outputs"] = facts.outputs();
  document["nodes"] = facts.nodes();
  document["operators"] = facts.operators();
  const Bounds bounds = bounds_of(task, graph.dtype());
  document["tolerance"] = {{"relative", bounds.relative}};
  if (is_half(graph.dtype())) {
    document["tolerance"]["rms"] = bounds.rms;
  } else {
    document["tolerance"]["reason"] = task.tolerance.reason;
  }
  document["flops"] = graph.flops();
  document["least_bytes"] = graph.least_bytes();
  return json_text(document, 2);
}

}  // namespace kbench
