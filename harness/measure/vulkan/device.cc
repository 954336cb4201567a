#include "harness/measure/vulkan/device.h"

#include <algorithm>
#include <cstring>
#include <string>

#include "harness/measure/vulkan/device_state.h"
#include "harness/measure/vulkan/features.h"
#include "harness/measure/vulkan/functions.h"
#include "harness/measure/vulkan/instance.h"
#include "kbench/error.h"

namespace kbench::vulkan {

namespace {

#define KBENCH_RESULT(name) \
  case name:                \
    return #name
std::string result_name(VkResult result) {
  switch (result) {
    KBENCH_RESULT(VK_NOT_READY);
    KBENCH_RESULT(VK_TIMEOUT);
    KBENCH_RESULT(VK_INCOMPLETE);
    KBENCH_RESULT(VK_ERROR_OUT_OF_HOST_MEMORY);
    KBENCH_RESULT(VK_ERROR_OUT_OF_DEVICE_MEMORY);
    KBENCH_RESULT(VK_ERROR_INITIALIZATION_FAILED);
    KBENCH_RESULT(VK_ERROR_DEVICE_LOST);
    KBENCH_RESULT(VK_ERROR_MEMORY_MAP_FAILED);
    KBENCH_RESULT(VK_ERROR_LAYER_NOT_PRESENT);
    KBENCH_RESULT(VK_ERROR_EXTENSION_NOT_PRESENT);
    KBENCH_RESULT(VK_ERROR_FEATURE_NOT_PRESENT);
    KBENCH_RESULT(VK_ERROR_INCOMPATIBLE_DRIVER);
    KBENCH_RESULT(VK_ERROR_TOO_MANY_OBJECTS);
    KBENCH_RESULT(VK_ERROR_FRAGMENTED_POOL);
    KBENCH_RESULT(VK_ERROR_OUT_OF_POOL_MEMORY);
    KBENCH_RESULT(VK_ERROR_FRAGMENTATION);
    KBENCH_RESULT(VK_ERROR_INVALID_SHADER_NV);
    KBENCH_RESULT(VK_ERROR_UNKNOWN);
    default:
      return "VkResult " + std::to_string(static_cast<int>(result));
  }
}
#undef KBENCH_RESULT

ErrorCode code_of(VkResult result) {
  switch (result) {
    case VK_TIMEOUT:
      return ErrorCode::kTimeout;
    case VK_ERROR_DEVICE_LOST:
      return ErrorCode::kDeviceLost;
    case VK_ERROR_OUT_OF_HOST_MEMORY:
    case VK_ERROR_OUT_OF_DEVICE_MEMORY:
    case VK_ERROR_OUT_OF_POOL_MEMORY:
      return ErrorCode::kOutOfMemory;
    default:
      return ErrorCode::kInternal;
  }
}

constexpr uint64_t kStagingBytes = uint64_t{64} << 20;
constexpr double kPieceTimeoutSeconds = 60;

}  // namespace

Device::Device() = default;
Device::~Device() = default;

std::unique_ptr<Device> Device::open(OpenOptions options,
                                     const std::function<void(OpenOptions&)>& before_device) {
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
  if (before_device) before_device(options);
  state->create_device(options.cuda && state->snapshot.makes_cuda_ready());

  std::unique_ptr<Device> device(new Device);
  device->state_ = std::move(state);
  device->state_->pipelines = std::make_unique<PipelineCache>(*device);
  return device;
}

void Device::State::create_device(bool for_cuda) {
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
  std::vector<const char*> extensions = plan.extensions;
  if (for_cuda) extensions.push_back(VK_NVX_BINARY_IMPORT_EXTENSION_NAME);
  info.enabledExtensionCount = static_cast<uint32_t>(extensions.size());
  info.ppEnabledExtensionNames = extensions.data();
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

void check(VkResult result, const char* call, const char* file, int line) {
  if (result == VK_SUCCESS) return;
  const char* slash = std::strrchr(file, '/');
  const std::string expression(call);
  throw Error(code_of(result), expression.substr(0, expression.find('(')) + " gave " +
                                   result_name(result) + " (" + (slash ? slash + 1 : file) + ":" +
                                   std::to_string(line) + ")");
}

void Device::upload(const Buffer& to, uint64_t offset, std::span<const std::byte> data) {
  require_inside(to, offset, data.size(), "upload");
  prepare_staging();
  Commands& commands = *state_->staging_commands;
  for (uint64_t done = 0; done < data.size();) {
    const uint64_t piece = std::min<uint64_t>(kStagingBytes, data.size() - done);
    std::memcpy(state_->staging.mapped(), data.data() + done, piece);
    commands.begin();
    commands.copy(state_->staging, 0, to, offset + done, piece);
    commands.submit_and_wait(kPieceTimeoutSeconds);
    done += piece;
  }
}

void Device::download(const Buffer& from, uint64_t offset, std::span<std::byte> data) {
  require_inside(from, offset, data.size(), "download");
  prepare_staging();
  Commands& commands = *state_->staging_commands;
  for (uint64_t done = 0; done < data.size();) {
    const uint64_t piece = std::min<uint64_t>(kStagingBytes, data.size() - done);
    commands.begin();
    commands.copy(from, offset + done, state_->staging, 0, piece);
    commands.submit_and_wait(kPieceTimeoutSeconds);
    std::memcpy(data.data() + done, state_->staging.mapped(), piece);
    done += piece;
  }
}

void Device::prepare_staging() {
  if (!state_->staging) state_->staging = allocate_host(kStagingBytes);
  if (!state_->staging_commands) state_->staging_commands = std::make_unique<Commands>(*this);
}

}  // namespace kbench::vulkan
