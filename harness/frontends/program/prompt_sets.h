// Prompts by name or folder, and what the prompts of a run say about its device.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "kbench/prompts.h"

namespace kbench::program {

/// A folder of templates; else the prompts of that name that ship, or that were put beside them
/// (share/kbench/prompts, $KBENCH_DATA/prompts). Throws kNotFound, and what Prompts::load throws.
Prompts find_prompts(const std::string& name_or_folder);

size_t characters_of(const std::vector<Message>& messages);

/// The rates that `kbench baseline --output FILE` measured, into the context. Throws kIo, kParse.
void read_roof(const std::string& file, PromptContext& context);

}  // namespace kbench::program
