// A step of a candidate beside the shader it launches: which buffer goes to which of the shader's
// resources, what its uniform blocks and push constants hold. Everything is placed by what the
// shader's module says of itself.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "harness/measure/runner/refusal.h"
#include "harness/measure/vulkan/buffer.h"
#include "harness/measure/vulkan/pipeline.h"
#include "harness/measure/vulkan/snapshot.h"
#include "harness/measure/vulkan/spirv_interface.h"
#include "kbench/candidate.h"

namespace kbench::runner {

/// The uniform blocks of a candidate's steps: one buffer, written once; equal blocks are one.
class UniformPool {
 public:
  static constexpr uint64_t kAlignment = 256;       ///< the most that a device may ask for
  static constexpr uint64_t kMostBytes = 16 << 20;  ///< all blocks together

  /// Where buffers' addresses come: (byte offset, buffer). They are added to what stands there.
  using Addresses = std::vector<std::pair<uint64_t, int>>;

  /// The block's offset; nothing where there is no room for it.
  std::optional<uint64_t> add(std::vector<std::byte> block, Addresses addresses = {});
  const std::vector<std::byte>& bytes() const { return bytes_; }
  /// Of all blocks.
  const Addresses& addresses() const { return addresses_; }

 private:
  struct Block {
    uint64_t offset = 0, bytes = 0;
    Addresses addresses;
  };
  std::vector<std::byte> bytes_;
  std::vector<Block> blocks_;
  Addresses addresses_;
};

/// What a step gives its shader.
struct ShaderLaunch {
  /// For resource i of the shader's interface.
  struct Slot {
    int bind = -1;                ///< index in the step's `bind`; -1: a uniform block
    uint64_t uniform_offset = 0;  ///< in the pool
    /// Of the block, or of the part of the tensor that is bound: to the end of its last word where
    /// the shader has words there. What a shader that asks for the length is told.
    uint64_t bytes = 0;
    uint64_t offset = 0;     ///< of that part
    bool to_the_end = true;  ///< it ends where the tensor does
  };
  vulkan::Bindings bindings;
  std::vector<Slot> slots;
  std::vector<std::byte> push;
  std::vector<std::pair<size_t, int>> addresses;  ///< (byte offset in push, buffer)

  /// What with_lengths() takes: bytes of each resource.
  std::vector<uint64_t> lengths() const;
};

/// Fills `launch`, or says what does not fit; that a buffer is too large (Refusal::size) only where
/// all else does.
std::optional<Refusal> connect(const vulkan::ShaderInterface& interface,
                               const ResolvedCandidate& candidate, const ResolvedStep& step,
                               const vulkan::DeviceSnapshot& limits, UniformPool& uniforms,
                               ShaderLaunch& launch);

/// The block's bytes from a step's values and where addresses come in it, or what is wrong with
/// the values.
std::optional<Refusal> write_uniform(const vulkan::Resource& resource, const ResolvedUniform& given,
                                     std::vector<std::byte>& block,
                                     UniformPool::Addresses& addresses);

/// Gives the members of the push block what the step pushes, in order; as the step has it where the
/// shader has no push block.
std::optional<Refusal> lay_push(const std::vector<vulkan::Leaf>& members, const ResolvedStep& step,
                                ShaderLaunch& launch);

/// What is bound for slot `slot`: its tensor with the redzone behind it, so that a store past the
/// end lands where it is seen, as a device that drops stores outside of a binding would hide it; or
/// the tensor alone.
vulkan::Region bound_region(const vulkan::Region& tensor, const vulkan::Resource& resource,
                            const ShaderLaunch::Slot& slot, const vulkan::Binding& binding,
                            const vulkan::DeviceSnapshot& limits, bool exact);

/// The numbers that a kernel gives its specialization constants.
std::vector<vulkan::GivenConstant> given_constants(const ResolvedKernel& kernel);

}  // namespace kbench::runner
