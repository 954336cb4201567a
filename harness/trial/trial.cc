#include "harness/trial/trial.h"

#include <chrono>
#include <cstdio>
#include <optional>

#include "harness/trial/candidate_program.h"
#include "harness/trial/checks.h"
#include "harness/trial/eager_run.h"
#include "harness/trial/kernels.h"
#include "harness/trial/memory.h"
#include "harness/trial/roles.h"
#include "harness/trial/sample.h"
#include "harness/trial/sampling.h"
#include "harness/trial/secret.h"
#include "kbench/error.h"

namespace kbench::trial {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

std::string number(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.3g", value);
  return text;
}

/// Whether a candidate's own memory fits beside the task's.
std::optional<Refusal> too_large(const vulkan::Device& device, const Graph& graph,
                                 const ResolvedCandidate& candidate, uint64_t scratch_bytes) {
  const uint64_t task = required_bytes(graph, device.snapshot());
  const uint64_t own = TrialMemory::candidate_bytes(candidate, scratch_bytes);
  const uint64_t available = device.available_bytes();
  if (task + own <= available) return std::nullopt;
  return Refusal{Verdict::out_of_memory, "its temporaries need " + gigabytes(own) +
                                             " beside the task's " + gigabytes(task) + "; " +
                                             device.snapshot().name + " has " +
                                             gigabytes(available) + " free"};
}

/// For what kbench itself runs on the device: generous, as software devices compile on first use.
constexpr double kHarnessSeconds = 300;

/// One trial from memory check to verdict. Every step returns whether to go on; when it returns
/// false the result's verdict and message say why.
class Trial {
 public:
  Trial(vulkan::Device& device, const Task& task, const Graph& graph,
        const ResolvedCandidate& candidate, const EvaluateOptions& options, Result& result)
      : device_(device),
        task_(task),
        graph_(graph),
        candidate_(candidate),
        options_(options),
        result_(result),
        secret_(options.seed),
        kernels_(device),
        program_(device, candidate) {}

  void run() {
    if (!task_fits() || !candidate_fits() || !baseline_right()) return;
    if (!build() || !candidate_fits()) return;  // Operators' scratch is known once they are built.
    allocate();
    if (!set_up() || !warm_up() || !sample()) return;
    report();
  }

 private:
  void stage(const char* name) const {
    if (options_.on_stage) options_.on_stage(name);
  }
  bool refuse(Verdict verdict, std::string message) {
    result_.verdict = verdict;
    result_.message = std::move(message);
    return false;
  }
  bool refuse(Refusal refusal) {
    const bool precision =
        refusal.verdict == Verdict::low_precision || refusal.verdict == Verdict::wrong_values;
    if (precision && !program_.float16_kernel().empty()) {
      refusal.message += "; kernel " + program_.float16_kernel() + " computes in float16";
    }
    return refuse(refusal.verdict, std::move(refusal.message));
  }

  bool task_fits();
  bool baseline_right();
  bool build();
  bool candidate_fits();
  void allocate();
  bool set_up();
  bool warm_up();
  bool sample();
  void report();

  std::vector<Watched> watched(bool with_inputs) const;
  CheckRule rule() const;
  /// Runs what was recorded with the candidate in it: a timeout or a lost device is its verdict.
  void submit_candidate(vulkan::Commands& commands, double seconds, const std::string& what);

