// What is asked of a judge: a candidate, and all that decides its verdict and its times.
//
// Each field is listed once, below its struct, with its flag and what is said of it. From these
// lists come the flags of the program and their help, the JSON of judges, servers, C and Python,
// the HTTP interface's schema, and by which settings two results are of one experiment.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kbench/baseline.h"
#include "kbench/candidate_source.h"
#include "kbench/compare.h"
#include "kbench/fields.h"
#include "kbench/task.h"
#include "kbench/tensor.h"
#include "kbench/variables.h"

namespace kbench {

/// What becomes of a candidate that passes at further sizes of its task: at sizes drawn in secret,
/// and at preset smoke without overrides at two that are known (kbench/task.h). Its values are
/// checked there, and nothing is timed.
enum class OtherSizes {
  none,     ///< it is not run there
  note,     ///< the result says whether it is right there (Result::holds_at)
  require,  ///< it passes only where it is right there; else it is `not_general`
};
std::string_view name_of(OtherSizes sizes);               ///< "none", "note", "require"
OtherSizes other_sizes_from_name(std::string_view name);  ///< throws kInvalidArgument

/// Whether what is launched by CUDA is run once more under NVIDIA's compute-sanitizer, which looks
/// for races, accesses out of bounds, reads of memory before anything was written to it, and
/// barriers that some threads of a block skip.
enum class Sanitize {
  off,
  label,  ///< what it finds stands in the result (Result::sanitized)
  fail,   ///< and what passed is a `race` then
};
std::string_view name_of(Sanitize sanitize);         ///< "off", "label", "fail"
Sanitize sanitize_from_name(std::string_view name);  ///< throws kInvalidArgument

/// What makes a candidate pass, and how it is run.
struct Rule {
  ToleranceRule tolerance = ToleranceRule::kbench;
  OtherSizes other_sizes = OtherSizes::note;
  /// Further sizes at which a candidate that passes is timed, too: drawn from the result's seed,
  /// each between a quarter and the whole of the task's work. It passes only where it is right at
  /// all of them. Unset: none.
  std::optional<uint64_t> workloads = {};
  bool validate = false;       ///< Vulkan's validation layer is on; its messages fail the candidate
  bool full_headers = false;   ///< kbench's own headers take a tenth of the time (docs/modelnew.md)
  bool fresh_runners = false;  ///< no process runs a second candidate, not even of one author
  Sanitize sanitize = Sanitize::off;
};
KBENCH_ASKED_FIELDS(
    Rule,
    (tolerance, "--tolerance RULE",
     "Rule for passing: kbench (scale-aware), or kernelbench (the original's)", "Measurement"),
    (other_sizes, "--other-sizes WHAT",
     "Other sizes of their task for passing candidates: none; note, whether they are right there; "
     "require, to pass only where they are (not_general)",
     "Measurement"),
    (workloads, "--workloads N",
     "Time passing candidates at N further sizes too, drawn anew for each, between a quarter and "
     "the whole of the task's work; they pass only where they are right at all of them "
     "(not_general)",
     "Measurement", 1, 64),
    (validate, "--validate", "Turn the Vulkan validation layer on; its messages fail a candidate",
     "Device"),
    (full_headers, "--full-headers",
     "Compile the extensions of a ModelNew with PyTorch's own headers, ten times as long",
     "Measurement"),
    (fresh_runners, "", "Run each candidate in a process of its own"),
    (sanitize, "--sanitize",
     "Run CUDA and PyTorch candidates once more, under NVIDIA's compute-sanitizer: what it finds "
     "is a label, or with --sanitize=fail the verdict race",
     "Measurement"))

/// When a measurement stops: the 95% interval of the median ratio is within +-`precision` of it, or
/// the budget is spent; never before min_samples. A candidate below half the baseline's speed is
/// measured within 10%.
struct SamplingPlan {
  double precision = 0.01;
  double max_seconds = 0;  ///< device time; 0: 2 s on a GPU, 0.25 s on a software device
  int min_samples = 0;     ///< 0: four where they agree, else eight
  int max_samples = 1000;
  /// Speedups of interest, such as the p of fast_p: a candidate below half the baseline's speed is
  /// sampled further while its interval contains one of them.
  std::vector<double> thresholds = {};
  std::optional<uint64_t> seed = {};  ///< fixed secret seed, for debugging; else from the system

