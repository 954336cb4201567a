#include "harness/evaluate/client/judge_client.h"

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <exception>

#include "harness/evaluate/client/device_list.h"
#include "harness/evaluate/sanitize/sanitize.h"
#include "harness/measure/judge_protocol/tries.h"
#include "harness/measure/process/channel.h"
#include "harness/measure/process/deadline.h"
#include "harness/measure/trial/experiment.h"
#include "kbench/candidate.h"
#include "kbench/error.h"
#include "libkbench/base/trace.h"
#include "libkbench/scoring/result_fields.h"

namespace kbench {

namespace client {
namespace {

using Clock = std::chrono::steady_clock;
using process::Deadline;
using process::Exit;

constexpr std::chrono::milliseconds kLookEvery(20);
constexpr size_t kLongestLine = size_t{4} << 20;
/// For a driver to list and open its devices.
constexpr double kHelloSeconds = 90;
/// Of a judge, beside what its trials may take: preparing a large baseline, starting runners.
constexpr double kJudgeSeconds = 900;
/// From a cancel line to the answer "cancelled".
constexpr double kCancelSeconds = 1;

/// "; its last words: ..." where it had any.
std::string last_words(process::ChildProcess& process) {
  const std::string said = process.last_words();
  return said.empty() ? "" : "; its last words: " + said;
}

/// True for a failure that says the options are wrong.
bool blames_options(ErrorCode code) {
  return code == ErrorCode::kInvalidArgument || code == ErrorCode::kNotFound ||
         code == ErrorCode::kUnsupported || code == ErrorCode::kShape || code == ErrorCode::kIo ||
         code == ErrorCode::kParse;
}

void expect_wanted(const std::stop_token& stop) {
  if (stop.stop_requested()) throw Cancelled();
}

}  // namespace

LineProcess::LineProcess(const std::string& program, const std::vector<std::string>& arguments) {
  auto [input_theirs, input_ours] = process::make_socket_pair();
  auto [answers_ours, answers_theirs] = process::make_pipe();
  process::make_nonblocking(answers_ours);
  process::Spawn spawn;
  spawn.program = program;
  spawn.arguments = arguments;
  spawn.descriptors = {{input_theirs.get(), STDIN_FILENO},
                       {answers_theirs.get(), judge::kAnswerDescriptor}};
  process_ = std::make_unique<process::ChildProcess>(spawn);
  input_ = std::move(input_ours);
  answers_ = std::move(answers_ours);
}

void LineProcess::send_line(const std::string& line) {
  unsent_ += line + "\n";
  send_some();
}

void LineProcess::send_some() {
  while (sent_ < unsent_.size()) {
    const ssize_t n = send(input_.get(), unsent_.data() + sent_, unsent_.size() - sent_,
                           MSG_NOSIGNAL | MSG_DONTWAIT);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) return;
    if (n <= 0) break;  // It is gone.
    sent_ += static_cast<size_t>(n);
  }
  unsent_.clear();
  sent_ = 0;
}

std::optional<std::pair<std::string, std::string>> LineProcess::read_line(
    std::chrono::milliseconds wait) {
  for (bool waited = false;; waited = true) {
    if (const size_t end = text_.find('\n'); end != std::string::npos) {
      const std::string line = text_.substr(0, end);
      text_.erase(0, end + 1);
      const size_t space = std::min(line.find(' '), line.size());
      return std::pair{line.substr(0, space), line.substr(std::min(space + 1, line.size()))};
    }
    if (text_.size() > kLongestLine) {
      throw Error(ErrorCode::kParse, "a line without end from kbench's judge");
    }
    if (!answers_.open()) return std::nullopt;
    char buffer[16384];
    const ssize_t n = read(answers_.get(), buffer, sizeof buffer);
    if (n > 0) {
      text_.append(buffer, static_cast<size_t>(n));
    } else if (n == 0 || (errno != EAGAIN && errno != EINTR)) {
      answers_.reset();
    } else if (waited) {
      return std::nullopt;
    } else {
      pollfd ready[3] = {{answers_.get(), POLLIN, 0},
                         {process_->output_descriptor(), POLLIN, 0},
                         {unsent_.empty() ? -1 : input_.get(), POLLOUT, 0}};
      poll(ready, 3, static_cast<int>(wait.count()));
      process_->output();  // Keeps its pipe from filling.
      send_some();
    }
  }
}

JudgeClient::JudgeClient(std::string program, std::string device, bool validate)
    : program_(std::move(program)), device_(std::move(device)), validate_(validate) {}

void JudgeClient::start(const std::stop_token& stop) {
  std::vector<std::string> arguments = {"judge-process", device_};
  if (validate_) arguments.emplace_back("validate");
  judge_.reset();
  auto judge = std::make_unique<LineProcess>(program_path(program_), arguments);
  Deadline deadline(kHelloSeconds);
  std::string message;
  for (;;) {
    expect_wanted(stop);
    const auto line = judge->read_line(kLookEvery);
    if (line && line->first == "hello") {
      snapshot_ = judge::snapshot_from_json(line->second);
      judge_ = std::move(judge);
      ++starts_;
      return;
    }
    if (line && line->first == "error") throw judge::error_from_json(line->second);
    if (line) message = "kbench's judge says '" + line->first + "'; is it another version?";
    if (message.empty() && judge->ended()) {
      const Exit exit = judge->process().finish(std::chrono::milliseconds(2000));
      message = "kbench's judge " + std::string(exit.signal ? "was " : "") + describe(exit) +
                " before the device was open" + last_words(judge->process());
    }
    if (message.empty() && deadline.passed()) {
      message = "the Vulkan driver does not answer: opening the device took longer than a minute";
    }
    if (!message.empty()) throw Error(ErrorCode::kInternal, message);
  }
}

const vulkan::DeviceSnapshot& JudgeClient::snapshot() {
  if (!snapshot_) start();
  return *snapshot_;
}

std::string JudgeClient::trouble() {
  std::string why;
  for (int attempt = 1; attempt <= judge::kTriesOfAStart; ++attempt) {
    try {
      if (!judge_ || judge_->process().poll().ended) start();
      return "";
    } catch (const std::exception& e) {
      why = e.what();
    }
  }
  return why;
}

/// What became of one attempt.
struct JudgeClient::Outcome {
  std::optional<Result> result;
  std::optional<Error> error;
  std::optional<Result> named;  ///< the candidate, its task and the device, once they are known
  judge::Findings findings;
  Verdict verdict = Verdict::harness_error;  ///< if there is neither result nor exception
  std::string message;
  std::string stage = "start";  ///< the last one begun
  double queued_s = 0;          ///< waited for the device; counts in no limit
  bool retry = false;           ///< not the candidate's fault, and worth a second try
  std::exception_ptr thrown;  ///< by a callback; or Cancelled after a stop request, StillCompiling

