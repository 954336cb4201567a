// What `kbench prompt --check` holds a set of prompts to.
#pragma once

#include <string>
#include <vector>

#include "kbench/prompts.h"

namespace kbench::program {

/// Renders the first prompt of every task, with a device whose part is as long as one gets, and a
/// repair. One line for each that is over the budget, has an empty message or shows an example of
/// the task it asks for, and for each example that does not load or resolve at these sizes.
std::vector<std::string> check_prompts(const Prompts& prompts, Preset preset, int shots,
                                       Builtins builtins, PromptLanguage language);

}  // namespace kbench::program
