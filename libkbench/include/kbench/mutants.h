// Mutants: a task's graph with one operator left out, one option changed, one loop too short. A
// wrong candidate often computes one of them, which then names its fault; and a task whose mutants
// pass its own check does not test that operator.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "kbench/graph.h"

namespace kbench {

/// A graph while it is copied.
struct Rewriting {
  const Graph& from;
  Graph& to;
  std::function<Value(int id)> value;  ///< what stands in `to` for a value of `from`
};
/// Makes the values that replace a node's outputs in the copy, of the same number and types. It may
/// read all values that come before the node. Throws kShape where it does not fit.
using Replacement = std::function<std::vector<Value>(const Rewriting& rewriting, int node)>;

/// A copy of the graph with some nodes replaced. Inputs, parameters, constants and outputs are
/// those of the original, also where nothing reads them any more: what is drawn for the one runs
/// the other. Throws kInternal where a replacement gives values of other types than the node has.
std::unique_ptr<Graph> rewrite(const Graph& graph, const std::map<int, Replacement>& replacements);

/// One way to get a graph wrong.
struct Mutation {
  std::string rule;                         ///< "left_out", "attribute", ...
  std::string description;                  ///< "without relu", "softmax with axis 0, not 1"
  std::map<int, Replacement> replacements;  ///< by node
};

/// All that the rules find: those of libkbench/mutants/mutants.cc in their order, the likeliest
/// faults first, each rule's in the order of nodes. Where several calls of one operator can be
/// spoilt in the same way, all of them together are a mutation too. Every one of them fits the
/// graph; some compute the same as it (an eps that does not matter, relu of a relu).
std::vector<Mutation> mutations(const Graph& graph);
std::unique_ptr<Graph> mutate(const Graph& graph, const Mutation& mutation);

}  // namespace kbench
