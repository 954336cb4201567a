// Folds blocks that are numbered in parameters' names and differ in a few operators.
#include <algorithm>
#include <set>
#include <utility>

#include "libkbench/listing/blocks.h"

namespace kbench::listing {
namespace {

/// Which block of a list of modules an operator belongs to.
class Modules {
 public:
  Modules(const Graph& graph, size_t numbers) : graph_(graph), numbers_(numbers) {}

  /// "layers.0.blocks.1", from the parameters that the node reads; empty if their names have fewer
  /// numbers.
  std::string of(int node) const {
    for (const int id : graph_.node(node).inputs) {
      const Graph::ValueInfo& value = graph_.value(id);
      if (value.kind != Graph::Kind::parameter) continue;
      const std::string prefix = prefix_of(value.name);
      if (!prefix.empty()) return prefix;
    }
    return "";
  }
  bool reads_parameters(int node) const {
    const auto& inputs = graph_.node(node).inputs;
    return std::any_of(inputs.begin(), inputs.end(),
                       [&](int id) { return graph_.value(id).kind == Graph::Kind::parameter; });
  }

 private:
  std::string prefix_of(const std::string& name) const {
    size_t seen = 0;
    for (size_t from = 0; from < name.size();) {
      const size_t to = std::min(name.find('.', from), name.size());
      const std::string part = name.substr(from, to - from);
      const bool number = !part.empty() && part.find_first_not_of("0123456789") == part.npos;
      if (number && ++seen == numbers_ && to < name.size()) return name.substr(0, to);
      from = to + 1;
    }
    return "";
  }

  const Graph& graph_;
  size_t numbers_;
};

/// reshape, permute, roll: one tensor in, the same values out.
bool only_moves(const Graph::Node& node) {
  const auto flops = node.call.op->flops;
  return node.inputs.size() == 1 && node.outputs.size() == 1 &&
         (flops == nullptr || flops(node.call) == 0);
}

/// The passes, with operators that one has and another lacks marked absent.
std::vector<Body> aligned(const std::vector<Body>& passes) {
  std::vector<int> common;  // kinds
  for (const Item& item : passes[0]) common.push_back(item.kind);
  const auto table_of = [&](const Body& pass) {
    std::vector<std::vector<int>> longest(common.size() + 1, std::vector<int>(pass.size() + 1, 0));
    for (size_t i = common.size(); i-- > 0;) {
      for (size_t j = pass.size(); j-- > 0;) {
        longest[i][j] = common[i] == pass[j].kind ? longest[i + 1][j + 1] + 1
                                                  : std::max(longest[i + 1][j], longest[i][j + 1]);
      }
    }
    return longest;
  };
  for (size_t pass = 1; pass < passes.size(); ++pass) {
    const auto longest = table_of(passes[pass]);
    std::vector<int> merged;
    size_t i = 0, j = 0;
    while (i < common.size() || j < passes[pass].size()) {
      if (i < common.size() && j < passes[pass].size() && common[i] == passes[pass][j].kind) {
        merged.push_back(common[i]);
        ++i, ++j;
      } else if (j == passes[pass].size() ||
                 (i < common.size() && longest[i + 1][j] >= longest[i][j + 1])) {
        merged.push_back(common[i++]);
      } else {
        merged.push_back(passes[pass][j++].kind);
      }
    }
    common = std::move(merged);
  }
  std::vector<Body> result;
  for (const Body& pass : passes) {
    const auto longest = table_of(pass);
    Body body;
    size_t j = 0;
    for (size_t i = 0; i < common.size(); ++i) {
      const bool here = j < pass.size() && common[i] == pass[j].kind &&
                        longest[i][j] == longest[i + 1][j + 1] + 1;
      if (here) {
        body.push_back(pass[j++]);
      } else {
        body.push_back({common[i], -1, {}, true});
      }
    }
    if (j != pass.size()) return {};
    result.push_back(std::move(body));
  }
  return result;
}

}  // namespace

Body fold_modules(const Graph& graph, Body body, size_t numbers) {
  const Modules modules(graph, numbers);
  // A block begins at the first operator that reads its parameters.
  struct Start {
    size_t at;
    std::string key;
  };
  std::vector<Start> starts;
  size_t last = 0;  // last operator of the last block
  for (size_t i = 0; i < body.size(); ++i) {
    const std::string key = modules.of(body[i].node);
    if (key.empty()) continue;
    const std::string text = split_numbers(key).first;
    if (!starts.empty() && split_numbers(starts[0].key).first != text) continue;
    if (starts.empty() || starts.back().key != key) starts.push_back({i, key});
    last = i;
  }
  if (starts.size() < 3) return body;
  std::set<std::string> keys;
  for (const Start& start : starts) keys.insert(start.key);
  if (keys.size() != starts.size()) return body;  // a block's operators are not consecutive
  // Operators before a start that only reorder data belong to the block too.
  for (Start& start : starts) {
    while (start.at > 0 && only_moves(graph.node(body[start.at - 1].node))) --start.at;
  }
  size_t end = last + 1;
  std::vector<Body> passes;
  for (size_t k = 0; k + 1 < starts.size(); ++k) {
    passes.emplace_back(body.begin() + long(starts[k].at), body.begin() + long(starts[k + 1].at));
  }
  // The last block ends with the operators that other blocks have after their last parameter.
  std::set<int> known;
  for (const Body& pass : passes) {
    for (const Item& item : pass) known.insert(item.kind);
  }
  while (end < body.size() && !modules.reads_parameters(body[end].node) &&
         known.contains(body[end].kind)) {
    ++end;
  }
  passes.emplace_back(body.begin() + long(starts.back().at), body.begin() + long(end));
  Item loop;
  loop.passes = aligned(passes);
  if (loop.passes.empty()) return body;
  for (const Item& item : body) loop.kind = std::max(loop.kind, item.kind + 1);
  const auto first = body.begin() + long(starts[0].at);
  body.erase(first, body.begin() + long(end));
  body.insert(body.begin() + long(starts[0].at), std::move(loop));
  return body;
}

}  // namespace kbench::listing
