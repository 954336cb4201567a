#include <algorithm>
#include <cstdio>
#include <memory>
#include <optional>

#include "harness/frontends/program/json_documents.h"
#include "harness/frontends/program/options.h"
#include "harness/frontends/program/run_setup.h"
#include "harness/frontends/program/terminal.h"
#include "harness/frontends/program/text.h"
#include "harness/frontends/program/verbs.h"
#include "kbench/error.h"
#include "kbench/openai_model.h"

namespace kbench::program {
namespace {

struct ModelsOptions {
  std::string file;
  std::vector<std::string> names;
  bool json = false;
};

struct AnswerLine {
  std::string text, finish;
  double seconds = 0;
  std::optional<int64_t> input_tokens, output_tokens;
  std::string served_by;
};
KBENCH_FIELDS(AnswerLine, text, finish, seconds, input_tokens, output_tokens, served_by)

/// The outcome of asking one model.
struct ModelLine {
  std::string name;
  std::optional<bool> listed;  ///< unset: the server lists no models
  std::optional<AnswerLine> answer;
  std::optional<std::string> failure;
};
KBENCH_FIELDS(ModelLine, name, listed, answer, failure)

/// The document of --json.
struct ModelsDocument {
  std::vector<ModelLine> models;
  std::vector<std::string> notes;
};
KBENCH_FIELDS(ModelsDocument, models, notes)

struct Asked {
  ModelLine line;
  size_t others = 0;  ///< how many models its server lists
};

std::string count_or_unknown(const std::optional<int64_t>& count) {
  return count ? std::to_string(*count) : "?";
}

/// Whether the server lists the model. Many servers list none, so what counts is whether it
/// answers.
void look_up(OpenAiModel& model, Asked& asked) {
  try {
    const std::vector<std::string> names = model.served({});
    asked.line.listed = std::count(names.begin(), names.end(), model.config().model) > 0;
    asked.others = names.size();
  } catch (const ModelError&) {
  }
}

Asked ask(ModelConfig config, std::vector<std::string>& notes) {
  config.tries = std::min(config.tries, 2);
  Asked asked;
  asked.line.name = config.name;
  try {
    ModelHooks hooks;
    hooks.event = [&](const ModelEvent& event) {
      if (event.kind == ModelEvent::Kind::model_lost) return;  // reported below
      if (event.kind == ModelEvent::Kind::given_up) return;
      notes.push_back(event.model + ": " + event.text);
    };
    OpenAiModel model(std::move(config), std::move(hooks));
    look_up(model, asked);
    const Answer answer = model.ask({.messages = {{Role::user, "Answer with the word yes."}},
                                     .sampling = {.max_tokens = 64},
                                     .purpose = "kbench model check"},
                                    {});
    asked.line.answer = {answer.text,        answer.finish,       answer.seconds,
                         answer.usage.input, answer.usage.output, answer.served_by};
  } catch (const Error& e) {
    asked.line.failure = e.what();
    notes.push_back(*asked.line.failure);
  }
  return asked;
}

std::vector<std::string> row_of(const Asked& asked) {
  const ModelLine& line = asked.line;
  if (line.failure) return {line.name, "", "none"};
  const std::string listed = !line.listed   ? "lists none"
                             : *line.listed ? "yes"
                                            : "no, of " + std::to_string(asked.others);
  const AnswerLine& answer = *line.answer;
  const std::string text = answer.text.empty() ? "(nothing)" : answer.text;
  return {line.name,
          listed,
          shown(text, 24) + ", " + shown(answer.finish, 20),
          format_seconds(answer.seconds),
          count_or_unknown(answer.input_tokens),
          count_or_unknown(answer.output_tokens),
          shown(answer.served_by, 40)};
}

/// Asks each model once. Returns whether all answered.
bool ask_models(const ModelsOptions& options) {
  std::vector<std::vector<std::string>> table = {
      {"model", "listed", "answer", "time", "tokens in", "out", "served by"}};
  ModelsDocument document;
  std::vector<std::string>& notes = document.notes;
  bool all = true;
  for (ModelConfig& config :
       chosen_models(read_models(options.file), options.names, options.file)) {
    const Asked asked = ask(std::move(config), notes);
    all &= !asked.line.failure;
    table.push_back(row_of(asked));
    document.models.push_back(asked.line);
  }
  if (options.json) {
    say(json_document(document));
    return all;
  }
  say(format_table(table));
  for (const std::string& note : notes) say(shown(note, 1000) + "\n");
  return all;
}

}  // namespace

Verb add_model_check(Command model) {
  auto options = std::make_shared<ModelsOptions>();
  const Command app =
      model.add_verb("check", "Whether the language models of a file answer",
                     "Reads a models file, asks each server what it serves, and each model for "
                     "one word. Exit code 1 when one does not answer.",
                     "  kbench model check models.yaml\n"
                     "  kbench model check models.yaml --model coder,small");
  app.add_option("FILE", options->file, "A models file", readable()).required();
  app.add_option("--model NAME,...", options->names, "Only these, by name").comma_separated();
  app.in_group("Output").add_flag("--json", options->json, "The same as JSON on standard output");
  return {app, [options] {
            forbid_core_dumps();
            return ask_models(*options) ? kDone : kFailed;
          }};
}

}  // namespace kbench::program