  bool touched() const { return stage != "start"; }
};

/// One request and all that its judge says to it.
class JudgeClient::Conversation {
 public:
  enum class End {
    answered,  ///< the judge is ready for the next request
    broken,    ///< its answer is not complete, and nobody reads the rest: its process is ended
    left,      ///< it has ended by itself, or does not answer that it is to stop
  };

  Conversation(LineProcess& judge, const judge::EvaluateRequest& request, const Observer& observer,
               const std::stop_token& stop, Outcome& outcome)
      : judge_(judge),
        request_(request),
        observer_(observer),
        stop_(stop),
        outcome_(outcome),
        deadline_(seconds_of(request.question)) {}

  /// Throws kParse for what cannot be read.
  End hold() {
    judge_.send_line(to_json(request_));
    for (;;) {
      if (!tell_what_changed()) return End::left;
      const auto line = judge_.read_line(kLookEvery);
      take_time();
      if (!line && judge_.ended()) return End::left;
      // A judge that sends stages without end has failed, too.
      if (deadline_.passed() && (!line || line->first == "stage")) {
        outcome_.verdict = outcome_.touched() ? Verdict::timeout : Verdict::harness_error;
        outcome_.message = "the judge took longer than any limit (" + outcome_.stage + ")";
        return End::broken;
      }
      if (!line) continue;
      if (const auto end = cancelling_ ? take_last(line->first) : take(line->first, line->second)) {
        return *end;
      }
    }
  }

 private:
  /// Of both trials that a judge makes, and all that it does beside them.
  static double seconds_of(const Question& question) {
    return 2 * (question.limits.total_seconds + question.limits.extension_seconds()) +
           kJudgeSeconds +
           static_cast<double>(question.opponent.ways.size()) * judge::kOpponentCompileSeconds;
  }

