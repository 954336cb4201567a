#include "harness/frontends/program/run_progress.h"

#include <unistd.h>

#include <cstdio>
#include <optional>
#include <utility>

#include "harness/frontends/program/json_documents.h"
#include "harness/frontends/program/terminal.h"
#include "harness/frontends/program/text.h"
#include "kbench/error.h"
#include "libkbench/core/in_words.h"

namespace kbench::program {
namespace {

struct TokensLine {
  int64_t input = 0, output = 0, answers_without = 0;
};
KBENCH_FIELDS(TokensLine, input, output, answers_without)

struct CostLine {
  double sum = 0;
  int64_t answers_without = 0;
};
KBENCH_FIELDS(CostLine, sum, answers_without)

/// What a run came to, for --json.
struct OutcomeDocument {
  std::string run;
  bool complete = false;
  std::optional<std::string> stop;
  std::string reason;
  uint32_t samples = 0, done = 0, open = 0;
  int64_t attempts = 0;
  std::optional<int64_t> passed;
  int64_t requests = 0, judged = 0, reused_verdicts = 0, confirmed = 0;
  TokensLine tokens;
  CostLine cost;
  double seconds = 0, device_seconds = 0;
  bool software_device = false;
};
KBENCH_FIELDS(OutcomeDocument, run, complete, stop, reason, samples, done, open, attempts, passed,
              requests, judged, reused_verdicts, confirmed, tokens, cost, seconds, device_seconds,
              software_device)

std::string format_tokens(double tokens) {
  if (tokens < 1e3) return format_number(tokens, 4);
  return tokens < 1e6 ? format_number(tokens / 1e3, 4) + "k" : format_number(tokens / 1e6, 4) + "M";
}

/// The known cost; a bound if parts are unknown.
std::string format_cost(const generate::Spent& spent) {
  const bool bound = spent.unknown_cost > 0;
  if (spent.cost == 0 && bound) return spent.unknown_tokens > 0 ? "cost unknown" : "no price";
  return std::string("cost ") + (bound ? "at least " : "") + format_number(spent.cost, 4);
}

/// "12 attempts, 5 passed, 3.1/min, 1.2 Mtok, cost 0.34".
std::string format_status(const generate::Status& status) {
  std::string text =
      counted(status.attempts, "attempt") + ", " + std::to_string(status.passed) + " passed";
  if (status.seconds > 0 && status.requests > 0) {
    text += ", " + format_number(60 * double(status.requests) / status.seconds, 2) + "/min";
  }
  text += ", " + format_tokens(double(status.spent.input + status.spent.output)) + " tokens";
  if (status.spent.cost > 0) text += ", " + format_cost(status.spent);
  return text + ", " + std::to_string(status.under_way) + " asked, " +
         std::to_string(status.waiting) + " waiting";
}

}  // namespace

void RunProgress::attempt(const Attempt& attempt, const generate::Status& status) {
  const std::lock_guard hold(mutex_);
  if (!bar_) {
    done_ = status.done > 0 ? status.done - 1 : 0;
    bar_ = std::make_unique<Progress>(stderr, status.chains - done_);
  }
  for (; done_ < status.done; ++done_) bar_->advance();
  const std::string name =
      purpose_of(attempt.task, attempt.sample, attempt.attempt) + " " + shown(attempt.model);
  if (isatty(STDERR_FILENO) == 1) {
    bar_->begin(format_status(status) + "  " + name + " " + format_outcome(attempt));
  } else {
    std::string meaning;
    if (attempt.verdict && !attempt.correct() && explained_.insert(*attempt.verdict).second) {
      meaning = "  (" + std::string(explain(*attempt.verdict)) + ")";
    }
    bar_->note("[" + std::to_string(status.done) + "/" + std::to_string(status.chains) + "] " +
               name + "  " + format_outcome(attempt) + meaning);
  }
  // Said once, as beginners would not find the setting.
  if (attempt.outcome == Outcome::too_long && !std::exchange(said_too_long_, true)) {
    bar_->warn(
        name +
        ": the prompt, or prompt and answer, are longer than the server's context; start it "
        "with a longer one, or send less (--context last, or shots: 0 in a folder of --prompt)");
  }
  if (attempt.outcome == Outcome::truncated && !std::exchange(said_truncated_, true)) {
    bar_->warn(name +
               ": the answer was cut off before its candidate was whole; raise max_tokens in the "
               "models file, or the server's context");
  }
}

void RunProgress::confirmed(const Result& result, size_t done, size_t all) {
  const std::lock_guard hold(mutex_);
  if (!bar_) bar_ = std::make_unique<Progress>(stderr, 0);
  const std::string text = "winner " + std::to_string(done) + "/" + std::to_string(all) +
                           " measured again: " + to_string(result.task) + " " + shown(result.set);
  if (isatty(STDERR_FILENO) == 1) {
    bar_->begin(text);
  } else {
    bar_->note(text + "  " + std::string(name_of(result.verdict)) +
               (result.correct() ? "  " + format_speedup(result.speedup) : ""));
  }
}

void RunProgress::warn(const std::string& line) {
  const std::lock_guard hold(mutex_);
  if (bar_) return bar_->warn(line);
  program::warn(line);
}

void RunProgress::close() {
  const std::lock_guard hold(mutex_);
  if (bar_) bar_->close();
}

void RunProgress::show(generate::RunOptions& run) {
  run.on_attempt = [this](const Attempt& each, const generate::Status& status) {
    attempt(each, status);
  };
  run.on_confirmed = [this](const Result& result, size_t done, size_t all) {
    confirmed(result, done, all);
  };
  run.on_warning = [this](const std::string& text) { warn(text); };
}

std::string format_outcome(const std::string& folder, const generate::RunOutcome& outcome,
                           bool judging) {
  const generate::Status& s = outcome.status;
  std::string text = shown(folder) + ": " + std::to_string(s.done) + " of " +
                     counted(s.chains, "sample") + " done; " + counted(s.attempts, "attempt");
  if (judging) text += ", " + std::to_string(s.passed) + " passed";
  text += "\n  tokens " + format_tokens(double(s.spent.input)) + " in, " +
          format_tokens(double(s.spent.output)) + " out";
  if (s.spent.unknown_tokens > 0) {
    text += " (at least: " + std::to_string(s.spent.unknown_tokens) + " answers did not say)";
  }
  text += "; " + format_cost(s.spent);
  text += "\n  " + format_seconds(s.seconds) + ", " + counted(s.requests, "request");
  if (s.judged > 0 && s.seconds > 0) {
    text += "; judging " + format_number(100 * s.device_seconds / s.seconds) + "% of it, " +
            std::to_string(s.judged) + " times";
  }
  if (s.reused > 0) text += "; " + std::to_string(s.reused) + " verdicts of identical candidates";
  if (s.confirmed > 0) text += "; " + counted(s.confirmed, "winner") + " measured again";
  text += "\n";
  if (s.lost > 0) {
    text += "  " + std::to_string(s.lost) +
            " samples stay open: unanswered, not judged through no fault of theirs, or their files "
            "could not be read or written; the same "
            "command tries them again\n";
  }
  if (outcome.stop == generate::Scheduler::Stop::budget) {
    text += "  stopped by " + outcome.reason + "; the same command with more goes on\n";
  } else if (outcome.stop == generate::Scheduler::Stop::interrupted) {
    text += "  interrupted; the same command goes on\n";
  } else if (outcome.stop == generate::Scheduler::Stop::disk_full) {
    text +=
        "  stopped: " + shown(outcome.reason, 500) + "; make room, and the same command goes on\n";
  }
  return text + "  kbench report " + shown(folder) + "\n";
}

std::string outcome_json(const std::string& folder, const generate::RunOutcome& outcome,
                         bool judging, bool software) {
  using Stop = generate::Scheduler::Stop;
  const generate::Status& s = outcome.status;
  OutcomeDocument document{.run = folder,
                           .complete = outcome.complete(),
                           .stop = {},
                           .reason = outcome.reason,
                           .samples = s.chains,
                           .done = s.done,
                           .open = s.lost,
                           .attempts = s.attempts,
                           .passed = {},
                           .requests = s.requests,
                           .judged = s.judged,
                           .reused_verdicts = s.reused,
                           .confirmed = s.confirmed,
                           .tokens = {s.spent.input, s.spent.output, s.spent.unknown_tokens},
                           .cost = {s.spent.cost, s.spent.unknown_cost},
                           .seconds = s.seconds,
                           .device_seconds = s.device_seconds,
                           .software_device = software};
  if (outcome.stop == Stop::budget) document.stop = "budget";
  if (outcome.stop == Stop::interrupted) document.stop = "interrupted";
  if (outcome.stop == Stop::disk_full) document.stop = "disk_full";
  if (judging) document.passed = s.passed;
  return json_document(document);
}

}  // namespace kbench::program
