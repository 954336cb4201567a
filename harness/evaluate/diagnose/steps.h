// Finds the smallest sizes at which a candidate fails.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "harness/evaluate/client/judge_client.h"
#include "harness/evaluate/diagnose/look.h"
#include "kbench/evaluate.h"
#include "kbench/feedback.h"

namespace kbench::diagnose {

/// Where the candidate fails: at the sizes it was judged at, at preset smoke, or close to them.
struct Failure {
  std::optional<Look> look;
  bool on_its_values = false;               ///< `look` is of the values that the result failed on
  bool right_alone = false;                 ///< on these it is right when it runs once more
  bool right_when_small = false;            ///< it was right at preset smoke
  std::vector<std::string> not_tried = {};  ///< sizes that could not be run, and why
};

/// Looks at the values that the result failed on. Where they cannot be looked at, or it is right on
/// them, it looks at others: at a few sizes, in order of use, with enough elements to see a
/// pattern, and few enough for the CPU reference.
Failure find_failure(Looker& looker, const Result& result, const Variables& overrides,
                     const TimeLimit& deadline);

/// A smaller look that fails in the same way, found with at most `tries` looks; nothing if there is
/// none.
std::optional<Look> shrink(Looker& looker, const Look& failing, int tries,
                           const TimeLimit& deadline);

/// The case as feedback shows it: sizes, short arrays, the first wrong elements.
FailingCase failing_case(const Look& look, double relative);

struct Matches {
  std::vector<std::string> descriptions;  ///< mutants with the candidate's outputs
  int tried = 0, all = 0;
};

/// Runs mutants in float64 on the look's inputs until `most` match or the deadline has passed.
/// Elements that were not written are ignored; at least half must be written.
Matches matching_mutants(const Look& look, double relative, size_t most, const TimeLimit& deadline);

/// Fills in `steps` and `baseline`: device times from timestamps between the steps, with the least
/// bytes and FLOPs that each step needs. For a candidate's kernel these are the bytes of the
/// buffers it binds. Leaves both empty if the candidate does not run.
void profile(client::JudgeClient& judge, const Question& question, const std::string& preset,
             int runs, Evidence& evidence);

}  // namespace kbench::diagnose
