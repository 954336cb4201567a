#include <algorithm>
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "harness/frontends/program/options.h"
#include "harness/frontends/program/text.h"
#include "harness/frontends/program/verbs.h"
#include "kbench/openai_model.h"
#include "kbench/text.h"
#include "libkbench/base/json_text.h"

namespace kbench::program {
namespace {

struct ModelsOptions {
  std::string file;
  std::vector<std::string> names;
  bool only_list = false, json = false;
};

/// The outcome of asking one model.
struct Asked {
  std::string name;
  std::optional<bool> listed;  ///< unset: the server lists no models
  size_t others = 0;           ///< how many models it lists
  std::optional<Answer> answer;
  std::string failure;
};

std::vector<ModelConfig> chosen(const ModelsOptions& options) {
  std::vector<ModelConfig> models = read_models(options.file);
  if (options.names.empty()) return models;
  std::vector<ModelConfig> picked;
  for (const std::string& name : options.names) {
    const auto found = std::find_if(models.begin(), models.end(),
                                    [&](const ModelConfig& model) { return model.name == name; });
    if (found == models.end()) {
      std::string known;
      for (const ModelConfig& each : models) known += (known.empty() ? "" : ", ") + each.name;
      throw Error(ErrorCode::kNotFound, shown(options.file) + " has no model called '" +
                                            shown(name) + "'; it has " + shown(known, 500));
    }
    picked.push_back(*found);
  }
  return picked;
}

std::string count_or_unknown(const std::optional<int64_t>& count) {
  return count ? std::to_string(*count) : "?";
}

/// Whether the server lists the model. Many servers list none, so what counts is whether it
/// answers.
void look_up(OpenAiModel& model, Asked& asked) {
  try {
    const std::vector<std::string> names = model.served({});
    asked.listed = std::count(names.begin(), names.end(), model.config().model) > 0;
    asked.others = names.size();
  } catch (const ModelError&) {
  }
}

Asked ask(ModelConfig config, bool only_list, std::vector<std::string>& notes) {
  config.tries = std::min(config.tries, 2);
  Asked asked;
  asked.name = config.name;
  try {
    ModelHooks hooks;
    hooks.event = [&](const ModelEvent& event) {
      if (event.kind == ModelEvent::Kind::model_lost) return;  // reported below
      if (event.kind == ModelEvent::Kind::given_up) return;
      notes.push_back(event.model + ": " + event.text);
    };
    OpenAiModel model(std::move(config), std::move(hooks));
    look_up(model, asked);
    if (only_list) return asked;
    asked.answer = model.ask({.messages = {{Role::user, "Answer with the word yes."}},
                              .sampling = {.max_tokens = 64},
                              .purpose = "kbench models"},
                             {});
  } catch (const Error& e) {
    asked.failure = e.what();
    notes.push_back(asked.failure);
  }
  return asked;
}

std::vector<std::string> row_of(const Asked& asked) {
  if (!asked.failure.empty()) return {asked.name, "", "none"};
  const std::string listed = !asked.listed   ? "lists none"
                             : *asked.listed ? "yes"
                                             : "no, of " + std::to_string(asked.others);
  if (!asked.answer) return {asked.name, listed};
  const Answer& answer = *asked.answer;
  const std::string text = answer.text.empty() ? "(nothing)" : answer.text;
  return {asked.name,
          listed,
          shown(text, 24) + ", " + shown(answer.finish, 20),
          format_seconds(answer.seconds),
          count_or_unknown(answer.usage.input),
          count_or_unknown(answer.usage.output),
          shown(answer.served_by, 40)};
}

nlohmann::ordered_json json_of(const Asked& asked) {
  using Json = nlohmann::ordered_json;
  Json json = {{"name", asked.name}, {"listed", or_null(asked.listed)}, {"answer", nullptr}};
  if (asked.answer) {
    const Answer& answer = *asked.answer;
    json["answer"] = {{"text", answer.text},
                      {"finish", answer.finish},
                      {"seconds", answer.seconds},
                      {"input_tokens", or_null(answer.usage.input)},
                      {"output_tokens", or_null(answer.usage.output)},
                      {"served_by", answer.served_by}};
  }
  json["failure"] = asked.failure.empty() ? Json(nullptr) : Json(asked.failure);
  return json;
}

/// Asks each model once. Returns whether all answered.
bool ask_models(const ModelsOptions& options) {
  std::vector<std::vector<std::string>> table = {
      {"model", "listed", "answer", "time", "tokens in", "out", "served by"}};
  nlohmann::ordered_json models = nlohmann::ordered_json::array();
  std::vector<std::string> notes;
  bool all = true;
  for (ModelConfig& config : chosen(options)) {
    const Asked asked = ask(std::move(config), options.only_list, notes);
    all &= asked.failure.empty();
    table.push_back(row_of(asked));
    models.push_back(json_of(asked));
  }
  if (options.json) {
    const nlohmann::ordered_json document = {{"models", models}, {"notes", notes}};
    std::printf("%s\n", json_text(document, 2).c_str());
    return all;
  }
  std::printf("%s", format_table(table).c_str());
  for (const std::string& note : notes) std::printf("%s\n", shown(note, 1000).c_str());
  return all;
}

}  // namespace

Verb add_models(Command program) {
  auto options = std::make_shared<ModelsOptions>();
  const Command app =
      program.add_verb("models", "Whether the language models of a file answer",
                       "Reads a models file, asks each server what it serves, and each model for "
                       "one word. Exit code 1 when one does not answer.",
                       "  kbench models models.yaml\n"
                       "  kbench models models.yaml --model coder,small --only-list");
  app.add_option("FILE", options->file, "A models file", readable()).required();
  app.add_option("--model NAME,...", options->names, "Only these, by name").comma_separated();
  app.add_flag("--only-list", options->only_list, "Send no prompt: spend no token");
  app.in_group("Output").add_flag("--json", options->json, "The same as JSON on standard output");
  return {app, [options] {
            forbid_core_dumps();
            return ask_models(*options) ? kDone : kFailed;
          }};
}

}  // namespace kbench::program
