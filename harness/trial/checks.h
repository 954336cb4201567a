// What is checked after every sample, all on the device: redzones intact, what the candidate may
// only read unchanged, every element of every output right. One small report comes back.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "harness/trial/candidate_program.h"
#include "harness/trial/kernels.h"
#include "harness/trial/memory.h"
#include "harness/trial/secret.h"
#include "kbench/compare.h"
#include "kbench/graph.h"

namespace kbench::trial {

/// The comparison of a task's outputs.
struct CheckRule {
  double relative = 1e-4;
  ToleranceRule rule = ToleranceRule::kbench;
};

/// A tensor whose bits must not change while the candidate runs.
struct Watched {
  std::string name;  ///< as a message says it: "input x"
  vulkan::Region region;
  bool every_sample = false;  ///< an input: its hash is taken anew before every sample
};

/// One output of one sample.
struct OutputCheck {
  vulkan::Region got, truth;
  Fill fill;  ///< what `got` was written over
};

/// Owns the report. Use: write_redzones() once; record_before() before the candidate runs (the
/// first time with everything, then inputs only); record_after() when it has; after the submission
/// has finished, verdict(). References must outlive it.
class Checks {
 public:
  Checks(vulkan::Device& device, Kernels& kernels, const TrialMemory& memory, const Graph& graph,
         std::vector<Watched> watched, const CheckRule& rule, SecretStream& secret);

  void record_redzones(vulkan::Commands& commands);
  void record_before(vulkan::Commands& commands, bool inputs_only);
  /// Redzones and watched tensors alone (after setup), or outputs too. Records the copy of the
  /// report to the host.
  void record_after(vulkan::Commands& commands, const std::vector<OutputCheck>& outputs);

  /// The first thing wrong, if any; `outputs` as given to record_after.
  std::optional<Refusal> verdict(const std::vector<OutputCheck>& outputs);

  /// What the truth of output i looked like, in the last sample.
  double truth_rms(size_t i) const { return truth_[i].rms; }
  uint32_t truth_largest(size_t i) const { return truth_[i].largest; }
  double max_error() const { return max_error_; }  ///< of the last sample

 private:
  struct Slot {
    Watched watched;
    uint64_t hashes = 0;  ///< bytes before this one's in both arrays of hashes
  };
  struct OutputSlot {
    Shape shape;
    uint64_t scale = 0, summary = 0;  ///< in the report
    uint64_t scale_work = 0, compare_work = 0;
  };

  std::optional<Refusal> check_redzones() const;
  std::optional<Refusal> check_watched() const;
  std::optional<Refusal> check_output(size_t i, const OutputCheck& output);
  Comparison comparison_of(size_t i, const OutputCheck& output);

  vulkan::Device& device_;
  Kernels& kernels_;
  const Graph& graph_;
  CheckRule rule_;
  std::vector<const GuardedBuffer*> guarded_;  ///< two pieces of redzone each
  std::vector<Slot> slots_;
  std::vector<OutputSlot> outputs_;
  std::vector<ScaleFinding> truth_;
  double max_error_ = 0;
  uint64_t zone_key_;
  uint32_t pieces_ = 0;      ///< of redzones
  uint64_t hash_bytes_ = 0;  ///< of all watched tensors
  uint64_t zone_summary_ = 0, hash_finding_ = 0, report_bytes_ = 0;
  uint64_t zone_findings_ = 0, before_ = 0, after_ = 0;  ///< in the work buffer
  vulkan::Buffer zones_, hash_table_, report_, work_, host_;
};

}  // namespace kbench::trial
