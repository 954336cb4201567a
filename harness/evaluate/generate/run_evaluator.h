// The interface through which a run evaluates candidates on one device.
#pragma once

#include <string>

#include "harness/evaluate/client/protocol.h"
#include "harness/evaluate/queue/queue_judge.h"
#include "kbench/episode.h"
#include "kbench/evaluate.h"
#include "kbench/feedback.h"
#include "kbench/result.h"

namespace kbench::generate {

/// Evaluates candidates on one device. Used by one thread at a time.
class RunEvaluator : public queue::QueueJudge {
 public:
  /// `asked`: the candidate, on disk, and those that follow it; its options are replaced by the
  /// evaluator's own at the sizes of `request`. Throws only if the options are wrong.
  virtual Result judge(const JudgeRequest& request, client::EvaluateRequest asked) = 0;
  virtual Evidence investigate(const JudgeRequest&, const std::string& /*file*/, const Result&) {
    return {};
  }
};

/// `options` at the sizes of the request; if it is quick, two pairs of runs, which show whether a
/// candidate is right.
EvaluateOptions at_sizes_of(const JudgeRequest& request, EvaluateOptions options);

}  // namespace kbench::generate
