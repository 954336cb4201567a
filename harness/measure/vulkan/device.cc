#include "harness/measure/vulkan/device.h"

#include "harness/measure/vulkan/device_state.h"
#include "harness/measure/vulkan/drivers.h"
#include "harness/measure/vulkan/features.h"
#include "harness/measure/vulkan/float_atomics.h"
#include "harness/measure/vulkan/functions.h"
#include "kbench/error.h"

namespace kbench::vulkan {

Device::Device() = default;
Device::~Device() = default;

std::unique_ptr<Device> Device::open(const OpenOptions& options,
                                     const std::function<void()>& before_device) {
  auto state = std::make_unique<State>();
  state->instance = Instance::create(options.validate);
  std::vector<PhysicalDevice> physical;
  if (state->instance) physical = list_physical_devices(*state->instance);
  std::vector<DeviceSnapshot> snapshots;
  for (const PhysicalDevice& device : physical) snapshots.push_back(device.snapshot);
  const std::string absent = snapshots.empty() ? absent_drivers() : "";
  if (!absent.empty()) throw Error(ErrorCode::kNotFound, "no Vulkan device: " + absent);
  state->snapshot = choose_device(snapshots, options.selector);
  state->plan = plan_device(state->snapshot);
  state->physical = physical[static_cast<size_t>(state->snapshot.index)].handle;
  if (before_device) before_device();
  state->create_device();

  std::unique_ptr<Device> device(new Device);
  device->state_ = std::move(state);
  device->state_->pipelines = std::make_unique<PipelineCache>(*device);
  return device;
}

void Device::State::create_device() {
  vkGetPhysicalDeviceMemoryProperties(physical, &memory);

  FeatureChain chain({.subgroup_size_control = plan.subgroup_size_control,
                      .synchronization2 = plan.synchronization2,
                      .cooperative_matrix = plan.cooperative_matrix,
                      .cooperative_matrix_nv = plan.cooperative_matrix_nv,
                      .bfloat16 = plan.bfloat16_matrices,
                      .float_atomics = (plan.float_atomics & ~kFloat16Atomics) != 0,
                      .float16_atomics = (plan.float_atomics & kFloat16Atomics) != 0});
  // robustBufferAccess stays off: its bounds checks would be timed with the kernels.
  VkPhysicalDeviceFeatures& core = chain.core.features;
  core.shaderInt64 = VK_TRUE;
  core.shaderInt16 = plan.int16;
  core.shaderFloat64 = plan.float64;
  core.shaderStorageImageExtendedFormats = plan.storage_image_formats;
  core.shaderStorageImageReadWithoutFormat = plan.storage_image_read;
  core.shaderStorageImageWriteWithoutFormat = plan.storage_image_write;
  chain.v11.storageBuffer16BitAccess = plan.storage_16bit;
  chain.v12.bufferDeviceAddress = VK_TRUE;
  chain.v12.shaderInt8 = plan.int8;
  chain.v12.shaderFloat16 = plan.float16;
  chain.v12.storageBuffer8BitAccess = plan.storage_8bit;
  chain.v12.scalarBlockLayout = plan.scalar_layout;
  chain.v12.vulkanMemoryModel = plan.memory_model;
  chain.v12.vulkanMemoryModelDeviceScope = plan.memory_model_device_scope;
  chain.subgroup_size.subgroupSizeControl = plan.subgroup_size_control;
  chain.subgroup_size.computeFullSubgroups = plan.full_subgroups;
  chain.synchronization2.synchronization2 = plan.synchronization2;
  chain.matrix.cooperativeMatrix = plan.cooperative_matrix;
  chain.matrix_nv.cooperativeMatrix = plan.cooperative_matrix_nv;
  chain.bfloat16.shaderBFloat16Type = plan.bfloat16_matrices;
  chain.bfloat16.shaderBFloat16CooperativeMatrix = plan.bfloat16_matrices;
  for (size_t i = 0; i < kFloatAtomics.size(); ++i) {
    chain.float_atomic(i) = plan.float_atomics >> i & 1;
  }

  const float priority = 1.0f;
  VkDeviceQueueCreateInfo queue_info{};
  queue_info.sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO;
  queue_info.queueFamilyIndex = plan.queue_family;
  queue_info.queueCount = 1;
  queue_info.pQueuePriorities = &priority;
  VkDeviceCreateInfo info{};
  info.sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO;
  info.pNext = &chain.core;
  info.queueCreateInfoCount = 1;
  info.pQueueCreateInfos = &queue_info;
  info.enabledExtensionCount = static_cast<uint32_t>(plan.extensions.size());
  info.ppEnabledExtensionNames = plan.extensions.data();
  KBENCH_VK(vkCreateDevice(physical, &info, nullptr, &device));
  vkGetDeviceQueue(device, plan.queue_family, 0, &queue);
  if (plan.synchronization2) {
    for (const char* name : {"vkCmdWriteTimestamp2", "vkCmdWriteTimestamp2KHR"}) {
      if (!write_timestamp2) {
        write_timestamp2 =
            reinterpret_cast<PFN_vkCmdWriteTimestamp2>(vkGetDeviceProcAddr(device, name));
      }
    }
  }
}

Device::State::~State() {
  staging_commands.reset();
  staging = Buffer();
  pipelines.reset();
  if (record->hung) {  // work is in flight: waiting may never end, destroying is not allowed
    static_cast<void>(instance.release());
    return;
  }
  if (device != VK_NULL_HANDLE) vkDestroyDevice(device, nullptr);
}

const DeviceSnapshot& Device::snapshot() const { return state_->snapshot; }
const DevicePlan& Device::plan() const { return state_->plan; }
VkDevice Device::handle() const { return state_->device; }
VkQueue Device::queue() const { return state_->queue; }
ShaderCompiler& Device::compiler() { return state_->compiler; }
PipelineCache& Device::pipelines() { return *state_->pipelines; }
bool Device::hung() const { return state_->record->hung; }

std::vector<std::string> Device::take_validation_messages() {
  return state_->instance->take_messages();
}

}  // namespace kbench::vulkan