  vulkan::Device& device_;
  const Task& task_;
  const Graph& graph_;
  const ResolvedCandidate& candidate_;
  const EvaluateOptions& options_;
  Result& result_;
  SecretStream secret_;
  Kernels kernels_;
  CandidateProgram program_;
  std::optional<eager::EagerGraph> baseline_;
  std::optional<TrialMemory> memory_;
  std::optional<Stage> stage_;
  std::optional<vulkan::Commands> commands_;
  std::optional<Checks> checks_;
  double warm_up_seconds_ = 0;
  double max_error_ = 0;
};

bool Trial::task_fits() {
  const uint64_t needed = required_bytes(graph_, device_.snapshot());
  const uint64_t available = device_.available_bytes();
  if (needed <= available) return true;
  return refuse(Verdict::does_not_fit, "the task needs " + gigabytes(needed) +
                                           " of device memory, " + device_.snapshot().name +
                                           " has " + gigabytes(available) +
                                           " free: choose a smaller preset");
}

bool Trial::baseline_right() {
  // At the sizes of the smoke preset the reference takes milliseconds.
  const bool small = result_.preset == name_of(Preset::smoke);
  const auto smoke = small ? nullptr : build_graph(task_, Preset::smoke);
  const std::string fault = baseline_fault(device_, task_, small ? graph_ : *smoke, secret_.next());
  if (fault.empty()) return true;
  return refuse(Verdict::harness_error, "the baseline is wrong on this device: " + fault);
}

bool Trial::build() {
  stage("compile");
  const auto start = Clock::now();
  const auto baseline = eager::EagerGraph::pipelines(graph_, eager::traits_of(device_.snapshot()));
  auto refusal = program_.build(options_.limits.compile_seconds, baseline, result_.diagnostics);
  result_.compile_s = seconds_since(start);
  return refusal ? refuse(*std::move(refusal)) : true;
}

bool Trial::candidate_fits() {
  auto refusal = too_large(device_, graph_, candidate_, program_.scratch_bytes());
  return refusal ? refuse(*std::move(refusal)) : true;
}

void Trial::allocate() {
  stage("warm-up");
  baseline_.emplace(device_, graph_);
  memory_.emplace(device_, graph_, baseline_->arena_bytes());
  memory_->add_candidate(device_, candidate_, program_.scratch_bytes());
  stage_.emplace(Stage{device_, kernels_, task_.id, graph_, candidate_, *memory_, *baseline_,
                       program_, secret_});
  commands_.emplace(device_, Sample::kTimestamps);
}

std::vector<Watched> Trial::watched(bool with_inputs) const {
  std::vector<Watched> all;
  const auto add = [&](Graph::Kind kind, const char* word, bool every_sample) {
    for (const int id : graph_.values_of(kind)) {
      const Graph::ValueInfo& value = graph_.values()[static_cast<size_t>(id)];
      all.push_back({word + value.name, memory_->given(id).tensor(), every_sample});
    }
  };
  add(Graph::Kind::parameter, "parameter ", false);
  add(Graph::Kind::constant, "constant ", false);
  if (!with_inputs) return all;
  add(Graph::Kind::input, "input ", true);
  for (size_t i = 0; i < candidate_.buffers.size(); ++i) {
    const BufferSlot& slot = candidate_.buffers[i];
    if (slot.kind == BufferSlot::Kind::temporary && slot.setup) {
      all.push_back({"setup's result " + slot.name, memory_->temporary(i).tensor(), false});
    }
  }
  return all;
}

CheckRule Trial::rule() const {
  if (options_.tolerance == ToleranceRule::kbench) {
    return {task_.tolerance.relative, ToleranceRule::kbench};
  }
  return {result_.preset == name_of(Preset::v0) ? 1e-2 : 1e-4, ToleranceRule::kernelbench};
}

void Trial::submit_candidate(vulkan::Commands& commands, double seconds, const std::string& what) {
  try {
    commands.submit_and_wait(seconds);
  } catch (const Error& e) {
    if (e.code() == ErrorCode::kTimeout) {
      refuse(Verdict::timeout, what + " took longer than " + number(seconds) + " s on the device");
    } else if (e.code() == ErrorCode::kDeviceLost) {
      refuse(Verdict::device_lost, "the device was lost during " + what);
    }
    throw;
  }
}

bool Trial::set_up() {
  // Parameters and constants stay for the whole trial.
  commands_->begin();
  for (const int id : graph_.values_of(Graph::Kind::parameter)) {
    draw_given(*stage_, *commands_, id);
  }
  for (const int id : graph_.values_of(Graph::Kind::constant)) {
    const Tensor& data = graph_.values()[static_cast<size_t>(id)].data;
    const vulkan::Region to = memory_->given(id).tensor();
    device_.upload(*to.buffer, to.offset, {data.raw(), static_cast<size_t>(data.bytes())});
  }
  commands_->submit_and_wait(kHarnessSeconds);
  if (!program_.has_setup()) return true;

  Checks checks(device_, kernels_, *memory_, graph_, watched(false), rule(), secret_);
  const CandidateProgram::Memory memory = candidate_memory(*stage_, 0);
  constexpr int kRuns = 2;  // The first warms up.
  for (int run = 0; run < kRuns; ++run) {
    commands_->begin();
    checks.record_redzones(*commands_);
    fill_temporaries(*stage_, *commands_, true, 1);
    checks.record_before(*commands_, false);
    commands_->submit_and_wait(kHarnessSeconds);

    commands_->begin();
    commands_->timestamp(0);
    program_.record_setup(*commands_, memory);
    commands_->timestamp(1);
    submit_candidate(*commands_, options_.limits.device_seconds, "setup");
    result_.setup_ms = commands_->elapsed_ns(0, 1) * 1e-6;

    commands_->begin();
    checks.record_after(*commands_, {});
    commands_->submit_and_wait(kHarnessSeconds);
    if (auto refusal = checks.verdict({})) {
      refusal->message = "in setup: " + refusal->message;
      return refuse(*std::move(refusal));
    }
  }
  return true;
}

bool Trial::warm_up() {
  checks_.emplace(device_, kernels_, *memory_, graph_, watched(true), rule(), secret_);
  const Sample sample(*stage_, {}, nullptr);
  const auto start = Clock::now();

  // In three submissions, so that what hangs or breaks is known.
  commands_->begin();
  checks_->record_redzones(*commands_);
  sample.record_preparation(*commands_);
  checks_->record_before(*commands_, false);
  commands_->barrier();
  sample.record_baseline(*commands_, 0);
  sample.record_hiding(*commands_);
  commands_->submit_and_wait(kHarnessSeconds);

  commands_->begin();
  sample.record_candidate(*commands_, 0);
  submit_candidate(*commands_, options_.limits.device_seconds, "one run of its dispatch list");

  stage("check");
  commands_->begin();
  sample.record_revealing(*commands_);
  const std::vector<OutputCheck> outputs = sample.outputs();
  checks_->record_after(*commands_, outputs);
  commands_->submit_and_wait(kHarnessSeconds);
  warm_up_seconds_ = seconds_since(start);
  auto refusal = checks_->verdict(outputs);
  max_error_ = checks_->max_error();
  return refusal ? refuse(*std::move(refusal)) : true;
}

bool Trial::sample() {
  stage("sample");
  std::optional<double> recorded_ns;
  if (options_.recorded) recorded_ns = 1e6 * options_.recorded->time_of(task_, result_.variables);
  Sampling sampling(resolve_plan(options_.plan, device_.snapshot().software()), recorded_ns);
  RoleSchedule roles;
  constexpr double kSlowerThanWarmUp = 10;
  const double limit = options_.limits.device_seconds + kSlowerThanWarmUp * warm_up_seconds_;
  const auto start = Clock::now();
  while (!sampling.done(seconds_since(start))) {
    const Sample sample(*stage_, roles.next(secret_), &*checks_);
    commands_->begin();
    sample.record_all(*commands_, *checks_);
    submit_candidate(*commands_, limit, "sample " + std::to_string(sampling.count() + 1));
    auto refusal = checks_->verdict(sample.outputs());
    max_error_ = std::max(max_error_, checks_->max_error());
    result_.max_error = max_error_;
    if (refusal) {
      refusal->message +=
          " (in sample " + std::to_string(sampling.count() + 1) + "; the warm-up had been right)";
      return refuse(*std::move(refusal));
    }
    sampling.add(sample.times(*commands_));
  }
  result_.samples = sampling.count();
  result_.speedup = sampling.speedup();
  result_.candidate_ms = sampling.candidate_ms();
  result_.baseline_ms = sampling.baseline_ms();
  return true;
}

void Trial::report() {
  const double seconds = result_.candidate_ms * 1e-3;
  result_.gbytes_per_s = graph_.least_bytes() / seconds * 1e-9;
  result_.tflops = graph_.flops() / seconds * 1e-12;
  result_.max_error = max_error_;
  result_.verdict = Verdict::passed;
  result_.message.clear();
}

}  // namespace

