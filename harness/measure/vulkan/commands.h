// Recording and running a list of commands.
#pragma once

#include <vulkan/vulkan.h>

#include <array>
#include <cstdint>
#include <memory>
#include <span>

#include "harness/measure/vulkan/buffer.h"
#include "harness/measure/vulkan/pipeline.h"

namespace kbench::vulkan {

class Device;

/// A command buffer with its descriptor pool and timestamp queries. Use: begin(), record, then
/// submit_and_wait(); begin() again records anew. Not thread-safe.
class Commands {
 public:
  /// `timestamps`: how many queries timestamp() may use.
  explicit Commands(Device& device, uint32_t timestamps = 0);
  ~Commands();
  Commands(const Commands&) = delete;

  void begin();
  /// Launches groups x*y*z. `regions` are bound as the pipeline's bindings 0, 1, 2, ... of set 0.
  /// Throws kUnsupported when a group count, a region's size or its place is not what the device
  /// takes for that kind of binding.
  void dispatch(const Pipeline& pipeline, std::span<const Region> regions,
                std::span<const std::byte> push, std::array<uint32_t, 3> groups);
  /// Everything before is finished and visible (shader and transfer, reads and writes) to
  /// everything after.
  void barrier();
  /// size and offset must be multiples of 4.
  void fill(const Buffer& buffer, uint64_t offset, uint64_t size, uint32_t word);
  void copy(const Buffer& from, uint64_t from_offset, const Buffer& to, uint64_t to_offset,
            uint64_t size);
  /// Written when everything recorded before has finished.
  void timestamp(uint32_t index);
  /// Submits and waits. Throws kTimeout when the device takes longer (the device must then not be
  /// used again: work is still in flight), kDeviceLost.
  void submit_and_wait(double timeout_seconds);
  /// Nanoseconds between two timestamps of the last run.
  double elapsed_ns(uint32_t from, uint32_t to) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace kbench::vulkan
