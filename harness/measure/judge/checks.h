// What is checked after every sample, all on the device: redzones intact, what the candidate may
// only read unchanged, every element of every output right. One small report comes back.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "harness/measure/judge/slab.h"
#include "harness/measure/trial/kernels.h"
#include "harness/measure/trial/secret.h"
#include "harness/measure/vulkan/commands.h"
#include "harness/measure/vulkan/device.h"
#include "kbench/compare.h"
#include "kbench/graph.h"
#include "kbench/verdict.h"
#include "libkbench/base/trace.h"

namespace kbench::judge {

// Memory of the judge's own, kept from trial to trial.

/// What one trial at a time works with, made once: drivers take a lock of the whole host to
/// allocate, so that an allocation waits while another process opens a device.
struct Workspace {
  explicit Workspace(vulkan::Device& device_in) : device(device_in), commands(device_in) {}

  /// Makes a buffer hold at least so many bytes; its contents are lost if it was too small.
  void reserve(vulkan::Buffer& buffer, uint64_t bytes) {
    if (buffer.size() >= bytes) return;
    const trace::Span span("allocate");
    buffer = device.allocate(with_room(bytes));
  }
  void reserve_host(vulkan::Buffer& buffer, uint64_t bytes) {
    if (buffer.size() >= bytes) return;
    const trace::Span span("allocate");
    buffer = device.allocate_host(with_room(bytes));
  }

  /// Rounded up, so that a little more the next time needs no allocation.
  static uint64_t with_room(uint64_t bytes) {
    constexpr uint64_t kLeast = 1 << 20, kMost = 1 << 28;
    return bytes > kMost ? bytes : std::max(kLeast, std::bit_ceil(bytes));
  }

  vulkan::Device& device;
  vulkan::Commands commands;
  vulkan::Buffer zones, hash_table, report, work, host;  ///< of Checks
};

/// Why a candidate fails.
struct Finding {
  Verdict verdict = Verdict::wrong_values;
  std::string message;
};

/// Whether it is about the values of outputs.
bool is_of_values(const Finding& finding);
/// Says what outputs and temporaries held, where wrong values may come of that.
void tell_contents(trial::Contents contents, Finding& finding);

/// The comparison of a task's outputs.
struct CheckRule {
  Bounds bounds;
  ToleranceRule rule = ToleranceRule::kbench;
};

/// A tensor whose bits must not change while the candidate runs.
struct Watched {
  std::string name;  ///< as a message says it: "input x"
  vulkan::Region region;
  bool every_sample = false;  ///< an input: its hashes are taken anew before every sample
};

/// One output of one sample.
struct OutputCheck {
  vulkan::Region got, truth;
  trial::Fill fill;    ///< of `got` before the run
  bool filled = true;  ///< false: `got` is memory that did not hold it (an opponent's)
};

/// Owns the hashes and the report. Use: record_redzones() and record_hashes() before the candidate
/// runs (hashes the first time of everything, then of inputs only); record_guards() when it has
/// run, and guards() after that submission; record_outputs() when both have run, and outputs()
/// after that. What it is given must outlive it.
class Checks {
 public:
  Checks(Workspace& workspace, trial::Kernels& kernels, const Redzones& redzones,
         const Graph& graph, std::vector<Watched> watched, const CheckRule& rule,
         trial::SecretStream& secret);

  /// Writes another pattern each time.
  void record_redzones(vulkan::Commands& commands);
  void record_hashes(vulkan::Commands& commands, bool inputs_only);

  /// Redzones and watched tensors. Records the copy of the report to the host.
  void record_guards(vulkan::Commands& commands);
  std::optional<Finding> guards();

  /// Takes the truths' scale and NaN counts, before the candidate's outputs are read, so that those
  /// cannot influence them.
  void record_truth(vulkan::Commands& commands, const std::vector<OutputCheck>& outputs);
  void record_outputs(vulkan::Commands& commands, const std::vector<OutputCheck>& outputs);
  /// If something is wrong, compares once more to find out which elements were written at all.
  std::optional<Finding> outputs(vulkan::Commands& commands,
                                 const std::vector<OutputCheck>& outputs);

  /// What the truth of output i looked like, in the last sample.
  double truth_rms(size_t i) const { return truth_[i].rms; }
  uint32_t truth_largest(size_t i) const { return truth_[i].largest; }
  double max_error() const { return max_error_; }  ///< of the last sample

 private:
  struct WatchedHashes {
    Watched watched;
    uint64_t hashes = 0;  ///< bytes before this one's in both arrays of hashes
  };
  struct Output {
    Shape shape;
    DType truth_type = DType::f32;    ///< f32 for halves
    uint64_t scale = 0, summary = 0;  ///< in the report
    uint64_t scale_work = 0, compare_work = 0;
  };

  void upload(vulkan::Buffer& buffer, std::span<const std::byte> bytes);
  void record_comparison(vulkan::Commands& commands, const std::vector<OutputCheck>& outputs,
                         bool count_untouched);
  std::optional<Finding> check_redzones();
  std::optional<Finding> check_watched() const;
  std::optional<Finding> check_output(size_t i, const OutputCheck& output);
  Comparison comparison_of(size_t i, const OutputCheck& output);

  Workspace& space_;
  trial::Kernels& kernels_;
  const Redzones& redzones_;
  const Graph& graph_;
  CheckRule rule_;
  trial::SecretStream& secret_;
  std::vector<WatchedHashes> watched_;
  std::vector<Output> outputs_;
  std::vector<trial::ScaleFinding> truth_;
  double max_error_ = 0;
  uint64_t zone_key_ = 0;
  uint32_t pieces_ = 0;      ///< of redzones
  uint64_t hash_bytes_ = 0;  ///< of all watched tensors
  uint64_t zone_summary_ = 0, hash_finding_ = 0, report_bytes_ = 0;
  uint64_t zone_findings_ = 0, before_ = 0, after_ = 0;  ///< in the work buffer
};

}  // namespace kbench::judge
