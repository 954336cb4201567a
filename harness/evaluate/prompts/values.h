// The values that templates can use, by dotted paths.
#pragma once

#include <map>
#include <nlohmann/json_fwd.hpp>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "harness/evaluate/prompts/examples.h"
#include "kbench/prompts.h"

namespace kbench::prompts {

/// Every path that a template may read.
const std::set<std::string>& known_values();

/// The language's name, and how its files and code blocks are marked.
nlohmann::json language_values(PromptLanguage language);

/// The baseline's shaders, by operator.
using ShaderTable = std::map<std::string, std::vector<std::string>>;

/// The values for a first prompt: everything but "attempt". `examples`: those to show.
nlohmann::json first_values(const Task& task, const PromptContext& context,
                            const std::vector<const Example*>& examples, const ShaderTable& shaders,
                            size_t reference_budget);

struct LanguageEntry {
  std::string_view name;   ///< as options have it
  std::string_view title;  ///< as people and `kbench devices` say it
  std::string_view fence;  ///< behind the marks that open a code block
  std::string_view file;   ///< a file's name
  /// What an answer holds, and whether only NVIDIA's GPUs take it.
  AnswerForm form = AnswerForm::kernels;
  bool cuda = false;
};

const LanguageEntry& entry_of(PromptLanguage language);

}  // namespace kbench::prompts
