// SPIR-V modules: what they say about themselves, whether they are valid, and how they are made
// final before a driver sees them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace kbench::vulkan {

using Spirv = std::vector<uint32_t>;
/// Specialization constants: constant id -> 32-bit value.
using Specialization = std::vector<std::pair<uint32_t, uint32_t>>;

/// What a SPIR-V module says about itself. Sizes end at 2^64 - 1, so that none wraps to a small
/// one.
struct SpirvFacts {
  std::vector<uint32_t> capabilities;  ///< SpvCapability values
  std::vector<std::string> extensions;
  std::vector<std::string> instruction_sets;  ///< those it imports
  std::string entry;                          ///< name of its one entry point
  uint32_t local_size[3] = {1, 1, 1};         ///< of that entry point
  uint64_t shared_bytes = 0;                  ///< of workgroup memory, without padding
  uint64_t stack_bytes = 0;                   ///< of all variables of its functions
  std::vector<uint32_t> bindings;             ///< of buffers and uniform blocks in descriptor set 0
  bool other_resources = false;               ///< an image that is no buffer, a sampler
  std::optional<uint32_t> binding_array;      ///< a binding declared as an array of buffers
  bool uses_float16 = false;                  ///< 16-bit float arithmetic
  bool reads_clock = false;
  uint32_t float_atomics = 0;        ///< what it does of features.h, as a set
  bool other_float_atomics = false;  ///< in typed buffers
  /// A pointer made of constants or of what lies in buffers alone. An address that comes by push
  /// constant may pass through variables and functions; such a path is not followed.
  bool foreign_addresses = false;
};

/// Throws Error(kCompile) when the words are no sound module, when it does not have exactly one
/// entry point, a compute shader, or when a size depends on a constant that freeze_spirv() would
/// have settled.
SpirvFacts inspect_spirv(const Spirv& spirv);

/// Validates with SPIRV-Tools for Vulkan 1.2 before a driver sees it. Empty: valid; else the
/// messages, one a line.
std::string validate_spirv(const Spirv& spirv);
/// The capabilities and extensions that any words declare behind a header, for what cannot be read
/// further. Throws nothing.
SpirvFacts declared_by(const Spirv& spirv);

/// The module that runs: validated, its one entry point `entry` (empty: of any name), its
/// specialization constants set to the given values (bools: 0 is false; floats: the value's bits),
/// the others to their defaults, and all of them plain constants, so that what is inspected is what
/// a driver compiles. Debug information of non-semantic instruction sets is taken out. Operations
/// on constants of 16 or 64 bits may stay as they are; no size can depend on one. Throws Error:
/// kCompile when the module is not valid or lacks the entry point, kInvalidArgument when a value is
/// given for a constant that is not there or has not 32 bits.
Spirv freeze_spirv(const Spirv& spirv, const Specialization& values, const std::string& entry);

/// SPIRV-Tools' performance passes, as shaderc runs them on what it compiles with `optimize`:
/// nearly all of what that compile costs, and safe on many threads at once. Throws Error(kCompile).
Spirv optimize_spirv(const Spirv& spirv);

}  // namespace kbench::vulkan
