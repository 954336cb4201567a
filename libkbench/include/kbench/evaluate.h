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

#include "kbench/baseline.h"
#include "kbench/candidate.h"
#include "kbench/candidate_source.h"
#include "kbench/compare.h"
#include "kbench/error.h"
#include "kbench/result.h"
#include "kbench/task.h"

namespace kbench {

/// When a measurement stops: the 95% interval of the median ratio is within +-`precision` of it, or
/// the budget is spent; never before min_samples. A candidate below half the baseline's speed is
/// measured within 10%, from half of min_samples on.
struct SamplingPlan {
  double precision = 0.01;
  double max_seconds = 0;  ///< device time; 0: 2 s on a GPU, 0.5 s on a software device
  int min_samples = 8;     ///< the fewest that have an interval at any speed
  int max_samples = 1000;
  /// Speedups of interest, such as the p of fast_p: a candidate below half the baseline's speed is
  /// sampled further while its interval contains one of them.
  std::vector<double> thresholds = {};
};

/// The limits of one evaluation.
struct Limits {
  double compile_seconds = 30;
  /// Compiling the C++ and CUDA extensions of a ModelNew, many of which compile at once.
  double extension_seconds() const { return 6 * compile_seconds; }
  double device_seconds = 10;              ///< for one run of its dispatch list, caches made cold
  double total_seconds = 120;              ///< wall time of its trial
  int64_t host_bytes = int64_t{16} << 30;  ///< its runner's own resident memory beyond start-up
};

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

struct EvaluateOptions {
  /// An index, part of a name, "cpu", or "auto": the first GPU, else CPU.
  std::string device = "auto";
  std::string preset = "auto";  ///< "auto": v0.1 where memory allows, v0, smoke on a CPU device
  Variables overrides = {};
  DType dtype = DType::f32;  ///< what the task's floating tensors are stored in, of kTaskDTypes
  ToleranceRule tolerance = ToleranceRule::kbench;
  /// Recorded times that speedups are taken against, in place of the eager baseline's in the same
  /// samples. Correctness is judged by the eager baseline's values either way.
  std::optional<RecordedTimes> recorded = {};
  /// What is timed in the same samples, where no recorded times are. All but eager take a python3
  /// with PyTorch (docs/modelnew.md); without one every evaluation throws kUnsupported.
  Opponent opponent = {};
  SamplingPlan plan = {};
  Limits limits = {};
  /// A candidate that passes at preset smoke without overrides is also run at two other sizes of
  /// its task (kbench/task.h): its values are checked there, and nothing is timed.
  /// One that passes, at whichever preset, is run at sizes drawn in secret, too (Result::holds_at);
  /// false: at its own sizes alone.
  bool other_sizes = true;
  /// A candidate that is wrong at one of the sizes drawn is `not_general`. With other_sizes alone.
  bool general = false;
  /// C++ and CUDA extensions of a ModelNew are compiled with PyTorch's own headers, not with
  /// kbench's, which take a tenth of the time (docs/modelnew.md).
  bool full_headers = false;
  /// Each candidate has a process of its own, whoever its author is.
  bool fresh_runners = false;
  bool validate = false;  ///< Vulkan validation layer on; its messages fail the candidate
  std::optional<uint64_t> seed = {};  ///< fixed secret seed, for debugging; else from the system
  std::string program = {};  ///< the kbench program; empty: found beside this one or on PATH
  /// Called when a stage begins: "load" (reading the candidate's files), "compile", "warm-up",
  /// "sample"; they come again where kbench repeats an evaluation that failed through no fault of
  /// the candidate's.
  std::function<void(const char* stage)> on_stage = {};
  /// Called during the stage "sample", a few times a second, once there are samples enough for an
  /// interval. What a callback throws ends the evaluation and is thrown on.
  std::function<void(const Progress& progress)> on_progress = {};
};

/// Judges candidates on one device, one after another. Holds a judge process, which holds the
/// device, the memory of the last task and runners started ahead: the first evaluation takes a
/// second longer than those that follow. Movable while no call is under way.
///
/// May be called from several threads at once; calls wait for each other. Any number of Evaluators
/// may be used at once, one per thread; on one device they measure one at a time.
/// Callbacks run in the thread that evaluates, and must not call the same Evaluator.
class Evaluator {
 public:
  /// Starts nothing yet.
  explicit Evaluator(EvaluateOptions options = {});
  ~Evaluator();
  Evaluator(Evaluator&&) noexcept;
  Evaluator& operator=(Evaluator&&) noexcept;

  /// Evaluates a candidate. A hang, a crash or a lost device becomes a verdict, and so
  /// does all that is wrong with a candidate that is there. Throws Error for what the caller did: a
  /// path that names nothing (kNotFound) or cannot be read (kIo); what is wrong with the options
  /// (no such device, no kbench program, no recorded time of the task at these sizes); Cancelled
  /// soon after `stop` is requested, at any stage. A judge that does not stop within a second
  /// is killed, and the next evaluation starts another.
  Result evaluate(const CandidateSource& candidate, std::stop_token stop = {});
  /// Reads, resolves and compiles, and runs nothing: `compiles` is the best that can come of it.
  Result check(const CandidateSource& candidate, std::stop_token stop = {});

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// One evaluation, with a judge of its own; may be called from any number of threads.
Result evaluate(const CandidateSource& candidate, const EvaluateOptions& options = {},
                std::stop_token stop = {});
/// The same for Evaluator::check.
Result check(const CandidateSource& candidate, const EvaluateOptions& options = {},
             std::stop_token stop = {});

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
  std::string name, driver, type;  ///< type: "discrete", "integrated", "virtual", "cpu", "other"
  std::string api_version;
  int64_t memory_bytes = 0;  ///< of the largest device-local heap
  bool usable = false;
  std::string reason;                       ///< why not, when it is not
  std::optional<DeviceLimits> limits = {};  ///< where it is usable
};
/// `program` as EvaluateOptions has it: devices are listed by a process of their own, as drivers
/// may crash or hang. Throws kNotFound without that program, kInternal or kTimeout for such a
/// driver.
std::vector<DeviceSummary> list_devices(const std::string& program = {});

}  // namespace kbench
