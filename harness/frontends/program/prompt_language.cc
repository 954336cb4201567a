#include "harness/frontends/program/prompt_language.h"

#include "harness/measure/runner/languages.h"
#include "kbench/text.h"

namespace kbench::program {

std::string why_not_taken(PromptLanguage language, const vulkan::DeviceSnapshot& device) {
  if (language == PromptLanguage::glsl || language == PromptLanguage::hlsl) return "";
  const std::string name = language == PromptLanguage::cuda ? "CUDA C++" : "Triton";
  for (const runner::LanguageSupport& each : runner::languages_of(device)) {
    if (each.name == name && !each.usable) {
      return shown(device.name) + " takes no " + name + ": " + each.detail;
    }
  }
  return "";
}

}  // namespace kbench::program
