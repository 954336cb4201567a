// Finds repeated blocks: turns a list of operators into a tree with loops.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "kbench/graph.h"

namespace kbench::listing {

struct Item;
using Body = std::vector<Item>;

/// An operator, or a loop with all of its passes. The passes have equal kinds in equal order; the
/// counts of inner loops may differ.
struct Item {
  int kind = 0;  ///< equal for items that are interchangeable
  int node = -1;
  std::vector<Body> passes = {};  ///< for a loop
  bool absent = false;            ///< this pass lacks the operator that others have here
};

/// Splits a name into the text around its numbers and the numbers.
std::pair<std::string, std::vector<std::string>> split_numbers(const std::string& name);

/// Operators in the tree; a loop's body counts once.
size_t lines_of(const Body& body);

/// One item a node.
Body unfolded(const Graph& graph);
/// Folds exact repeats, as long as `fits` accepts the tree.
Body fold_repeats(const Graph& graph, Body body, const std::function<bool(const Body&)>& fits);
/// Folds the blocks that are numbered in parameters' names ("layers.0.blocks.1" has two numbers),
/// even if some have operators that others lack.
Body fold_modules(const Graph& graph, Body body, size_t numbers);

}  // namespace kbench::listing
