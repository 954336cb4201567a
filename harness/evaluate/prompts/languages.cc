#include "harness/evaluate/prompts/languages.h"

#include <string>

#include "kbench/error.h"
#include "kbench/text.h"
#include "libkbench/base/enum_names.h"

namespace kbench {
namespace prompts {

const LanguageEntry& entry_of(PromptLanguage language) {
  using enum AnswerForm;
  static constexpr LanguageEntry kLanguages[] = {
      {.name = "glsl", .title = "GLSL", .fence = "glsl", .file = "NAME.comp"},
      {.name = "hlsl", .title = "HLSL", .fence = "hlsl", .file = "NAME.hlsl"},
      {.name = "cuda", .title = "CUDA C++", .fence = "cuda", .file = "NAME.cu", .cuda = true},
      {.name = "triton", .title = "Triton", .fence = "python", .file = "NAME.py", .cuda = true},
      {.name = "torch",
       .title = "PyTorch",
       .fence = "python",
       .file = "model_new.py",
       .form = model},
  };
  static_assert(std::size(kLanguages) == static_cast<size_t>(kLastPromptLanguage) + 1,
                "one entry for each language");
  return kLanguages[static_cast<size_t>(language)];
}

}  // namespace prompts

std::string_view name_of(PromptLanguage language) { return prompts::entry_of(language).name; }
std::string_view title_of(PromptLanguage language) { return prompts::entry_of(language).title; }
AnswerForm answer_form_of(PromptLanguage language) { return prompts::entry_of(language).form; }

PromptLanguage prompt_language_from_name(std::string_view name) {
  if (const auto language = value_named(name, kLastPromptLanguage)) return *language;
  std::string known;
  for (const std::string& each : names_to(kLastPromptLanguage)) {
    known += (known.empty() ? "" : ", ") + each;
  }
  throw Error(ErrorCode::kInvalidArgument,
              "there is no language '" + shown(name) + "' to ask in: it is one of " + known);
}

}  // namespace kbench
