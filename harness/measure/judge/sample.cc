#include "harness/measure/judge/sample.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <numeric>
#include <span>

#include "harness/measure/judge/opponent.h"
#include "harness/measure/trial/device_draw.h"
#include "kbench/random.h"

namespace kbench::judge {
namespace {

using Clock = std::chrono::steady_clock;

/// A tensor of this size is in no cache when it is written, whether it was filled before or not.
constexpr uint64_t kBeyondCaches = uint64_t{1} << 30;
constexpr uint32_t kFirstLimit = 1000;  ///< integers, before any truth is known

/// The amplitude of uniform values with the RMS of a truth; 1 if the RMS is extreme.
float fill_scale(double rms) {
  constexpr double kSmallest = 1e-30, kLargest = 1e30;
  return rms > kSmallest && rms < kLargest ? static_cast<float>(rms * std::sqrt(3.0)) : 1.0f;
}

uint32_t fill_limit(uint32_t largest) {
  constexpr uint32_t kMost = std::numeric_limits<uint32_t>::max() / 2;
  return std::max(2u, 2 * std::min(largest, kMost - 1) + 1);
}

}  // namespace

Sampler::Sampler(const SampleParts& parts)
    : parts_(parts), commands_(parts.commands), tensors_(parts.task_memory.graph()) {
  const Graph& graph = parts.task_memory.graph();
  for (size_t i = 0; i < graph.outputs().size(); ++i) {
    trial::Fill fill;
    fill.dtype = graph.stored_type(graph.outputs()[i]).dtype;
    fill.limit = kFirstLimit;
    outputs_.push_back(
        {parts.task_memory.outputs().tensor(i), parts.task_memory.truth().tensor(i), fill});
  }
}

/// Draws the value for the candidate and, in a task of halves, a second time for the baseline,
/// which computes the truth: floats as float32 of the same rounded values, integers and masks
/// unchanged.
void Sampler::draw(int value, uint64_t seed, const vulkan::Region& to) {
  const Graph& graph = parts_.task_memory.graph();
  const Graph::ValueInfo& info = graph.value(value);
  const DrawKey key{seed, parts_.task_memory.task().id.draw_word(), info.name};
  const DType stored = graph.stored(info.type).dtype;
  const vulkan::Region wide = parts_.task_memory.wide(value);
  if (!is_half(stored)) {
    trial::draw_tensor(parts_.device, commands_, info.distribution, key, info.type, to);
    if (!is_half(graph.dtype())) return;
    trial::draw_tensor(parts_.device, commands_, info.distribution, key, info.type, wide);
    commands_.barrier();
    return;
  }
  trial::draw_halves(parts_.device, commands_, parts_.kernels, info.distribution, key, info.type,
                     {stored, wide, to});
}

void Sampler::draw_task(bool inputs_too) {
  commands_.begin();
  for (const auto kind : {Graph::Kind::parameter, Graph::Kind::input}) {
    if (kind == Graph::Kind::input && !inputs_too) continue;
    for (const int id : parts_.task_memory.graph().values_of(kind)) {
      draw(id, parts_.secret.of_draw(0), parts_.task_memory.given(id));
    }
  }
  commands_.submit_and_wait(kHarnessSeconds);
}

void Sampler::upload_data() {
  for (size_t i = 0; i < parts_.memory.wanted.size(); ++i) {
    const std::vector<uint32_t>& words = parts_.memory.wanted[i].words;
    if (words.empty()) continue;
    const vulkan::Region to = parts_.memory.slab.tensor(i);
    parts_.device.upload(*to.buffer, to.offset, std::as_bytes(std::span(words)));
  }
}

void Sampler::fill_temporaries(vulkan::Commands& commands, bool of_setup, trial::Contents contents,
                               float scale) {
  if (parts_.module) return;  // It has none here.
  for (size_t i = 0; i < parts_.memory.wanted.size(); ++i) {
    const runner::Wanted& wanted = parts_.memory.wanted[i];
    if (wanted.setup != of_setup || !wanted.words.empty()) continue;
    parts_.kernels.fill(commands, parts_.memory.slab.tensor(i),
                        {wanted.dtype, parts_.secret.next(), scale, kFirstLimit, contents});
  }
}

void Sampler::fill_temporaries(vulkan::Commands& commands) {
  fill_temporaries(commands, false, trial::temporaries_contents(sample_),
                   outputs_.empty() ? 1.0f : outputs_.front().fill.scale);
}

/// New values over what a candidate has to write.
void Sampler::fill_outputs(vulkan::Commands& commands) {
  for (OutputCheck& output : outputs_) fill_output(commands, output);
}

void Sampler::fill_output(vulkan::Commands& commands, OutputCheck& output) {
  output.fill.key = parts_.secret.next();
  output.fill.contents =
      calls_ == 1 ? trial::outputs_contents(sample_) : trial::Contents::plausible;
  parts_.kernels.fill(commands, output.got, output.fill);
}

/// Values like those of the output's last truth.
void Sampler::fit_fill(const Checks& checks, size_t i, OutputCheck& output) {
  output.fill.scale = fill_scale(checks.truth_rms(i));
  output.fill.limit = fill_limit(checks.truth_largest(i));
}

void Sampler::prepare(Checks& checks, bool first) {
  ++sample_;
  commands_.begin();
  checks.record_redzones(commands_);
  for (size_t i = 0; i < outputs_.size(); ++i) {
    OutputCheck& output = outputs_[i];
    if (!first) fit_fill(checks, i, output);
    output.fill.contents = trial::outputs_contents(sample_);
    // Both outputs start in the same state. The old truth was of other inputs, so elements that the
    // baseline did not write would be found wrong.
    if (first || output.truth.size < kBeyondCaches) {
      output.fill.key = parts_.secret.next();
      parts_.kernels.fill(commands_, output.truth, output.fill);
    }
    fill_output(commands_, output);
  }
  fill_temporaries(commands_);
  record_new_inputs(checks, !first);
  commands_.submit_and_wait(kHarnessSeconds);
}

void Sampler::set_opponent(OpponentRunner* opponent, bool own_clock) {
  opponent_ = opponent;
  opponent_side_.own_clock = own_clock;
  opponent_side_.repeats = opponent->python() && !own_clock;
  opponent_side_.hand_over_ns = opponent_side_.repeats ? candidate_side_.hand_over_ns : 0;
}

BracketedRun Sampler::run(RunnerProcess& runner, const runner::Run& request, bool& captured,
                          double more_seconds) {
  const process::PausedScope still(parts_.pausable);
  const auto start = Clock::now();
  runner.send(request);
  runner::Refused refused;
  const auto ran =
      runner.receive<runner::Ran>(request.seconds + more_seconds + kAnswerSeconds, refused);
  const std::chrono::duration<double, std::nano> bracket = Clock::now() - start;
  if (!ran) throw refused;
  captured = ran->captured;
  notes_.insert(notes_.end(), ran->notes.begin(), ran->notes.end());
  build_s_ += ran->build_s;
  return {ran->flush_ns, request.own_clock ? ran->own_ns : ran->run_ns, bracket.count(),
          ran->other_ns, request.calls};
}

/// Takes a hand-over off from the run, or half of the run if that is shorter.
BracketedRun Sampler::run_side(Side& side, RunnerProcess& runner, runner::Run request,
                               double more_seconds) {
  request.calls = side.repeats ? calls_ : 1;
  request.capture = capture_;
  request.own_clock = side.own_clock;
  BracketedRun taken = run(runner, request, side.captured, more_seconds);
  taken.net_ns = taken.run_ns - side.hand_over_ns;
  const double off = std::min(side.hand_over_ns, taken.run_ns / 2);
  taken.run_ns -= off;
  taken.other_ns += off;
  return side.run = taken;
}

BracketedRun Sampler::run_candidate(const runner::Pass& pass, double seconds) {
  at_candidate_ = true;
  // On a software device the candidate's shaders are its process's own threads: while the judge
  // looks at the memory they share, none of them may run.
  const bool held = parts_.device.snapshot().software();
  if (held) parts_.candidate.release();
  parts_.candidate.has_run();
  const BracketedRun taken =
      run_side(candidate_side_, parts_.candidate,
               {.setup = pass.setup, .exact = pass.exact, .seconds = seconds},
               std::exchange(parts_.build_seconds, 0));
  if (held) parts_.candidate.hold();
  at_candidate_ = false;
  return taken;
}

BracketedRun Sampler::run_opponent(double seconds) {
  try {
    return run_side(opponent_side_, opponent_->runner(), {.seconds = seconds});
  } catch (const runner::Refused& refused) {  // It is not the candidate's fault.
    throw RunnerFailure{RunnerFailure::Kind::ended, code_of(refused),
                        opponent_->name() + " cannot run the task: " + refused.message};
  }
}

BracketedRun Sampler::hand_over(double seconds) {
  at_candidate_ = true;
  bool captured = false;
  const BracketedRun taken = run(parts_.candidate, {.empty = true, .seconds = seconds}, captured);
  at_candidate_ = false;
  return taken;
}

std::optional<Finding> Sampler::run_candidate_checked(Checks& checks, const runner::Pass& pass,
                                                      double seconds) {
  run_candidate(pass, seconds);
  return guards(checks);
}

std::optional<Finding> Sampler::guards(Checks& checks) {
  commands_.begin();
  checks.record_guards(commands_);
  commands_.submit_and_wait(kHarnessSeconds);
  return checks.guards();
}

void Sampler::run_baseline(Checks& checks) {
  bool captured = false;
  baseline_run_ = run(parts_.baseline, {.seconds = parts_.baseline_seconds}, captured);
  if (!opponent_) opponent_side_.run = baseline_run_;
  commands_.begin();
  checks.record_truth(commands_, outputs_);
  commands_.submit_and_wait(kHarnessSeconds);
}

std::optional<Finding> Sampler::check_outputs(Checks& checks) {
  commands_.begin();
  checks.record_outputs(commands_, outputs_);
  commands_.submit_and_wait(kHarnessSeconds);
  return checks.outputs(commands_, outputs_);
}

std::vector<OutputCheck> Sampler::outputs_of(int call) const {
  std::vector<OutputCheck> outputs = outputs_;
  for (size_t i = 0; call > 0 && i < outputs.size(); ++i) {
    outputs[i].got = parts_.memory.slab.tensor(tensors_.output(call, i));
  }
  return outputs;
}

void Sampler::record_new_inputs(Checks& checks, bool inputs_only) {
  const auto inputs = parts_.task_memory.graph().values_of(Graph::Kind::input);
  keys_.clear();
  for (int call = 0; call < calls_; ++call) {
    keys_.push_back(parts_.secret.of_draw(++draws_));
    for (size_t i = 0; i < inputs.size(); ++i) {
      draw(inputs[i], keys_.back(),
           call > 0 ? parts_.memory.slab.tensor(tensors_.input(call, i))
                    : parts_.task_memory.given(inputs[i]));
    }
  }
  commands_.barrier();
  checks.record_hashes(commands_, inputs_only);
}

void Sampler::draw_again(int call) {
  for (const int id : parts_.task_memory.graph().values_of(Graph::Kind::input)) {
    draw(id, keys_[static_cast<size_t>(call)], parts_.task_memory.given(id));
  }
}

std::optional<Finding> Sampler::run_both(Checks& checks, const trial::Roles& roles,
                                         double seconds) {
  if (opponent_ && roles.baseline_first) run_opponent();
  if (opponent_ && roles.baseline_first && parts_.module) {
    // A module's process may find what the opponent's has computed: it is of no use to it.
    commands_.begin();
    record_new_inputs(checks, /*inputs_only=*/true);
    commands_.submit_and_wait(kHarnessSeconds);
  }
  // The guards come before anything else reads the inputs: a candidate that goes first and changes
  // them does not feed it.
  if (auto finding = run_candidate_checked(checks, {}, seconds)) return finding;
  if (opponent_ && !roles.baseline_first) run_opponent();
  return std::nullopt;
}

std::optional<Finding> Sampler::check_opponent(Checks& checks) {
  std::vector<OutputCheck> outputs = outputs_;
  for (size_t i = 0; i < outputs.size(); ++i) {
    outputs[i].got = opponent_->output(last_checked_, i);
    outputs[i].filled = false;
  }
  outputs_.swap(outputs);
  auto finding = check_outputs(checks);
  outputs_.swap(outputs);
  return finding;
}

/// All, or so many of them drawn when they have been made: every sample draws others, so that a
/// candidate that leaves out one call in twenty is found in two samples of three.
std::vector<int> Sampler::calls_to_check() {
  constexpr int kMostChecked = 16;
  std::vector<int> calls(static_cast<size_t>(calls_));
  std::iota(calls.begin(), calls.end(), 0);
  const int checked = std::min(calls_, kMostChecked);
  for (int i = 0; i < checked; ++i) {
    const auto left = static_cast<uint64_t>(calls_ - i);
    std::swap(calls[static_cast<size_t>(i)],
              calls[static_cast<size_t>(i) + parts_.secret.next() % left]);
  }
  calls.resize(static_cast<size_t>(checked));
  return calls;
}

/// Outputs are checked against the truth of their own inputs, which are drawn once more.
std::optional<Finding> Sampler::take_calls(Checks& checks, const trial::Roles& roles,
                                           double seconds) {
  std::vector<std::vector<OutputCheck>> outputs;
  commands_.begin();
  checks.record_redzones(commands_);
  for (int call = 0; call < calls_; ++call) {
    outputs.push_back(outputs_of(call));
    for (size_t i = 0; i < outputs_.size(); ++i) {
      fit_fill(checks, i, outputs.back()[i]);
      fill_output(commands_, outputs.back()[i]);
    }
  }
  record_new_inputs(checks, /*inputs_only=*/true);
  commands_.submit_and_wait(kHarnessSeconds);
  if (auto finding = run_both(checks, roles, seconds)) return finding;
  const std::vector<int> checked = calls_to_check();
  // Stopping the others takes half a millisecond, so it is done once for the truth of all calls.
  const process::PausedScope still(parts_.pausable);
  BracketedRun baseline;
  baseline.calls = static_cast<int>(checked.size());
  for (const int call : checked) {
    commands_.begin();
    draw_again(call);
    commands_.submit_and_wait(kHarnessSeconds);
    run_baseline(checks);
    last_checked_ = call;
    baseline.flush_ns += baseline_run_.flush_ns;
    baseline.run_ns += baseline_run_.run_ns;
    baseline.bracket_ns += baseline_run_.bracket_ns;
    outputs_.swap(outputs[static_cast<size_t>(call)]);
    auto finding = check_outputs(checks);
    outputs_.swap(outputs[static_cast<size_t>(call)]);
    if (!finding) continue;
    finding->message +=
        " (in call " + std::to_string(call + 1) + " of " + std::to_string(calls_) + ")";
    return finding;
  }
  // As in a candidate's run, one flush counts.
  const double other_flushes = baseline.flush_ns * (baseline.calls - 1) / baseline.calls;
  baseline.flush_ns -= other_flushes;
  baseline.bracket_ns -= other_flushes;
  baseline_run_ = baseline;
  if (!opponent_) opponent_side_.run = baseline;
  return std::nullopt;
}

std::optional<Finding> Sampler::take(Checks& checks, const trial::Roles& roles, bool first,
                                     double seconds) {
  last_checked_ = 0;
  if (calls_ > 1) return take_calls(checks, roles, seconds);
  prepare(checks, first);
  const bool truth_first = roles.baseline_first && !opponent_;
  if (truth_first) run_baseline(checks);
  if (auto finding = run_both(checks, roles, seconds)) return finding;
  if (!truth_first) run_baseline(checks);
  return check_outputs(checks);
}

std::optional<Finding> Sampler::run_again(Checks& checks, const runner::Pass& pass,
                                          double seconds) {
  commands_.begin();
  fill_outputs(commands_);
  fill_temporaries(commands_);
  commands_.submit_and_wait(kHarnessSeconds);
  if (auto finding = run_candidate_checked(checks, pass, seconds)) return finding;
  return check_outputs(checks);
}

}  // namespace kbench::judge
