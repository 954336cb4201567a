// Evaluating a candidate: the call a program that judges or trains models makes.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "kbench/error.h"
#include "kbench/feedback.h"
#include "kbench/question.h"
#include "kbench/result.h"

namespace kbench {

/// An evaluation that its caller stopped. Its code is kTimeout.
class Cancelled : public Error {
 public:
  Cancelled();
};

/// How far a measurement has come.
struct Progress {
  int samples = 0;     ///< that were right
  Interval speedup;    ///< so far
  double seconds = 0;  ///< since the first sample
};

/// Told how an evaluation goes, by the thread that evaluates. A callback must not call the same
/// Evaluator; what it throws ends the evaluation and is thrown on.
struct Observer {
  /// A stage begins: "load" (reading the candidate's files), "compile", "warm-up", "sample"; they
  /// come again where kbench repeats an evaluation that failed through no fault of the candidate's.
  std::function<void(const char* stage)> on_stage = {};
  /// During the stage "sample", a few times a second, once there are samples enough for an
  /// interval.
  std::function<void(const Progress& progress)> on_progress = {};
};

/// Limits and features of a device that shaders depend on.
struct DeviceLimits {
  std::array<int64_t, 3> group_size = {};   ///< of a workgroup in x, y, z
  std::array<int64_t, 3> group_count = {};  ///< of workgroups in x, y, z
  int64_t invocations = 0;                  ///< of a workgroup
  int64_t shared_bytes = 0;                 ///< of a workgroup
  int64_t binding_range = 0;                ///< bytes of one storage buffer binding
  int64_t subgroup_size = 0, min_subgroup_size = 0, max_subgroup_size = 0;
  bool subgroup_arithmetic = false, subgroup_shuffle = false;
  bool float16 = false, float64 = false, storage_16bit = false;
  bool cooperative_matrix = false;
  bool float_atomics = false;  ///< adds to float32 in storage buffers
};

/// A device as `kbench devices` lists it.
struct DeviceSummary {
  int index = 0;
  std::string name = {}, driver = {};
  std::string type = {};  ///< "discrete", "integrated", "virtual", "cpu" or "other"
  std::string api_version = {};
  int64_t memory_bytes = 0;  ///< of the largest device-local heap
  bool usable = false;
  std::string reason = {};                  ///< why not, when it is not
  std::optional<DeviceLimits> limits = {};  ///< where it is usable
};

/// The questions behind the one that is asked, as a Pool tells its evaluators.
struct Turn {
  bool more = false;  ///< others will follow: processes are started ahead
  /// The candidates of which the same is asked next, in order; empty: not known. What can be done
  /// for them without the device is done while this one is measured.
  std::vector<CandidateSource> next = {};
  /// Says whether others wait for the device; it is asked again and again. A candidate that
  /// compiles long may then be left to its compiler.
  std::function<bool()> others = {};
};

/// Answers questions, from any thread.
class Evaluator {
 public:
  virtual ~Evaluator() = default;
  /// Judges a candidate. A hang, a crash or a lost device becomes a verdict, and so does all that
  /// is wrong with a candidate that is there. Throws Error for what the caller did: a path that
  /// names nothing (kNotFound) or cannot be read (kIo); what is wrong with the rest of the question
  /// (no recorded time of the task at these sizes) or with the evaluator (no such device, no kbench
  /// program); Cancelled soon after `stop` is requested, at any stage.
  virtual Result evaluate(const Question& question, const Observer& observer,
                          std::stop_token stop) = 0;
  Result evaluate(const Question& question, std::stop_token stop = {}) {
    return evaluate(question, Observer(), std::move(stop));
  }
  /// The devices that it judges on.
  virtual std::vector<DeviceSummary> devices() = 0;

  // Also asked by a Pool or an Episode. An evaluator of one's own need not answer.

  /// evaluate(), for one that makes use of what is known of the next questions.
  virtual Result take_turn(const Question& question, const Turn&, const Observer& observer,
                           std::stop_token stop) {
    return evaluate(question, observer, std::move(stop));
  }
  /// Evidence for feedback on a result: of wrong values the pattern, the smallest failing size and
  /// the operator that is missing; of a pass the time of each step. Takes some seconds; nothing is
  /// measured again, and no secret input is revealed. Throws as evaluate() does.
  virtual Evidence investigate(const Question&, const Result&) { return {}; }
  /// Gets ready for the next question after a failure. Returns "", or why nothing can be judged
  /// here any more.
  virtual std::string trouble() { return ""; }
  /// How often a process of its own took the place of one that had ended.
  virtual uint64_t restarts() const { return 0; }
};

struct JudgeOptions {
  /// An index, part of a name, "cpu", or "auto": the first GPU, else CPU.
  std::string device = "auto";
  std::string program = {};  ///< the kbench program; empty: found beside this one or on PATH
};

/// Judges candidates on one device, one after another. Holds a judge process, which holds the
/// device, the memory of the last task and runners started ahead: the first evaluation takes a
/// second longer than those that follow. Movable while no call is under way. Questions that only
/// look (SamplingPlan::look()) go to a second such process, so that what was made for the sizes
/// that are measured stays.
///
/// Calls from several threads wait for each other. Any number of them may be used at once; on one
/// device they measure one at a time. A judge that does not stop within a second of a stop request
/// is killed, and the next evaluation starts another.
class JudgeProcess : public Evaluator {
 public:
  /// Starts nothing yet.
  explicit JudgeProcess(JudgeOptions options = {});
  ~JudgeProcess() override;
  JudgeProcess(JudgeProcess&&) noexcept;
  JudgeProcess& operator=(JudgeProcess&&) noexcept;

  using Evaluator::evaluate;
  Result evaluate(const Question& question, const Observer& observer,
                  std::stop_token stop) override;
  std::vector<DeviceSummary> devices() override;
  /// Throws StillCompiling (harness/measure/judge_protocol/protocol.h) where the turn lets it.
  Result take_turn(const Question& question, const Turn& turn, const Observer& observer,
                   std::stop_token stop) override;
  Evidence investigate(const Question& question, const Result& result) override;
  std::string trouble() override;
  uint64_t restarts() const override;

 private:
  friend class JudgeInside;
  struct State;
  std::unique_ptr<State> state_;
};

/// One evaluation, with a judge of its own; may be called from any number of threads.
Result evaluate(const Question& question, const JudgeOptions& options = {},
                const Observer& observer = {}, std::stop_token stop = {});

/// `program` as JudgeOptions has it: devices are listed by a process of their own, as drivers may
/// crash or hang. Throws kNotFound without that program, kInternal or kTimeout for such a driver.
std::vector<DeviceSummary> list_devices(const std::string& program = {});

}  // namespace kbench
