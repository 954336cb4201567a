// What can become of a candidate: a closed list. docs/verdicts.md explains each to authors.
#pragma once

#include <string_view>

namespace kbench {

enum class Verdict {
  passed,  ///< every element of every timed sample was right
  // --- the candidate's fault -----------------------------------------------------------------
  missing,            ///< the set has no candidate for this task
  invalid_candidate,  ///< the file is malformed, or does not fit the task's interface
  compile_error,      ///< a shader does not compile or is not valid SPIR-V
  unsupported,        ///< needs what this device does not have (a feature, a limit)
  out_of_memory,      ///< its temporaries do not fit beside the task's own tensors
  timeout,            ///< compiling or running took longer than allowed
  crashed,            ///< the process that ran it died, or answered nonsense
  device_lost,        ///< the device stopped answering while it ran
  not_written,        ///< no element of an output was written
  partly_written,     ///< some elements of an output were never written
  not_finite,         ///< NaN or infinity where the truth is finite
  all_zero,           ///< an output is zero throughout where the truth is not
  low_precision,      ///< wrong by little everywhere: arithmetic below the task's precision
  wrong_values,       ///< elements outside the tolerance
  input_modified,     ///< an input, parameter or setup result was written to
  out_of_bounds,      ///< wrote outside a buffer
  interferes,         ///< kept the device busy when it said that it was done
  not_general,        ///< wrong at other sizes of its task, where that counts
  race,               ///< a checker of its kernels found a fault, where that counts
  impossible,         ///< faster than the device can read and write what it has to
  // --- not the candidate's fault: never counted against it ------------------------------------
  does_not_fit,   ///< the task's own tensors exceed this device's memory
  harness_error,  ///< kbench, the driver or the machine failed; worth a retry
  // --- of a check alone, which runs nothing (Evaluator::check) ---------------------------------
  compiles,  ///< it fits its task and compiles; its values were not checked
};

std::string_view name_of(Verdict verdict);         ///< "passed", "compile_error", ...
Verdict verdict_from_name(std::string_view name);  ///< throws kInvalidArgument
/// False for passed, compiles, does_not_fit and harness_error.
bool is_candidates_fault(Verdict verdict);
/// True for does_not_fit and harness_error: nothing was learnt of the candidate.
constexpr bool is_infrastructure_fault(Verdict verdict) {
  return verdict == Verdict::does_not_fit || verdict == Verdict::harness_error;
}
/// The candidate ran and left no harm, but its outputs are wrong or missing.
bool is_about_values(Verdict verdict);
/// One sentence for people.
std::string_view explain(Verdict verdict);

}  // namespace kbench
