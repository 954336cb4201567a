#include "harness/measure/vulkan/descriptor_sets.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <string>

#include "harness/measure/vulkan/device_state.h"
#include "harness/measure/vulkan/functions.h"
#include "harness/measure/vulkan/texels.h"
#include "kbench/error.h"

namespace kbench::vulkan {
namespace {

constexpr uint32_t kSetsPerPool = 256;
constexpr uint32_t kDescriptorsPerPool = 2048;
/// A pool has a descriptor of each other kind for so many of storage buffers.
constexpr uint32_t kRareShare = 8;

constexpr VkDescriptorType kKinds[] = {
    VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, VK_DESCRIPTOR_TYPE_UNIFORM_BUFFER,
    VK_DESCRIPTOR_TYPE_UNIFORM_TEXEL_BUFFER, VK_DESCRIPTOR_TYPE_STORAGE_TEXEL_BUFFER};
using Counts = std::array<uint32_t, std::size(kKinds)>;

Counts counts_of(const Bindings& bindings) {
  Counts counts{};
  for (const Binding& each : bindings) {
    ++counts.at(static_cast<size_t>(std::find(kKinds, std::end(kKinds), each.type) - kKinds));
  }
  return counts;
}

/// Checks the size and offset of a region against the device's limits for that kind of binding.
void require_bindable(const Region& region, const Binding& binding, const DeviceSnapshot& limits,
                      const std::string& name) {
  uint64_t most = limits.max_storage_buffer_range;
  uint64_t alignment = limits.storage_offset_alignment;
  const char* instead = ": pass the buffer's device address instead";
  if (binding.type == VK_DESCRIPTOR_TYPE_UNIFORM_BUFFER) {
    most = limits.max_uniform_buffer_range;
    alignment = limits.uniform_offset_alignment;
    instead = "";
  } else if (binding.format != VK_FORMAT_UNDEFINED) {
    most = limits.max_texel_buffer_elements * texel_bytes(binding.format);
    alignment = limits.texel_offset_alignment;
    instead = " by this format: use a storage buffer";
  }
  if (region.size > most) {
    throw Error(ErrorCode::kUnsupported, name + " has " + std::to_string(region.size) +
                                             " bytes, over the device's " + std::to_string(most) +
                                             " for one binding" + instead);
  }
  if (region.offset % std::max<uint64_t>(alignment, 1) != 0) {
    throw Error(ErrorCode::kUnsupported, name + " starts at byte " + std::to_string(region.offset) +
                                             ", not a multiple of the device's " +
                                             std::to_string(alignment));
  }
}

}  // namespace

struct DescriptorSets::Pool {
  VkDescriptorPool pool = VK_NULL_HANDLE;
  uint32_t sets = 0;  // capacity
  Counts descriptors{};
  uint32_t free_sets = 0;
  Counts free_descriptors{};

