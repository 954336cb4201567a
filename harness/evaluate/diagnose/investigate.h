// Investigates a result: collects the evidence from which feedback is made.
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
  Question question = {};                 ///< what was asked: the candidate, and at which sizes
  std::optional<uint64_t> seed = {};      ///< of values other than it failed on; unset: random
  int size_tries = 10;                    ///< most runs to find smaller sizes
  double seconds = 30;                    ///< most seconds for sizes, and again for mutants
  size_t matches = 3;                     ///< most mutants named
  int profile_runs = 9;                   ///< for a candidate that passed; 0: no profile
  std::optional<Roofline> roofline = {};  ///< of the device, if it was measured
};

/// For wrong values, what is wrong; for a pass, where the time goes; for other verdicts, the
/// candidate's text alone. Uses the judge that gave the result, and asks it for inspections and
/// profiles only: nothing is measured again, and no input is seen that may still decide. Throws
/// what JudgeClient::run() throws.
Evidence investigate(client::JudgeClient& judge, const Result& result,
                     const InvestigateOptions& options);

/// Measures the device's roofline in this process; zeros if that fails.
Roofline roofline_of(const std::string& device);

}  // namespace kbench::diagnose
