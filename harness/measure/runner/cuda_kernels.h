// A candidate's CUDA and PTX kernels made ready: compiled, held to the rules, held against the
// steps that launch them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "harness/measure/cuda/assembler.h"
#include "harness/measure/cuda/nvrtc.h"
#include "harness/measure/cuda/ptx.h"
#include "harness/measure/cuda/ptx_rules.h"
#include "harness/measure/cuda/toolkit.h"
#include "harness/measure/runner/python_helper.h"
#include "harness/measure/runner/refusal.h"
#include "harness/measure/vulkan/snapshot.h"
#include "kbench/candidate.h"

namespace kbench::runner {

/// One kernel as it came out of a compiler.
struct CudaKernel {
  std::string entry;  ///< its symbol
  std::string ptx;    ///< printed from what was checked: this is what is assembled
  std::vector<std::byte> cubin;
  cuda::PtxFunction function;  ///< parameters, limits on the block
  uint64_t static_shared = 0;  ///< bytes
  uint32_t registers = 0;      ///< of a thread; 0: not known
  bool float16 = false;
  std::string approximate;  ///< cuda::approximate_functions
  cuda::PtxNeeds needs;     ///< what no command list can ask for
  /// Shared memory that a block gets of the device it was compiled for, bytes.
  uint64_t most_shared = cuda::kMostSharedBytes;
  // of Triton
  bool triton = false;
  std::vector<bool> kept;     ///< of each argument: still a parameter
  uint32_t shared_bytes = 0;  ///< dynamic
  uint32_t threads = 0;       ///< of a block
};

/// What became of a kernel in one of its configurations.
struct CudaAttempt {
  CudaKernel kernel;
  std::optional<Refusal> refusal;
  std::vector<Diagnostic> diagnostics;  ///< what compilers said
};

/// The compilers of this machine, opened when the first kernel asks for them.
class CudaCompilers {
 public:
  /// `ask` is asked once, for what to compile for; it may throw kUnsupported.
  /// `python` translates Triton kernels; without it they are refused.
  explicit CudaCompilers(std::function<cuda::ComputeCapability()> ask,
                         PythonHelper* python = nullptr)
      : ask_(std::move(ask)),
        python_(python),
        places_(cuda::toolkit_places()),
        toolkit_(cuda::find_toolkit(places_)) {}

  /// Compiles a kernel of the candidate and checks what it does, in so many seconds where that can
  /// be said. `diagnostics` receives what compilers said.
  std::optional<Refusal> compile(const ResolvedCandidate& candidate, size_t kernel, double seconds,
                                 CudaKernel& made, std::vector<Diagnostic>& diagnostics);
  /// The same with the candidate resolved in several ways: an attempt each.
  std::vector<CudaAttempt> compile(const std::vector<const ResolvedCandidate*>& ways, size_t kernel,
                                   double seconds);

 private:
  std::optional<Refusal> compile_cuda(const ResolvedKernel& resolved, const Candidate& candidate,
                                      std::string& ptx, CudaKernel& made,
                                      std::vector<Diagnostic>& diagnostics);
  void compile_triton(const std::vector<const ResolvedCandidate*>& ways, size_t index,
                      double seconds, std::vector<std::string>& ptx,
                      std::vector<CudaAttempt>& attempts);
  std::optional<Refusal> check_and_assemble(const std::string& ptx, const Kernel& kernel,
                                            CudaAttempt& attempt);
  std::optional<Refusal> assemble(const Kernel& kernel, CudaKernel& made,
                                  std::vector<Diagnostic>& diagnostics);
  const cuda::Nvrtc& nvrtc();
  const cuda::Assembler& assembler();
  const cuda::ComputeCapability& capability();

  std::function<cuda::ComputeCapability()> ask_;
  PythonHelper* python_;
  cuda::ToolkitPlaces places_;
  cuda::Toolkit toolkit_;
  std::optional<cuda::Nvrtc> nvrtc_;
  std::optional<cuda::Assembler> assembler_;
  cuda::ComputeCapability capability_;
};

/// Of a device. Throws kUnsupported, saying why, for one that launches no CUDA kernels.
cuda::ComputeCapability cuda_capability(const vulkan::DeviceSnapshot& snapshot);

/// The PTX of a kernel against the rules, and its entry: `made.entry` names it, or is filled in
/// where the module has one entry only. `made.ptx` is what may be assembled.
std::optional<Refusal> check_cuda_module(const std::string& ptx, const Kernel& kernel,
                                         CudaKernel& made);

/// A step as the kernel is launched: of Triton without the parameters that became constants, with
/// the two pointers to scratch memory that it ends with (null: it asked for none), its own block
/// and shared memory. Any other as it is.
ResolvedStep as_launched(const CudaKernel& kernel, const ResolvedStep& step);

/// A step's parameters, block, grid, shared memory and cluster against the kernel, and against what
/// any device has.
std::optional<Refusal> check_cuda_launch(const CudaKernel& kernel, const ResolvedStep& launched);

/// Shared memory of a block on devices of this compute capability, opted in; what is not known yet
/// has the most that is. Source: CUDA C++ Programming Guide, "Technical Specifications per Compute
/// Capability".
uint64_t shared_bytes_of(const cuda::ComputeCapability& capability);

/// Why a command list cannot launch the step, and CUDA's own driver has to: continues "kernel k ".
/// Empty where one can.
std::string needs_driver(const CudaKernel& kernel, const ResolvedStep& launched);

}  // namespace kbench::runner
