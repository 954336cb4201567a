// A candidate compiled for a device, checked against what candidates may do and what the device can
// do, and recorded step by step.
#pragma once

#include <cstdint>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "harness/measure/cuda/driver.h"
#include "harness/measure/eager/eager.h"
#include "harness/measure/runner/cuda_kernels.h"
#include "harness/measure/runner/driver_lane.h"
#include "harness/measure/runner/program.h"
#include "harness/measure/runner/protocol.h"
#include "harness/measure/runner/shader_interface.h"
#include "harness/measure/vulkan/commands.h"
#include "harness/measure/vulkan/compiler.h"
#include "harness/measure/vulkan/device.h"
#include "harness/measure/vulkan/pipeline.h"
#include "kbench/candidate.h"
#include "kbench/result.h"

namespace kbench::runner {

/// How the device's CUDA side is found; only tests change it.
struct CudaDevice {
  std::function<cuda::ComputeCapability()> capability = {};  ///< empty: of the Vulkan device
  std::vector<std::string> driver = {"libcuda.so.1"};        ///< names of the driver's library
};

/// Adds the address of a buffer to the 8 bytes at each offset; `offsets`: (offset, buffer index).
void add_addresses(std::vector<std::byte>& bytes,
                   const std::vector<std::pair<size_t, int>>& offsets, const auto& address_of) {
  for (const auto& [offset, buffer] : offsets) {
    uint64_t address = 0;
    std::memcpy(&address, bytes.data() + offset, sizeof address);
    address += address_of(static_cast<size_t>(buffer));
    std::memcpy(bytes.data() + offset, &address, sizeof address);
  }
}

/// See the top of the file. The resolved candidate must outlive it.
class CandidateProgram {
 public:
  /// `python` translates Triton kernels and is used by build() only.
  CandidateProgram(vulkan::Device& device, const ResolvedCandidate& candidate,
                   PythonHelper* python = nullptr, CudaDevice cuda = {});

  /// Compiles every kernel and makes every pipeline. `diagnostics` receives the compilers'
  /// messages. A buffer that is too large for the device is refused only when nothing else is
  /// wrong.
  std::optional<Refused> build(double seconds_limit, std::vector<Diagnostic>& diagnostics);

  /// Bytes of scratch memory that record() needs for built-in operators.
  uint64_t scratch_bytes() const { return scratch_bytes_; }
  /// Its kernels are in CUDA, PTX or Triton: CUDA's own driver launches them, and it is never
  /// recorded.
  bool takes_driver() const;
  /// Fills in the kernels and their properties.
  void describe(Built& built) const;

  /// The memory of the candidate's buffers, by buffer index. Behind each tensor lies a redzone.
  struct Buffers {
    std::vector<vulkan::Region> tensor;
    vulkan::Region scratch;
  };
  /// Records the steps of a pass, a full barrier between each two. Kernels learn the length of a
  /// tensor from their modules, not from the range that is bound.
  void record(vulkan::Commands& commands, const Pass& pass, const Buffers& memory,
              const AfterStep& after_step) const;

  // If takes_driver() (candidate_cuda.cc):
  /// The driver with every kernel loaded, opened by the first call. Throws Refused for a kernel
  /// that the device cannot launch.
  cuda::Driver& open_driver();
  /// The steps of setup or dispatch. `addresses`: of the buffers, by buffer index.
  DriverPlan driver_plan(bool setup, const std::vector<uint64_t>& addresses) const;

 private:
  struct CompiledKernel {
    vulkan::Spirv spirv;  ///< the module that runs: frozen
    vulkan::SpirvFacts facts;
    vulkan::ShaderInterface interface;  ///< its resource i is at binding i of the module that runs
    std::optional<CudaKernel> cuda;     ///< in place of the members above
    cuda::DriverKernel loaded;          ///< of a CUDA kernel, once the driver is open
  };
  struct PreparedStep {
    const ResolvedStep* step = nullptr;
    const vulkan::Pipeline* pipeline = nullptr;
    const ShaderLaunch* shader = nullptr;
    std::optional<eager::PreparedCall> call;
    std::optional<ResolvedStep> launched;  ///< of a CUDA kernel
  };
  using Phase = std::vector<ResolvedStep> ResolvedCandidate::*;

  /// Identifies a pipeline of the candidate.
  struct PipelineSpec {
    int kernel = -1;
    std::vector<vulkan::Binding> bindings;
    size_t push_bytes = 0;
    /// Lengths of the resources in bytes, written into a module that asks for one; else empty.
    std::vector<uint64_t> lengths;
    auto operator<=>(const PipelineSpec&) const = default;
  };
  class Deadline;

  std::optional<Refused> compile_all(const Deadline& deadline,
                                     std::vector<Diagnostic>& diagnostics);
  std::optional<Refused> compile(size_t kernel, bool addresses, const Deadline& deadline,
                                 std::vector<Diagnostic>& diagnostics);
  std::optional<Refused> compile_cuda(size_t kernel, double seconds,
                                      std::vector<Diagnostic>& diagnostics);
  bool is_cuda(const ResolvedStep& step) const;
  std::optional<Refused> check_languages() const;
  std::optional<Refused> finish(size_t kernel, bool addresses,
                                std::vector<Diagnostic>& diagnostics);
  std::optional<Refused> check(const ResolvedStep& step);
  void add_warnings(std::vector<Diagnostic>& diagnostics) const;
  bool asks_length(const ResolvedStep& step) const;
  PipelineSpec spec_of(const ResolvedStep& step) const;
  void upload_uniforms();
  void make_pipelines(const Deadline& deadline);
  std::optional<Refused> prepare(Phase phase, size_t index);
  const vulkan::Pipeline& pipeline(const PipelineSpec& spec);
  void load(size_t kernel);
  vulkan::PipelineKey pipeline_key(const PipelineSpec& spec) const;
  void record_shader(vulkan::Commands& commands, const PreparedStep& step, const Buffers& memory,
                     bool exact) const;

  vulkan::Device& device_;
  const ResolvedCandidate& candidate_;
  PythonHelper* python_;
  CudaDevice cuda_;
  std::optional<CudaCompilers> compilers_;  ///< if there are CUDA kernels
  std::vector<CompiledKernel> kernels_;
  vulkan::PipelineCache pipeline_cache_;  ///< the candidate's own, which ends with it
  std::map<PipelineSpec, const vulkan::Pipeline*>
      pipelines_;  ///< so that a module is hashed once, not per step
  std::map<const ResolvedStep*, ShaderLaunch> shader_launches_;
  UniformPool uniforms_;
  vulkan::Buffer uniform_buffer_;  ///< what `uniforms_` holds
  std::vector<PreparedStep> setup_, dispatch_;
  std::unique_ptr<cuda::Driver> driver_;  ///< null until opened
  uint64_t scratch_bytes_ = 0;
  std::string float16_kernel_, approximations_;  ///< as in Built
};

}  // namespace kbench::runner
