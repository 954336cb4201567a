// One paired sample, recorded: fresh inputs, plausible wrong values where results go, baseline and
// candidate in random order with cold caches, then the checks.
#pragma once

#include <cstdint>
#include <vector>

#include "harness/eager/eager.h"
#include "harness/trial/candidate_program.h"
#include "harness/trial/checks.h"
#include "harness/trial/kernels.h"
#include "harness/trial/memory.h"
#include "harness/trial/roles.h"
#include "harness/trial/sampling.h"
#include "harness/trial/secret.h"
#include "kbench/graph.h"
#include "kbench/task.h"

namespace kbench::trial {

/// Everything a sample works with; all outlive it.
struct Stage {
  vulkan::Device& device;
  Kernels& kernels;
  TaskId task;
  const Graph& graph;
  const ResolvedCandidate& candidate;
  const TrialMemory& memory;
  const eager::EagerGraph& baseline;
  const CandidateProgram& program;
  SecretStream& secret;
};

/// Draws a given tensor (input or parameter) from a secret seed: recorded where the device can,
/// else drawn on the host and uploaded at once.
void draw_given(const Stage& stage, vulkan::Commands& commands, int value);
/// Fills the candidate's temporaries (those setup writes, or the others) and operator scratch.
void fill_temporaries(const Stage& stage, vulkan::Commands& commands, bool of_setup, float scale);
/// Memory of the candidate's buffers; output i in physical copy `copy`.
CandidateProgram::Memory candidate_memory(const Stage& stage, int copy);

/// The parts of a sample, in the order they are recorded. Each part leaves a barrier behind it.
class Sample {
 public:
  /// Chooses keys. `last` tells the scale of the last truth, for the fills; null before the first
  /// sample.
  Sample(const Stage& stage, const Roles& roles, const Checks* last);

  /// Inputs drawn, outputs and temporaries filled.
  void record_preparation(vulkan::Commands& commands) const;
  /// Caches flushed, then the run between timestamps first+1 and first+2; first before the flush.
  void record_baseline(vulkan::Commands& commands, uint32_t first) const;
  void record_candidate(vulkan::Commands& commands, uint32_t first) const;
  /// Makes the result of whoever went first unreadable, and readable again. Only the baseline's
  /// needs to be; doing the same for both keeps what runs before the second run the same.
  void record_hiding(vulkan::Commands& commands) const;
  void record_revealing(vulkan::Commands& commands) const;

  /// All of a timed sample, checks included: six timestamps.
  void record_all(vulkan::Commands& commands, Checks& checks) const;
  static constexpr uint32_t kTimestamps = 6;
  PairedTimes times(const vulkan::Commands& commands) const;

  /// What is to be compared.
  std::vector<OutputCheck> outputs() const;

 private:
  void record_flush(vulkan::Commands& commands, uint32_t first) const;
  void mask_outputs(vulkan::Commands& commands) const;

  const Stage& stage_;
  Roles roles_;
  uint64_t mask_key_;
  float scale_ = 1;
  std::vector<Fill> baseline_fills_, candidate_fills_;
};

}  // namespace kbench::trial
