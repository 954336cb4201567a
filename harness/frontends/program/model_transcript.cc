#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <sstream>
#include <utility>

#include "harness/evaluate/generate/store.h"
#include "harness/evaluate/report/conversations.h"
#include "harness/frontends/program/json_documents.h"
#include "harness/frontends/program/options.h"
#include "harness/frontends/program/terminal.h"
#include "harness/frontends/program/text.h"
#include "harness/frontends/program/verbs.h"
#include "kbench/attempt.h"
#include "kbench/error.h"
#include "kbench/exchange.h"

namespace kbench::program {
namespace {

namespace fs = std::filesystem;
using generate::RunFolder;
using Json = nlohmann::ordered_json;

/// Attempts of a model at a task, where no task is asked for.
struct TaskLine {
  std::string model;
  TaskId task;
  int attempts = 0, passed = 0;
};
KBENCH_FIELDS(TaskLine, model, task, attempts, passed)

struct TranscriptOptions {
  std::string run, what, model;
  bool json = false;
};

/// "TASK[/SAMPLE[/ATTEMPT]]".
struct Wanted {
  std::optional<TaskId> task;
  int sample = 0, attempt = 0;  ///< 0: all
};

int number_of(const std::string& text, const std::string& all) {
  if (!text.empty() && text.size() < 8 && text != "0" &&
      text.find_first_not_of("0123456789") == std::string::npos) {
    return std::stoi(text);
  }
  throw Error(ErrorCode::kInvalidArgument,
              "'" + shown(all) + "' is no TASK[/SAMPLE[/ATTEMPT]], such as level1/19/3/2");
}

Wanted parse_wanted(const std::string& text) {
  Wanted wanted;
  if (text.empty()) return wanted;
  std::vector<std::string> parts;
  std::istringstream stream(text);
  for (std::string part; std::getline(stream, part, '/');) parts.push_back(part);
  if (parts.size() < 2 || parts.size() > 4) number_of("", text);
  wanted.task = find_task(parse_task_id(parts[0] + "/" + parts[1])).id;
  if (parts.size() > 2) wanted.sample = number_of(parts[2], text);
  if (parts.size() > 3) wanted.attempt = number_of(parts[3], text);
  return wanted;
}

/// Prints a text line by line, escaped for the terminal.
void print_text(const std::string& text) {
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (!line.empty() && line.back() == '\r') line.pop_back();
    std::string spaced;
    for (const char c : line) spaced += c == '\t' ? "    " : std::string(1, c);
    std::printf("%s\n", shown(spaced, 100'000).c_str());
  }
}

std::string line_of(const Attempt& a) {
  std::string text = purpose_of(a.task, a.sample, a.attempt) + "  " + shown(a.model);
  text += "  " + format_outcome(a);
  if (a.usage.output) text += "  " + std::to_string(*a.usage.output) + " tokens";
  return text + "  " + format_seconds(a.seconds);
}

std::vector<Message> prompt_of(const RunFolder& folder, const Attempt& attempt) {
  return report::read_prompt(folder.path(), attempt.prompt_hash);
}

/// The last exchange about an attempt in the transcript.
std::optional<Exchange> exchange_of(const RunFolder& folder, const Attempt& attempt) {
  std::optional<Exchange> last;
  report::read_exchanges(
      folder.transcript(attempt.model, attempt.task),
      [&](int sample, int number) { return sample == attempt.sample && number == attempt.attempt; },
      [&](Exchange exchange) { last = std::move(exchange); });
  return last;
}

void heading(const std::string& text) { std::printf("\n=== %s\n", text.c_str()); }

/// Prints the prompt (for a repair, only its new part), the answer and the outcome.
void print_attempt(const RunFolder& folder, const Attempt& attempt, bool whole_prompt) {
  const std::vector<Message> prompt = prompt_of(folder, attempt);
  for (size_t i = whole_prompt || prompt.empty() ? 0 : prompt.size() - 1; i < prompt.size(); ++i) {
    heading(std::string(name_of(prompt[i].role)));
    print_text(prompt[i].text);
  }
  const std::optional<Exchange> exchange = exchange_of(folder, attempt);
  heading(purpose_of(attempt.task, attempt.sample, attempt.attempt) + ", answer of " +
          shown(attempt.model));
  if (exchange) {
    if (!exchange->answer.reasoning.empty()) {
      std::printf("(thoughts)\n");
      print_text(exchange->answer.reasoning);
      std::printf("(answer)\n");
    }
    print_text(exchange->answer.text);
  } else {
    std::printf("(none)\n");
  }
  heading(format_outcome(attempt));
}

/// An attempt as in attempts.jsonl, with prompt and answer if `conversation`.
Json json_of(const RunFolder& folder, const Attempt& attempt, bool conversation) {
  Json json = Json::parse(to_json(attempt));
  if (!conversation) return json;
  json["messages"] = Json::parse(messages_json(prompt_of(folder, attempt)));
  const std::optional<Exchange> exchange = exchange_of(folder, attempt);
  json["answer"] = exchange ? Json(exchange->answer.text) : Json(nullptr);
  json["reasoning"] = exchange ? Json(exchange->answer.reasoning) : Json(nullptr);
  return json;
}

int run_transcript(const TranscriptOptions& options) {
  const RunFolder folder(options.run);
  std::error_code unknown;
  if (!fs::exists(folder.attempts(), unknown)) {
    throw Error(ErrorCode::kNotFound,
                shown(options.run) + " is no run: it holds no attempts.jsonl");
  }
  const Wanted wanted = parse_wanted(options.what);
  using Key = std::tuple<std::string, TaskId, int, int>;
  std::map<Key, Attempt> found;  // if made twice, the last one counts
  std::map<std::tuple<std::string, TaskId>, TaskLine> counts;
  read_attempts(folder.attempts(), [&](const Attempt& a) {
    if (!options.model.empty() && a.model != options.model) return;
    if (!wanted.task) {
      TaskLine& line =
          counts.try_emplace({a.model, a.task}, TaskLine{a.model, a.task}).first->second;
      ++line.attempts;
      line.passed += a.correct();
      return;
    }
    if (a.task != *wanted.task || (wanted.sample > 0 && a.sample != wanted.sample)) return;
    if (wanted.attempt > 0 && a.attempt != wanted.attempt) return;
    found.insert_or_assign({a.model, a.task, a.sample, a.attempt}, a);
  });
  if (!wanted.task && options.json) {
    std::vector<TaskLine> list;
    for (const auto& [key, line] : counts) list.push_back(line);
    say(json_document(list));
    return kDone;
  }
  if (!wanted.task) {
    std::vector<std::vector<std::string>> rows = {{"model", "task", "attempts", "passed"}};
    for (const auto& [key, line] : counts) {
      rows.push_back({shown(line.model), to_string(line.task), std::to_string(line.attempts),
                      std::to_string(line.passed)});
    }
    say(format_table(rows));
    return kDone;
  }
  if (found.empty()) {
    throw Error(ErrorCode::kNotFound, shown(options.run) + " has no attempt at " +
                                          shown(options.what) +
                                          (options.model.empty() ? "" : " of that model"));
  }
  if (options.json) {
    Json list = Json::array();
    for (const auto& [key, attempt] : found) {
      list.push_back(json_of(folder, attempt, wanted.sample > 0));
    }
    say(json_text(list, 2) + "\n");
    return kDone;
  }
  const auto same_chain = [](const Attempt& a, const Attempt& b) {
    return a.model == b.model && a.sample == b.sample;
  };
  const Attempt* before = nullptr;
  for (const auto& [key, attempt] : found) {
    if (wanted.sample == 0) {
      std::printf("%s\n", line_of(attempt).c_str());
      continue;
    }
    const bool begins = before == nullptr || !same_chain(*before, attempt);
    print_attempt(folder, attempt, begins);
    before = &attempt;
  }
  return kDone;
}

}  // namespace

Verb add_model_transcript(Command model) {
  auto options = std::make_shared<TranscriptOptions>();
  const Command app = model.add_verb(
      "transcript", "A run's conversations, readable",
      "Prints what was asked in a run and what was answered: which models and tasks there are, the "
      "attempts at one task, or a conversation with its prompts, answers and verdicts.",
      "  kbench model transcript run1\n"
      "  kbench model transcript run1 level1/19\n"
      "  kbench model transcript run1 1/19/3        the whole conversation of sample 3\n"
      "  kbench model transcript run1 1/19/3/2      its second attempt");
  app.add_option("RUN", options->run, "The run's folder", readable()).required();
  app.add_option("TASK", options->what, "Which: TASK[/SAMPLE[/ATTEMPT]]");
  const Command output = app.in_group("Output");
  output.add_option("--model NAME", options->model, "Only of this model");
  output.add_flag("--json", options->json, "The same as a JSON list on standard output");
  return {app, [options] { return run_transcript(*options); }};
}

}  // namespace kbench::program
