// The record of one evaluation, and files of them (JSON lines).
#pragma once

#include <cstdint>
#include <iosfwd>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kbench/error.h"
#include "kbench/task.h"
#include "kbench/variables.h"
#include "kbench/verdict.h"

namespace kbench {

/// An estimate with its 95% confidence interval.
struct Interval {
  double low = 0;
  double point = 0;
  double high = 0;
};

/// A message about a place in a candidate's own files.
struct Diagnostic {
  std::string severity;  ///< "error", "warning", "note"
  std::string file;
  int line = 0;
  int column = 0;
  std::string message;
};

/// An error's places: one for each error of its file.
std::vector<Diagnostic> diagnostics_of(const Error& error);

/// One way to compile a kernel: `num_warps 8, num_stages 3, BLOCK 1024`.
struct TunedConfig {
  std::string text;
  double ms = 0;  ///< device time of one run of dispatch with it
};

/// A kernel that was given in several configurations, and which of them was judged.
struct TunedKernel {
  std::string kernel;
  std::vector<TunedConfig> configs;
  int chosen = 0;  ///< index into `configs`
};

/// A set of sizes at which a candidate that had passed does not.
struct WrongAt {
  Variables sizes;
  Verdict verdict = Verdict::harness_error;
  std::string message;
};

/// How a candidate that passed did at further sizes of its task. They are drawn anew for each
/// evaluation, and are small at every preset (drawn_sizes() in kbench/task.h).
struct HoldsAt {
  int tried = 0;
  int right = 0;
  std::optional<WrongAt> first_wrong;
  bool everywhere() const { return tried > 0 && right == tried; }
};

/// A size that a candidate was timed at beside its own.
struct Workload {
  Variables sizes;  ///< that differ from its own
  Interval speedup;
  double candidate_ms = 0, baseline_ms = 0;  ///< median device times
};
/// A candidate that passed, timed at several sizes (Rule::workloads).
struct Workloads {
  std::vector<Workload> each;
  Interval geomean;  ///< of the speedups (geometric_mean_interval() in kbench/score.h)
  Interval least;    ///< of them
};

/// What a checker of NVIDIA's compute-sanitizer found.
struct SanitizerFinding {
  std::string checker;       ///< "racecheck"
  std::string kernel, file;  ///< the file without folders; empty where it is not known, as the line
  int line = 0;
  std::string text;
};
/// "racecheck: kernel k (k.yaml:12): Race reported between ..."
std::string in_words(const SanitizerFinding& finding);

/// How a candidate did under compute-sanitizer (Rule::sanitize).
struct Sanitized {
  std::string preset;              ///< whose sizes it was run at; empty: at none
  std::vector<std::string> clean;  ///< the checkers that found nothing
  std::vector<SanitizerFinding> findings;
  std::vector<std::string> unknown;  ///< why nothing is known of the others, a sentence each
};

/// What is asked: one candidate on one task at one size on one device, and how it is judged. A
/// value type; a result begins with its fields. Of TaskAt, `variables` has all that the graph read.
struct Experiment : TaskAt {
  // what is evaluated
  std::string set;             ///< candidate set, "simple"
  std::string candidate;       ///< file, relative to the set
  std::string candidate_hash;  ///< SHA-256
  std::string task_name;
  // where and how
  std::string device, driver;
  std::string device_uuid;       ///< which of several of one kind; not part of the key
  bool software_device = false;  ///< timed on a CPU: the times say nothing about a GPU
  std::string baseline = "eager";
  std::string settings;  ///< canonical text of what else changes a result (tolerance, ...)
  std::string version;   ///< kbench's
  /// How far the task's own check is to be trusted at these sizes (kbench/certificate.h):
  /// "precision", "values", "none" or "trivial"; "untried" where nothing was proved there.
  std::string certificate;
  /// What the candidate says that it asks of sizes (Candidate::requirements), in its words.
  std::vector<std::string> made_for;

