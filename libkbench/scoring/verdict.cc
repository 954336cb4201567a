#include "kbench/verdict.h"

#include <string>

#include "kbench/error.h"
#include "libkbench/base/text.h"

namespace kbench {
namespace {

struct VerdictInfo {
  Verdict verdict;
  std::string_view name;
  std::string_view sentence;
};

constexpr VerdictInfo kVerdicts[] = {
    {Verdict::passed, "passed", "Every element of every timed sample was right."},
    {Verdict::missing, "missing", "The set has no candidate for this task."},
    {Verdict::invalid_candidate, "invalid_candidate",
     "The candidate file is malformed, or does not fit the task's interface."},
    {Verdict::compile_error, "compile_error",
     "The candidate's code does not compile, or cannot be loaded."},
    {Verdict::unsupported, "unsupported",
     "The candidate needs what it is not given here: by the device, by the element type that was "
     "asked for, or by kbench's rules."},
    {Verdict::out_of_memory, "out_of_memory",
     "The candidate takes more memory than there is beside the task's own tensors."},
    {Verdict::timeout, "timeout", "Compiling or running took longer than allowed."},
    {Verdict::crashed, "crashed",
     "The candidate ended in an error, or the process that ran it died or answered nonsense."},
    {Verdict::device_lost, "device_lost", "The device stopped answering while the candidate ran."},
    {Verdict::not_written, "not_written", "No element of an output was written."},
    {Verdict::partly_written, "partly_written", "Some elements of an output were never written."},
    {Verdict::not_finite, "not_finite",
     "An output holds NaN or infinity where the right value is finite."},
    {Verdict::all_zero, "all_zero", "An output is zero throughout where it should not be."},
    {Verdict::low_precision, "low_precision",
     "Many elements are wrong by little: the arithmetic is below the task's precision."},
    {Verdict::wrong_values, "wrong_values", "Some elements are outside the tolerance."},
    {Verdict::input_modified, "input_modified",
     "An input, a parameter or a result of the setup was written to."},
    {Verdict::out_of_bounds, "out_of_bounds", "The candidate reached outside a buffer."},
    {Verdict::interferes, "interferes",
     "The candidate kept the device busy after it had said that it was done."},
    {Verdict::not_general, "not_general",
     "Right at the sizes asked for, and wrong at other sizes of its task."},
    {Verdict::race, "race",
     "Right, and a checker found a race, an access out of bounds or a read of unwritten memory."},
    {Verdict::impossible, "impossible",
     "Its time is below what the device needs to read and compute what its outputs depend on."},
    {Verdict::does_not_fit, "does_not_fit",
     "The task's own tensors exceed this device's memory; no candidate could run it."},
    {Verdict::harness_error, "harness_error",
     "kbench, the driver or the machine failed; the candidate is not to blame."},
    {Verdict::compiles, "compiles",
     "The candidate fits its task and compiles; nothing was run, so whether it is right is "
     "not known."},
};

constexpr bool in_enum_order() {
  int expected = 0;
  for (const auto& info : kVerdicts) {
    if (static_cast<int>(info.verdict) != expected++) return false;
  }
  return expected == static_cast<int>(Verdict::compiles) + 1;
}
static_assert(in_enum_order());

}  // namespace

std::string_view name_of(Verdict verdict) { return kVerdicts[static_cast<size_t>(verdict)].name; }

Verdict verdict_from_name(std::string_view name) {
  for (const auto& info : kVerdicts) {
    if (info.name == name) return info.verdict;
  }
  throw Error(ErrorCode::kInvalidArgument,
              "unknown verdict '" + std::string(name) + "'; known: " +
                  listed(kVerdicts, [](const VerdictInfo& info) { return info.name; }));
}

bool is_candidates_fault(Verdict verdict) {
  return verdict != Verdict::passed && verdict != Verdict::compiles &&
         !is_infrastructure_fault(verdict);
}

bool is_about_values(Verdict verdict) {
  switch (verdict) {
    case Verdict::not_written:
    case Verdict::partly_written:
    case Verdict::not_finite:
    case Verdict::all_zero:
    case Verdict::low_precision:
    case Verdict::wrong_values:
      return true;
    default:
      return false;
  }
}

std::string_view explain(Verdict verdict) {
  return kVerdicts[static_cast<size_t>(verdict)].sentence;
}

}  // namespace kbench
