// One device, as a run uses it.
#pragma once

#include <string>

#include "kbench/episode.h"
#include "kbench/feedback.h"
#include "kbench/result.h"

namespace kbench::generate {

/// Used by one thread at a time.
class Bench {
 public:
  virtual ~Bench() = default;
  /// `file`: the candidate's; `next_file`: of the one that follows, or empty. Throws only for what
  /// is wrong with the options.
  virtual Result judge(const JudgeRequest& request, const std::string& file,
                       const std::string& next_file) = 0;
  virtual Evidence investigate(const JudgeRequest&, const std::string& /*file*/, const Result&) {
    return {};
  }
};

}  // namespace kbench::generate
