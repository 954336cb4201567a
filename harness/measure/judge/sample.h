// Paired samples: new inputs, random values in the outputs, both runners in random order, then the
// checks.
#pragma once

#include <optional>
#include <utility>
#include <vector>

#include "harness/measure/judge/checks.h"
#include "harness/measure/judge/clock_rule.h"
#include "harness/measure/judge/runner_process.h"
#include "harness/measure/judge/slab.h"
#include "harness/measure/judge/task_memory.h"
#include "harness/measure/process/child_process.h"
#include "harness/measure/runner/program.h"
#include "harness/measure/runner/torch/call_tensors.h"
#include "harness/measure/trial/kernels.h"
#include "harness/measure/trial/sampling.h"
#include "harness/measure/trial/secret.h"
#include "harness/measure/vulkan/commands.h"

namespace kbench::judge {

/// A candidate's temporaries and data, by index in the runner's list.
struct CandidateMemory {
  std::vector<runner::Wanted> wanted;
  Slab slab;
  uint64_t slab_bytes() const { return slab.layout().bytes(); }
};

/// The limit of kbench's own work on the device: generous, as software devices compile on first
/// use.
inline constexpr double kHarnessSeconds = 300;
/// The judge waits so much longer than a runner's own limit, for submission and the answer.
inline constexpr double kAnswerSeconds = 5;

/// A runner that is timed in the baseline's place (opponent.h).
class OpponentRunner;

/// Everything samples work with; all outlive it.
struct SampleParts {
  vulkan::Device& device;
  vulkan::Commands& commands;  ///< used by the sampler alone while it lives
  trial::Kernels& kernels;
  trial::SecretStream& secret;
  const TaskMemory& task_memory;
  const CandidateMemory& memory;
  RunnerProcess& baseline;
  RunnerProcess& candidate;
  process::PausableProcesses& pausable;  ///< paused during runs
  double baseline_seconds;               ///< for one run of it
  bool module;           ///< the candidate is PyTorch's: its memory is that of further calls
  double build_seconds;  ///< that it may take in its first run to build extensions
};

/// One of the two that are timed: the candidate, or what stands in the baseline's place.
struct Side {
  bool repeats = true;      ///< makes as many calls in one run as the sampler says; else one
  bool own_clock = false;   ///< is timed by its process's word
  double hand_over_ns = 0;  ///< is taken off from its runs, and half of a run at most
  BracketedRun run;         ///< the last one, less its hand-over
  bool captured = false;    ///< that one was replayed as a CUDA graph
};

/// Takes samples of one trial, one after another.
class Sampler {
 public:
  explicit Sampler(const SampleParts& parts);

  /// Draws parameters. `inputs_too`: something runs before the first sample draws inputs, and must
  /// not find an earlier trial's.
  void draw_task(bool inputs_too);
  /// Uploads a candidate's data; once.
  void upload_data();
  /// Fills temporaries: those that setup writes, or the others, and operators' scratch.
  void fill_temporaries(vulkan::Commands& commands, bool of_setup, trial::Contents contents,
                        float scale = 1);

