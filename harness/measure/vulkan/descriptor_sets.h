// The descriptor sets of a command list.
#pragma once

#include <vulkan/vulkan.h>

#include <span>
#include <vector>

#include "harness/measure/vulkan/buffer.h"
#include "harness/measure/vulkan/device.h"
#include "harness/measure/vulkan/pipeline.h"

namespace kbench::vulkan {

/// Descriptor sets and views of buffers, from pools that grow. They live until reset() or the end
/// of this object; the device must not be using them then.
class DescriptorSets {
 public:
  explicit DescriptorSets(Device& device);
  ~DescriptorSets();
  DescriptorSets(const DescriptorSets&) = delete;
  DescriptorSets& operator=(const DescriptorSets&) = delete;

  /// Records the binding of one region to each of the pipeline's bindings, in their order. Throws
  /// kInvalidArgument for a region without memory, kUnsupported where the device does not take one.
  void bind(VkCommandBuffer commands, const Pipeline& pipeline, std::span<const Region> regions);
  void reset();

 private:
  struct Pool;
  VkDescriptorSet allocate(const Pipeline& pipeline);
  VkBufferView make_view(const Region& region, const Binding& binding);
  void drop_views();

  Device& device_;
  std::vector<Pool> pools_;
  std::vector<VkBufferView> views_;
};

}  // namespace kbench::vulkan
