#include "harness/frontends/program/prompt_sets.h"

#include <filesystem>
#include <vector>

#include "harness/measure/runner/languages.h"
#include "kbench/candidate.h"
#include "kbench/error.h"
#include "kbench/listing.h"

namespace kbench::program {

namespace fs = std::filesystem;

namespace {

/// Every value as long as real devices have it.
DeviceSummary longest_device() {
  DeviceSummary device;
  device.name = std::string(60, 'N');
  device.type = "integrated";
  device.memory_bytes = int64_t{1} << 37;
  device.usable = true;
  DeviceLimits limits;
  limits.group_size = {1024, 1024, 1024};
  limits.group_count = {2147483647, 2147483647, 2147483647};
  limits.invocations = 1024;
  limits.shared_bytes = 232448;
  limits.binding_range = 4294967295;
  limits.subgroup_size = 32;
  limits.min_subgroup_size = 16;
  limits.max_subgroup_size = 128;
  limits.float64 = limits.storage_16bit = limits.cooperative_matrix = true;
  limits.float_atomics = true;
  device.limits = limits;
  return device;
}

}  // namespace

Prompts find_prompts(const std::string& name_or_folder) {
  std::error_code ignored;
  if (fs::is_directory(name_or_folder, ignored)) return Prompts::load(name_or_folder);
  try {
    return Prompts::shipped(name_or_folder);
  } catch (const Error& e) {
    if (e.code() != ErrorCode::kNotFound) throw;
  }
  throw Error(ErrorCode::kNotFound, "no prompts at '" + shown(name_or_folder) +
                                        "': give a folder of templates, or default, which ships");
}

size_t characters_of(const std::vector<Message>& messages) {
  size_t characters = 0;
  for (const Message& message : messages) characters += message.text.size();
  return characters;
}

PromptContext context_of(const PromptSettings& settings) {
  PromptContext context;
  context.shots = settings.shots;
  context.precision = settings.precision;
  context.code = settings.code;
  context.reference = settings.reference;
  context.builtins = settings.builtins;
  return context;
}

std::string why_not_taken(PromptLanguage language, const vulkan::DeviceSnapshot& device) {
  if (language == PromptLanguage::glsl || language == PromptLanguage::hlsl) return "";
  const std::string name(title_of(language));
  for (const runner::LanguageSupport& each : runner::languages_of(device)) {
    if (each.name == name && !each.usable) {
      return shown(device.name) + " takes no " + name + ": " + each.detail;
    }
  }
  return "";
}

std::vector<std::string> check_prompts(const Prompts& prompts, Preset preset, DType dtype,
                                       PromptLanguage language) {
  std::vector<std::string> problems;
  PromptContext context;
  context.shots = prompts.settings().shots;
  context.builtins = prompts.settings().builtins;
  context.preset = preset;
  context.dtype = dtype;
  context.device = longest_device();
  context.roof_gbytes_per_s = 4321;
  context.roof_tflops = 123;
  context.language = language;
  for (const Task& task : tasks()) {
    if (!is_defined(task, dtype)) continue;
    const auto problem = [&](const std::string& what) {
      problems.push_back(to_string(task.id) + ": " + what);
    };
    const ShownAttempt attempt{{{"candidate.yaml", "kbench: 1\n"}}, "", "wrong", "wrong_values"};
    const std::vector<Message> messages = prompts.repair(task, context, {attempt});
    const size_t first = messages.size() - 2;
    size_t length = 0;
    for (size_t i = 0; i < messages.size(); ++i) {
      if (i < first) length += messages[i].text.size();
      if (messages[i].text.empty()) problem("message " + std::to_string(i + 1) + " is empty");
    }
    if (answer_form_of(language) == AnswerForm::model) {
      length -= pytorch_code(task, *build_graph(context.at(task.id)))
                    .size();  // The budget is without it.
    }
    if (length > prompts.budget()) {
      problem(std::to_string(length) + " characters, over the budget of " +
              std::to_string(prompts.budget()));
    }
    for (const TaskId& example : prompts.examples(task, context)) {
      if (example == task.id) problem("the example is of the asked task");
    }
  }
  for (const std::string& problem : prompts.check_examples(preset)) problems.push_back(problem);
  return problems;
}

}  // namespace kbench::program
