#include "kbench/prompts.h"

#include <filesystem>
#include <nlohmann/json.hpp>

#include "harness/evaluate/prompts/examples.h"
#include "harness/evaluate/prompts/prompt_set.h"
#include "harness/evaluate/prompts/values.h"
#include "kbench/candidate.h"
#include "kbench/error.h"
#include "libkbench/base/enum_names.h"
#include "libkbench/base/files.h"

namespace kbench {
namespace {

namespace fs = std::filesystem;

constexpr size_t kMostFiles = 1000;
constexpr uintmax_t kMostBytes = 4 << 20;

/// The folder's files, without sub-folders.
std::map<std::string, std::string> files_of(const std::string& folder) {
  std::map<std::string, std::string> files;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder, error)) {
    const std::string name = entry.path().filename().string();
    if (name.starts_with('.') || !(name.ends_with(".mustache") || name.ends_with(".yaml")))
      continue;
    std::error_code unknown;
    if (entry.file_size(unknown) > kMostBytes || unknown || files.size() >= kMostFiles) {
      throw Error(ErrorCode::kIo, "cannot take " + shown(entry.path().string()) +
                                      " for a template: too large, too many, or no file");
    }
    files[name] = read_file(entry.path().string());
  }
  if (error) {
    throw Error(ErrorCode::kIo, "cannot read " + shown(folder) + ": " + error.message());
  }
  return files;
}

}  // namespace

std::string_view name_of(Builtins builtins) {
  return name_in<Builtins::any>({"forbid", "some", "any"}, builtins);
}

Builtins builtins_from_name(std::string_view name) {
  if (const auto builtins = value_named(name, Builtins::any)) return *builtins;
  throw Error(ErrorCode::kInvalidArgument,
              "built-in operators are forbid, some or any, not '" + shown(name) + "'");
}

struct Prompts::State {
  prompts::PromptSet set;
};

Prompts Prompts::shipped(const std::string& name) {
  const auto files = prompts::embedded_folder("templates/" + name);
  if (files.empty()) {
    throw Error(ErrorCode::kNotFound, "no prompts '" + shown(name) + "' ship with kbench");
  }
  Prompts result;
  result.state_ = std::make_shared<const State>(State{prompts::PromptSet(files, name)});
  return result;
}

Prompts Prompts::load(const std::string& folder) {
  std::string path = folder;
  while (path.size() > 1 && path.ends_with('/')) path.pop_back();
  Prompts result;
  result.state_ = std::make_shared<const State>(State{prompts::PromptSet(files_of(path), path)});
  return result;
}

std::string Prompts::name() const { return state_->set.name; }
std::string Prompts::hash() const { return state_->set.hash; }
size_t Prompts::budget() const { return state_->set.budget; }
const PromptSettings& Prompts::settings() const { return state_->set.settings; }

std::vector<TaskId> Prompts::examples(const Task& task, const PromptContext& context) const {
  std::vector<TaskId> chosen;
  for (const prompts::Example* example : state_->set.examples_for(task, context)) {
    chosen.push_back(example->candidate.task);
  }
  return chosen;
}

std::vector<std::string> Prompts::check_examples(Preset preset) const {
  std::vector<std::string> problems;
  for (const auto& [language, examples] : state_->set.examples) {
    for (const prompts::Example& example : examples) {
      try {
        for (const DType dtype : kTaskDTypes) {
          if (!is_for(example.candidate, dtype)) continue;
          const auto graph = build_graph(task_at(example.candidate.task, preset, {}, dtype));
          if (!example.candidate.torch) resolve(example.candidate, *graph);
        }
      } catch (const Error& e) {
        if (e.code() == ErrorCode::kUnsupported) continue;  // needs a limit of the device
        problems.push_back("example " + example.path + ": " + e.what());
      }
    }
  }
  return problems;
}

std::vector<Message> Prompts::first(const Task& task, const PromptContext& context) const {
  const prompts::PromptSet& set = state_->set;
  if (!set.knows(context.language)) {
    const bool model = answer_form_of(context.language) == AnswerForm::model && set.knows_languages;
    throw Error(ErrorCode::kInvalidArgument,
                "the prompts '" + shown(set.name) + "' ask for " +
                    (model ? "kernels alone: no template uses language.torch"
                           : "GLSL alone: no template uses language"));
  }
  const nlohmann::json values = prompts::first_values(
      task, context, set.examples_for(task, context), set.shaders, set.reference_budget);
  std::vector<Message> messages;
  for (const auto& part : set.first) {
    std::string text = set.render(part.names, values);
    if (!text.empty()) messages.push_back({part.role, std::move(text)});
  }
  return messages;
}

std::vector<Message> Prompts::repair(const Task& task, const PromptContext& context,
                                     const std::vector<ShownAttempt>& shown) const {
  const prompts::PromptSet& set = state_->set;
  std::vector<Message> messages = first(task, context);
  for (const ShownAttempt& attempt : shown) {
    const nlohmann::json values = {{"task", {{"id", to_string(task.id)}, {"name", task.name}}},
                                   {"language", prompts::language_values(context.language)},
                                   {"attempt",
                                    {{"feedback", attempt.feedback},
                                     {"hint", set.hint_for(attempt.outcome, context.language)},
                                     {"answer", attempt.answer},
                                     {"files", canonical_answer(attempt.files)}}}};
    const bool has_candidate = !attempt.files.empty();
    std::string said = has_candidate ? set.render(set.candidate, values) : attempt.answer;
    if (said.empty()) said = "(an empty answer)";
    messages.push_back({Role::assistant, std::move(said)});
    messages.push_back(
        {Role::user, set.render(has_candidate ? set.repair : set.no_candidate, values)});
  }
  return messages;
}

}  // namespace kbench
