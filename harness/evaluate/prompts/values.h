// What templates can say: the values, by dotted paths.
#pragma once

#include <map>
#include <nlohmann/json_fwd.hpp>
#include <set>
#include <string>
#include <vector>

#include "harness/evaluate/prompts/examples.h"
#include "kbench/prompts.h"

namespace kbench::prompts {

/// Every path that a template may read.
const std::set<std::string>& known_values();

/// What a language is called, and how its files and blocks are.
nlohmann::json language_values(PromptLanguage language);

/// The shaders of the baseline's operators, by operator.
using ShaderTable = std::map<std::string, std::vector<std::string>>;

/// Of a first prompt: everything but "attempt". `examples` are those to show.
nlohmann::json first_values(const Task& task, const PromptContext& context,
                            const std::vector<const Example*>& examples, const ShaderTable& shaders,
                            size_t reference_budget);

}  // namespace kbench::prompts
