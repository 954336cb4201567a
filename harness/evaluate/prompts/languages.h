// The languages that prompts ask in: one table of what differs beside the templates.
#pragma once

#include <string_view>

#include "kbench/prompts.h"

namespace kbench::prompts {

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
