// The kinds of runners: how each is started, what it opens, and what of it is believed.
#pragma once

#include <string_view>

#include "libkbench/base/enum_names.h"

namespace kbench::runner {

/// An eager runner is trusted. Of the others the judge's clock bounds what they say (clock_rule.h);
/// of a python3 nothing is believed (docs/modelnew.md).
enum class RunnerKind {
  /// The eager baseline. Not locked in; opens the Vulkan device; timed by the device.
  eager,
  /// A candidate's kernels. Locked in; opens and is timed as above.
  vulkan,
  /// The same process once CUDA's driver launches the candidate's kernels (Built::launched_by); no
  /// runner is started as one.
  cuda,
  /// A ModelNew, by python3 with PyTorch: both processes are locked in and open the device by CUDA;
  /// timed by kbench's own clock around python3.
  torch,
};

constexpr std::string_view name_of(RunnerKind kind) {
  constexpr std::string_view kNames[] = {"eager", "vulkan", "cuda", "torch"};
  return name_in<RunnerKind::torch>(kNames, kind);
}

}  // namespace kbench::runner
