// The kinds of runners: how each is started, what it opens, and what of it is believed.
#pragma once

#include <string_view>

#include "libkbench/base/enum_names.h"

namespace kbench::runner {

/// | kind    | runs                      | locked in | opens                         | times by |
/// |---------|---------------------------|-----------|-------------------------------|-----------------|
/// | eager   | the eager baseline        | no        | the Vulkan device             | the device |
/// | vulkan  | a candidate's shaders     | yes       | the Vulkan device             | the device |
/// | cuda    | kernels in CUDA, PTX or   | yes       | the same with CUDA's kernels, | the device |
/// |         | Triton, shaders too       |           | CUDA's driver if needed       | | | torch |
/// a ModelNew, by python3    | yes, both | the same; python3 opens CUDA  | the runner's    | | |
/// with PyTorch              | processes |                               | own clock       |
///
/// An eager runner is trusted. Of the others the judge's clock bounds what they say (clock_rule.h);
/// of a python3 nothing is believed (docs/modelnew.md).
enum class RunnerKind { eager, vulkan, cuda, torch };

constexpr std::string_view name_of(RunnerKind kind) {
  constexpr std::string_view kNames[] = {"eager", "vulkan", "cuda", "torch"};
  return name_in<RunnerKind::torch>(kNames, kind);
}

/// Whether a runner of one kind can run what needs another.
constexpr bool serves(RunnerKind runner, RunnerKind candidate) {
  return runner == candidate || (runner == RunnerKind::cuda && candidate == RunnerKind::vulkan);
}

}  // namespace kbench::runner
