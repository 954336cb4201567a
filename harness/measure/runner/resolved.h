// What the runner asks of a resolved candidate, and the numbers that one is resolved with.
#pragma once

#include <string>
#include <vector>

#include "harness/measure/vulkan/snapshot.h"
#include "kbench/candidate.h"

namespace kbench::runner {

/// Setup's, then dispatch's.
inline std::vector<const ResolvedStep*> all_steps(const ResolvedCandidate& candidate) {
  std::vector<const ResolvedStep*> all;
  for (const ResolvedStep& step : candidate.setup) all.push_back(&step);
  for (const ResolvedStep& step : candidate.dispatch) all.push_back(&step);
  return all;
}

/// Those that launch the kernel of this index.
inline std::vector<const ResolvedStep*> steps_of(const ResolvedCandidate& candidate,
                                                 size_t kernel) {
  std::vector<const ResolvedStep*> steps = all_steps(candidate);
  std::erase_if(steps, [&](const auto* step) { return step->kernel != static_cast<int>(kernel); });
  return steps;
}

/// The source text that a kernel's compiler is given: with the definition of KB_REAL, where it is
/// used, after its #version line, or at its start if it has none. In compilers' messages lines of
/// the source keep their numbers.
std::string kernel_text(const ResolvedKernel& resolved);

/// The numbers of a device that a candidate's expressions may use: for every name of
/// device_number_names(), Vulkan's limit of that name.
DeviceNumbers device_numbers(const vulkan::DeviceSnapshot& snapshot);

}  // namespace kbench::runner
