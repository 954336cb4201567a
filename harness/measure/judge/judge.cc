#include "harness/measure/judge/judge.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdio>
#include <exception>
#include <future>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "harness/measure/judge/baseline_process.h"
#include "harness/measure/judge/candidate_build.h"
#include "harness/measure/judge/further_sizes.h"
#include "harness/measure/judge/requests.h"
#include "harness/measure/judge/runner_process.h"
#include "harness/measure/judge/runner_supply.h"
#include "harness/measure/judge/slab.h"
#include "harness/measure/judge/trial.h"
#include "harness/measure/judge_protocol/protocol.h"
#include "harness/measure/judge_protocol/tries.h"
#include "harness/measure/process/deadline.h"
#include "harness/measure/process/host_lock.h"
#include "harness/measure/runner/kept_pipelines.h"
#include "harness/measure/trial/clock_watch.h"
#include "harness/measure/trial/experiment.h"
#include "harness/measure/trial/kernels.h"
#include "harness/measure/vulkan/device.h"
#include "kbench/error.h"
#include "kbench/result.h"
#include "kbench/task_file.h"
#include "libkbench/base/trace.h"

namespace kbench::judge {
namespace {

void answer(const std::string& kind, const std::string& text) {
  const std::string line = kind + " " + text + "\n";
  for (size_t written = 0; written < line.size();) {
    const ssize_t n = write(kAnswerDescriptor, line.data() + written, line.size() - written);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) _exit(3);  // The client has closed its end.
    written += static_cast<size_t>(n);
  }
}

/// In a thread of its own; if none can be started, when the result is waited for.
constexpr auto kSoon = std::launch::async | std::launch::deferred;

/// The device does not respond after a candidate has run: this process cannot judge any more.
struct DeviceLost {};

/// Releases the device's lock once no work of a trial is left on the device.
struct LockRelease {
  process::HostLock& lock;
  ~LockRelease() { lock.release(); }
};

class Judge {
 public:
  Judge(const vulkan::OpenOptions& open, std::shared_ptr<runner::PythonServer> python);

  const vulkan::DeviceSnapshot& snapshot() const { return device_->snapshot(); }
  /// Between requests: gets ready for the next.
  void rest(const EvaluateRequest& last) { supply_.enter(Phase::resting, last); }
  /// From now on these tasks of one's own are known, and no others.
  void know(const std::vector<std::string>& task_files) {
    supply_.pause();  // Its thread looks tasks up, too.
    set_task_files(task_files);
  }
  /// The result of a cancelled request means nothing. `device_gone`: this process can judge no
  /// more.
  Result judge(const EvaluateRequest& request, const Requests::Received& received,
               bool& device_gone);

 private:
  struct Asked {
    bool at_other_sizes;  ///< by the judge itself, in what is left of `total`
    std::stop_token cancelled;
    std::stop_token others;    ///< TrialContext::others, of the first attempt
    process::Deadline& total;  ///< of all trials of the client's request
  };
  Result judge_as_asked(const EvaluateRequest& request, const Asked& asked, bool& device_gone);
  TrialEnd run_trial(const EvaluateRequest& request, const Asked& asked,
                     const std::stop_token& others, Result& result);
  void leave(std::unique_ptr<CandidateBuild> build, const EvaluateRequest& request,
             const Asked& asked, const Result& result, const TrialEnd& end);
  TrialContext trial_context(const Asked& asked, const std::stop_token& others);
  void prove_device();

  std::string subject() const;
  void read_verified();
  void prepare_kernels();

