// Attempts as tests need them: short to write.
#pragma once

#include <string>
#include <vector>

#include "kbench/attempt.h"

namespace kbench::testing {

inline const TaskId kA = {1, 1}, kB = {1, 2}, kC = {2, 1};

inline Attempt wrong(const std::string& model, TaskId task, int sample, int attempt = 1) {
  Attempt a;
  a.model = model;
  a.task = task;
  a.sample = sample;
  a.attempt = attempt;
  a.parent = attempt - 1;
  a.outcome = Outcome::candidate;
  a.candidate_hash =
      model + to_string(task) + "/" + std::to_string(sample) + "." + std::to_string(attempt);
  a.verdict = Verdict::wrong_values;
  return a;
}

inline Attempt passed(const std::string& model, TaskId task, int sample, double speedup,
                      int attempt = 1) {
  Attempt a = wrong(model, task, sample, attempt);
  a.verdict = Verdict::passed;
  a.speedup = {speedup * 0.95, speedup, speedup * 1.05};
  return a;
}

inline Attempt unanswered(const std::string& model, TaskId task, int sample, int attempt = 1) {
  Attempt a = wrong(model, task, sample, attempt);
  a.outcome = Outcome::unanswered;
  a.candidate_hash.clear();
  a.verdict.reset();
  return a;
}

/// One sample a speedup; 0 is a wrong one.
inline void add_samples(std::vector<Attempt>& to, const std::string& model, TaskId task,
                        const std::vector<double>& speedups) {
  for (size_t i = 0; i < speedups.size(); ++i) {
    const int sample = static_cast<int>(i) + 1;
    to.push_back(speedups[i] > 0 ? passed(model, task, sample, speedups[i])
                                 : wrong(model, task, sample));
  }
}

}  // namespace kbench::testing
