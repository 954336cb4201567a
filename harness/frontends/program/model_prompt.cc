#include <cstdio>
#include <memory>
#include <optional>

#include "harness/evaluate/client/device_list.h"
#include "harness/frontends/program/json_documents.h"
#include "harness/frontends/program/options.h"
#include "harness/frontends/program/prompt_sets.h"
#include "harness/frontends/program/terminal.h"
#include "harness/frontends/program/verbs.h"
#include "kbench/error.h"
#include "kbench/exchange.h"
#include "kbench/prompts.h"
#include "libkbench/base/enum_names.h"
#include "libkbench/core/in_words.h"

namespace kbench::program {
namespace {

struct PromptOptions : PromptFlags {
  std::string task;
  SizeOptions size;
  DeviceOptions device;
  bool json = false, check = false;
};

/// The document of --json.
struct PromptDocument {
  std::string task, prompt, prompt_hash, preset;
  DType dtype = DType::f32;
  std::optional<std::string> device;
  size_t characters = 0, budget = 0;
  std::vector<std::string> examples;
  std::vector<Message> messages;
};
KBENCH_FIELDS(PromptDocument, task, prompt, prompt_hash, preset, dtype, device, characters, budget,
              examples, messages)

/// The chosen device; with "auto" the best, if there is one. None, with a warning, if it does not
/// support the language.
std::optional<DeviceSummary> device_for(const PromptOptions& options) {
  try {
    const vulkan::DeviceSnapshot device = options.device.choose();
    const std::string why = why_not_taken(prompt_language_from_name(options.language), device);
    if (why.empty()) return client::summary_of(device);
    std::fprintf(stderr,
                 "kbench: warning: the prompt leaves the device out, which could not run the "
                 "kernels that it asks for: %s\n",
                 why.c_str());
    return std::nullopt;
  } catch (const Error&) {
    if (options.device.device != "auto") throw;
    return std::nullopt;
  }
}

PromptContext context_for(const PromptOptions& options, const Prompts& prompts) {
  PromptContext context = context_of(prompts.settings());
  context.preset = options.size.fixed_preset();
  context.overrides = options.size.overrides();
  context.dtype = options.size.dtype();
  if (prompts.settings().device) context.device = device_for(options);
  context.language = prompt_language_from_name(options.language);
  return context;
}

int run_prompt(const PromptOptions& options) {
  const Prompts prompts = find_prompts(options.prompt);
  if (options.check) {
    const std::vector<std::string> problems =
        check_prompts(prompts, options.size.fixed_preset(), options.size.dtype(),
                      prompt_language_from_name(options.language));
    for (const std::string& problem : problems) std::printf("%s\n", problem.c_str());
    if (problems.empty()) {
      std::printf("%s: the prompts of all %zu tasks are whole and within %zu characters\n",
                  shown(prompts.name()).c_str(), tasks().size(), prompts.budget());
    }
    return problems.empty() ? kDone : kFailed;
  }
  if (options.task.empty()) {
    throw Error(ErrorCode::kInvalidArgument, "kbench model prompt takes a task, or --check");
  }
  const Task& task = task_argument(options.task);
  const PromptContext context = context_for(options, prompts);
  const std::vector<Message> messages = prompts.first(task, context);
  if (options.json) {
    PromptDocument document{
        .task = to_string(task.id),
        .prompt = prompts.name(),
        .prompt_hash = prompts.hash(),
        .preset = std::string(name_of(context.preset)),
        .dtype = context.dtype,
        .device = context.device ? std::optional(context.device->name) : std::nullopt,
        .characters = characters_of(messages),
        .budget = prompts.budget(),
        .examples = {},
        .messages = messages};
    for (const TaskId& id : prompts.examples(task, context)) {
      document.examples.push_back(to_string(id));
    }
    say(json_document(document));
    return kDone;
  }
  for (const Message& message : messages) {
    std::printf("--- %s, %zu characters\n%s\n\n", std::string(name_of(message.role)).c_str(),
                message.text.size(), message.text.c_str());
  }
  std::printf("--- %s, %zu characters\n", counted(messages.size(), "message").c_str(),
              characters_of(messages));
  return kDone;
}

}  // namespace

Verb add_model_prompt(Command model) {
  auto options = std::make_shared<PromptOptions>();
  const Command app = model.add_verb(
      "prompt", "The messages that ask a language model for a kernel",
      "Prints the messages that ask a language model for a candidate of a task, and their length. "
      "Nothing is sent. With --check the prompts of all tasks are rendered and held to their "
      "budget.",
      "  kbench model prompt level1/19\n"
      "  kbench model prompt 3/10 --prompt my-prompts/ --json\n"
      "  kbench model prompt 2/12 --language cuda\n"
      "  kbench model prompt --check --prompt my-prompts/");
  app.add_option("TASK,--task,--tasks", options->task,
                 "The task: level1/19, 1/19, its name, or a task's file; also behind --task");
  options->size.add_to(app, /*with_auto=*/false, "v0.1");
  options->PromptFlags::add_to(app);
  options->device.add_to(app, /*with_validate=*/false);
  const Command output = app.in_group("Output");
  output.add_flag("--json", options->json, "The messages as JSON on standard output");
  output.add_flag("--check", options->check, "Render all tasks' prompts and check their budget");
  return {app, [options] { return run_prompt(*options); }};
}

}  // namespace kbench::program
