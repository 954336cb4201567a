// The task as `kbench show` and prompts show it, with repeated blocks once.
#include "kbench/listing.h"

#include <algorithm>
#include <map>
#include <sstream>

#include "kbench/candidate.h"
#include "libkbench/base/text.h"
#include "libkbench/core/in_words.h"
#include "libkbench/listing/printer.h"

namespace kbench {
namespace listing {
namespace {

/// In characters: a formula from this length on is long; above this total, long formulas are left
/// out.
constexpr size_t kLongFormula = 150, kMostMeanings = 2000;

std::string brief(const TensorType& type) {
  const std::string shape = to_string(type.shape);
  return type.dtype == DType::f32 ? shape : std::string(name_of(type.dtype)) + " " + shape;
}

class Operators : public Printer {
 public:
  Operators(const Graph& graph, const Program& program) : Printer(graph, program, {"x"}) {}
  std::string text() { return print("  "); }

 private:
  std::string operation(const Line& line) override {
    std::string arguments;
    const auto add = [&](const std::string& argument) {
      arguments += (arguments.empty() ? "" : ", ") + argument;
    };
    for (const std::string& one : operands(line)) add(one);
    bool shape_is_written = false;
    for (const AttributeSpec& spec : call(line).op->attributes) {
      bool needless = !spec.required;
      for (size_t run = 0; run < line.nodes.size() && needless; ++run) {
        needless = *call(line, run).attributes.find(spec.name) == spec.fallback;
      }
      if (needless) continue;
      const std::vector<std::string> numbers = attribute(line, spec.name);
      std::string value = numbers.empty() ? "[]" : numbers[0];
      const bool is_list =
          std::holds_alternative<std::vector<int64_t>>(*call(line).attributes.find(spec.name));
      bool same = spec.name != "shape" && spec.name != "axes" && !numbers.empty();
      for (const std::string& number : numbers) same &= number == numbers[0];
      if (is_list && !same && !numbers.empty()) {
        value = "";
        for (const std::string& number : numbers) value += (value.empty() ? "[" : ", ") + number;
        value += "]";
      }
      if (spec.name == "shape") {
        shape_is_written = true;
        for (const std::string& number : numbers) shape_is_written &= number != "-1";
      }
      add(spec.name + "=" + value);
    }
    std::string text = call(line).op->name + "(" + arguments + ")";
    if (!shape_is_written && !has_shape_of_first(line)) {
      text += " -> ";
      for (size_t k = 0; k < line.results.size(); ++k) text += (k ? ", " : "") + type(line, k);
    }
    return text;
  }

  bool has_shape_of_first(const Line& line) const {
    if (line.results.size() != 1 || call(line).inputs.empty()) return false;
    for (size_t run = 0; run < line.nodes.size(); ++run) {
      if (call(line, run).outputs[0] != call(line, run).inputs[0]) return false;
    }
    return true;
  }

  std::string type(const Line& line, size_t output) {
    std::vector<Shape> shapes;
    for (size_t run = 0; run < line.nodes.size(); ++run) {
      shapes.push_back(call(line, run).outputs[output].shape);
    }
    const DType dtype = call(line).outputs[output].dtype;
    return (dtype == DType::f32 ? "" : std::string(name_of(dtype)) + " ") + shape(line, shapes);
  }

  std::string named(const Line& line, const Reference& reference) override {
    const std::string name = series_.name(line.at, reference.names);
    std::vector<Shape> shapes;
    DType dtype = DType::f32;
    for (const std::string& one : reference.names) {
      const Graph::ValueInfo& value = find(one);
      if (value.kind != Graph::Kind::parameter) return name;
      shapes.push_back(value.type.shape);
      dtype = value.type.dtype;
    }
    // The shape is printed where the name comes first.
    if (!mentioned_.insert(name).second) return name;
    return name + ":" + (dtype == DType::f32 ? "" : std::string(name_of(dtype)) + " ") +
           shape(line, shapes);
  }

  const Graph::ValueInfo& find(const std::string& name) {
    if (by_name_.empty()) {
      for (const auto& value : graph_.values()) {
        if (value.kind != Graph::Kind::intermediate) by_name_[value.name] = &value;
      }
    }
    return *by_name_.at(name);
  }

  std::string past(const std::string& variable, const std::string& number) override {
    return "all(" + variable + ")[" + number + "]";
  }
  std::string past_range(const std::string& variable, int64_t first, int64_t last) override {
    return "*all(" + variable + ")[" + std::to_string(first) + ":" + std::to_string(last + 1) + "]";
  }
  std::string after(const std::string&) override { return ""; }

