// Helpers of the rules for shortcuts and honest variants, besides those of mutant_rules.h: nodes
// and their attributes, ranges of tensors, norms put together from other operators.
#pragma once

#include <string>
#include <vector>

#include "kbench/ops.h"
#include "libkbench/mutants/mutant_rules.h"

namespace kbench {

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
