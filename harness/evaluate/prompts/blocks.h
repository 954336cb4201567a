// The search for repeated blocks: a list of operators becomes a tree with loops.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "kbench/graph.h"

namespace kbench::prompts {

struct Item;
using Body = std::vector<Item>;

/// An operator, or a loop with all of its passes, which have equal kinds in equal order; how often
/// a loop inside goes round may differ.
struct Item {
  int kind = 0;  ///< equal for what can stand in each other's place
  int node = -1;
  std::vector<Body> passes = {};  ///< of a loop
  bool absent = false;            ///< other passes have an operator here, this one has none
};

/// The numbers in a name, which may differ from pass to pass, and the text around them.
std::pair<std::string, std::vector<std::string>> split_numbers(const std::string& name);

/// Operators in the tree, a loop's body once.
size_t lines_of(const Body& body);

/// One item a node.
Body unfolded(const Graph& graph);
/// Folds what repeats exactly, for as long as `fits` agrees with the tree.
Body fold_repeats(const Graph& graph, Body body, const std::function<bool(const Body&)>& fits);
/// Folds the blocks that parameters' names number, "layers.0.blocks.1" having two numbers, also
/// where some have operators that others lack.
Body fold_modules(const Graph& graph, Body body, size_t numbers);

}  // namespace kbench::prompts
