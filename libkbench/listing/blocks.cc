#include "libkbench/listing/blocks.h"

#include <algorithm>
#include <cctype>
#include <map>

namespace kbench::listing {

std::pair<std::string, std::vector<std::string>> split_numbers(const std::string& name) {
  std::string text;
  std::vector<std::string> numbers;
  for (size_t i = 0; i < name.size();) {
    if (!std::isdigit(static_cast<unsigned char>(name[i]))) {
      text += name[i++];
      continue;
    }
    size_t end = i;
    while (end < name.size() && std::isdigit(static_cast<unsigned char>(name[end]))) ++end;
    numbers.push_back(name.substr(i, end - i));
    text += '#';
    i = end;
  }
  return {text, numbers};
}

namespace {

/// What two operators must have in common to become one line: the operator, where its operands come
/// from, their names up to the numbers in the last part, ranks and element types.
std::string signature_of(const Graph& graph, const Graph::Node& node) {
  std::string text = node.call.op->name;
  for (size_t i = 0; i < node.inputs.size(); ++i) {
    const Graph::ValueInfo& value = graph.value(node.inputs[i]);
    text += '|';
    text += name_of(node.call.inputs[i].dtype);
    text += std::to_string(node.call.inputs[i].shape.size());
    if (value.kind == Graph::Kind::parameter || value.kind == Graph::Kind::constant) {
      // "inception3a.branch1x1.weight": the module's name may vary, its member's may not.
      const size_t last = value.name.rfind('.');
      const size_t before = last == std::string::npos || last == 0
                                ? std::string::npos
                                : value.name.rfind('.', last - 1);
      text +=
          split_numbers(before == std::string::npos ? value.name : value.name.substr(before + 1))
              .first;
      text += std::to_string(std::count(value.name.begin(), value.name.end(), '.'));
    }
  }
  for (const auto& [name, value] : node.call.attributes) {
    text += '|' + std::to_string(value.index());
    if (const auto* word = std::get_if<std::string>(&value)) text += *word;
    if (const auto* real = std::get_if<double>(&value)) text += to_string(AttributeValue(*real));
    if (const auto* list = std::get_if<std::vector<int64_t>>(&value)) {
      text += std::to_string(list->size());
    }
  }
  for (const TensorType& type : node.call.outputs) {
    text += '>' + std::string(name_of(type.dtype)) + std::to_string(type.shape.size());
  }
  return text;
}

}  // namespace

size_t lines_of(const Body& body) {
  size_t lines = 0;
  for (const Item& item : body) lines += item.passes.empty() ? 1 : 1 + lines_of(item.passes[0]);
  return lines;
}

Body unfolded(const Graph& graph) {
  std::map<std::string, int> kinds;
  Body body;
  for (const auto& node : graph.nodes()) {
    const int kind = kinds.try_emplace(signature_of(graph, node), int(kinds.size())).first->second;
    body.push_back({kind, int(body.size())});
  }
  return body;
}

}  // namespace kbench::listing
