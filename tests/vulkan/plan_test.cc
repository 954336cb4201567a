#include "harness/vulkan/plan.h"

#include <gmock/gmock.h>

#include "kbench/error.h"

namespace kbench::vulkan {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::StrEq;

DeviceSnapshot discrete() {
  DeviceSnapshot snapshot;
  snapshot.name = "Example GPU 4000";
  snapshot.type = VK_PHYSICAL_DEVICE_TYPE_DISCRETE_GPU;
  snapshot.api_version = VK_API_VERSION_1_3;
  snapshot.queues = {{.index = 0, .compute = false, .graphics = true, .timestamp_bits = 64},
                     {.index = 1, .compute = true, .graphics = false, .timestamp_bits = 0},
                     {.index = 2, .compute = true, .graphics = false, .timestamp_bits = 36}};
  snapshot.timestamp_period_ns = 10;
  snapshot.device_local_bytes = uint64_t{24} << 30;
  snapshot.buffer_device_address = true;
  snapshot.shader_int64 = true;
  return snapshot;
}

DeviceSnapshot cpu() {
  DeviceSnapshot snapshot = discrete();
  snapshot.index = 1;
  snapshot.name = "llvmpipe (LLVM 15.0.6, 256 bits)";
  snapshot.type = VK_PHYSICAL_DEVICE_TYPE_CPU;
  return snapshot;
}

std::string refusal(const DeviceSnapshot& snapshot) {
  try {
    plan_device(snapshot);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kUnsupported);
    return error.what();
  }
  return "accepted";
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
  EXPECT_THAT(plan_device(snapshot).extensions, IsEmpty());
  snapshot.shader_float16 = snapshot.synchronization2 = true;
  snapshot.subgroup_size_control = snapshot.full_subgroups = true;
  snapshot.extensions = {"VK_KHR_synchronization2", "VK_EXT_memory_budget", "VK_KHR_swapchain"};
  const DevicePlan plan = plan_device(snapshot);
  EXPECT_TRUE(plan.float16);
  EXPECT_TRUE(plan.synchronization2);
  EXPECT_TRUE(plan.full_subgroups);
  EXPECT_THAT(plan.extensions, Contains(StrEq("VK_KHR_synchronization2")));
  EXPECT_THAT(plan.extensions, Contains(StrEq("VK_EXT_memory_budget")));
  EXPECT_EQ(plan.extensions.size(), 2u);
}

TEST(PlanDevice, TakesCooperativeMatricesOnlyWithTheMemoryModel) {
  DeviceSnapshot snapshot = discrete();
  snapshot.cooperative_matrix = true;
  snapshot.extensions = {"VK_KHR_cooperative_matrix"};
  EXPECT_FALSE(plan_device(snapshot).cooperative_matrix);
  EXPECT_THAT(plan_device(snapshot).extensions, IsEmpty());
  snapshot.vulkan_memory_model = true;
  EXPECT_TRUE(plan_device(snapshot).cooperative_matrix);
  EXPECT_THAT(plan_device(snapshot).extensions, Contains(StrEq("VK_KHR_cooperative_matrix")));
}

TEST(PlanDevice, FlushesMoreThanAnyCacheOfItsKindButNotHalfTheMemory) {
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
  try {
    choose_device(devices, "auto");
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kNotFound);
    EXPECT_THAT(error.what(), HasSubstr("0: Example GPU 4000, 1: Example GPU 4000"));
  }
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

TEST(ChooseDevice, UnknownDeviceListsWhatThereIs) {
  const std::vector<DeviceSnapshot> devices = {discrete(), cpu()};
  for (const char* selector : {"2", "4000", "-1", "radeon", ""}) {
    try {
      choose_device(devices, selector);
      ADD_FAILURE() << selector;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::kNotFound);
      EXPECT_THAT(error.what(), HasSubstr("0: Example GPU 4000, 1: llvmpipe"));
    }
  }
}

TEST(ChooseDevice, WithoutDevicesSaysWhatToInstall) {
  const std::vector<DeviceSnapshot> none;
  try {
    choose_device(none, "auto");
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kNotFound);
    EXPECT_THAT(error.what(), HasSubstr("driver"));
  }
}

}  // namespace
}  // namespace kbench::vulkan
