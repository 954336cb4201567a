// Reducing contiguous rows: a launch, or two where rows are few and long.
#pragma once

#include <cstdint>

#include "harness/measure/eager/eager.h"
#include "harness/measure/eager/planning.h"

namespace kbench::eager {

/// What a reduction computes, as shaders/reduce_items.glsl has it.
struct Reduction {
  bool argmax = false;  ///< else the sum times `scale`
  double scale = 1;
  bool extreme = false;  ///< the largest element instead of the sum
  bool negated = false;  ///< with argmax or extreme: the smallest instead of the largest
  bool norm = false;     ///< the root of the sum of squares instead of the sum
  int64_t part_bytes() const { return argmax ? 8 : 4; }  ///< of a partial result
};

/// What a launch of a reduction reads and writes.
enum class ReductionStage {
  whole,   ///< elements to results
  first,   ///< elements to partial results
  second,  ///< partial results to results
};

/// The macros of shaders/reduce_items.glsl.
void add_reduction_macros(Launch& launch, const Reduction& reduction, ReductionStage stage);

/// Appends what reduces [rows, n] at `from` to one result a row at `to`.
void append_row_reduction(CallPlan& plan, const Reduction& reduction, int64_t rows, int64_t n,
                          LaunchOperand from, LaunchOperand to, const DeviceTraits& traits);

/// The launch that sums each stretch of each row, to [rows, split.count].
Launch partial_sums(int64_t rows, int64_t n, Split split, LaunchOperand from, LaunchOperand to,
                    const DeviceTraits& traits);

}  // namespace kbench::eager