  RunnerProcess::Options runners_;
  VerifiedNotes verified_;  ///< read at the first task
  bool verified_read_ = false;
  std::shared_future<std::string> build_hash_ = std::async(kSoon, build_identity);
  /// Opens the device while the first runners start, which takes as long.
  std::future<std::unique_ptr<vulkan::Device>> opening_;
  std::unique_ptr<vulkan::Device> device_;
  std::optional<SlabStore> store_;
  RunnerSupply supply_;
  Opponents opponents_;
  HandOver hand_over_;
  std::optional<Roofline> roofline_;
  std::optional<process::HostLock> lock_;  ///< held while a candidate is on the device
  std::optional<Workspace> workspace_;
  std::optional<trial::Kernels> kernels_;
  std::optional<trial::ClockWatch> clock_;
  /// Makes the pipelines that every trial needs, while the client prepares its request and memory
  /// is allocated.
  std::future<void> kernels_prepared_;
  FurtherSizes further_sizes_{supply_};
};

RunnerProcess::Options with_prototype(RunnerProcess::Options options) {
  options.prototype = RunnerProcess::make_prototype(options);
  return options;
}

Judge::Judge(const vulkan::OpenOptions& open, std::shared_ptr<runner::PythonServer> python)
    : runners_(with_prototype({.program = "/proc/self/exe",
                               .device = open.selector,
                               .validate = open.validate,
                               .host_bytes = Limits{}.host_bytes,
                               .python = std::move(python)})),
      opening_(std::async(kSoon, [&open] { return vulkan::Device::open(open); })),
      supply_(runners_, verified_) {
  device_ = opening_.get();
  store_.emplace(*device_);
  supply_.use(*device_, *store_, RunnerSupply::rules_of(device_->snapshot()));
  runner::share_pipelines(*device_, runner::pipeline_files(), runner::PipelineFiles::Use::write);
  lock_.emplace(process::device_lock_name(vulkan::to_string(device_->snapshot().device_uuid)));
  workspace_.emplace(*device_);
  kernels_.emplace(*device_);
  clock_.emplace(*device_);
  kernels_prepared_ = std::async(kSoon, [this] { prepare_kernels(); });
}

/// What a note of a verified baseline holds for: build hash, device UUID, device name, driver.
/// Empty if the build cannot be hashed: nothing is kept then.
std::string Judge::subject() const {
  const std::string& build = build_hash_.get();
  const vulkan::DeviceSnapshot& device = device_->snapshot();
  return build.empty() ? ""
                       : build + ' ' + vulkan::to_string(device.device_uuid) + ' ' + device.name +
                             ' ' + device.driver;
}

void Judge::read_verified() {
  if (std::exchange(verified_read_, true)) return;
  const std::string held_for = subject();
  if (held_for.empty()) return;
  verified_ = VerifiedNotes(process::OwnFolder(process::cache_folder()), held_for);
}

void Judge::prepare_kernels() {
  kernels_->prepare();
  runner::pipeline_files().drop_old();
}

/// After a run that hung, crashed or lost the device: throws DeviceLost unless the device still
/// executes a simple command.
void Judge::prove_device() {
  constexpr double kSeconds = 30;
  try {
    vulkan::Buffer word = device_->allocate(256);
    vulkan::Commands commands(*device_);
    commands.begin();
    commands.fill(word, 0, word.size(), 1);
    commands.submit_and_wait(kSeconds);
  } catch (const Error&) {
    throw DeviceLost();
  }
}

TrialContext Judge::trial_context(const Asked& asked, const std::stop_token& others) {
  return {.device = *device_,
          .workspace = *workspace_,
          .kernels = *kernels_,
          .kernels_prepared = kernels_prepared_,
          .store = *store_,
          .supply = supply_,
          .pausable = *runners_.pausable,
          .lock = *lock_,
          .cancelled = asked.cancelled,
          .clock = *clock_,
          .opponents = opponents_,
          .hand_over = hand_over_,
          .roofline = roofline_,
          .total = asked.total,
          .others = others};
}

/// Whether the runner may serve another candidate of the same author. After all else (a crash, a
/// write outside its buffers, a limit passed) it ends.
bool ended_cleanly(const Result& result, const TrialEnd& end, bool ran) {
  if (end.device_in_doubt || end.infrastructure_fault || end.times_in_doubt) return false;
  // What the runner overwrites before the next one; a compiler's spilled registers come on top.
  constexpr uint64_t kMostStackBytes = trial::kStackBytes * 3 / 4;
  if (end.stack_bytes > kMostStackBytes) return false;
  const Verdict verdict = result.verdict;
  if (verdict == Verdict::invalid_candidate || verdict == Verdict::compile_error ||
      verdict == Verdict::unsupported) {
    return !ran;
  }
  const bool whole =
      verdict == Verdict::passed || verdict == Verdict::compiles || is_about_values(verdict);
  // CUDA's driver in it was not made to be reused.
  return whole && end.launched_by != runner::RunnerKind::cuda;
}

/// Tells the client the stages of a trial and, once it is known, of which task it is.
std::function<void(const char*)> stage_teller(const Result& result) {
  return [&result, named = false](const char* name) mutable {
    if (!named && !result.task_name.empty()) {
      named = true;
      answer("named", to_json(result));
    }
    answer("stage", name);
  };
}

/// One trial. Throws RunnerFailure for what is not the candidate's fault, StillCompiling where
/// `others` lets it, DeviceLost.
TrialEnd Judge::run_trial(const EvaluateRequest& request, const Asked& asked,
                          const std::stop_token& others, Result& result) {
  const auto began = std::chrono::steady_clock::now();
  auto build = asked.at_other_sizes ? further_sizes_.build(request) : supply_.take(request);
  build->runner().end_when(asked.cancelled);
  TrialEnd end;
  try {
    read_verified();
    const bool by_values = asked.at_other_sizes && request.values_only;
    if (!request.question.check && !by_values) supply_.ready_baseline();
    if (!by_values) supply_.enter(Phase::preparing, request);
    std::function<void(const Progress&)> on_progress;
    if (request.progress) on_progress = [](const Progress& p) { answer("progress", to_json(p)); };
    result.stage_s["open"] = process::seconds_since(began);
    end = judge::run_trial(trial_context(asked, others), *build, stage_teller(result), on_progress,
                           result);
  } catch (StillCompiling& still) {
    still.begun = supply_.may_park() && !asked.cancelled.stop_requested();
    still.begun ? supply_.park(std::move(build)) : supply_.put_back(std::move(build), false);
    throw;
  } catch (const Error& e) {
    if (e.code() != ErrorCode::kDeviceLost && e.code() != ErrorCode::kTimeout) throw;
    result.verdict = Verdict::device_lost;
    result.message = std::string("the device was lost under the judge: ") + e.what();
    throw DeviceLost();
  }
  const auto ended = std::chrono::steady_clock::now();
  if (end.findings.inspection) answer("inspection", to_json(*end.findings.inspection));
  if (end.findings.times) answer("profile", to_json(*end.findings.times));
  result.runner_served = build->runner().served();
  leave(std::move(build), request, asked, result, end);
  result.stage_s["finish"] = process::seconds_since(ended);
  return end;
}

/// After its trial a runner ends, is asked again at other sizes, or serves its author's next one.
void Judge::leave(std::unique_ptr<CandidateBuild> build, const EvaluateRequest& request,
                  const Asked& asked, const Result& result, const TrialEnd& end) {
  if (!asked.at_other_sizes) {
    further_sizes_.set_candidate(build->read_source(), end.launched_by);
  }
  if (end.device_in_doubt) {
    build->release().reset();  // A hung run ends with its process.
    return prove_device();
  }
  const bool again = asked.at_other_sizes ? result.correct() && further_sizes_.keeps(request)
                                          : FurtherSizes::wanted(request, result);
  const bool clean = ended_cleanly(result, end, build->runner().ran());
  if (again && build->can_be_built_again()) {
    return further_sizes_.keep(std::move(build), clean);
  }
  supply_.put_back(std::move(build), clean);
}

/// A failure that is not the candidate's (a runner that does not start or is killed from outside, a
/// baseline that fails, a processor that slept while the judge's clock ran, no memory beside what
/// is held ahead) is tried again. Throws StillCompiling where the request lets it.
Result Judge::judge_as_asked(const EvaluateRequest& request, const Asked& asked,
                             bool& device_gone) {
  Result result;
  double queued_s = 0, in_vain_s = 0;
  std::string in_vain;  // Why the first attempt was thrown away.
  for (int attempt = 1; attempt <= kTriesOfATrial; ++attempt) {
    const auto began = std::chrono::steady_clock::now();
    if (attempt > 1) {
      lock_->release();
      in_vain = std::string(name_of(result.verdict)) + ": " + result.message;
    }
    result = Result();
    if (!asked.at_other_sizes) {
      asked.total = process::Deadline(request.question.limits.total_seconds);
    }
    trial::describe_device(result, device_->snapshot(), request.question);
    TrialEnd end;
    try {  // What is tried again is waited for.
      end = run_trial(request, asked, attempt == 1 ? asked.others : std::stop_token(), result);
    } catch (const RunnerFailure& failure) {
      result.verdict = Verdict::harness_error;
      result.message = failure.message;
      end.infrastructure_fault = true;
      supply_.drop_baseline();
    } catch (const DeviceLost&) {
      device_gone = true;
      break;
    }
    const double waited_s = std::exchange(result.stage_s[kQueueStage], 0);
    queued_s += waited_s;
    if (end.baseline_failed) {
      supply_.drop_baseline();
      opponents_.drop();
    }
    const bool again = end.baseline_failed || end.infrastructure_fault || end.times_in_doubt;
    if (asked.cancelled.stop_requested() || !(again || end.lacked_memory)) break;
    if (attempt < kTriesOfATrial) in_vain_s += process::seconds_since(began) - waited_s;
    if (end.lacked_memory && attempt < kTriesOfATrial) {
      opponents_.drop();
      supply_.stand_alone(true);
    }
  }
  supply_.stand_alone(false);
  result.stage_s[kQueueStage] = queued_s;
  if (!in_vain.empty()) {
    result.stage_s["in_vain"] = in_vain_s;
    result.diagnostics.push_back({"note", "", 0, 0, "judged twice; the first time " + in_vain});
  }
  return result;
}

Result Judge::judge(const EvaluateRequest& request, const Requests::Received& received,
                    bool& device_gone) {
  const std::stop_token& cancelled = received.cancelled;
  const auto start = std::chrono::steady_clock::now();
  const trace::Span span(request.question.candidate.path);
  const LockRelease release_lock{*lock_};
  further_sizes_.retire();  // Of a request that ended by an error.
  process::Deadline total(request.question.limits.total_seconds);
  Result result = judge_as_asked(request, {false, cancelled, received.others, total}, device_gone);
  const auto ended = [&] { return device_gone || cancelled.stop_requested(); };
  const auto judge_there = [&](const EvaluateRequest& there) {
    return judge_as_asked(there, {/*at_other_sizes=*/true, cancelled, {}, total}, device_gone);
  };
  if (!ended()) further_sizes_.look(request, judge_there, ended, total, result);
  const auto finishing = std::chrono::steady_clock::now();
  further_sizes_.retire();
  const std::vector<std::string> said = device_->take_validation_messages();
  if (!said.empty()) {
    result.verdict = Verdict::harness_error;
    result.message = "the validation layer says of the judge: " + said.front();
  }
  result.stage_s["finish"] += process::seconds_since(finishing);
  result.wall_s = process::seconds_since(start) - result.stage_s[kQueueStage];
  return result;
}

[[noreturn]] void serve(const vulkan::OpenOptions& open) {
  constexpr std::chrono::milliseconds kMoment(5);
  constexpr int kDeviceGone = 4;
  trace::join("judge");
  const auto start = trace::Clock::now();
  auto python = std::make_shared<runner::PythonServer>();  // While there is one thread.
  Requests requests;
  Judge judge(open, std::move(python));
  trace::add("open the device", start, trace::Clock::now());
  answer("hello", to_json(judge.snapshot()));
  for (;;) {
    const Requests::Received received = requests.next();
    try {
      bool device_gone = false;
      const EvaluateRequest request = request_from_json(received.line);
      judge.know(request.task_files);
      const Result result = judge.judge(request, received, device_gone);
      // After a lost device tearing down may hang, so the process exits; its runners end with it.
      const bool cancelled = received.cancelled.stop_requested();
      answer(cancelled ? "cancelled" : "result", cancelled ? "" : to_json(result));
      if (device_gone) _exit(kDeviceGone);
      if (!requests.come_within(kMoment)) judge.rest(request);
    } catch (const StillCompiling& still) {
      answer("later", still.begun ? "begun" : "");
    } catch (const Error& e) {
      answer("error", to_json(e));
    }
  }
}

}  // namespace

int run_judge(int argc, char** argv) {
  if (fcntl(kAnswerDescriptor, F_GETFD) < 0 || argc < 1) {
    std::fputs("kbench: 'judge' is for kbench's own use; see kbench --help\n", stderr);
    return 2;
  }
  signal(SIGPIPE, SIG_IGN);
  const rlimit no_core = {0, 0};
  setrlimit(RLIMIT_CORE, &no_core);
  // No other process may read its memory, which holds the truth and the secret keys.
  prctl(PR_SET_DUMPABLE, 0);
  try {
    vulkan::OpenOptions open;
    open.selector = argv[0];
    open.validate = argc > 1 && std::string(argv[1]) == "validate";
    serve(open);
  } catch (const Error& e) {
    answer("error", to_json(e));
  } catch (const RunnerFailure& failure) {
    answer("error", to_json(Error(failure.code, failure.message)));
  } catch (const std::exception& e) {
    answer("error", to_json(Error(ErrorCode::kInternal, e.what())));
  }
  _exit(1);
}

}  // namespace kbench::judge
