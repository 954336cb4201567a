// Connects a step of a candidate with the shader it launches: the buffer of each resource, and the
// contents of uniform blocks and push constants, laid out by reflection of the shader's module.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "harness/measure/runner/protocol.h"
#include "harness/measure/vulkan/buffer.h"
#include "harness/measure/vulkan/pipeline.h"
#include "harness/measure/vulkan/snapshot.h"
#include "harness/measure/vulkan/spirv_interface.h"
#include "kbench/candidate.h"

namespace kbench::runner {

/// The uniform blocks of all steps, in one buffer that is written once. Equal blocks are stored
/// once.
class UniformPool {
 public:
  static constexpr uint64_t kAlignment = 256;       ///< the largest that a device may require
  static constexpr uint64_t kMostBytes = 16 << 20;  ///< all blocks together

  /// The block's offset; nothing if there is no room for it.
  std::optional<uint64_t> add(std::vector<std::byte> block);
  const std::vector<std::byte>& bytes() const { return bytes_; }

 private:
  std::vector<std::byte> bytes_;
  std::map<std::vector<std::byte>, uint64_t> offsets_;  ///< by block
};

/// What a step passes to its shader.
struct ShaderLaunch {
  /// For resource i of the shader's interface.
  struct Slot {
    int bind = -1;                ///< index in the step's `bind`; -1: a uniform block
    uint64_t uniform_offset = 0;  ///< in the pool
    /// Bytes of the block or the tensor, rounded up to words if the shader declares words. A shader
    /// that queries the length gets this.
    uint64_t bytes = 0;
  };
  vulkan::Bindings bindings;
  std::vector<Slot> slots;
  std::vector<std::byte> push;
  std::vector<std::pair<size_t, int>> addresses;  ///< (byte offset in push, buffer)

  /// Bytes of each resource, for with_lengths().
  std::vector<uint64_t> lengths() const;
};

/// Fills `launch`, or returns what does not fit; a buffer that is too large (Refused::size) only if
/// everything else fits.
std::optional<Refused> connect(const vulkan::ShaderInterface& interface,
                               const ResolvedCandidate& candidate, const ResolvedStep& step,
                               const vulkan::DeviceSnapshot& limits, UniformPool& uniforms,
                               ShaderLaunch& launch);

/// Writes a step's values to the block's bytes, or returns what is wrong with them.
std::optional<Refused> write_uniform(const vulkan::Resource& resource, const ResolvedUniform& given,
                                     std::vector<std::byte>& block);

/// Writes the values that the step pushes to the members of the push block, in order; unchanged if
/// the shader has no push block.
std::optional<Refused> lay_push(const std::vector<vulkan::Leaf>& members, const ResolvedStep& step,
                                ShaderLaunch& launch);

/// The range that is bound for a slot: the tensor and the redzone behind it, so that a store past
/// its end is detected even if the device drops stores outside of a binding. If `exact`, the tensor
/// only.
vulkan::Region bound_region(const vulkan::Region& tensor, const vulkan::Resource& resource,
                            const ShaderLaunch::Slot& slot, const vulkan::Binding& binding,
                            const vulkan::DeviceSnapshot& limits, bool exact);

/// The values of the kernel's specialization constants.
std::vector<vulkan::GivenConstant> given_constants(const ResolvedKernel& kernel);

}  // namespace kbench::runner
