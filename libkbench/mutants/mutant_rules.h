// The rules by which graphs are mutated: one function for each kind of fault.
#pragma once

#include <functional>
#include <string>

#include "kbench/mutants.h"
#include "libkbench/core/operator_kinds.h"

namespace kbench {

/// Adds a mutant that a rule found at its node; one that does not fit the graph is dropped. In the
/// text '@' stands for the operator: "without @".
using AddMutant = std::function<void(const std::string& text, Replacement replacement)>;

/// A rule looks at one node and adds its mutants there.
struct MutantRule {
  const char* name;
  void (*apply)(const Graph& graph, int node, const AddMutant& add);
};

// Whole operators (mutants_operators.cc).
void mutate_by_leaving_out(const Graph& graph, int node, const AddMutant& add);
void mutate_by_order(const Graph& graph, int node, const AddMutant& add);
void mutate_by_other_operator(const Graph& graph, int node, const AddMutant& add);
void mutate_by_other_form(const Graph& graph, int node, const AddMutant& add);
void mutate_by_constant(const Graph& graph, int node, const AddMutant& add);
// What operators are given (mutants_operands.cc).
void mutate_parameters(const Graph& graph, int node, const AddMutant& add);
void mutate_attributes(const Graph& graph, int node, const AddMutant& add);
void mutate_operands(const Graph& graph, int node, const AddMutant& add);
// Indices and loop bounds (mutants_ranges.cc).
void mutate_layout(const Graph& graph, int node, const AddMutant& add);
void mutate_by_shift(const Graph& graph, int node, const AddMutant& add);
void mutate_ranges(const Graph& graph, int node, const AddMutant& add);

// --- collecting mutants --------------------------------------------------------------------------

struct FoundMutant {
  int node;
  std::string text;  ///< with its '@'
  Replacement replacement;
};
/// The mutants of a rule that fit the graph, in the order of nodes.
std::vector<FoundMutant> find_mutants(const Graph& graph, const MutantRule& rule);
/// A name for each node: its operator, and where the graph has several of it also its parameters'
/// module, or its place among them.
std::vector<std::string> labels_of(const Graph& graph);
/// The text with its '@' replaced.
std::string filled_in(std::string text, const std::string& operator_text);
/// rewrite() of some of the values, by id: all that the outputs need must be among them.
std::unique_ptr<Graph> copied(const Graph& graph, const std::vector<bool>& wanted,
                              const std::map<int, Replacement>& replacements = {});
/// Marks the variables that `from` has read as read by `to`: an Experiment lists them.
void read_variables(const Graph& from, const Graph& to);

// --- helpers of rules
// -----------------------------------------------------------------------------

const Graph::Node& node_of(const Rewriting& rewriting, int node);
/// Counterparts of the node's inputs.
std::vector<Value> inputs_of(const Rewriting& rewriting, int node);
/// The node with other inputs, or with other inputs and attributes.
std::vector<Value> again(const Rewriting& rewriting, int node, const std::vector<Value>& inputs);
std::vector<Value> again(const Rewriting& rewriting, int node, const std::vector<Value>& inputs,
                         Attributes attributes);
/// A float32 tensor of one value.
Value filled(Graph& graph, const Shape& shape, float value);
/// x's memory read with the extents of its last two dimensions exchanged, as by an index
/// [i * rows + j] in place of [i * columns + j].
Value misread(Value x);

}  // namespace kbench
