// A candidate made ready for a device: compiled, checked against what candidates may do and what
// the device can do, and recorded step by step.
#pragma once

#include <cstdint>
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
#include "harness/measure/runner/protocol.h"
#include "harness/measure/runner/refusal.h"
#include "harness/measure/runner/shader_interface.h"
#include "harness/measure/vulkan/commands.h"
#include "harness/measure/vulkan/compiler.h"
#include "harness/measure/vulkan/cuda.h"
#include "harness/measure/vulkan/device.h"
#include "harness/measure/vulkan/pipeline.h"
#include "kbench/candidate.h"
#include "kbench/result.h"

namespace kbench::runner {

/// What NVIDIA's libraries are asked of the device; otherwise than by default in tests alone.
struct CudaDevice {
  std::function<cuda::ComputeCapability()> capability = {};  ///< empty: of the Vulkan device
  std::vector<std::string> driver = {"libcuda.so.1"};        ///< names of the driver's library
};

/// See the top of the file. The resolved candidate must outlive it.
class CandidateProgram {
 public:
  /// `python` translates Triton kernels; it has to be there for build() alone. `others`: the
  /// candidate with the second, third, ... configuration of each Triton kernel, or its last; they
  /// outlive it too.
  CandidateProgram(vulkan::Device& device, const ResolvedCandidate& candidate,
                   PythonHelper* python = nullptr,
                   const std::vector<ResolvedCandidate>& others = {}, CudaDevice cuda = {});

  /// Compiles every kernel and makes every pipeline. `diagnostics` receives what compilers said. A
  /// buffer that is too large for the device is refused last.
  std::optional<Refusal> build(double seconds_limit, std::vector<Diagnostic>& diagnostics);

  /// Bytes of scratch record() needs for built-in operators.
  uint64_t scratch_bytes() const { return scratch_bytes_; }
  bool launches_cuda() const;
  /// Its steps are launched by CUDA's own driver: a kernel asks for what no command list gives. It
  /// is then never recorded.
  bool takes_driver() const { return !why_driver_.empty(); }
  bool has_setup() const { return !candidate_.setup.empty(); }
  /// A kernel asks how long a buffer is.
  bool asks_lengths() const;
  /// A kernel that computes in float16, or empty.
  const std::string& float16_kernel() const { return float16_kernel_; }
  /// "kernel tanh uses tanh.approx.f32": of the first kernel with approximate functions, or empty.
  const std::string& approximations() const { return approximations_; }

  /// The kernels of dispatch that can run in several configurations: those that were refused for
  /// what the device lacks, or do not compile, are left out, as diagnostics say.
  std::vector<Tunable> tunable() const;
  /// One configuration for each of them. Throws kInternal for what there is not.
  void select(const std::vector<uint32_t>& configs);

  /// The memory of the candidate's buffers, by buffer index. Behind each tensor lies a redzone.
  struct Buffers {
    std::vector<vulkan::Region> tensor;
    vulkan::Region scratch;
  };
  /// Which ranges kernels are bound: tensors with the redzones behind them, or tensors alone. How
  /// long a tensor is, kernels are told by their modules and not by what is bound.
  enum class Ranges { past_ends, exact };
  /// Record the steps, a full barrier between each two.
  using AfterStep = std::function<void()>;
  void record_setup(vulkan::Commands& commands, const Buffers& memory, Ranges ranges,
                    const AfterStep& after_step = {}) const;
  void record_dispatch(vulkan::Commands& commands, const Buffers& memory, Ranges ranges,
                       const AfterStep& after_step = {}) const;

  // Of one that takes the driver (candidate_driver.cc).
  /// The driver with every kernel loaded, opened by the first call. Throws Refused for what the
  /// device turns out not to launch.
  cuda::Driver& open_driver();
  /// setup's steps or dispatch's with the kernels' chosen configurations, on buffers at these
  /// addresses, by buffer index.
  DriverPlan driver_plan(bool setup, const std::vector<uint64_t>& addresses) const;

