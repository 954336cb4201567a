// A task at other sizes of the same computation: which variables are sizes, and which values of
// them can be built and are little work.
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "kbench/task.h"

namespace kbench {

/// Whether these are one task's graphs on other tensors: the same operators with the same options.
bool same_computation(const Graph& own, const Graph& other);

/// Which extents a set of sizes may give a tensor, beside those that it has.
enum class Extents { larger, any };

/// Holds the task's graph at its own sizes, and says of other sizes whether they will do.
class SizeSearch {
 public:
  /// An integer variable in which presets differ.
  struct Size {
    std::string name;
    int64_t own = 0;
  };

  SizeSearch(const TaskAt& at, std::span<const Task> suite, Extents extents);

  /// Batch sizes last, the others from the largest down. None where the task is much work at its
  /// own sizes already.
  const std::vector<Size>& sizes() const { return sizes_; }
  /// The values at the task's own sizes, of all variables.
  const Variables& own() const { return own_->variables(); }
  /// Whether the task can be built with `chosen` in place of its own values, computes the same
  /// there, and is little work.
  bool fits(const Variables& chosen) const;
  /// Adds the variable's value to `chosen` where that fits.
  bool accept(Variables& chosen, const std::string& name, int64_t value) const;
  /// The first value that fits, if any does.
  bool accept_one(Variables& chosen, const std::string& name,
                  const std::vector<int64_t>& values) const;

 private:
  const TaskAt at_;
  std::span<const Task> suite_;
  const Extents extents_;
  std::unique_ptr<Graph> own_;
  std::vector<Size> sizes_;
  double most_flops_ = 0, most_bytes_ = 0;
  int64_t most_rounds_ = std::numeric_limits<int64_t>::max();
};

}  // namespace kbench
