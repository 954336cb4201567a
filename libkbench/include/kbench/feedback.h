// What a model is told about its attempt: facts, then text of at most a few thousand characters.
#pragma once

#include <cstdint>
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

/// The smallest sizes at which the candidate fails, with all of its arrays (at most 64 values
/// each) where they are small enough to be read.
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

/// What was found out about a result beyond its message.
struct Evidence {
  std::optional<FailingCase> smallest = {};
  std::string pattern = {};  ///< "only the last 3 columns are wrong", "a constant factor of 2"
  std::vector<std::string> matches =
      {};  ///< mutants of the graph whose output it is: "without the bias"
  std::vector<StepProfile> steps = {};
  std::vector<StepProfile> baseline = {};
  double roof_gbytes_per_s = 0, roof_tflops = 0;  ///< measured on this device; 0: not measured
};

struct FeedbackOptions {
  size_t max_characters = 4000;
  bool evidence = true;  ///< off: the verdict and its message alone, for ablations
};

struct Feedback {
  std::string text;
  std::string hash;  ///< SHA-256 of the text
};

/// Pure. `candidate` may be null where none could be loaded.
Feedback feedback(const Result& result, const Candidate* candidate, const Evidence& evidence,
                  const FeedbackOptions& options = {});
/// Of an answer that held no candidate.
Feedback feedback(const Extraction& extraction, const FeedbackOptions& options = {});

}  // namespace kbench