  /// One sample. Redzones, too, hold other values in each. `first`: hashes are taken of everything,
  /// not of inputs alone. A candidate's run is given `seconds`. The finding is the first thing
  /// wrong with the candidate, if any; throws RunnerFailure with `at_candidate()` telling whose it
  /// is.
  std::optional<Finding> take(Checks& checks, const trial::Roles& roles, bool first,
                              double seconds);
  /// From the next sample on a module of PyTorch makes so many calls in one run, each on inputs of
  /// its own and each checked; the baseline runs once on the inputs of each. `capture`: in a CUDA
  /// graph, where that works.
  void set_calls(int calls, bool capture) {
    calls_ = calls;
    capture_ = capture;
  }
  int calls() const { return calls_; }
  /// The number of the next sample of a single call; the warm-up's is 0.
  int next_sample() const { return sample_ + 1; }
  /// Which draw of inputs (SecretStream::of_draw) was checked last; 0: none has been drawn.
  int checked_draw() const {
    return draws_ == 0 ? 0 : draws_ - static_cast<int>(keys_.size()) + last_checked_ + 1;
  }
  bool captures() const { return capture_; }
  /// From the next sample on it runs, too, on the same inputs. `own_clock`: it is
  /// timed by its process's word, as the candidate is by the device's.
  void set_opponent(OpponentRunner* opponent, bool own_clock);
  /// One run of the opponent alone, on the last sample's inputs.
  BracketedRun run_opponent(double seconds = kHarnessSeconds);
  /// The fault of the opponent's outputs of the last call that was checked, by the
  /// candidate's checks; nothing if they are right.
  std::optional<Finding> check_opponent(Checks& checks);
  /// Notes on what the candidate has built since (Ran::notes), and the seconds that took.
  std::vector<Diagnostic> take_notes() { return std::exchange(notes_, {}); }
  double take_build_s() { return std::exchange(build_s_, 0); }
  /// One run of the candidate alone, by the same hand-over. A candidate that the validation layer
  /// objects to arrives as a runner::Refused that is thrown.
  BracketedRun run_candidate(const runner::Pass& pass, double seconds);
  /// Hands the device over to the candidate's lane, and runs nothing there.
  BracketedRun hand_over(double seconds);
  /// Sets the nanoseconds of a hand-over where times are taken around it: they are taken off from
  /// now on, and half of a run at most.
  void take_off(double hand_over_ns) { candidate_side_.hand_over_ns = hand_over_ns; }
  /// Another run of the candidate on the last sample's inputs, over other values in its outputs and
  /// temporaries; checked as a sample is.
  std::optional<Finding> run_again(Checks& checks, const runner::Pass& pass, double seconds);
  /// Redzones and read-only tensors after a run.
  std::optional<Finding> guards(Checks& checks);
  bool at_candidate() const { return at_candidate_; }

  // The runs of the last sample.
  const BracketedRun& baseline_run() const { return baseline_run_; }
  const Side& opponent() const { return opponent_side_; }  ///< the baseline where there is none
  const Side& candidate() const { return candidate_side_; }
  vulkan::Commands& commands() { return commands_; }

  /// Records drawing an input or parameter to a candidate's place, and to where the maker of the
  /// truth reads it.
  void draw(int value, uint64_t key, const vulkan::Region& to);

 private:
  std::optional<Finding> take_calls(Checks& checks, const trial::Roles& roles, double seconds);
  /// Records drawing new inputs for all calls of a run, and their hashes.
  void record_new_inputs(Checks& checks, bool inputs_only);
  /// Records drawing those of a call once more, to where the baseline reads them.
  void draw_again(int call);
  std::vector<OutputCheck> outputs_of(int call) const;
  std::vector<int> calls_to_check();
  void prepare(Checks& checks, bool first);
  void fill_outputs(vulkan::Commands& commands);
  /// As the current sample fills temporaries.
  void fill_temporaries(vulkan::Commands& commands);
  void fill_output(vulkan::Commands& commands, OutputCheck& output);
  static void fit_fill(const Checks& checks, size_t i, OutputCheck& output);
  std::optional<Finding> check_outputs(Checks& checks);
  std::optional<Finding> run_candidate_checked(Checks& checks, const runner::Pass& pass,
                                               double seconds);
  void run_baseline(Checks& checks);
  /// `more_seconds`: that it may take beside those of the request.
  BracketedRun run(RunnerProcess& runner, const runner::Run& request, bool& captured,
                   double more_seconds = 0);
  BracketedRun run_side(Side& side, RunnerProcess& runner, runner::Run request,
                        double more_seconds = 0);
  /// The candidate and the opponent, in the roles' order.
  std::optional<Finding> run_both(Checks& checks, const trial::Roles& roles, double seconds);

  SampleParts parts_;
  vulkan::Commands& commands_;
  runner::CallTensors tensors_;
  std::vector<OutputCheck> outputs_;
  OpponentRunner* opponent_ = nullptr;
  bool at_candidate_ = false;
  std::vector<Diagnostic> notes_;
  double build_s_ = 0;
  int calls_ = 1;
  int sample_ = -1;             ///< of a single call: the last one
  int last_checked_ = 0;        ///< the call whose truth is there
  int draws_ = 0;               ///< of inputs, each call's counted
  std::vector<uint64_t> keys_;  ///< of the inputs, by call
  bool capture_ = false;
  BracketedRun baseline_run_;
  Side opponent_side_, candidate_side_;
};

}  // namespace kbench::judge
