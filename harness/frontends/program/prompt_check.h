// The checks of `kbench prompt --check`.
#pragma once

#include <string>
#include <vector>

#include "kbench/prompts.h"

namespace kbench::program {

/// Renders a first prompt and a repair for every task, with the longest possible device
/// description. Returns one line for each prompt that is over budget, has an empty message or shows
/// an example of its own task, and for each example that does not load or resolve at these sizes.
std::vector<std::string> check_prompts(const Prompts& prompts, Preset preset, int shots,
                                       Builtins builtins, PromptLanguage language);

}  // namespace kbench::program
