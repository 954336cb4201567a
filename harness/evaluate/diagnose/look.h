// Runs a candidate at one size on known inputs, beside the right values.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "harness/evaluate/client/judge_client.h"
#include "harness/evaluate/diagnose/error_pattern.h"
#include "harness/measure/judge_protocol/findings.h"
#include "kbench/evaluate.h"
#include "kbench/graph.h"
#include "kbench/reference.h"
#include "kbench/task.h"

namespace kbench::diagnose {

/// A limit on a search's wall time.
class TimeLimit {
 public:
  explicit TimeLimit(double seconds)
      : end_(Clock::now() +
             std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds))) {}
  bool passed() const { return Clock::now() >= end_; }

 private:
  using Clock = std::chrono::steady_clock;
  Clock::time_point end_;
};

/// The sizes that a result failed at, the task's own or further ones, and by its seed the values
/// that it failed on there. Nothing where it did not fail on values.
std::optional<std::pair<TaskAt, judge::InspectedDraws>> failed_on(const Result& result,
                                                                  const Variables& overrides);

/// One run at one size, and its right values. `variables` has all that the graph uses.
struct Look : TaskAt {
  std::unique_ptr<Graph> graph;
  Verdict verdict = Verdict::passed;
  std::string message;
  judge::InspectedDraws draws;
  NamedTensors given;            ///< inputs and parameters
  std::vector<Tensor> expected;  ///< float64; empty if the candidate did not run
  judge::Inspection inspection;
  bool second_run = false;  ///< the first was right, and what failed is the second
  /// It was right as often as it ran on the same inputs, and what failed is the run on others;
  /// `given` and `expected` are that run's.
  bool other_inputs = false;
  bool repeats_first = false;  ///< on other inputs it gave what it had given on the first

  bool ran() const { return !expected.empty(); }
  bool failed() const { return verdict != Verdict::passed; }
  /// Elements that differ between two runs on the same inputs over the same values: a race.
  int64_t racing() const;
  /// Elements of all inputs, parameters and outputs.
  int64_t elements() const;
  /// An output of the run that failed, else of the first.
  const Tensor& got(size_t output) const;
  /// Output `output`, by element.
  Compared compared(size_t output, double relative) const;
};

class Looker {
 public:
  /// `question`: what was asked of the candidate. `seed`: of the values where look() is given none.
  Looker(client::JudgeClient& judge, const Task& task, Question question, uint64_t seed);

  /// Nothing if the sizes are invalid, or too large for the CPU reference or for returning the
  /// outputs. Throws what JudgeClient::run() throws.
  std::optional<Look> look(const TaskAt& at,
                           const std::optional<judge::InspectedDraws>& draws = std::nullopt);
  int looks() const { return looks_; }
  /// Why the last look() returned nothing.
  const std::string& refusal() const { return refusal_; }
  const Task& task() const { return task_; }

 private:
  /// Of a look that is right so far: whether its run on other inputs is, too.
  void compare_on_other_inputs(Look& look, const Bounds& bounds) const;

  client::JudgeClient& judge_;
  const Task& task_;
  Question question_;
  uint64_t seed_;
  int looks_ = 0;
  std::string refusal_;
};

/// Whether two failures are of one kind, so that the smaller can stand for the larger.
bool alike(Verdict a, Verdict b);

}  // namespace kbench::diagnose