  /// Tells the judge once that it is to stop, and once that others wait. False where it was to stop
  /// and has not in time.
  bool tell_what_changed() {
    if (stop_.stop_requested() && !cancelling_) {
      judge_.send_line(judge::kCancelLine);
      cancelling_.emplace(kCancelSeconds);
    }
    if (cancelling_ && cancelling_->passed()) return false;
    if (!told_of_others_ && request_.others && request_.others()) {
      judge_.send_line(judge::kOthersLine);
      told_of_others_ = true;
    }
    return true;
  }

  /// Time in which the judge waits for its device counts in no limit.
  void take_time() {
    const auto now = Clock::now();
    const std::chrono::duration<double> step = now - std::exchange(looked_, now);
    if (outcome_.stage != judge::kQueueStage) return;
    outcome_.queued_s += step.count();
    deadline_.leave_out(now);
  }

  std::optional<End> take_last(const std::string& kind) {
    if (kind != "cancelled" && kind != "result" && kind != "error" && kind != "later") return {};
    outcome_.thrown = std::make_exception_ptr(Cancelled());
    return End::answered;
  }

  std::optional<End> take(const std::string& kind, const std::string& text) {
    if (kind == "stage") {
      outcome_.stage = text;
      return call(observer_.on_stage, outcome_.stage.c_str());
    }
    if (kind == "progress") return call(observer_.on_progress, judge::progress_from_json(text));
    if (kind == "named") {
      outcome_.named = unchecked_result(text);
    } else if (kind == "inspection") {
      outcome_.findings.inspection = judge::inspection_from_json(text);
    } else if (kind == "profile") {
      outcome_.findings.times = judge::step_times_from_json(text);
    } else if (kind == "result") {
      outcome_.result = unchecked_result(text);  // What was looked at was not measured.
      return End::answered;
    } else if (kind == "error") {
      outcome_.error = judge::error_from_json(text);
      return End::answered;
    } else if (kind == "later" && told_of_others_) {
      outcome_.thrown = std::make_exception_ptr(judge::StillCompiling{text == "begun"});
      return End::answered;
    } else {
      throw Error(ErrorCode::kParse, "a judge answered '" + kind + "'; is it another version?");
    }
    return {};
  }

  /// Callbacks may throw, which ends the conversation.
  template <class Callback, class Value>
  std::optional<End> call(const Callback& callback, const Value& value) {
    if (!callback) return {};
    try {
      callback(value);
      return {};
    } catch (...) {
      outcome_.thrown = std::current_exception();
      return End::broken;
    }
  }

