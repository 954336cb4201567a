// The memory of a trial: every buffer a candidate can reach stands between redzones.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "harness/vulkan/device.h"
#include "kbench/candidate.h"
#include "kbench/graph.h"

namespace kbench::trial {

inline constexpr uint64_t kRedzoneBytes = 64 << 10;

/// Device bytes of a guarded buffer that holds `bytes`.
uint64_t guarded_bytes(uint64_t bytes);
/// "1.5 GB", powers of ten.
std::string gigabytes(uint64_t bytes);

/// A buffer between two redzones. The first byte of the tensor is aligned for any use; the trailing
/// redzone begins at the next multiple of 4 bytes.
class GuardedBuffer {
 public:
  GuardedBuffer() = default;
  GuardedBuffer(vulkan::Device& device, std::string name, uint64_t bytes);

  const std::string& name() const { return name_; }
  /// The tensor alone.
  vulkan::Region tensor() const { return {&buffer_, kRedzoneBytes, bytes_}; }
  /// What is bound for a candidate: tensor and trailing redzone, so that a store past the end lands
  /// where it is seen; a device that drops stores outside a binding would otherwise hide it.
  vulkan::Region bound(uint64_t max_range) const;
  /// Device addresses of the redzones, before and after.
  std::array<uint64_t, 2> zones() const;

 private:
  std::string name_;
  vulkan::Buffer buffer_;
  uint64_t bytes_ = 0;
};

/// All buffers of one trial. A region or pointer it hands out is valid as long as it lives.
class TrialMemory {
 public:
  /// The task's own: inputs, parameters, constants, two sets of outputs, the baseline's arena and
  /// what is written to flush caches.
  TrialMemory(vulkan::Device& device, const Graph& graph, uint64_t arena_bytes);
  /// The candidate's temporaries, and scratch for its built-in operators.
  void add_candidate(vulkan::Device& device, const ResolvedCandidate& candidate,
                     uint64_t scratch_bytes);

  /// Input, parameter or constant by value id.
  const GuardedBuffer& given(int value) const { return given_[static_cast<size_t>(value)]; }
  /// Output i of the graph, physical copy 0 or 1.
  const GuardedBuffer& output(size_t i, int copy) const {
    return outputs_[i][static_cast<size_t>(copy)];
  }
  size_t outputs() const { return outputs_.size(); }
  /// Temporary by index into the candidate's buffers.
  const GuardedBuffer& temporary(size_t buffer) const { return temporaries_[buffer]; }
  const GuardedBuffer& scratch() const { return scratch_; }
  bool has_scratch() const { return scratch_.tensor().size > 0; }
  vulkan::Region arena() const { return {&arena_, 0, arena_.size()}; }
  bool has_arena() const { return static_cast<bool>(arena_); }
  vulkan::Region flush() const { return {&flush_, 0, flush_.size()}; }

  /// Every buffer with redzones.
  std::vector<const GuardedBuffer*> guarded() const;

  /// Bytes the first constructor allocates.
  static uint64_t task_bytes(const Graph& graph, uint64_t arena_bytes, uint64_t flush_bytes);
  /// Bytes add_candidate() allocates.
  static uint64_t candidate_bytes(const ResolvedCandidate& candidate, uint64_t scratch_bytes);

 private:
  std::vector<GuardedBuffer> given_;  ///< by value id; empty for other values
  std::vector<std::array<GuardedBuffer, 2>> outputs_;
  std::vector<GuardedBuffer> temporaries_;  ///< by the candidate's buffer index; else empty
  GuardedBuffer scratch_;
  vulkan::Buffer arena_, flush_;
};

}  // namespace kbench::trial
