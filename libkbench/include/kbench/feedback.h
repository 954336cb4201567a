// What a model is told about its attempt: facts, then text of at most a few thousand characters.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "kbench/candidate.h"
#include "kbench/extract.h"
#include "kbench/result.h"

namespace kbench {

/// An output element that is wrong.
struct WrongElement {
  std::vector<int64_t> index;
  double got = 0, expected = 0;
};

/// Sizes at which the candidate fails, with all of its arrays (at most 64 values each) where they
/// are small enough to be read.
struct FailingCase {
  Variables overrides;
  Verdict verdict = Verdict::wrong_values;
  struct Array {
    std::string name;  ///< "x", "output", "output (expected)"
    std::vector<int64_t> shape;
    std::vector<double> values;
  };
  std::vector<Array> arrays;
  std::vector<WrongElement> wrong;
};

/// Device time of one dispatch step, or of one operator of the baseline.
struct StepProfile {
  std::string name;  ///< the kernel's or the operator's
  double ms = 0;     ///< median over the profiled runs
  double share = 0;  ///< of the whole
  double bytes = 0;  ///< least bytes it has to move; 0: unknown
  double flops = 0;  ///< 0: unknown
};

/// Findings about a result beyond its message.
struct Evidence {
  /// The case that the result failed on, run once more by itself.
  std::optional<FailingCase> failed = {};
  /// It was right there; all else was found on other values.
  bool right_alone = false;
  std::optional<FailingCase> smallest = {};  ///< of the smallest sizes that were found
  /// "wrong only in the last 3 of 67 along axis 1: they hold 0 at each of them"
  std::string pattern = {};
  /// Mutants of the graph (kbench/mutants.h) whose output it is: "without the bias of linear".
  std::vector<std::string> matches = {};
  int mutants_tried = 0;
  Variables seen_at = {};  ///< sizes that pattern and matches were found at
  int64_t elements = 0;    ///< of the outputs there; 0: not looked at
  int64_t wrong = 0;       ///< of these
  /// Elements that differ between two runs on the same inputs, over the same values in outputs and
  /// temporaries: workgroups or invocations race.
  int64_t racing = 0;
  /// It was right as often as it ran on the same inputs, and wrong on other inputs after that.
  bool wrong_on_other_inputs = false;
  bool repeats_first = false;  ///< there it gave, bit by bit, what it had given on the first
  /// Sizes that could not be looked at, and why: "dim=801: ...".
  std::vector<std::string> not_tried = {};
  bool right_when_small = false;  ///< at the sizes of preset smoke it computed what it should
  std::vector<StepProfile> steps = {};
  std::vector<StepProfile> baseline = {};
  double roof_gbytes_per_s = 0, roof_tflops = 0;  ///< measured on this device; 0: not measured
  /// Files of the candidate by path, for quoting lines of what a Candidate does not hold: its YAML.
  std::map<std::string, std::string> files = {};
};

struct FeedbackOptions {
  size_t max_characters = 4000;
  bool evidence = true;  ///< off: the verdict and its message alone, for ablations
};

struct Feedback {
  std::string text;
  std::string hash;  ///< SHA-256 of the text, framed by its length as a candidate's files are
};

/// Pure: the same for the same arguments, no file is read. `candidate` may be null where none could
/// be loaded. What candidate and compiler said is quoted, escaped (kbench/error.h) and cut; the
/// candidate's code is not repeated, but for lines that a message is about. docs/feedback.md says
/// what is told of each verdict.
Feedback feedback(const Result& result, const Candidate* candidate, const Evidence& evidence,
                  const FeedbackOptions& options = {});
/// The feedback for an answer without a candidate.
Feedback feedback(const Extraction& extraction, const FeedbackOptions& options = {});

}  // namespace kbench
