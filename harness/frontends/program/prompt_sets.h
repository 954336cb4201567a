// Finds prompts by name or folder, and adds the device's measured rates to their context.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "kbench/prompts.h"

namespace kbench::program {

/// A folder of templates; else the prompts of that name that ship or are installed
/// (share/kbench/prompts, $KBENCH_DATA/prompts). Throws kNotFound, and whatever Prompts::load
/// throws.
Prompts find_prompts(const std::string& name_or_folder);

size_t characters_of(const std::vector<Message>& messages);

/// Sets the rates measured by `kbench baseline --output FILE`. Throws kIo, kParse.
void read_roof(const std::string& file, PromptContext& context);

}  // namespace kbench::program
