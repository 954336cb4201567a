// What it takes to hand the device over to a Python process and back, where times are taken around
// its runs.
#pragma once

#include <algorithm>
#include <vector>

#include "kbench/score.h"

namespace kbench::judge {

/// A question to the process that asks for nothing, and its standstill. All such processes are
/// alike before a candidate's code runs in them, so one value counts for all trials of a judge, and
/// for the opponent, too. Where others open the device meanwhile it takes ten times as long: of
/// several trials the least median counts.
class HandOver {
 public:
  bool known() const { return trials_ > 0; }
  /// Whether more trials need not measure it.
  bool certain() const { return trials_ >= kTrials; }
  /// Runs of nothing in one trial, nanoseconds; at least one.
  void add(std::vector<double> runs_ns) {
    const double now = median(std::move(runs_ns));
    ns_ = known() ? std::min(ns_, now) : now;
    ++trials_;
  }
  double ns() const { return ns_; }

 private:
  static constexpr int kTrials = 8;

  int trials_ = 0;
  double ns_ = 0;
};

}  // namespace kbench::judge