  /// Two experiments with equal keys are the same: a resumed run does not do it again.
  std::string key() const;
  bool operator==(const Experiment&) const = delete;  ///< not that of TaskAt alone
};

/// An experiment and its outcome. A value type with a JSON form.
struct Result : Experiment {
  // what came out
  Verdict verdict = Verdict::harness_error;
  std::string message;  ///< one line: why it did not pass
  std::vector<Diagnostic> diagnostics;
  std::vector<TunedKernel> tuning;  ///< kernels with a choice; no part of the times below
  /// What launched it: "vulkan" command lists; "cuda", NVIDIA's own driver; "torch", a process with
  /// PyTorch, or "torch-captured", the same as a CUDA graph; empty where it was not built.
  std::string lane;
  int samples = 0;
  /// The secret seed of all that was drawn for it, inputs and sizes, said once the verdict is
  /// there: SamplingPlan::seed draws the same. Unset where nothing was drawn.
  std::optional<uint64_t> seed;
  /// The draw of inputs that it failed on: 1 is the warm-up's, and each call of a module counts.
  /// 0: none was drawn, or it passed.
  int failed_sample = 0;
  Interval speedup;         ///< median of baseline / candidate over paired samples
  double candidate_ms = 0;  ///< median device time
  double baseline_ms = 0;   ///< median device time
  double setup_ms = 0;      ///< device time of the candidate's setup, untimed in speedup
  double max_error = 0;     ///< worst over all samples, relative to the tolerance's scale
  double gbytes_per_s = 0;  ///< the task's least bytes over candidate_ms
  double tflops = 0;        ///< the task's FLOPs over candidate_ms
  /// The device's own rates of copying and of float32 arithmetic (Roofline in kbench/baseline.h),
  /// where the judge had measured them to see whether a candidate is impossibly fast; else 0.
  double roof_gbytes_per_s = 0, roof_tflops = 0;
  int runner_served = 0;  ///< candidates of its author that its process had run before
  /// Of PyTorch as the opponent: "PyTorch 2.11.0, torch.compile, captured, without TF32"; and what
  /// is wrong with its values by the candidate's checks, which is nothing of the candidate's.
  std::string opponent, opponent_finding;
  /// The share of its time that a candidate spent in kernels of its own, by a profile: not in
  /// built-in steps or, of a ModelNew, in PyTorch's kernels and its libraries' (there by its own
  /// process's word; unset on a CPU). And what it called in place of them, by name.
  std::optional<double> own_kernels;
  std::vector<std::string> library_calls;
  std::optional<Sanitized> sanitized;  ///< unset: not asked for, or not launched by CUDA
  std::optional<HoldsAt> holds_at;     ///< unset: not tried, or the task's sizes cannot be moved
  std::optional<Workloads> workloads;  ///< unset: not asked for, or the sizes cannot be moved
  bool busy = false;                 ///< others kept a software device's processors busy meanwhile
  double compile_s = 0, wall_s = 0;  ///< host seconds: compiling; from file to verdict
  /// What the judge spent in each of its stages, in sum wall_s: "start" (starting the
  /// judge, where none was running), "open" and "compile" (waiting for the candidate's runner),
  /// "load", "task" (making the task ready, where the one before was another), "import", "wait"
  /// (for runners of later candidates to open), "opponent" (PyTorch's, with --opponent), "warm_up",
  /// "sample", "profile" (own_kernels), "finish" (giving its runner back), "other_sizes",
  /// "drawn_sizes" (holds_at), "workloads", "in_vain", an attempt that was thrown away, as a note
  /// says, and "self_test", planted candidates before the machine's first verdict of the lane. And,
  /// no part of wall_s, "queue": while another process measured on the device.
  std::map<std::string, double> stage_s;

  bool correct() const { return verdict == Verdict::passed; }
};

/// Takes back what only counts of a result that passed: its samples, times and rates.
void drop_times(Result& result);

std::string to_json(const Result& result);         ///< one line, no newline at the end
Result result_from_json(const std::string& line);  ///< throws kParse
/// The JSON Schema (draft 2020-12) of to_json()'s object.
std::string result_json_schema();

/// Reads a file of results; one that is not there is empty. A torn last line (a run was killed, or
/// zero bytes where power was lost) is ignored; any other malformed line, or one that contradicts
/// itself, throws kParse with its number. Throws kIo with the reason where it cannot be read.
std::vector<Result> read_results(const std::string& path);

/// A result and the line of the file that holds it.
struct ResultLine {
  Result result;
  std::string file;
  int line = 0;  ///< from 1
};
/// read_results() with the places.
std::vector<ResultLine> read_result_lines(const std::string& path);

/// Appends results to a file, which it locks as long as it lives: a second writer is refused.
/// Opening throws kIo when the file cannot be written or has a writer, whose process it names;
/// kParse when the file ends in something else than results. Nothing already in it is touched, but
/// a torn last line is cut off. Not thread-safe.
class ResultWriter {
 public:
  explicit ResultWriter(const std::string& path);
  ~ResultWriter();
  ResultWriter(const ResultWriter&) = delete;
  ResultWriter& operator=(const ResultWriter&) = delete;
  /// Writes one whole line, on disk when this returns. Throws kIo; the file then is as it was, and
  /// the same result can be appended again.
  void append(const Result& result);

 private:
  std::string path_;
  int fd_ = -1;
  bool is_file_ = false;  ///< no pipe and no device
  bool torn_ = false;     ///< half a line could not be taken back
};

}  // namespace kbench
