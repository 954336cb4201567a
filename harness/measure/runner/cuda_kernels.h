// Compiles a candidate's CUDA, PTX and Triton kernels, and checks them against the rules for
// candidates and against the steps that launch them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "harness/measure/cuda/assembler.h"
#include "harness/measure/cuda/nvrtc.h"
#include "harness/measure/cuda/ptx.h"
#include "harness/measure/cuda/ptx_rules.h"
#include "harness/measure/cuda/toolkit.h"
#include "harness/measure/runner/protocol.h"
#include "harness/measure/runner/python_helper.h"
#include "harness/measure/vulkan/snapshot.h"
#include "kbench/candidate.h"

namespace kbench::runner {

/// A compiled kernel.
struct CudaKernel {
  std::string entry;  ///< its symbol
  std::string ptx;    ///< printed from the checked module; this is what is assembled
  std::vector<std::byte> cubin;
  cuda::PtxFunction function;  ///< parameters, limits on the block
  uint64_t static_shared = 0;  ///< bytes
  uint32_t registers = 0;      ///< of a thread; 0: unknown
  bool uses_stack = true;      ///< it has local memory, as far as is known
  bool float16 = false;
  std::string approximate;  ///< cuda::approximate_functions
  /// The most shared memory of a block on the device it was compiled for, bytes.
  uint64_t most_shared = cuda::kMostSharedBytes;
  // Only of Triton kernels:
  bool triton = false;
  std::vector<bool> kept;     ///< for each argument, whether it is still a parameter
  uint32_t shared_bytes = 0;  ///< dynamic
  uint32_t threads = 0;       ///< of a block
};

/// The outcome of compiling a kernel.
struct CudaAttempt {
  CudaKernel kernel;
  std::optional<Refused> refusal;
  std::vector<Diagnostic> diagnostics;  ///< the compilers' messages
};

/// The compilers of this machine, each opened on first use.
class CudaCompilers {
 public:
  /// `ask` returns the capability to compile for; it is called once and may throw kUnsupported.
  /// `python` translates Triton kernels; without it they are refused. With `line_info` the compiled
  /// code knows its lines: the PTX is checked and assembled as it stands, not printed anew.
  explicit CudaCompilers(std::function<cuda::ComputeCapability()> ask,
                         PythonHelper* python = nullptr, bool line_info = false)
      : ask_(std::move(ask)),
        python_(python),
        line_info_(line_info),
        places_(cuda::toolkit_places()),
        toolkit_(cuda::find_toolkit(places_)) {}

  /// Compiles and checks a kernel, by its index. `seconds` limits Triton's translation.
  CudaAttempt compile(const ResolvedCandidate& candidate, size_t kernel, double seconds);

 private:
  std::optional<Refused> compile_cuda(const ResolvedKernel& resolved, const Candidate& candidate,
                                      std::string& ptx, CudaKernel& made,
                                      std::vector<Diagnostic>& diagnostics);
  void compile_triton(const ResolvedCandidate& candidate, size_t index, double seconds,
                      std::string& ptx, CudaAttempt& attempt);
  std::optional<Refused> check_and_assemble(const std::string& ptx, const Kernel& kernel,
                                            CudaAttempt& attempt);
  std::optional<Refused> assemble(const Kernel& kernel, CudaKernel& made,
                                  std::vector<Diagnostic>& diagnostics);
  const cuda::Nvrtc& nvrtc();
  const cuda::Assembler& assembler();
  const cuda::ComputeCapability& capability();

  std::function<cuda::ComputeCapability()> ask_;
  PythonHelper* python_;
  bool line_info_;
  cuda::ToolkitPlaces places_;
  cuda::Toolkit toolkit_;
  std::optional<cuda::Nvrtc> nvrtc_;
  std::optional<cuda::Assembler> assembler_;
  cuda::ComputeCapability capability_;
};

/// The capability of a device. Throws kUnsupported, with the reason, if it runs no CUDA kernels.
cuda::ComputeCapability cuda_capability(const vulkan::DeviceSnapshot& snapshot);

/// A refusal with the first error as its message.
Refused compile_error(const Kernel& kernel, std::span<const Diagnostic> said);

/// Checks the PTX of a kernel against the rules. `made.entry` names its entry, or is filled in if
/// the module has only one. `made.ptx` becomes what may be assembled.
std::optional<Refused> check_cuda_module(const std::string& ptx, const Kernel& kernel,
                                         CudaKernel& made);

/// The step with the arguments, block and shared memory that the kernel is launched with. A Triton
/// kernel has its own block and shared memory, lacks the parameters that became constants, and ends
/// with two pointers to scratch memory, null as none is used. Other kernels: the step unchanged.
ResolvedStep as_launched(const CudaKernel& kernel, const ResolvedStep& step);

/// Checks a step's parameters, block, grid and shared memory against the kernel and the limits of
/// devices.
std::optional<Refused> check_cuda_launch(const CudaKernel& kernel, const ResolvedStep& launched);

/// The most shared memory of a block, opted in, on devices of this compute capability, bytes.
/// Source: CUDA C++ Programming Guide, "Technical Specifications per Compute Capability".
uint64_t shared_bytes_of(const cuda::ComputeCapability& capability);

}  // namespace kbench::runner
