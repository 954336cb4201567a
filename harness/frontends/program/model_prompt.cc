#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <optional>

#include "harness/evaluate/client/device_list.h"
#include "harness/frontends/program/json_documents.h"
#include "harness/frontends/program/options.h"
#include "harness/frontends/program/prompt_sets.h"
#include "harness/frontends/program/terminal.h"
#include "harness/frontends/program/verbs.h"
#include "kbench/candidate.h"
#include "kbench/error.h"
#include "kbench/exchange.h"
#include "kbench/feedback.h"
#include "kbench/prompts.h"
#include "kbench/result.h"
#include "libkbench/base/enum_names.h"
#include "libkbench/candidate/files.h"
#include "libkbench/core/in_words.h"

namespace kbench::program {
namespace {

struct PromptOptions : PromptFlags {
  std::string task;
  SizeOptions size;
  DeviceOptions device;
  std::string feedback, candidate;
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

/// A candidate's files, in the form of an answer.
std::map<std::string, std::string> files_of(const Candidate& candidate) {
  std::map<std::string, std::string> files;
  namespace fs = std::filesystem;
  const auto relative = [&](const std::string& file) {
    return fs::path(file).lexically_relative(candidate.folder).string();
  };
  for (const Kernel& kernel : candidate.kernels) {
    if (kernel.file != candidate.path && kernel.language != Kernel::Language::spirv) {
      files[relative(kernel.file)] = kernel.source;
    }
  }
  for (const auto& [file, text] : candidate.includes) files[file] = text;
  if (candidate.torch) {
    const TorchModule& module = *candidate.torch;
    if (is_model_file(candidate.path)) return model_candidate(candidate.task, module.source);
    if (module.file != candidate.path) files[relative(module.file)] = module.source;
  }
  std::ifstream manifest(candidate.path, std::ios::binary);
  files["candidate.yaml"] = {std::istreambuf_iterator<char>(manifest), {}};
  return files;
}

ShownAttempt attempt_from(const PromptOptions& options, const Task& task) {
  ShownAttempt shown_attempt;
  const Result* last = nullptr;
  const std::vector<Result> results = read_results(options.feedback);
  for (const Result& result : results) {
    if (result.task == task.id) last = &result;
  }
  if (last == nullptr) {
    throw Error(ErrorCode::kNotFound,
                shown(options.feedback) + " has no result of " + to_string(task.id));
  }
  shown_attempt.outcome = std::string(name_of(last->verdict));
  const std::string path = options.candidate.empty() ? last->candidate : options.candidate;
  if (std::error_code ignored; !std::filesystem::exists(path, ignored)) {
    throw Error(ErrorCode::kNotFound, "there is no '" + shown(path) +
                                          "' here, as the result names its candidate; give it by "
                                          "--candidate");
  }
  const Candidate candidate = load_candidate(path);
  shown_attempt.files = files_of(candidate);
  Evidence evidence;
  evidence.files = shown_attempt.files;
  shown_attempt.feedback = feedback(*last, &candidate, evidence).text;
  return shown_attempt;
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
  const std::vector<Message> messages =
      options.feedback.empty() ? prompts.first(task, context)
                               : prompts.repair(task, context, {attempt_from(options, task)});
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
      "Nothing is sent. With --feedback the messages ask for a better one, with the result of the "
      "last. With --check the prompts of all tasks are rendered and held to their budget.",
      "  kbench model prompt level1/19\n"
      "  kbench model prompt 3/10 --prompt my-prompts/ --json\n"
      "  kbench model prompt 2/12 --language cuda\n"
      "  kbench model prompt 1/23 --feedback results.jsonl --candidate my/softmax.yaml\n"
      "  kbench model prompt --check --prompt my-prompts/");
  app.add_option("TASK", options->task, "The task: level1/19, 1/19, or its name");
  options->size.add_to(app, /*with_auto=*/false, "v0.1");
  options->PromptFlags::add_to(app);
  options->device.add_to(app, /*with_validate=*/false);
  const Command repair = app.in_group("Repair");
  repair.add_option("--feedback FILE", options->feedback,
                    "A results file; the prompt asks to repair its last result of the task",
                    readable());
  repair.add_option("--candidate CANDIDATE", options->candidate,
                    "The candidate of that result (default: the file that the result names)",
                    readable());
  const Command output = app.in_group("Output");
  output.add_flag("--json", options->json, "The messages as JSON on standard output");
  output.add_flag("--check", options->check, "Render all tasks' prompts and check their budget");
  return {app, [options] { return run_prompt(*options); }};
}

}  // namespace kbench::program
