// The steps of a candidate.
#pragma once

#include <vector>

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

}  // namespace kbench::runner
