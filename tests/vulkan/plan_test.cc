#include "harness/measure/vulkan/plan.h"

#include <gmock/gmock.h>

#include "kbench/error.h"
#include "tests/error_of.h"

namespace kbench::vulkan {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StrEq;

DeviceSnapshot discrete() {
  DeviceSnapshot snapshot;
  snapshot.name = "Example GPU 4000";
  snapshot.type = VK_PHYSICAL_DEVICE_TYPE_DISCRETE_GPU;
  snapshot.api_version = VK_API_VERSION_1_3;
  snapshot.queues = {{.index = 0, .compute = false, .timestamp_bits = 64},
                     {.index = 1, .compute = true, .timestamp_bits = 0},
                     {.index = 2, .compute = true, .timestamp_bits = 36}};
  snapshot.timestamp_period_ns = 10;
  snapshot.device_local_bytes = uint64_t{24} << 30;
  snapshot.buffer_device_address = true;
  snapshot.shader_int64 = true;
  snapshot.device_uuid = {0x10, 0x21, 0x32, 0x43, 0x54, 0x65, 0x76, 0x87,
                          0x98, 0xa9, 0xba, 0xcb, 0xdc, 0xed, 0xfe, 0x0f};
  snapshot.extensions = {"VK_KHR_external_memory_fd"};
  snapshot.shares_descriptors = true;
  return snapshot;
}

DeviceSnapshot cpu() {
  DeviceSnapshot snapshot = discrete();
  snapshot.index = 1;
  snapshot.name = "llvmpipe (LLVM 15.0.6, 256 bits)";
  snapshot.type = VK_PHYSICAL_DEVICE_TYPE_CPU;
  snapshot.device_uuid = {};
  snapshot.extensions = {"VK_KHR_external_memory_fd", "VK_EXT_external_memory_host"};
  snapshot.shares_host_pointers = true;
  return snapshot;
}

std::string refusal(const DeviceSnapshot& snapshot) {
  const Error error = error_of([&] { plan_device(snapshot); });
  EXPECT_EQ(error.code(), ErrorCode::kUnsupported);
  return error.what();
}

TEST(PlanDevice, TakesTheFirstComputeQueueWithTimestamps) {
  const DevicePlan plan = plan_device(discrete());
  EXPECT_EQ(plan.queue_family, 2u);
  EXPECT_EQ(plan.timestamp_mask, (uint64_t{1} << 36) - 1);
  EXPECT_EQ(plan.timestamp_period_ns, 10);
}

TEST(PlanDevice, MasksNothingOf64BitTimestamps) {
  DeviceSnapshot snapshot = discrete();
  snapshot.queues[2].timestamp_bits = 64;
  EXPECT_EQ(plan_device(snapshot).timestamp_mask, UINT64_MAX);
}

TEST(PlanDevice, NamesTheDeviceAndWhatItLacks) {
  DeviceSnapshot snapshot = discrete();
  snapshot.buffer_device_address = false;
  EXPECT_THAT(refusal(snapshot), HasSubstr("bufferDeviceAddress"));
  EXPECT_THAT(refusal(snapshot), HasSubstr("Example GPU 4000"));
  snapshot = discrete();
  snapshot.shader_int64 = false;
  EXPECT_THAT(refusal(snapshot), HasSubstr("shaderInt64"));
  snapshot = discrete();
  snapshot.api_version = VK_API_VERSION_1_1;
  EXPECT_THAT(refusal(snapshot), HasSubstr("Vulkan 1.2"));
  snapshot = discrete();
  snapshot.queues[2].timestamp_bits = 0;
  EXPECT_THAT(refusal(snapshot), HasSubstr("timestamps"));
  snapshot = discrete();
  snapshot.timestamp_period_ns = 0;
  EXPECT_THAT(refusal(snapshot), HasSubstr("timestamp period"));
}

TEST(PlanDevice, EnablesOnlyWhatIsOffered) {
  DeviceSnapshot snapshot = discrete();
  EXPECT_FALSE(plan_device(snapshot).float16);
  EXPECT_THAT(plan_device(snapshot).extensions, ElementsAre(StrEq("VK_KHR_external_memory_fd")));
  snapshot.shader_float16 = snapshot.synchronization2 = true;
  snapshot.subgroup_size_control = snapshot.full_subgroups = true;
  snapshot.extensions = {"VK_KHR_synchronization2", "VK_EXT_memory_budget", "VK_KHR_swapchain",
                         "VK_KHR_external_memory_fd"};
  const DevicePlan plan = plan_device(snapshot);
  EXPECT_TRUE(plan.float16);
  EXPECT_TRUE(plan.synchronization2);
  EXPECT_TRUE(plan.full_subgroups);
  EXPECT_THAT(plan.extensions, Contains(StrEq("VK_KHR_synchronization2")));
  EXPECT_THAT(plan.extensions, Contains(StrEq("VK_EXT_memory_budget")));
  EXPECT_EQ(plan.extensions.size(), 3u);
}

TEST(PlanDevice, TakesCooperativeMatricesOnlyWithTheMemoryModel) {
  DeviceSnapshot snapshot = discrete();
  snapshot.cooperative_matrix = true;
  snapshot.extensions = {"VK_KHR_cooperative_matrix"};
  EXPECT_FALSE(plan_device(snapshot).cooperative_matrix);
  EXPECT_THAT(plan_device(snapshot).extensions, Not(Contains(StrEq("VK_KHR_cooperative_matrix"))));
  snapshot.vulkan_memory_model = true;
  EXPECT_TRUE(plan_device(snapshot).cooperative_matrix);
  EXPECT_THAT(plan_device(snapshot).extensions, Contains(StrEq("VK_KHR_cooperative_matrix")));
}

TEST(PlanDevice, TakesMatricesOfBfloat16OnlyWithThoseOfKhr) {
  DeviceSnapshot snapshot = discrete();
  snapshot.vulkan_memory_model = snapshot.bfloat16_matrices = true;
  snapshot.extensions = {"VK_KHR_cooperative_matrix", "VK_KHR_shader_bfloat16"};
  EXPECT_FALSE(plan_device(snapshot).bfloat16_matrices);
  EXPECT_THAT(plan_device(snapshot).extensions, Not(Contains(StrEq("VK_KHR_shader_bfloat16"))));
  snapshot.cooperative_matrix = true;
  EXPECT_TRUE(plan_device(snapshot).bfloat16_matrices);
  EXPECT_THAT(plan_device(snapshot).extensions, Contains(StrEq("VK_KHR_shader_bfloat16")));
}

TEST(PlanDevice, EnablesTheFloatAtomicsThatAreThere) {
  DeviceSnapshot snapshot = discrete();
  snapshot.extensions.push_back("VK_EXT_shader_atomic_float");
  EXPECT_THAT(plan_device(snapshot).extensions, Not(Contains(StrEq("VK_EXT_shader_atomic_float"))));
  snapshot.float_atomics = 0x23;
  EXPECT_EQ(plan_device(snapshot).float_atomics, 0x23u);
  EXPECT_THAT(plan_device(snapshot).extensions, Contains(StrEq("VK_EXT_shader_atomic_float")));
}

TEST(PlanDevice, SharesByDescriptorOnGpusAndHostMemoryOnCpus) {
  EXPECT_EQ(plan_device(discrete()).sharing, Sharing::descriptor);
  const DevicePlan plan = plan_device(cpu());
  EXPECT_EQ(plan.sharing, Sharing::host_pointer);
  EXPECT_THAT(plan.extensions, ElementsAre(StrEq("VK_EXT_external_memory_host")));
  DeviceSnapshot snapshot = cpu();
  snapshot.shares_host_pointers = false;
  EXPECT_EQ(plan_device(snapshot).sharing, Sharing::descriptor);
}

TEST(PlanDevice, RefusesADeviceWhoseMemoryTwoProcessesCannotShare) {
  DeviceSnapshot snapshot = discrete();
  snapshot.shares_descriptors = false;
  snapshot.shares_host_pointers = true;  // the host's memory, not the device's
  EXPECT_THAT(refusal(snapshot), HasSubstr("VK_KHR_external_memory_fd"));
  snapshot = cpu();
  snapshot.shares_descriptors = snapshot.shares_host_pointers = false;
  EXPECT_THAT(refusal(snapshot), HasSubstr("VK_EXT_external_memory_host"));
}

TEST(PlanDevice, FlushesMoreThanCachesAndLessThanHalfTheMemory) {
  EXPECT_EQ(plan_device(discrete()).flush_bytes, uint64_t{256} << 20);
  DeviceSnapshot small = discrete();
  small.device_local_bytes = uint64_t{512} << 20;
  EXPECT_EQ(plan_device(small).flush_bytes, uint64_t{64} << 20);
  EXPECT_LT(plan_device(cpu()).flush_bytes, plan_device(discrete()).flush_bytes);
}

TEST(ChooseDevice, AutoPrefersAGpuToTheCpu) {
  DeviceSnapshot gpu = discrete();
  gpu.index = 1;
  DeviceSnapshot software = cpu();
  software.index = 0;
  EXPECT_EQ(choose_device({software, gpu}, "auto").name, gpu.name);
}

TEST(ChooseDevice, AutoPassesOverWhatCannotRun) {
  DeviceSnapshot old = discrete();
  old.shader_int64 = false;
  EXPECT_EQ(choose_device({old, cpu()}, "auto").name, cpu().name);
  DeviceSnapshot older = old;
  older.index = 1;
  const std::vector<DeviceSnapshot> devices = {old, older};
  const Error error = error_of([&] { choose_device(devices, "auto"); });
  EXPECT_EQ(error.code(), ErrorCode::kNotFound);
  EXPECT_THAT(error.what(), HasSubstr("0: Example GPU 4000, 1: Example GPU 4000"));
}

TEST(ChooseDevice, TakesIndexNameOrCpu) {
  const std::vector<DeviceSnapshot> devices = {discrete(), cpu()};
  EXPECT_EQ(choose_device(devices, "1").index, 1);
  EXPECT_EQ(choose_device(devices, "0").index, 0);
  EXPECT_EQ(choose_device(devices, "LLVMpipe").index, 1);
  EXPECT_EQ(choose_device(devices, "example gpu").index, 0);
  EXPECT_EQ(choose_device(devices, "gpu 4").index, 0);
  EXPECT_EQ(choose_device(devices, "cpu").index, 1);
}

TEST(ChooseDevice, TakesAUuidInEitherCaseAndAsNvidiaWritesIt) {
  DeviceSnapshot twin = discrete();
  twin.index = 1;
  twin.device_uuid[15] = 0x10;
  const std::vector<DeviceSnapshot> devices = {discrete(), twin};
  EXPECT_EQ(to_string(twin.device_uuid), "10213243-5465-7687-98a9-bacbdcedfe10");
  EXPECT_EQ(choose_device(devices, "10213243-5465-7687-98a9-bacbdcedfe10").index, 1);
  EXPECT_EQ(choose_device(devices, "10213243-5465-7687-98A9-BACBDCEDFE0F").index, 0);
  EXPECT_EQ(choose_device(devices, "GPU-10213243-5465-7687-98a9-bacbdcedfe10").index, 1);
  EXPECT_THROW(choose_device(devices, "10213243-5465-7687-98a9-bacbdcedfe11"), Error);
}

TEST(ChooseDevice, UnknownDeviceListsWhatThereIs) {
  const std::vector<DeviceSnapshot> devices = {discrete(), cpu()};
  for (const char* selector : {"2", "4000", "-1", "radeon", ""}) {
    const Error error = error_of([&] { choose_device(devices, selector); });
    EXPECT_EQ(error.code(), ErrorCode::kNotFound);
    EXPECT_THAT(error.what(), HasSubstr("0: Example GPU 4000, 1: llvmpipe"));
  }
}

TEST(ChooseDevice, WithoutDevicesSaysWhatToInstall) {
  const std::vector<DeviceSnapshot> none;
  const Error error = error_of([&] { choose_device(none, "auto"); });
  EXPECT_EQ(error.code(), ErrorCode::kNotFound);
  EXPECT_THAT(error.what(), HasSubstr("driver"));
}

}  // namespace
}  // namespace kbench::vulkan
