// Shows the progress of `kbench generate` on standard error: a bar on a terminal, else one line for
// each attempt.
#pragma once

#include <memory>
#include <mutex>
#include <set>
#include <string>

#include "harness/evaluate/generate/run.h"
#include "harness/frontends/program/progress.h"

namespace kbench::program {

/// Thread-safe.
class RunProgress {
 public:
  void attempt(const Attempt& attempt, const generate::Status& status);
  void confirmed(const Result& result, size_t done, size_t all);
  void warn(const std::string& line);
  void close();
  /// Has a run report to it.
  void show(generate::RunOptions& run);

 private:
  std::mutex mutex_;
  std::unique_ptr<Progress> bar_;
  uint32_t done_ = 0;
  std::set<Verdict> explained_;  ///< each is explained where it comes first
  bool said_too_long_ = false, said_truncated_ = false;
};

/// The outcome of a run, for standard output.
std::string format_outcome(const std::string& folder, const generate::RunOutcome& outcome,
                           bool judging);
/// The same as JSON. `software`: judged on a CPU, whose speedups say nothing about GPUs.
std::string outcome_json(const std::string& folder, const generate::RunOutcome& outcome,
                         bool judging, bool software);

}  // namespace kbench::program
