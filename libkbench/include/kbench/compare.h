// Comparing a result with the truth, element by element.
//
// The rule: |c - r| <= relative * (s + |r|) for every element, s being the RMS of r. Scale-aware,
// so that zeros do not pass for a softmax over 393216 values, and tight enough that float16 or TF32
// arithmetic fails. NaN never passes. Integer and boolean outputs match exactly.
//
// A result in float16 or bfloat16 is held to a truth that is not rounded. There |r| counts as no
// less than the type's smallest normal number, since smaller ones lie that far apart; and the root
// mean square of |c - r| / (s + |r|) over all elements has a bound of its own. A kernel that keeps
// its sums in 16 bits exceeds that one long before any single element exceeds its own.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "kbench/task.h"
#include "kbench/tensor.h"
#include "kbench/verdict.h"

namespace kbench {

/// Which rule decides.
enum class ToleranceRule {
  kbench,       ///< the rule above
  kernelbench,  ///< |c - r| <= 1e-4 + 1e-4 * |r| (v0 and halves: 1e-2), as torch.allclose in the
                ///< original
};

std::string_view name_of(ToleranceRule rule);                   ///< "kbench", "kernelbench"
ToleranceRule tolerance_rule_from_name(std::string_view name);  ///< throws kInvalidArgument

/// What a comparison found.
struct Comparison {
  int64_t elements = 0;
  int64_t wrong = 0;       ///< elements outside the tolerance, NaN included
  int64_t not_finite = 0;  ///< NaN or infinite where the truth is finite
  int64_t zero = 0;        ///< elements equal to zero
  int64_t untouched = 0;   ///< elements that still hold the fill, where one was given
  int64_t truth_nan = 0;   ///< elements whose truth is NaN, which count as wrong
  double truth_rms = 0;
  /// Largest |c - r| / (s + |r|) among finite elements; infinite where integers or booleans differ.
  double max_error = 0;
  double rms_error = 0;      ///< root mean square of |c - r| / (s + |r|) among finite elements
  bool rms_beyond = false;   ///< rms_error is beyond its bound
  int64_t first_wrong = -1;  ///< flat index
  double first_expected = 0;
  double first_got = 0;

  bool passed() const { return wrong == 0 && !rms_beyond; }
  /// Sets rms_error and rms_beyond. `squares`: the sum of (|c - r| / (s + |r|))^2 over finite
  /// elements.
  void set_rms(double squares, const Bounds& bounds, ToleranceRule rule);
};

/// Compares on the host. Shapes and element types must match, else kShape; `truth` may be f64, and
/// f32 or f64 where `got` is of halves.
Comparison compare(const Tensor& got, const Tensor& truth, const Bounds& bounds,
                   ToleranceRule rule = ToleranceRule::kbench);
/// The verdict a comparison amounts to; passed when nothing is wrong, harness_error when the only
/// wrong elements are those whose truth is NaN.
Verdict classify(const Comparison& comparison, const Bounds& bounds);
/// One line for people: "3 of 40 elements wrong, the first at [1, 2]: got 0.5, expected 0.25 ...".
std::string describe(const Comparison& comparison, const Shape& shape, const Bounds& bounds);

}  // namespace kbench
