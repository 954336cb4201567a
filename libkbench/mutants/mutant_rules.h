// The rules by which graphs are mutated: one function for each kind of fault.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "kbench/mutants.h"
#include "kbench/ops.h"
#include "libkbench/core/graph_facts.h"

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

// Helpers of the rules for shortcuts and honest variants, besides those above: nodes and
// their attributes, ranges of tensors, norms put together from other operators.

// --- ranges --------------------------------------------------------------------------------------

/// Elements [start, stop) along an axis.
Value range_of(Value x, int axis, int64_t start, int64_t stop);
Value first_of(Value x, int axis, int64_t end);
/// The elements along an axis in `pieces` pieces of nearly equal extent, or in one piece each where
/// there are fewer elements.
std::vector<Value> pieces_of(Value x, int axis, int64_t pieces);
/// Some of the elements along an axis.
struct AxisPart {
  std::string text;  ///< "the first half"
  Slice range;
  int64_t without = 0;  ///< n > 0: the last of every n elements in the range is left out
};
/// The first half, the last, every second element; none of an axis of extent 1.
std::vector<AxisPart> halves_of(int axis, int64_t extent);
/// All but the last quarter, all but every fourth element, and so on to all but a 32nd.
std::vector<AxisPart> most_of(int axis, int64_t extent);
Value part_of(Value x, const AxisPart& part);
/// How many times a part's elements make the whole.
double times_of(const AxisPart& part, int64_t extent);
/// A constant of x's rank: along the axis `value` where the part has no element and 0 where it has;
/// along the others of extent 1.
Value outside(Value x, const AxisPart& part, float value);
/// The same of 1 where the part has elements and 0 where it has none.
Value inside(Value x, const AxisPart& part);
/// Any number of pieces concatenated.
Value joined(std::vector<Value> pieces, int axis);
Value added(const std::vector<Value>& parts);  ///< their sum, from first to last

// --- calls ---------------------------------------------------------------------------------------

Reduce reduce_of(const Graph::Node& node);
/// A parameter of one dimension, a value a channel, as it broadcasts to a tensor of that rank with
/// the channels in dimension 1.
Value by_channel(Value parameter, int rank);
/// The two operands of a product, and the dimension of each that is summed over: the inner one, or
/// a convolution's input channels. `splits` is false for a convolution of several groups.
struct Inner {
  int a = 0, b = 0;
  int64_t extent = 0;
  bool splits = true;
};
Inner inner_of(const Graph::Node& node);
/// The product of other operands, without its bias.
Value product_of(const Rewriting& rewriting, int node, Value a, Value b);
/// A product's result with its bias, where it has one.
Value with_bias(const Rewriting& rewriting, int node, Value product);

// --- norms ---------------------------------------------------------------------------------------

/// A norm as x [rows, channels, n] with statistics over dimension 2 and, of batch_norm, over
/// dimension 0 as well.
struct NormView {
  Value x = {};         ///< in that shape
  bool batch = false;   ///< whether the statistics are of all rows together
  int64_t samples = 1;  ///< of the batch that the rows belong to
  double eps = 0;
};
NormView norm_view(const Rewriting& rewriting, int node);
/// The mean over the dimensions of the statistics, extents kept as 1.
Value mean_over(const NormView& view, Value x);
/// The node's result from normalised values in the view's shape: reshaped, with weight and bias.
Value norm_result(const Rewriting& rewriting, int node, Value normalised);

}  // namespace kbench