uint64_t required_bytes(const Graph& graph, const vulkan::DeviceSnapshot& snapshot) {
  const uint64_t arena = eager::EagerGraph::arena_bytes(graph, eager::traits_of(snapshot));
  return TrialMemory::task_bytes(graph, arena, vulkan::plan_device(snapshot).flush_bytes);
}

void run_trial(vulkan::Device& device, const Task& task, const Graph& graph,
               const ResolvedCandidate& candidate, const EvaluateOptions& options, Result& result) {
  Trial(device, task, graph, candidate, options, result).run();
}

Verdict check_candidate(vulkan::Device& device, const Graph& graph,
                        const ResolvedCandidate& candidate, Result& result) {
  CandidateProgram program(device, candidate);
  const auto judge = [&](const std::optional<Refusal>& refusal) {
    result.verdict = refusal ? refusal->verdict : Verdict::passed;
    result.message = refusal ? refusal->message : "";
    return !refusal;
  };
  if (!judge(too_large(device, graph, candidate, 0))) return result.verdict;
  const auto start = Clock::now();
  const auto refusal = program.build(Limits{}.compile_seconds, {}, result.diagnostics);
  result.compile_s = seconds_since(start);
  if (judge(refusal)) judge(too_large(device, graph, candidate, program.scratch_bytes()));
  return result.verdict;
}

}  // namespace kbench::trial
