// From a result to what it comes from: the evidence that feedback is made of.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "harness/evaluate/client/judge_client.h"
#include "kbench/baseline.h"
#include "kbench/evaluate.h"
#include "kbench/feedback.h"

namespace kbench::diagnose {

struct InvestigateOptions {
  EvaluateOptions evaluate = {};          ///< as the candidate was evaluated with
  std::optional<uint64_t> seed = {};      ///< of the inputs it is tried on; unset: from the system
  int size_tries = 10;                    ///< runs at most to find smaller sizes
  double seconds = 30;                    ///< wall time at most for sizes, and again for mutants
  size_t matches = 3;                     ///< mutants named at most
  int profile_runs = 9;                   ///< of a candidate that passed; 0: no profile
  std::optional<Roofline> roofline = {};  ///< of the device, where it has been measured
};

/// What is wrong with the values, or where the time goes; with other verdicts only the candidate's
/// text. The judge that gave the result does: it is asked for inspections and profiles, never for a
/// second measurement, and no secret input comes back. Throws what JudgeClient::run() throws.
Evidence investigate(client::JudgeClient& judge, const std::string& candidate_file,
                     const Result& result, const InvestigateOptions& options);
/// With a judge of its own.
Evidence investigate(const std::string& candidate_file, const Result& result,
                     const InvestigateOptions& options);

/// Measures the device's roofline in this process; zeros where that fails.
Roofline roofline_of(const std::string& device);

}  // namespace kbench::diagnose
