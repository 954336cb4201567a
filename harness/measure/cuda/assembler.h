// PTX to machine code through nvJitLink, opened at run time. All code that is launched comes from
// here, made of PTX that was checked and printed anew. No driver is needed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "harness/measure/cuda/nvrtc.h"

namespace kbench::cuda {

struct AssembleOutcome {
  std::vector<std::byte> cubin;  ///< empty when it failed
  std::vector<Diagnostic> diagnostics;
  bool ok() const { return !cubin.empty(); }
};

class Assembler {
 public:
  /// Throws kUnsupported, naming where it was looked for, when there is no nvJitLink.
  Assembler(const Toolkit& toolkit, const ToolkitPlaces& places);
  ~Assembler();

  /// `file` and `first_line` as in CudaSource; first_line 0: the PTX was made from the file, and
  /// diagnostics have no lines. `line_info`: the PTX's own is kept.
  AssembleOutcome assemble(const std::string& ptx, const ComputeCapability& device,
                           const std::string& file, int first_line, bool line_info = false) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// What an assembled module says of a kernel's needs: ELF, as NVIDIA's assembler writes it.

/// Registers of a thread of the kernel; nothing when the file does not say.
std::optional<uint32_t> cubin_registers(std::span<const std::byte> cubin, std::string_view entry);
/// Local memory of a thread of the kernel, bytes; nothing when the file does not say.
std::optional<uint32_t> cubin_stack_bytes(std::span<const std::byte> cubin, std::string_view entry);

}  // namespace kbench::cuda
