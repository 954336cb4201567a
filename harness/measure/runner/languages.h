// The languages that a candidate's kernels may be written in on a device.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "harness/measure/runner/python_interpreter.h"
#include "harness/measure/vulkan/snapshot.h"

namespace kbench::runner {

struct LanguageSupport {
  std::string name;  ///< "CUDA C++"
  bool usable = false;
  std::string detail;  ///< compiler and target; or why it cannot be used
  /// The python3 with the package, where it takes one and it was found; also where it will not do.
  std::optional<PythonInterpreter> python = std::nullopt;
};

/// Opens the compilers, and asks NVIDIA's libraries about the device.
std::vector<LanguageSupport> languages_of(const vulkan::DeviceSnapshot& snapshot);

}  // namespace kbench::runner