  /// Two pairs of runs, which show whether a candidate is right; their times mean nothing.
  static SamplingPlan look() {
    return {.precision = 1, .max_seconds = 0.02, .min_samples = 4, .max_samples = 4};
  }
  bool looks() const { return max_samples <= look().max_samples; }
};
KBENCH_ASKED_FIELDS(
    SamplingPlan,
    (precision, "--precision P", "Stop when the speedup's 95% interval is within this share of it",
     "Measurement", 0, 1),
    (max_seconds, "--measure-seconds S",
     "Device time to spend on samples (0: 2 s on a GPU, 0.25 s on a software device)",
     "Measurement", 0, 1e6),
    (min_samples, "--min-samples N",
     "Samples to take at least (0: four where they agree, else eight)", "Measurement", 0, 1e6),
    (max_samples, "", "Samples to take at most", "", 1, 1e6),
    (thresholds, "", "Speedups that a slow candidate's interval must not contain"),
    (seed, "--input-seed N", "Fix the secret seed of the inputs, for debugging", "Measurement"))

/// The limits of one candidate.
struct Limits {
  double compile_seconds = 30;
  double device_seconds = 10;              ///< for one run of its dispatch list, caches made cold
  double total_seconds = 120;              ///< wall time of its trial
  int64_t host_bytes = int64_t{16} << 30;  ///< its runner's own resident memory beyond start-up

  /// Compiling the C++ and CUDA extensions of a ModelNew, many of which compile at once.
  double extension_seconds() const { return 6 * compile_seconds; }
};
KBENCH_ASKED_FIELDS(
    Limits,
    (compile_seconds, "--compile-seconds S",
     "Compiling; six times as long for the C++ and CUDA extensions of a ModelNew",
     "Limits of a candidate", 0.001, 1e6),
    (device_seconds, "--device-seconds S", "One run of its dispatch list", "Limits of a candidate",
     0.001, 1e6),
    (total_seconds, "--total-seconds S",
     "Its trial, from file to verdict; by default longer for a long --measure-seconds",
     "Limits of a candidate", 0.001, 1e6),
    (host_bytes, "--host-memory GIB", "Memory of its runner, beyond what starting it takes",
     "Limits of a candidate", 1 << 20, 0x1p50, 1 << 30))

/// What is timed beside a candidate in the same samples. The truth that its values are held to is
/// the eager baseline's in any case.
struct Opponent {
  /// Ways to run PyTorch's program of the task, of pytorch_ways() and in their order: the fastest
  /// of them, found once for each task. None: kbench's own baseline, one kernel an operator. Where
  /// there is no python3 with PyTorch (docs/modelnew.md), asking for one throws kUnsupported.
  std::vector<std::string> ways = {};
  /// PyTorch's convolutions may round to TF32, as they do unless they are told not to. Its values
  /// are the opponent's alone.
  bool tf32 = false;
  bool is_pytorch() const { return !ways.empty(); }
  bool operator==(const Opponent&) const = default;
};

/// "torch", operator by operator; "torch.compile"; "torch.compile:MODE" for each of its modes.
std::span<const std::string_view> pytorch_ways();

/// "eager"; one of pytorch_ways(); of several "best:torch,torch.compile:max-autotune", which for
/// torch and torch.compile is "best". With TF32 "+tf32" follows: "torch+tf32".
std::string name_of(const Opponent& opponent);
Opponent opponent_from_name(std::string_view name);  ///< throws kInvalidArgument

struct Question {
  CandidateSource candidate = {};
  // Of which task it is the candidate says; at which sizes, and in which type:
  std::string preset = "auto";  ///< "auto": v0.1 where memory allows, v0, smoke on a CPU device
  Variables overrides = {};
  DType dtype = DType::f32;  ///< what the task's floating tensors are stored in, of kTaskDTypes
  Rule rule = {};
  SamplingPlan plan = {};
  Limits limits = {};
  Opponent opponent = {};
  /// Recorded times that speedups are taken against, in place of an opponent in the same samples.
  std::optional<RecordedTimes> recorded = {};
  /// Reads, resolves and compiles, and runs nothing: `compiles` is the best that can come of it.
  bool check = false;
};
KBENCH_ASKED_FIELDS(
    Question, (candidate),
    (preset, "--preset auto|PRESET",
     "Sizes: smoke, train, v0, v0.1 or auto (auto: the largest that fits the device; smoke on a "
     "software device)",
     "Sizes"),
    (overrides, "--set VAR=N", "Override a shape variable; repeatable: --set height=65", "Sizes"),
    (dtype, "--dtype NAME", "What floating tensors are stored in: f32 (the default), f16 or bf16",
     "Sizes"),
    (rule), (plan), (limits),
    (opponent, "--opponent NAME",
     "What is timed beside the candidate: eager, kbench's own baseline; or PyTorch by a python3 "
     "that has it: torch, torch.compile, torch.compile:MODE, best (the faster of the first two), "
     "or best:A,B,... (the fastest of those); torch+tf32 and so on: with PyTorch's convolutions in "
     "TF32, as it has them unless told",
     "Measurement"),
    (recorded, "--baseline eager|FILE",
     "The baseline of speedups: eager, timed in pairs with the candidate, or a file of recorded "
     "times, FILE or FILE:COLUMN, as kbench baseline --against takes it",
     "Measurement"),
    (check))

}  // namespace kbench
