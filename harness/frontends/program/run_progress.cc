#include "harness/frontends/program/run_progress.h"

#include <unistd.h>

#include <cstdio>
#include <nlohmann/json.hpp>
#include <utility>

#include "harness/frontends/program/terminal.h"
#include "harness/frontends/program/text.h"
#include "kbench/exchange.h"
#include "kbench/text.h"
#include "libkbench/base/json_text.h"
#include "libkbench/core/in_words.h"

namespace kbench::program {
namespace {

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

}  // namespace

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

void RunProgress::attempt(const Attempt& attempt, const generate::Status& status) {
  const std::lock_guard hold(mutex_);
  if (!bar_) {
    done_ = status.done > 0 ? status.done - 1 : 0;
    bar_ = std::make_unique<Progress>(stderr, status.chains - done_);
  }
  for (; done_ < status.done; ++done_) bar_->advance();
  const std::string name = purpose_of(attempt.task, attempt.sample, attempt.attempt) + " " +
                           shown(attempt.answered_by.empty() ? attempt.model : attempt.answered_by);
  if (isatty(STDERR_FILENO) == 1) {
    bar_->begin(format_status(status) + "  " + name + " " + format_outcome(attempt));
  } else {
    bar_->note("[" + std::to_string(status.done) + "/" + std::to_string(status.chains) + "] " +
               name + "  " + format_outcome(attempt));
  }
  // Said once, as beginners would not find the setting.
  if (attempt.outcome == Outcome::too_long && !std::exchange(said_too_long_, true)) {
    bar_->warn(name +
               ": the prompt, or prompt and answer, are longer than the server's context; start it "
               "with a longer one, or send less (--shots 0, --context last)");
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
  using Json = nlohmann::ordered_json;
  using Stop = generate::Scheduler::Stop;
  const generate::Status& s = outcome.status;
  const char* stop = outcome.stop == Stop::none          ? nullptr
                     : outcome.stop == Stop::budget      ? "budget"
                     : outcome.stop == Stop::interrupted ? "interrupted"
                                                         : "disk_full";
  const Json json = {{"run", folder},
                     {"complete", outcome.complete()},
                     {"stop", stop != nullptr ? Json(stop) : Json(nullptr)},
                     {"reason", outcome.reason},
                     {"samples", s.chains},
                     {"done", s.done},
                     {"open", s.lost},
                     {"attempts", s.attempts},
                     {"passed", judging ? Json(s.passed) : Json(nullptr)},
                     {"requests", s.requests},
                     {"judged", s.judged},
                     {"reused_verdicts", s.reused},
                     {"confirmed", s.confirmed},
                     {"tokens",
                      {{"input", s.spent.input},
                       {"output", s.spent.output},
                       {"answers_without", s.spent.unknown_tokens}}},
                     {"cost", {{"sum", s.spent.cost}, {"answers_without", s.spent.unknown_cost}}},
                     {"seconds", s.seconds},
                     {"device_seconds", s.device_seconds},
                     {"software_device", software}};
  return json_text(json, 2) + "\n";
}

}  // namespace kbench::program
