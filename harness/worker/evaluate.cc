// evaluate(): starts a worker, watches it, and turns its end into a result.

#include "kbench/evaluate.h"

#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <sstream>
#include <utility>

#include "harness/vulkan/device.h"
#include "harness/worker/experiment.h"
#include "harness/worker/process.h"
#include "harness/worker/protocol.h"
#include "kbench/error.h"
#include "kbench/version.h"

namespace kbench {
namespace {

namespace fs = std::filesystem;
using worker::ChildProcess;
using worker::Exit;
using Clock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds kPollInterval(20);
/// For a worker that has answered, to end.
constexpr std::chrono::milliseconds kExitGrace(2000);

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

bool executable(const fs::path& path) {
  std::error_code ignored;
  return fs::is_regular_file(path, ignored) && access(path.c_str(), X_OK) == 0;
}

std::string find_worker(const std::string& chosen) {
  if (!chosen.empty()) return chosen;
  const char* from_environment = std::getenv("KBENCH_WORKER");
  if (from_environment != nullptr && *from_environment != '\0') return from_environment;
  constexpr const char* kSelf = "/proc/self/exe";
  std::error_code ignored;
  const fs::path self = fs::read_symlink(kSelf, ignored);
  // By the link, not by what it says: the file may have been replaced since this program started.
  if (self.filename() == "kbench" || self.filename() == "kbench (deleted)") return kSelf;
  if (const fs::path beside = self.parent_path() / "kbench"; executable(beside)) {
    return beside.string();
  }
  const char* path = std::getenv("PATH");
  std::istringstream folders(path ? path : "");
  for (std::string folder; std::getline(folders, folder, ':');) {
    const fs::path candidate = fs::path(folder.empty() ? "." : folder) / "kbench";
    if (executable(candidate)) return candidate.string();
  }
  throw Error(ErrorCode::kNotFound,
              "no kbench program to run workers with: put it on PATH, or name it by KBENCH_WORKER");
}

/// What became of one worker.
struct Outcome {
  std::optional<Result> result;
  std::optional<Error> error;  ///< it threw
  Verdict verdict = Verdict::harness_error;
  std::string message;          ///< when there is neither
  std::string stage = "start";  ///< the last one begun

  /// The candidate's code or shaders had been handed to compiler or driver.
  bool touched() const { return stage != "start" && stage != "load"; }
};

std::string last_line(const std::string& text) {
  const size_t end = text.find_last_not_of(" \r\n\t");
  if (end == std::string::npos) return "";
  const size_t begin = text.find_last_of('\n', end);
  const size_t first = begin == std::string::npos ? 0 : begin + 1;
  constexpr size_t kLongest = 200;
  return text.substr(first, std::min(end - first + 1, kLongest));
}

std::string number(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.3g", value);
  return text;
}

std::string while_in(const std::string& stage) {
  if (stage == "compile") return "while compiling";
  if (stage == "start" || stage == "load") return "before the candidate was touched";
  return "while running on the device (" + stage + ")";
}

/// The limit that is broken now, if any, as a verdict and a message.
class Watch {
 public:
  Watch(const Limits& limits, const SamplingPlan& plan) : limits_(limits) {
    // The trial bounds every wait for the device itself; this catches a driver that never returns.
    constexpr double kSamplesAndChecks = 20;
    device_stage_seconds_ = 4 * limits.device_seconds + 10 * plan.max_seconds + kSamplesAndChecks;
  }

  void stage_began() { stage_start_ = Clock::now(); }

  bool broken(const ChildProcess& child, Outcome& outcome) {
    const int64_t resident = child.resident_bytes();
    if (!outcome.touched()) idle_bytes_ = resident;
    if (resident - idle_bytes_ > limits_.host_bytes) {
      outcome.verdict = Verdict::out_of_memory;
      outcome.message = "the worker held " + number(double(resident) / 1e9) +
                        " GB of host memory " + while_in(outcome.stage) + "; " +
                        number(double(limits_.host_bytes) / 1e9) + " GB are allowed";
      return true;
    }
    const double in_stage = seconds_since(stage_start_);
    double limit = limits_.total_seconds;
    if (outcome.stage == "compile")
      limit = limits_.compile_seconds;
    else if (outcome.touched())
      limit = device_stage_seconds_;
    if (in_stage > limit) return timed_out(outcome, limit);
    if (seconds_since(start_) > limits_.total_seconds) {
      return timed_out(outcome, limits_.total_seconds);
    }
    return false;
  }

 private:
  bool timed_out(Outcome& outcome, double limit) {
    outcome.verdict = outcome.touched() ? Verdict::timeout : Verdict::harness_error;
    outcome.message = "took longer than " + number(limit) + " s " + while_in(outcome.stage);
    return true;
  }

