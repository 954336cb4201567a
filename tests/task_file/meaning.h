// What a graph means, as a text that is the same for graphs that compute the same.
#pragma once

#include <algorithm>
#include <functional>
#include <string>
#include <vector>

#include "kbench/graph.h"
#include "libkbench/base/text.h"

namespace kbench {

/// A line for each tensor that is declared, in the order of their names, as a file may declare
/// parameters before operators; then one for each operator and output.
inline std::string meaning_of(const Graph& graph) {
  std::vector<std::string> declared;
  for (const auto& value : graph.values()) {
    if (value.kind == Graph::Kind::intermediate) continue;
    std::string line =
        std::string(name_of(value.kind)) + " " + value.name + " " + to_string(value.type) + " ";
    if (value.kind != Graph::Kind::constant) {
      line += std::string(name_of(value.distribution.kind)) + " " +
              number_text(value.distribution.lo) + " " + number_text(value.distribution.hi) + " " +
              std::string(name_of(value.distribution.then));
    } else {
      const auto* raw = reinterpret_cast<const char*>(value.data.raw());
      line += std::to_string(
          std::hash<std::string>()(std::string(raw, static_cast<size_t>(value.data.bytes()))));
    }
    declared.push_back(std::move(line));
  }
  std::ranges::sort(declared);
  std::string text;
  for (const std::string& line : declared) text += line + "\n";
  for (const auto& node : graph.nodes()) {
    text += node.call.op->name;
    for (const int id : node.inputs) text += " " + graph.value(id).name;
    for (const auto& [name, value] : node.call.attributes) {
      text += " " + name + "=" + to_string(value);
    }
    for (const int id : node.outputs) {
      text += " -> " + graph.value(id).name + " " + to_string(graph.value(id).type);
    }
    text += "\n";
  }
  for (const int id : graph.outputs()) text += "output " + graph.value(id).name + "\n";
  return text;
}

}  // namespace kbench
