// Which languages a candidate's kernels may be written in, on a device of this machine.
#pragma once

#include <string>
#include <vector>

#include "harness/measure/vulkan/snapshot.h"

namespace kbench::runner {

struct LanguageSupport {
  std::string name;  ///< "CUDA C++"
  bool usable = false;
  std::string detail;  ///< how it is compiled and for what; or why it cannot be used
};

/// Opens the compilers, and asks NVIDIA's libraries about a device that launches CUDA kernels.
std::vector<LanguageSupport> languages_of(const vulkan::DeviceSnapshot& snapshot);

}  // namespace kbench::runner
