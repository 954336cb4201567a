// A candidate at one size: run on inputs that are known, beside the right values.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "harness/evaluate/client/judge_client.h"
#include "harness/evaluate/diagnose/error_pattern.h"
#include "kbench/evaluate.h"
#include "kbench/graph.h"
#include "kbench/reference.h"
#include "kbench/task.h"

namespace kbench::diagnose {

/// Wall time that a search may take.
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

/// What was seen.
struct Look {
  std::unique_ptr<Graph> graph;
  Variables variables;  ///< those the graph read
  Verdict verdict = Verdict::passed;
  std::string message;
  NamedTensors given;            ///< inputs and parameters
  std::vector<Tensor> expected;  ///< float64; empty where the candidate did not come to run
  client::Inspection inspection;

  bool ran() const { return !expected.empty(); }
  bool failed() const { return verdict != Verdict::passed; }
  /// Elements that differ between two runs on the same inputs over the same values, which only a
  /// race does.
  int64_t racing() const;
  /// Elements of inputs, parameters and outputs together.
  int64_t elements() const;
  /// Output i element by element.
  Compared compared(size_t output, double relative) const;
};

class Looker {
 public:
  /// `options` as the candidate was evaluated with; `seed`: of the inputs, no secret.
  Looker(client::JudgeClient& judge, std::string candidate_file, const Task& task,
         EvaluateOptions options, uint64_t seed);

  /// Nothing where the sizes make no sense, or are too large for the CPU reference or for outputs
  /// to be handed back. Throws what JudgeClient::run() throws.
  std::optional<Look> look(Preset preset, const Variables& variables);
  int looks() const { return looks_; }
  /// Why the last look() gave nothing.
  const std::string& refusal() const { return refusal_; }
  const Task& task() const { return task_; }

 private:
  client::JudgeClient& judge_;
  std::string file_;
  const Task& task_;
  EvaluateOptions options_;
  uint64_t seed_;
  int looks_ = 0;
  std::string refusal_;
};

/// Verdicts that inspection can come to the bottom of: something was computed, and wrong.
bool is_about_values(Verdict verdict);
/// Whether two failures are of one kind, so that the smaller may stand for the larger.
bool alike(Verdict a, Verdict b);

}  // namespace kbench::diagnose
