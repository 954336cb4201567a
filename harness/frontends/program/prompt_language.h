// Whether a device supports the language that a prompt asks for.
#pragma once

#include <string>

#include "harness/measure/vulkan/snapshot.h"
#include "kbench/prompts.h"

namespace kbench::program {

/// Why the device takes no kernels in that language: "llvmpipe takes no CUDA C++: ..."; empty if it
/// does.
std::string why_not_taken(PromptLanguage language, const vulkan::DeviceSnapshot& device);

}  // namespace kbench::program
