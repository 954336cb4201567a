// Finds prompts, adds what a device has to their context, and checks them.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "harness/measure/vulkan/snapshot.h"
#include "kbench/prompts.h"

namespace kbench::program {

/// A folder of templates; else the prompts of that name that ship. Throws kNotFound, and the errors
/// of Prompts::load().
Prompts find_prompts(const std::string& name_or_folder);

size_t characters_of(const std::vector<Message>& messages);

/// A context that shows what a folder of prompts says, but for the device.
PromptContext context_of(const PromptSettings& settings);

/// Why the device takes no candidate in that language: "llvmpipe takes no CUDA C++: ..."; empty if
/// it does.
std::string why_not_taken(PromptLanguage language, const vulkan::DeviceSnapshot& device);

/// Renders a first prompt and a repair for every task, with the longest possible device
/// description. Returns one line for each prompt that is over budget, has an empty message or shows
/// an example of its own task, and for each example that does not load or resolve at these sizes.
std::vector<std::string> check_prompts(const Prompts& prompts, Preset preset, DType dtype,
                                       PromptLanguage language);

}  // namespace kbench::program