 private:
  /// A CUDA kernel in one of its configurations.
  struct Variant {
    size_t way = 0;  ///< index into ways_
    CudaKernel kernel;
    std::unique_ptr<vulkan::CudaFunction> function;  ///< loaded
    cuda::DriverKernel loaded;                       ///< by the driver, where that is taken
  };
  struct Kernel {
    vulkan::Spirv spirv;  ///< the module that runs: frozen
    vulkan::SpirvFacts facts;
    vulkan::ShaderInterface interface;  ///< its resource i is at binding i of the module that runs
    std::vector<Variant> variants;      ///< of a CUDA kernel, in place of what is above
    size_t chosen = 0;
    bool cuda() const { return !variants.empty(); }
  };
  struct Step {
    const ResolvedStep* step = nullptr;
    const vulkan::Pipeline* pipeline = nullptr;
    const ShaderLaunch* shader = nullptr;
    std::optional<eager::PreparedCall> call;
    std::vector<ResolvedStep> launched;  ///< of a CUDA kernel, by variant
  };
  using Phase = std::vector<ResolvedStep> ResolvedCandidate::*;

  /// What a pipeline of a candidate is made from.
  struct Launch {
    int kernel = -1;
    std::vector<vulkan::Binding> bindings;
    size_t push_bytes = 0;
    /// Not empty: what its module is told in place of asking how long a resource is.
    std::vector<uint64_t> lengths;
    auto operator<=>(const Launch&) const = default;
  };
  class Deadline;

  std::optional<Refusal> compile_all(const Deadline& deadline,
                                     std::vector<Diagnostic>& diagnostics);
  std::optional<Refusal> compile(size_t kernel, bool addresses, const Deadline& deadline,
                                 std::vector<Diagnostic>& diagnostics);
  std::optional<Refusal> compile_cuda(size_t kernel, double seconds,
                                      std::vector<Diagnostic>& diagnostics);
  std::optional<Refusal> check_launches(size_t kernel, const Variant& variant) const;
  std::string config_text(size_t kernel, const Variant& variant) const;
  std::vector<size_t> tunable_kernels() const;
  std::optional<Refusal> finish(size_t kernel, bool addresses,
                                std::vector<Diagnostic>& diagnostics);
  std::optional<Refusal> check(const ResolvedStep& step);
  void add_warnings(std::vector<Diagnostic>& diagnostics) const;
  bool asks_length(const ResolvedStep& step) const;
  Launch launch_of(const ResolvedStep& step) const;
  void upload_uniforms();
  void write_addresses(const Buffers& memory) const;
  void make_pipelines(const Deadline& deadline);
  std::optional<Refusal> prepare(Phase phase, size_t index, std::vector<Step>& steps);
  const vulkan::Pipeline& pipeline(const Launch& launch);
  void load(Kernel& kernel);
  std::string why_driver(const ResolvedStep*& step) const;
  std::optional<Refusal> choose_lane();
  void load_by_driver(size_t kernel, Variant& variant);
  vulkan::PipelineKey pipeline_key(const Launch& launch) const;
  void record(vulkan::Commands& commands, const std::vector<Step>& steps, const Buffers& memory,
              Ranges ranges, const AfterStep& after_step) const;
  /// A step that copies or fills.
  void move(vulkan::Commands& commands, const ResolvedStep& step, const Buffers& memory) const;
  void record_shader(vulkan::Commands& commands, const Step& step, const Buffers& memory,
                     Ranges ranges) const;

  vulkan::Device& device_;
  const ResolvedCandidate& candidate_;
  std::vector<const ResolvedCandidate*> ways_;  ///< it, and those with other configurations
  PythonHelper* python_;
  CudaDevice cuda_;
  std::optional<CudaCompilers> compilers_;  ///< where there are CUDA kernels
  std::vector<Kernel> kernels_;
  std::map<Launch, const vulkan::Pipeline*> pipelines_;  ///< so that no module is hashed per step
  std::map<const ResolvedStep*, ShaderLaunch> shader_launches_;
  UniformPool uniforms_;
  vulkan::Buffer uniform_buffer_;  ///< what `uniforms_` holds
  std::vector<Step> setup_, dispatch_;
  std::string why_driver_;                ///< CUDA's own driver launches it; empty: it does not
  std::unique_ptr<cuda::Driver> driver_;  ///< once opened
  uint64_t scratch_bytes_ = 0;
  std::string float16_kernel_, approximations_;
};

}  // namespace kbench::runner
