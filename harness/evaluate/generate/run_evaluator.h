// The interface through which a run evaluates candidates on one device.
#pragma once

#include <string>

#include "kbench/episode.h"
#include "kbench/feedback.h"
#include "kbench/result.h"

namespace kbench::generate {

/// Evaluates candidates on one device. Used by one thread at a time.
class RunEvaluator {
 public:
  virtual ~RunEvaluator() = default;
  /// `file`: path of the candidate; `next_file`: path of the next one, or empty. Throws only if the
  /// options are wrong.
  virtual Result judge(const JudgeRequest& request, const std::string& file,
                       const std::string& next_file) = 0;
  virtual Evidence investigate(const JudgeRequest&, const std::string& /*file*/, const Result&) {
    return {};
  }
};

}  // namespace kbench::generate