  const Limits& limits_;
  double device_stage_seconds_ = 0;
  int64_t idle_bytes_ = 0;
  Clock::time_point start_ = Clock::now(), stage_start_ = start_;
};

/// Takes one line from the worker.
void take_answer(const std::string& line, const EvaluateOptions& options, Watch& watch,
                 Outcome& outcome) {
  const size_t space = line.find(' ');
  const std::string kind = line.substr(0, space);
  const std::string text = space == std::string::npos ? "" : line.substr(space + 1);
  if (kind == "stage") {
    outcome.stage = text;
    watch.stage_began();
    if (options.on_stage) options.on_stage(text.c_str());
  } else if (kind == "result") {
    outcome.result = result_from_json(text);
  } else if (kind == "error") {
    outcome.error = worker::error_from_json(text);
  } else {
    throw Error(ErrorCode::kParse, "a worker answered '" + kind + "'; is it another version?");
  }
}

Outcome run_once(const std::string& program, const std::string& job,
                 const EvaluateOptions& options) {
  Outcome outcome;
  ChildProcess child(program, {"worker"}, job);
  Watch watch(options.limits, options.plan);
  const auto answered = [&] { return outcome.result || outcome.error; };
  const auto read = [&](std::chrono::milliseconds wait) {
    for (const std::string& line : child.read_answers(wait)) {
      take_answer(line, options, watch, outcome);
    }
  };
  try {
    while (!answered() && !child.answers_ended() && !child.poll().ended) {
      read(kPollInterval);
      if (!answered() && watch.broken(child, outcome)) {
        child.kill();
        return outcome;
      }
    }
    const Exit exit = child.finish(kExitGrace);
    read(std::chrono::milliseconds(0));  // What it wrote between our last look and its end.
    if (answered()) return outcome;
    outcome.verdict = outcome.touched() ? Verdict::crashed : Verdict::harness_error;
    outcome.message = "the worker " + std::string(exit.signal ? "was " : "") + describe(exit) +
                      " " + while_in(outcome.stage);
  } catch (const Error& e) {  // An answer that cannot be read: not the candidate's doing.
    outcome.verdict = Verdict::harness_error;
    outcome.message = e.what();
  }
  if (const std::string said = last_line(child.output()); !said.empty()) {
    outcome.message += "; its last words: " + said;
  }
  return outcome;
}

/// True for a failure that says the options are wrong.
bool blames_options(ErrorCode code) {
  return code == ErrorCode::kInvalidArgument || code == ErrorCode::kNotFound ||
         code == ErrorCode::kUnsupported || code == ErrorCode::kShape || code == ErrorCode::kIo ||
         code == ErrorCode::kParse;
}

/// What an exception of evaluate_in_process amounts to once the candidate was at work.
Verdict verdict_of(ErrorCode code) {
  switch (code) {
    case ErrorCode::kTimeout:
      return Verdict::timeout;
    case ErrorCode::kDeviceLost:
      return Verdict::device_lost;
    case ErrorCode::kOutOfMemory:
      return Verdict::out_of_memory;
    case ErrorCode::kCompile:
      return Verdict::compile_error;
    default:
      return Verdict::harness_error;
  }
}

/// Fills in what the worker could not tell any more; best effort, as the record is of a failure.
void identify_failed(Result& result, const std::string& candidate_file,
                     const EvaluateOptions& options) {
  result.candidate = candidate_file;
  result.version = version();
  result.settings = worker::settings_text(options);
  try {
    const Candidate candidate = load_candidate(candidate_file);
    result.candidate_hash = candidate.hash;
    result.task = candidate.task;
    const Task& task = find_task(candidate.task);
    const auto devices = vulkan::enumerate_devices();
    const auto& device = vulkan::choose_device(devices, options.device);
    const Task* const tasks[] = {&task};
    const Preset preset = worker::choose_preset(options.preset, tasks, options.overrides, device);
    const auto graph = build_graph(task, preset, options.overrides);
    worker::identify(result, task, *graph, preset, device, options);
  } catch (const Error&) {
    // What is known stands.
  }
}

}  // namespace

Result evaluate(const std::string& candidate_file, const EvaluateOptions& options) {
  const auto start = Clock::now();
  const std::string program = find_worker(options.worker);
  const std::string job = to_json(worker::Job{candidate_file, options, getpid()});

  Outcome outcome;
  // A failure before the candidate was touched is not its fault, and may be a passing one.
  constexpr int kAttempts = 2;
  for (int attempt = 1; attempt <= kAttempts; ++attempt) {
    outcome = run_once(program, job, options);
    if (outcome.error && !outcome.touched() && blames_options(outcome.error->code())) {
      throw *outcome.error;
    }
    const bool harness_failed = outcome.result
                                    ? outcome.result->verdict == Verdict::harness_error
                                    : outcome.error || outcome.verdict == Verdict::harness_error;
    if (outcome.touched() || !harness_failed) break;
  }
  if (!outcome.result) {
    Result failed;
    identify_failed(failed, candidate_file, options);
    failed.verdict = outcome.verdict;
    failed.message = outcome.message;
    if (outcome.error) {
      failed.verdict =
          outcome.touched() ? verdict_of(outcome.error->code()) : Verdict::harness_error;
      failed.message = std::string(outcome.error->what()) + " (" + while_in(outcome.stage) + ")";
    }
    outcome.result = std::move(failed);
  }
  outcome.result->wall_s = seconds_since(start);
  return *std::move(outcome.result);
}

}  // namespace kbench
