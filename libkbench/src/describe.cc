#include <iomanip>
#include <set>
#include <sstream>

#include "kbench/task.h"

namespace kbench {
namespace {

/// 1.5e9 -> "1.50 G"
std::string with_unit(double value) {
  constexpr const char* kUnits[] = {"", " K", " M", " G", " T", " P"};
  int unit = 0;
  while (value >= 1000 && unit < 5) {
    value /= 1000;
    ++unit;
  }
  std::ostringstream text;
  text << std::fixed << std::setprecision(unit == 0 ? 0 : 2) << value << kUnits[unit];
  return text.str();
}

void describe_values(std::ostream& out, const Graph& graph, Graph::Kind kind, const char* title) {
  const auto ids = graph.values_of(kind);
  if (ids.empty()) return;
  out << title << "\n";
  for (int id : ids) {
    const auto& value = graph.values()[id];
    out << "  " << std::left << std::setw(28) << value.name << " " << to_string(value.type);
    if (kind != Graph::Kind::constant) out << "  drawn from " << to_string(value.distribution);
    out << "\n";
  }
}

std::string value_name(const Graph& graph, int id) {
  for (size_t i = 0; i < graph.outputs().size(); ++i) {
    if (graph.outputs()[i] == id) return graph.output_name(i);
  }
  return graph.values()[id].name;
}

void describe_node(std::ostream& out, const Graph& graph, const Graph::Node& node) {
  out << "  ";
  for (size_t i = 0; i < node.outputs.size(); ++i) {
    out << (i ? ", " : "") << value_name(graph, node.outputs[i]);
  }
  out << " = " << node.call.op->name << "(";
  for (size_t i = 0; i < node.inputs.size(); ++i) {
    out << (i ? ", " : "") << value_name(graph, node.inputs[i]);
  }
  for (const auto& [name, value] : node.call.attributes) {
    out << ", " << name << "=" << to_string(value);
  }
  out << ")  ->  " << to_string(node.call.outputs[0]) << "\n";
}

}  // namespace

std::string describe(const Task& task, const Graph& graph) {
  std::ostringstream out;
  out << to_string(task.id) << "  " << task.name << "  (" << task.family << ")\n\n";
  out << "shape variables\n";
  for (const auto& name : graph.variables_read()) {
    out << "  " << std::left << std::setw(28) << name << " "
        << to_string(graph.variables().find(name)->second) << "\n";
  }
  describe_values(out, graph, Graph::Kind::input, "inputs");
  describe_values(out, graph, Graph::Kind::parameter, "parameters");
  describe_values(out, graph, Graph::Kind::constant, "constants");
  out << "outputs\n";
  for (size_t i = 0; i < graph.outputs().size(); ++i) {
    out << "  " << std::left << std::setw(28) << graph.output_name(i) << " "
        << to_string(graph.values()[graph.outputs()[i]].type) << "\n";
  }
  out << "operators, in order\n";
  std::set<std::string> used;
  for (const auto& node : graph.nodes()) {
    describe_node(out, graph, node);
    used.insert(node.call.op->name);
  }
  out << "where\n";
  for (const auto& name : used) out << "  " << name << ": " << find_operator(name).formula << "\n";
  out << "work\n  " << with_unit(graph.flops()) << "FLOP, at least "
      << with_unit(graph.least_bytes()) << "B moved, " << std::fixed << std::setprecision(2)
      << graph.flops() / graph.least_bytes() << " FLOP a byte\n";
  out << "tolerance\n  |c - r| <= " << std::defaultfloat << task.tolerance.relative
      << " * (s + |r|) for every element, s the RMS of the output";
  if (!task.tolerance.reason.empty()) out << " (" << task.tolerance.reason << ")";
  out << "\n";
  return out.str();
}

}  // namespace kbench
