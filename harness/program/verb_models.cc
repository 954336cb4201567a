#include <algorithm>
#include <cstdio>
#include <memory>

#include "harness/program/help.h"
#include "harness/program/options.h"
#include "harness/program/text.h"
#include "harness/program/verbs.h"
#include "kbench/openai_model.h"
#include "kbench/text.h"

namespace kbench::program {
namespace {

struct ModelsOptions {
  std::string file;
  std::vector<std::string> names;
  bool only_list = false;
};

std::vector<ModelConfig> chosen(const ModelsOptions& options) {
  std::vector<ModelConfig> models = read_models(options.file);
  if (options.names.empty()) return models;
  std::vector<ModelConfig> picked;
  for (const std::string& name : options.names) {
    const auto found = std::find_if(models.begin(), models.end(),
                                    [&](const ModelConfig& model) { return model.name == name; });
    if (found == models.end()) {
      throw Error(ErrorCode::kNotFound,
                  shown(options.file) + " has no model called '" + shown(name) + "'");
    }
    picked.push_back(*found);
  }
  return picked;
}

std::string count_or_unknown(const std::optional<int64_t>& count) {
  return count ? std::to_string(*count) : "?";
}

/// What a server lists, said of the model that is meant.
std::string listing(OpenAiModel& model) {
  try {
    const std::vector<std::string> names = model.served({});
    const bool has = std::count(names.begin(), names.end(), model.config().model) > 0;
    return has ? "yes" : "no, of " + std::to_string(names.size());
  } catch (const ModelError&) {
    return "lists none";  // many servers do not; whether it answers counts
  }
}

/// Asks each model once. Returns whether all answered.
bool ask_models(const ModelsOptions& options) {
  std::vector<std::vector<std::string>> table = {
      {"model", "listed", "answer", "time", "tokens in", "out", "served by"}};
  std::vector<std::string> notes;
  bool all = true;
  for (ModelConfig& config : chosen(options)) {
    config.tries = std::min(config.tries, 2);
    const std::string name = config.name;
    try {
      ModelHooks hooks;
      hooks.event = [&](const ModelEvent& event) {
        if (event.kind == ModelEvent::Kind::model_lost) return;  // said below
        if (event.kind == ModelEvent::Kind::given_up) return;
        notes.push_back(event.model + ": " + event.text);
      };
      OpenAiModel model(std::move(config), std::move(hooks));
      const std::string listed = listing(model);
      if (options.only_list) {
        table.push_back({name, listed});
        continue;
      }
      const Answer answer = model.ask({.messages = {{Role::user, "Answer with the word yes."}},
                                       .sampling = {.max_tokens = 64},
                                       .purpose = "kbench models"},
                                      {});
      const std::string text = answer.text.empty() ? "(nothing)" : answer.text;
      table.push_back({name, listed, shown(text, 24) + ", " + shown(answer.finish, 20),
                       format_seconds(answer.seconds), count_or_unknown(answer.usage.input),
                       count_or_unknown(answer.usage.output), shown(answer.served_by, 40)});
    } catch (const Error& e) {
      all = false;
      table.push_back({name, "", "none"});
      notes.push_back(std::string(e.what()));
    }
  }
  std::printf("%s", format_table(table).c_str());
  for (const std::string& note : notes) std::printf("%s\n", shown(note, 1000).c_str());
  return all;
}

}  // namespace

Verb add_models(CLI::App& program) {
  auto options = std::make_shared<ModelsOptions>();
  CLI::App* app = add_verb(
      program, "models", "Whether the language models of a file answer",
      "Reads a models file, asks each server what it serves, and each model for one word. Exit\n"
      "code 1 when one does not answer.",
      "  kbench models models.yaml\n"
      "  kbench models models.yaml --model coder,small --only-list");
  app->add_option("FILE", options->file, "A models file")
      ->required()
      ->check(readable())
      ->option_text("FILE");
  app->add_option("--model", options->names, "Only these, by name")
      ->delimiter(',')
      ->option_text("NAME,...");
  app->add_flag("--only-list", options->only_list, "Send no prompt: spend no token");
  return {app, [options] {
            forbid_core_dumps();
            return ask_models(*options) ? kDone : kFailed;
          }};
}

}  // namespace kbench::program
