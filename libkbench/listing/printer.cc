#include "libkbench/listing/printer.h"

#include <algorithm>
#include <utility>

#include "libkbench/base/text.h"

namespace kbench::listing {
namespace {

/// At least so many consecutive operands are printed as a range.
constexpr size_t kRange = 4;

std::set<std::string> with_names(const Graph& graph, std::set<std::string> taken) {
  for (const auto& value : graph.values()) {
    if (value.kind != Graph::Kind::intermediate) taken.insert(value.name);
  }
  return taken;
}

}  // namespace

Printer::Printer(const Graph& graph, const Program& program, std::set<std::string> taken)
    : graph_(graph), program_(program), series_(with_names(graph, std::move(taken))) {
  for (const Block& block : program.blocks) {
    for (const Line& line : block.lines) {
      for (const Reference& reference : line.operands) {
        if (reference.kind == Reference::Kind::history) remembered_.insert(reference.variable);
      }
    }
  }
  for (const auto& [name, reference] : program.outputs) {
    if (reference.kind == Reference::Kind::history) remembered_.insert(reference.variable);
  }
}

std::string Printer::print(const std::string& indent) {
  std::string text;
  for (const Block& block : program_.blocks) {
    if (block.times == 1) {
      for (const Line& line : block.lines) text += print(line, indent);
      continue;
    }
    const std::string pass = series_.open(block.times);
    std::string body, condition;
    for (const Line& line : block.lines) {
      std::string passes;  // those that have this line, if not all do
      if (std::ssize(line.at) != block.times) {
        passes = listed(line.at, [](int at) { return std::to_string(at); });
        passes = indent + "  if " + pass + " in [" + passes + "]:\n";
      }
      if (passes != condition) body += passes;
      condition = passes;
      body += print(line, indent + (passes.empty() ? "  " : "    "));
    }
    text += indent + "for " + pass + " in range(" + std::to_string(block.times) + "):\n";
    for (const std::string& definition : series_.close()) {
      text += indent + "  " + definition + "\n";
    }
    text += body;
  }
  for (const auto& [name, reference] : program_.outputs) {
    text += indent + name + " = " + operand(Line(), reference) + "\n";
  }
  return text;
}

std::string Printer::print(const Line& line, const std::string& indent) {
  const std::string results =
      listed(line.results, [&](int result) { return program_.variables[size_t(result)]; });
  std::string text = indent + results + " = " +
                     (line.copy ? operand(line, line.operands[0]) : operation(line)) + "\n";
  for (const int result : line.results) {
    if (!remembered_.contains(result)) continue;
    const std::string more = after(program_.variables[size_t(result)]);
    if (!more.empty()) text += indent + more + "\n";
  }
  return text;
}

std::string Printer::operand(const Line& line, const Reference& reference) {
  if (reference.kind == Reference::Kind::named) return named(line, reference);
  const std::string& variable = program_.variables[size_t(reference.variable)];
  if (reference.kind == Reference::Kind::variable) return variable;
  return past(variable, series_.number(line.at, reference.counts));
}

std::vector<std::string> Printer::operands(const Line& line) {
  std::vector<std::string> texts;
  const auto& all = line.operands;
  for (size_t i = 0; i < all.size();) {
    size_t end = i + 1;
    const bool numbered = all[i].kind == Reference::Kind::history && all[i].counts.size() == 1;
    while (numbered && end < all.size() && all[end].kind == Reference::Kind::history &&
           all[end].variable == all[i].variable &&
           all[end].counts[0] == all[i].counts[0] + int64_t(end - i)) {
      ++end;
    }
    if (end - i >= kRange) {
      texts.push_back(past_range(program_.variables[size_t(all[i].variable)], all[i].counts[0],
                                 all[end - 1].counts[0]));
      i = end;
    } else {
      texts.push_back(operand(line, all[i++]));
    }
  }
  return texts;
}

std::string Printer::shape(const Line& line, const std::vector<Shape>& shapes) {
  std::string text = "[";
  for (size_t d = 0; d < shapes[0].size(); ++d) {
    std::vector<int64_t> extents;
    for (const Shape& one : shapes) extents.push_back(one[d]);
    text += (d ? ", " : "") + number(line, extents);
  }
  return text + "]";
}

std::vector<std::string> Printer::attribute(const Line& line, const std::string& name) {
  const AttributeValue& first = *call(line).attributes.find(name);
  if (std::holds_alternative<int64_t>(first)) {
    std::vector<int64_t> values;
    for (size_t run = 0; run < line.nodes.size(); ++run) {
      values.push_back(call(line, run).attributes.integer(name));
    }
    return {number(line, values)};
  }
  if (const auto* list = std::get_if<std::vector<int64_t>>(&first)) {
    std::vector<std::string> texts;
    for (size_t d = 0; d < list->size(); ++d) {
      std::vector<int64_t> values;
      for (size_t run = 0; run < line.nodes.size(); ++run) {
        values.push_back(call(line, run).attributes.list(name)[d]);
      }
      texts.push_back(number(line, values));
    }
    return texts;
  }
  return {to_string(first)};  // all runs of a line in a loop have the same rank
}

const OperatorCall& Printer::call(const Line& line, size_t run) const {
  return graph_.node(line.nodes[run]).call;
}

}  // namespace kbench::listing
