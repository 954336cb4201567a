// The terms that honest variants add up, each in an order of its own.
#pragma once

#include <string>
#include <vector>

#include "libkbench/shortcuts/rule_parts.h"

namespace kbench {

/// A way to add up the elements along an axis.
using Sum = Value (*)(Value x, Reduce reduce);

/// An axis of n elements as rows of so many, zeros at the end.
Value in_rows(Value x, int axis, int64_t columns);
/// What a sum, a mean or a norm gives with its sum taken that way.
Value reduced_by(Sum sum, const Rewriting& rewriting, int number);
/// The elements whose sum is the loss, in a tensor of one dimension, and what the sum is divided
/// by. Of smooth_l1_loss, triplet_margin_loss and kl_div_batchmean.
struct LossTerms {
  Value terms;
  double count = 1;
};
LossTerms loss_terms(const std::string& loss, const std::vector<Value>& in,
                     const Attributes& attributes);
/// The largest along an axis, kept; of a row that is masked altogether a number, too.
Value largest_of(Value x, int axis);
/// softmax, log_softmax or logsumexp from its maximum, its exponentials and their sum.
Value from_exponentials(const Graph::Node& node, Value x, Value max, Value exponentials, Value sum);

}  // namespace kbench
