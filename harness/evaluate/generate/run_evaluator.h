// The interface through which a run evaluates candidates on one device.
#pragma once

#include <string>
#include <vector>

#include "kbench/candidate_source.h"
#include "kbench/episode.h"
#include "kbench/feedback.h"
#include "kbench/result.h"

namespace kbench::generate {

/// Evaluates candidates on one device. Used by one thread at a time.
class RunEvaluator {
 public:
  virtual ~RunEvaluator() = default;
  /// `candidate`: on disk; `next`: those that follow, as far as they are known. Throws only if the
  /// options are wrong.
  virtual Result judge(const JudgeRequest& request, const CandidateSource& candidate,
                       const std::vector<CandidateSource>& next) = 0;
  virtual Evidence investigate(const JudgeRequest&, const std::string& /*file*/, const Result&) {
    return {};
  }
};

}  // namespace kbench::generate