  std::set<std::string> mentioned_;
  std::map<std::string, const Graph::ValueInfo*> by_name_;
};

/// "; stride=1, eps=1e-05 where left out": defaults that the lines do not print.
std::string left_out(const Operator& op, const Graph& graph) {
  std::string text;
  for (const AttributeSpec& spec : op.attributes) {
    const bool used =
        std::any_of(graph.nodes().begin(), graph.nodes().end(), [&](const Graph::Node& node) {
          return node.call.op == &op && *node.call.attributes.find(spec.name) == spec.fallback;
        });
    if (spec.required || !used) continue;
    std::string value = to_string(spec.fallback);
    if (const auto* list = std::get_if<std::vector<int64_t>>(&spec.fallback)) {
      value = std::to_string(list->at(0));
    }
    text += (text.empty() ? "; " : ", ") + spec.name + "=" + value;
  }
  return text.empty() ? "" : text + " where left out";
}

/// "max(x, 0)", and the PyTorch call if it has another name.
std::string meaning_of(const Operator& op, bool brief) {
  std::string call = op.follows;
  const std::string functional = "torch.nn.functional.";
  if (call.starts_with(functional)) call = "F." + call.substr(functional.size());
  if (brief && op.formula.size() > kLongFormula) return call;
  const bool same =
      call.starts_with("torch." + op.name + "(") || call.starts_with("F." + op.name + "(");
  return op.formula + (same ? "" : " (" + call + ")");
}

/// Explains the operators; if they are very many, long formulas are replaced by the call.
void print_operators(std::ostream& out, const Graph& graph) {
  std::map<std::string, const Operator*> used;
  for (const auto& node : graph.nodes()) used[node.call.op->name] = node.call.op;
  size_t length = 0;
  for (const auto& [name, op] : used) length += name.size() + meaning_of(*op, false).size();
  for (const auto& [name, op] : used) {
    out << "  " << name << ": " << meaning_of(*op, length > kMostMeanings) << left_out(*op, graph)
        << "\n";
  }
}

void print_variables(std::ostream& out, const Task& task, const Graph& graph) {
  out << "shape variables (" << sizes_of(task, graph.variables(), graph.preset()) << ")\n ";
  bool first = true;
  for (const auto& [variable, value] : graph.variables()) {
    for (const auto& [name, number] : expression_names({{variable, value}})) {
      const VariableValue one = std::holds_alternative<double>(value)
                                    ? VariableValue(number)
                                    : VariableValue(int64_t(number));
      out << (first ? " " : ", ") << name << " = " << to_string(one);
      first = false;
    }
  }
  out << (first ? " none\n" : "\n");
}

void print_values(std::ostream& out, const Graph& graph, const std::set<int>& read) {
  out << "inputs\n";
  std::map<std::string, std::string> draws;
  for (const int id : graph.values_of(Graph::Kind::input)) {
    const auto& value = graph.value(id);
    out << "  " << value.name << ": " << brief(value.type) << ", drawn from "
        << to_string(value.distribution) << (read.contains(id) ? "" : "; no operator reads it")
        << "\n";
    if (value.distribution.then != Distribution::Then::nothing) {
      draws.merge(meanings_of(value.distribution));
    }
  }
  for (const auto& [word, meaning] : draws) out << "    " << word << ": " << meaning << "\n";
  const auto constants = graph.values_of(Graph::Kind::constant);
  if (!constants.empty()) out << "constants, the same in every run\n";
  std::vector<std::pair<std::string, std::string>> alike;  // description, names
  for (const int id : constants) {
    const auto& value = graph.value(id);
    const std::string what = brief(value.type) + ", " + contents_of(value.data) +
                             (read.contains(id) ? "" : "; no operator reads it");
    const auto known = std::find_if(alike.begin(), alike.end(),
                                    [&](const auto& one) { return one.first == what; });
    if (known == alike.end()) {
      alike.emplace_back(what, value.name);
    } else {
      known->second += ", " + value.name;
    }
  }
  for (const auto& [what, names] : alike) out << "  " << names << ": " << what << "\n";
  out << "outputs\n";
  for (size_t i = 0; i < graph.outputs().size(); ++i) {
    out << "  " << graph.output_name(i) << ": " << brief(graph.value(graph.outputs()[i]).type)
        << "\n";
  }
  bool first = true;
  for (const int id : graph.values_of(Graph::Kind::parameter)) {
    if (read.contains(id)) continue;
    const auto& value = graph.value(id);
    out << (first ? "parameters that no operator reads\n  " : ", ") << value.name << ":"
        << brief(value.type);
    first = false;
  }
  if (!first) out << "\n";
}

}  // namespace

Program folded(const Graph& graph) {
  return fold(graph, [&](const Program& program) {
    return double(Operators(graph, program).text().size());
  });
}

}  // namespace listing

std::string folded_listing(const Task& task, const Graph& graph) {
  using namespace listing;
  std::set<int> read(graph.outputs().begin(), graph.outputs().end());
  bool parameters = false;
  for (const auto& node : graph.nodes()) {
    for (const int id : node.inputs) {
      read.insert(id);
      parameters |= graph.value(id).kind == Graph::Kind::parameter;
    }
  }
  const Program program = folded(graph);
  std::ostringstream out;
  out << to_string(task.id) << "  " << task.name << "\n";
  print_variables(out, task, graph);
  print_values(out, graph, read);
  const std::string text = Operators(graph, program).text();
  out << "operators, in order";
  if (parameters) out << " (name:[shape] is a parameter)";
  out << "\n"
      << text << "where (as PyTorch's functions of the same name unless another is named)\n";
  print_operators(out, graph);
  out << "work\n  " << scaled_text(graph.flops()) << "FLOP, at least "
      << scaled_text(graph.least_bytes()) << "B moved (inputs, parameters, constants and outputs "
      << "once)\n";
  const bool exact = std::ranges::all_of(
      graph.outputs(), [&](int id) { return graph.value(id).type.dtype == DType::i64; });
  out << "tolerance\n  "
      << (exact ? "none: every element is the very number" : rule_in_words(task, graph.dtype()))
      << "\n";
  return out.str();
}

}  // namespace kbench
