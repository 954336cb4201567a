// The terms that honest variants add up in other orders.
#pragma once

#include <string>
#include <vector>

#include "libkbench/mutants/mutant_rules.h"

namespace kbench {

/// A way to add up the elements along an axis.
using Sum = Value (*)(Value x, Reduce reduce);

/// An axis as rows of `columns` elements, filled up with zeros.
Value in_rows(Value x, int axis, int64_t columns);
/// The result of a sum, a mean or a norm whose sum is taken by `sum`.
Value reduced_by(Sum sum, const Rewriting& rewriting, int number);
/// The elements whose sum is the loss, in a tensor of one dimension, and what the sum is divided
/// by. Of smooth_l1_loss, triplet_margin_loss and kl_div_batchmean.
struct LossTerms {
  Value terms;
  double count = 1;
};
LossTerms loss_terms(const std::string& loss, const std::vector<Value>& in,
                     const Attributes& attributes);
/// The largest element along an axis, which is kept; finite also where a row is all -infinity.
Value largest_of(Value x, int axis);
/// softmax, log_softmax or logsumexp from its maximum, its exponentials and their sum.
Value from_exponentials(const Graph::Node& node, Value x, Value max, Value exponentials, Value sum);

}  // namespace kbench