  LineProcess& judge_;
  const judge::EvaluateRequest& request_;
  const Observer& observer_;
  const std::stop_token& stop_;
  Outcome& outcome_;
  Deadline deadline_;
  std::optional<Deadline> cancelling_;
  bool told_of_others_ = false;
  Clock::time_point looked_ = Clock::now();
};

JudgeClient::Outcome JudgeClient::run_once(const judge::EvaluateRequest& request,
                                           const Observer& observer, const std::stop_token& stop) {
  using End = Conversation::End;
  if (validate_ != request.question.rule.validate) judge_.reset();
  validate_ = request.question.rule.validate;
  if (!judge_ || judge_->process().poll().ended) start(stop);
  Outcome outcome;
  End end = End::broken;
  try {
    end = Conversation(*judge_, request, observer, stop, outcome).hold();
  } catch (const Error& e) {  // An answer that cannot be read: not the candidate's doing.
    outcome.message = e.what();
  }
  if (end == End::answered) return outcome;
  if (end == End::left && stop.stop_requested()) {  // It goes with what it is at.
    outcome.thrown = std::make_exception_ptr(Cancelled());
    end = End::broken;
  }
  if (end == End::left) {
    const Exit exit = judge_->process().finish(std::chrono::milliseconds(2000));
    outcome.retry = ended_from_outside(exit) || !outcome.touched();
    outcome.message = "the judge " + std::string(exit.signal ? "was " : "") + describe(exit) +
                      " (" + outcome.stage + ")" + last_words(judge_->process());
  }
  judge_.reset();
  return outcome;
}

Result JudgeClient::run(const judge::EvaluateRequest& request, const Observer& observer,
                        judge::Findings* findings, const std::stop_token& stop) {
  const bool judged = !request.question.check && !request.looks_closer();
  const bool sanitizes = judged && request.question.rule.sanitize != Sanitize::off;
  const std::string sanitizer = sanitizes ? sanitize::find_sanitizer(snapshot()) : "";
  Result result = run_untested(request, observer, findings, stop);
  if (judged && !is_infrastructure_fault(result.verdict)) expect_tested(observer, stop, result);
  const bool ran = result.correct() || is_about_values(result.verdict) ||
                   result.verdict == Verdict::out_of_bounds || result.verdict == Verdict::crashed;
  if (!sanitizes || !ran || self_test::lane_of(result) == "vulkan") return result;
  if (observer.on_stage) observer.on_stage("sanitize");
  const auto start = Clock::now();
  try {
    sanitize::check({*snapshot_, program_path(program_), sanitizer}, request.question, stop,
                    result);
  } catch (const Cancelled&) {
    throw;
  } catch (const Error& error) {
    result.sanitized->unknown.push_back(error.message());
  }
  result.stage_s["sanitize"] = process::seconds_since(start);
  result.wall_s += result.stage_s["sanitize"];
  return result;
}

/// Makes the result a harness_error where the self-test of its lane has found a fault.
void JudgeClient::expect_tested(const Observer& observer, const std::stop_token& stop,
                                Result& result) {
  const std::string_view lane = self_test::lane_of(result);
  if (lane.empty() || !snapshot_) return;
  auto known = tested_.find(lane);
  if (known == tested_.end()) {
    if (observer.on_stage) observer.on_stage("self_test");
    const auto start = Clock::now();
    const auto judge = [&](const Question& plant) {
      return run_untested({.question = plant, .more = true}, {}, nullptr, stop);
    };
    known = tested_
                .emplace(lane,
                         self_test::fault_of_lane(lane, *snapshot_, program_path(program_), judge))
                .first;
    const std::chrono::duration<double> took = Clock::now() - start;
    result.stage_s["self_test"] = took.count();
    result.wall_s += took.count();
  }
  if (known->second.empty()) return;
  result.verdict = Verdict::harness_error;
  result.message = "this machine's self-test failed, and no verdict of lane " + known->first +
                   " counts here: " + known->second + "; kbench devices --check shows all of it";
}

self_test::Report JudgeClient::test(std::string_view lane) {
  const auto judge = [&](const Question& plant) {
    return run_untested({.question = plant, .more = true}, {}, nullptr, {});
  };
  self_test::Report report = self_test::test(lane, self_test::plants(lane), snapshot(), judge);
  if (report.fault().empty()) self_test::keep_pass(lane, snapshot(), program_path(program_));
  return report;
}

Result JudgeClient::run_untested(const judge::EvaluateRequest& request, const Observer& observer,
                                 judge::Findings* findings, const std::stop_token& stop) {
  const auto begin = std::chrono::steady_clock::now();
  const trace::Span span(request.question.candidate.path);
  expect_wanted(stop);
  Outcome outcome;
  double queued_s = 0;
  for (int attempt = 1; attempt <= judge::kTriesOfAJudge; ++attempt) {
    try {
      outcome = run_once(request, observer, stop);
    } catch (const Cancelled&) {
      throw;
    } catch (const Error& e) {  // It did not start; on a device that was there it may again.
      if (blames_options(e.code()) || (attempt == judge::kTriesOfAJudge && !snapshot_)) throw;
      outcome = {};
      outcome.retry = true;
      outcome.message = e.what();
    }
    if (outcome.thrown) std::rethrow_exception(outcome.thrown);
    queued_s += outcome.queued_s;
    if (outcome.error && blames_options(outcome.error->code())) throw *outcome.error;
    if (!outcome.retry) break;
  }
  if (!outcome.result) {
    Result failed = outcome.named.value_or(Result());
    if (!outcome.named) failed.candidate = shown(request.question.candidate.path);
    if (snapshot_) trial::describe_device(failed, *snapshot_, request.question);
    failed.verdict = outcome.verdict;
    failed.message = outcome.error ? outcome.error->what() : outcome.message;
    outcome.result = std::move(failed);
  }
  if (findings) *findings = std::move(outcome.findings);
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
  const double judged_s = std::exchange(outcome.result->wall_s, took.count() - queued_s);
  outcome.result->stage_s["start"] = std::max(outcome.result->wall_s - judged_s, 0.0);
  return *std::move(outcome.result);
}

}  // namespace client
}  // namespace kbench
