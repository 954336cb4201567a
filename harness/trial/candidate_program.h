// A candidate made ready for a device: compiled, checked against what candidates may do and what
// the device can do, and recorded step by step.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "harness/eager/eager.h"
#include "harness/vulkan/commands.h"
#include "harness/vulkan/compiler.h"
#include "harness/vulkan/device.h"
#include "harness/vulkan/pipeline.h"
#include "kbench/candidate.h"
#include "kbench/result.h"

namespace kbench::trial {

/// Why a candidate is not run.
struct Refusal {
  Verdict verdict = Verdict::invalid_candidate;
  std::string message;
};

/// "file:line: " of a place, empty when there is none.
std::string at(const Location& location);

/// See the top of the file. The resolved candidate must outlive it.
class CandidateProgram {
 public:
  CandidateProgram(vulkan::Device& device, const ResolvedCandidate& candidate)
      : device_(device), candidate_(candidate) {}

  /// Compiles every kernel and makes every pipeline. `diagnostics` receives what compilers said.
  /// `beside` names built-in pipelines to be made at the same time: the baseline's.
  std::optional<Refusal> build(double seconds_limit, const std::vector<vulkan::EmbeddedKey>& beside,
                               std::vector<Diagnostic>& diagnostics);

  /// Bytes of scratch record() needs for built-in operators.
  uint64_t scratch_bytes() const { return scratch_bytes_; }
  bool has_setup() const { return !candidate_.setup.empty(); }
  /// A kernel that computes in float16, or empty.
  const std::string& float16_kernel() const { return float16_kernel_; }

  /// The memory of the candidate's buffers, by buffer index: what kernels bind, and what operators
  /// and addresses see.
  struct Memory {
    std::vector<vulkan::Region> bound;
    std::vector<vulkan::Region> tensor;
    vulkan::Region scratch;
  };
  /// Record the steps, a full barrier between each two.
  void record_setup(vulkan::Commands& commands, const Memory& memory) const;
  void record_dispatch(vulkan::Commands& commands, const Memory& memory) const;

 private:
  struct Kernel {
    vulkan::Spirv spirv;
    vulkan::SpirvFacts facts;
  };
  struct Step {
    const ResolvedStep* step = nullptr;
    const vulkan::Pipeline* pipeline = nullptr;
    std::optional<eager::PreparedCall> call;
  };

  std::optional<Refusal> compile(size_t kernel, std::vector<Diagnostic>& diagnostics);
  std::optional<Refusal> prepare(const ResolvedStep& step, std::vector<Step>& steps);
  vulkan::PipelineKey pipeline_key(const ResolvedStep& step) const;
  std::optional<Refusal> prepare_kernel(const ResolvedStep& step, Step& made);
  void record(vulkan::Commands& commands, const std::vector<Step>& steps,
              const Memory& memory) const;

  vulkan::Device& device_;
  const ResolvedCandidate& candidate_;
  std::vector<Kernel> kernels_;
  std::vector<Step> setup_, dispatch_;
  uint64_t scratch_bytes_ = 0;
  std::string float16_kernel_;
};

}  // namespace kbench::trial
