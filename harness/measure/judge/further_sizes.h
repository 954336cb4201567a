// A candidate that has passed, run for its values alone at other sizes of its task.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <vector>

#include "harness/measure/judge/candidate_build.h"
#include "harness/measure/judge/runner_supply.h"
#include "harness/measure/judge_protocol/protocol.h"
#include "harness/measure/process/deadline.h"
#include "harness/measure/runner/protocol.h"
#include "kbench/candidate_source.h"
#include "kbench/result.h"
#include "kbench/task.h"

namespace kbench::judge {

/// Of one judge. Holds the last candidate with its runner until retire(): that runner can mostly
/// build the candidate again, which is quicker than another.
class FurtherSizes {
 public:
  /// Judges a request of this class's own, whose build is build()'s.
  using JudgeThere = std::function<Result(const EvaluateRequest&)>;

  explicit FurtherSizes(RunnerSupply& supply) : supply_(supply) {}

  /// Whether such a result is to be looked at.
  static bool wanted(const EvaluateRequest& request, const Result& result);

  /// What was judged, of all files that were read of it, and what launched it.
  void set_candidate(CandidateSource source, runner::RunnerKind launched_by);
  /// `clean`: its runner may serve its author's next candidate.
  void keep(std::unique_ptr<CandidateBuild> build, bool clean);
  /// Leaves the runner that is kept: it serves another candidate, or ends.
  void retire();

  /// The candidate at the sizes of a request of this class's own.
  std::unique_ptr<CandidateBuild> build(const EvaluateRequest& request);

  /// Whether the runner of a request at further sizes serves the next such request, too: where
  /// they are timed and work is done ahead, several compile at once, as for candidates to come.
  bool keeps(const EvaluateRequest& request) const {
    return request.values_only || !supply_.works_ahead();
  }

  /// At preset smoke, runs it at two sizes that are the same for every candidate of the task: many
  /// faults show only at sizes that are not multiples of a block's. A wrong result there is the
  /// candidate's failure. Then, at every preset, runs it at sizes drawn for this evaluation, and
  /// fills Result::holds_at. Then, where that is asked for, times it at further sizes, and fills
  /// Result::workloads. `ended` says whether the judge has to stop; once `total` has passed,
  /// which `judge_there` counts, no further set is tried.
  void look(const EvaluateRequest& request, const JudgeThere& judge_there,
            const std::function<bool()>& ended, process::Deadline& total, Result& result);

 private:
  using ValuesAt = std::function<Result(const Variables&)>;
  void try_fixed(const EvaluateRequest& there, const ValuesAt& values_at, Result& result);
  void try_drawn(const EvaluateRequest& there, const ValuesAt& values_at, process::Deadline& total,
                 Result& result);
  void try_workloads(const EvaluateRequest& asked, const ValuesAt& measured_at, Result& result);
  void begin_at(const std::vector<Variables>& sizes, EvaluateRequest request);

  RunnerSupply& supply_;
  CandidateSource source_;
  runner::RunnerKind launched_by_ = runner::RunnerKind::vulkan;
  /// The last candidate's build, whose runner can build it at other sizes; or null.
  std::unique_ptr<CandidateBuild> again_;
  bool clean_ = false;                                  ///< its runner may serve another candidate
  std::vector<std::unique_ptr<CandidateBuild>> begun_;  ///< at other sizes, in new runners
  std::map<TaskId, std::vector<Variables>> fixed_;      ///< of tasks that have been asked for
};

}  // namespace kbench::judge