  bool fits(const Counts& wanted) const {
    if (free_sets == 0) return false;
    for (size_t i = 0; i < wanted.size(); ++i) {
      if (free_descriptors[i] < wanted[i]) return false;
    }
    return true;
  }
};

DescriptorSets::DescriptorSets(Device& device) : device_(device) {}

DescriptorSets::~DescriptorSets() {
  drop_views();
  for (const Pool& each : pools_) vkDestroyDescriptorPool(device_.handle(), each.pool, nullptr);
}

void DescriptorSets::reset() {
  drop_views();
  for (Pool& each : pools_) {
    KBENCH_VK(vkResetDescriptorPool(device_.handle(), each.pool, 0));
    each.free_sets = each.sets;
    each.free_descriptors = each.descriptors;
  }
}

VkDescriptorSet DescriptorSets::allocate(const Pipeline& pipeline) {
  const Counts wanted = counts_of(pipeline.bindings);
  auto fitting = std::find_if(pools_.begin(), pools_.end(),
                              [&](const Pool& each) { return each.fits(wanted); });
  if (fitting == pools_.end()) {
    Pool added;
    added.sets = added.free_sets = kSetsPerPool;
    std::array<VkDescriptorPoolSize, std::size(kKinds)> sizes{};
    for (size_t i = 0; i < sizes.size(); ++i) {
      const uint32_t usual = i == 0 ? kDescriptorsPerPool : kDescriptorsPerPool / kRareShare;
      added.descriptors[i] = std::max(usual, wanted[i]);
      sizes[i] = {kKinds[i], added.descriptors[i]};
    }
    added.free_descriptors = added.descriptors;
    VkDescriptorPoolCreateInfo info{};
    info.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO;
    info.maxSets = added.sets;
    info.poolSizeCount = static_cast<uint32_t>(sizes.size());
    info.pPoolSizes = sizes.data();
    KBENCH_VK(vkCreateDescriptorPool(device_.handle(), &info, nullptr, &added.pool));
    pools_.push_back(added);
    fitting = std::prev(pools_.end());
  }
  VkDescriptorSetAllocateInfo info{};
  info.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO;
  info.descriptorPool = fitting->pool;
  info.descriptorSetCount = 1;
  info.pSetLayouts = &pipeline.set_layout;
  VkDescriptorSet set = VK_NULL_HANDLE;
  KBENCH_VK(vkAllocateDescriptorSets(device_.handle(), &info, &set));
  fitting->free_sets -= 1;
  for (size_t i = 0; i < wanted.size(); ++i) fitting->free_descriptors[i] -= wanted[i];
  return set;
}

VkBufferView DescriptorSets::make_view(const Region& region, const Binding& binding) {
  VkBufferViewCreateInfo info{};
  info.sType = VK_STRUCTURE_TYPE_BUFFER_VIEW_CREATE_INFO;
  info.buffer = region.buffer->handle();
  info.format = binding.format;
  info.offset = region.offset;
  info.range = region.size;
  VkBufferView view = VK_NULL_HANDLE;
  KBENCH_VK(vkCreateBufferView(device_.handle(), &info, nullptr, &view));
  views_.push_back(view);
  return view;
}

void DescriptorSets::drop_views() {
  for (const VkBufferView view : views_) vkDestroyBufferView(device_.handle(), view, nullptr);
  views_.clear();
}

void DescriptorSets::bind(VkCommandBuffer commands, const Pipeline& pipeline,
                          std::span<const Region> regions) {
  VkWriteDescriptorSet write{};
  write.sType = VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET;
  write.dstSet = allocate(pipeline);
  write.descriptorCount = 1;
  std::vector<VkWriteDescriptorSet> writes(regions.size(), write);
  std::vector<VkDescriptorBufferInfo> infos(regions.size());
  std::vector<VkBufferView> own_views(regions.size());
  for (size_t i = 0; i < regions.size(); ++i) {
    const Region& region = regions[i];
    const Binding& binding = pipeline.bindings[i];
    const std::string name = "binding " + std::to_string(i);
    if (!region.buffer || !*region.buffer || region.size == 0) {
      throw Error(ErrorCode::kInvalidArgument, name + " has no memory");
    }
    require_inside(*region.buffer, region.offset, region.size, name);
    require_bindable(region, binding, device_.snapshot(), name);
    infos[i] = {region.buffer->handle(), region.offset, region.size};
    writes[i].dstBinding = static_cast<uint32_t>(i);
    writes[i].descriptorType = binding.type;
    writes[i].pBufferInfo = &infos[i];
    if (binding.format != VK_FORMAT_UNDEFINED) {
      own_views[i] = make_view(region, binding);
      writes[i].pTexelBufferView = &own_views[i];
    }
  }
  vkUpdateDescriptorSets(device_.handle(), static_cast<uint32_t>(writes.size()), writes.data(), 0,
                         nullptr);
  vkCmdBindDescriptorSets(commands, VK_PIPELINE_BIND_POINT_COMPUTE, pipeline.layout, 0, 1,
                          &write.dstSet, 0, nullptr);
}

}  // namespace kbench::vulkan
