// The devices of --devices, from snapshots of a machine's.
#include "harness/evaluate/evaluators/devices.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/error_of.h"

namespace kbench::evaluators {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

vulkan::DeviceSnapshot device(int index, const char* name, VkPhysicalDeviceType type) {
  vulkan::DeviceSnapshot s;
  s.index = index;
  s.name = name;
  s.type = type;
  s.device_uuid[0] = static_cast<uint8_t>(0xa0 + index);
  s.api_version = VK_API_VERSION_1_3;
  s.queues = {{0, true, 64}};
  s.timestamp_period_ns = 1;
  s.buffer_device_address = s.shader_int64 = true;
  s.shares_descriptors = true;
  s.extensions = {"VK_KHR_external_memory_fd"};
  s.max_storage_buffer_range = s.max_buffer = uint64_t{4} << 30;
  s.device_local_bytes = uint64_t{8} << 30;
  s.max_push_constants = 128;
  s.max_shared_memory = 48 << 10;
  s.max_invocations = 1024;
  for (int d = 0; d < 3; ++d) s.max_group_count[d] = 65535, s.max_group_size[d] = 1024;
  s.max_storage_buffers_per_stage = 1000;
  s.storage_offset_alignment = 16;
  s.subgroup_size = s.min_subgroup_size = s.max_subgroup_size = 32;
  return s;
}

const std::vector<vulkan::DeviceSnapshot> kMachine = {
    device(0, "GPU of a kind", VK_PHYSICAL_DEVICE_TYPE_DISCRETE_GPU),
    device(1, "GPU of a kind", VK_PHYSICAL_DEVICE_TYPE_DISCRETE_GPU),
    device(2, "llvmpipe", VK_PHYSICAL_DEVICE_TYPE_CPU)};

std::vector<int> chosen(const std::string& text,
                        const std::vector<vulkan::DeviceSnapshot>& machine = kMachine) {
  std::vector<int> indices;
  for (const auto& each : choose_devices(machine, text)) indices.push_back(each.index);
  return indices;
}

std::string refusal(const std::string& text) {
  return error_of([&] { choose_devices(kMachine, text); }).what();
}

TEST(Devices, AllAreTheGpusAndWithoutOneTheCpu) {
  EXPECT_THAT(chosen("all"), ElementsAre(0, 1));
  EXPECT_THAT(chosen("all", {kMachine[2]}), ElementsAre(2));
}

TEST(Devices, AreNamedAsOneIs) {
  EXPECT_THAT(chosen("1,0"), ElementsAre(1, 0));
  EXPECT_THAT(chosen(vulkan::to_string(kMachine[1].device_uuid) + ",cpu"), ElementsAre(1, 2));
}

TEST(Devices, NamedTwiceOrNotAtAllOrThatAreNotThereAreRefused) {
  EXPECT_THAT(refusal("0,1,0"), HasSubstr("GPU of a kind (0) twice"));
  EXPECT_THAT(refusal("cpu,2"), HasSubstr("twice"));
  EXPECT_THAT(refusal("0,"), HasSubstr("'0,'"));
  EXPECT_THAT(refusal(""), HasSubstr("--devices takes all"));
  EXPECT_THAT(refusal("0,7"), HasSubstr("no device '7'"));
}

TEST(Devices, AreFoundAgainByUuidOrWhereThatIsNotOnesOwnByIndex) {
  EXPECT_EQ(selector_of(kMachine[1], kMachine), "a1000000-0000-0000-0000-000000000000");
  auto machine = kMachine;
  machine[1].device_uuid = machine[0].device_uuid;
  EXPECT_EQ(selector_of(machine[1], machine), "1");
}

}  // namespace
}  // namespace kbench::evaluators
