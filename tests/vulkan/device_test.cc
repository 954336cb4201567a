#include "harness/measure/vulkan/device.h"

#include <gmock/gmock.h>

#include "harness/measure/vulkan/functions.h"
#include "tests/vulkan/device_fixture.h"

namespace kbench::vulkan {
namespace {

using ::testing::HasSubstr;

TEST_F(DeviceTest, SnapshotHoldsWhatKbenchNeeds) {
  const DeviceSnapshot& snapshot = device().snapshot();
  EXPECT_FALSE(snapshot.name.empty());
  EXPECT_FALSE(snapshot.driver.empty());
  EXPECT_GE(snapshot.max_storage_buffer_range, uint64_t{1} << 27);  // Vulkan's floor
  EXPECT_GE(snapshot.max_push_constants, 128u);
  EXPECT_GE(snapshot.max_shared_memory, 16384u);
  EXPECT_GE(snapshot.max_group_count[0], 65535u);
  EXPECT_GE(snapshot.subgroup_size, 1u);
  EXPECT_LE(snapshot.min_subgroup_size, snapshot.max_subgroup_size);
  EXPECT_GT(snapshot.device_local_bytes, 0u);
  EXPECT_TRUE(snapshot.buffer_device_address);
  EXPECT_TRUE(snapshot.shader_int64);
}

TEST_F(DeviceTest, EnumerationFindsTheOpenDevice) {
  const std::vector<DeviceSnapshot> devices = enumerate_devices();
  const auto index = static_cast<size_t>(device().snapshot().index);
  ASSERT_LT(index, devices.size());
  EXPECT_EQ(devices[index].name, device().snapshot().name);
}

TEST_F(DeviceTest, OpeningAnUnknownDeviceSaysWhatThereIs) {
  const Error error = error_of([] { Device::open({.selector = "no such device"}); });
  EXPECT_EQ(error.code(), ErrorCode::kNotFound);
  EXPECT_THAT(error.what(), HasSubstr(device().snapshot().name));
}

TEST_F(DeviceTest, CountsWhatIsAllocated) {
  const uint64_t before = device().allocated_bytes();
  {
    const Buffer buffer = device().allocate(1 << 20);
    EXPECT_EQ(buffer.size(), uint64_t{1} << 20);
    EXPECT_NE(buffer.address(), 0u);
    EXPECT_GE(device().allocated_bytes(), before + (1 << 20));
    EXPECT_GT(device().available_bytes(), 0u);
    const Buffer host = device().allocate_host(4096);
    EXPECT_NE(host.mapped(), nullptr);
    EXPECT_LT(device().allocated_bytes(), before + (2 << 20)) << "host memory is not counted";
  }
  EXPECT_EQ(device().allocated_bytes(), before);
}

TEST_F(DeviceTest, RefusesABufferLargerThanAnyWithItsSize) {
  const Error error = error_of([&] { device().allocate(uint64_t{1} << 60); });
  EXPECT_EQ(error.code(), ErrorCode::kOutOfMemory);
  EXPECT_THAT(error.what(), HasSubstr("1099511627776.0 MiB"));
  EXPECT_EQ(error_of([&] { device().allocate(0); }).code(), ErrorCode::kInvalidArgument);
}

TEST_F(DeviceTest, UploadsAndDownloadsAnyBytes) {
  for (const size_t size : {size_t{1}, size_t{3}, size_t{4097}, size_t{(64 << 20) + 5}}) {
    std::vector<uint8_t> values(size);
    for (size_t i = 0; i < size; ++i) values[i] = static_cast<uint8_t>(i * 7 + i / 251);
    EXPECT_EQ(download<uint8_t>(upload(values)), values) << size;
  }
}

TEST_F(DeviceTest, UploadsIntoTheMiddleOnly) {
  const Buffer buffer = upload(std::vector<uint8_t>(11, 1));
  const std::vector<uint8_t> piece = {7, 8, 9};
  device().upload(buffer, 5, std::as_bytes(std::span(piece)));
  EXPECT_EQ(download<uint8_t>(buffer), (std::vector<uint8_t>{1, 1, 1, 1, 1, 7, 8, 9, 1, 1, 1}));
  std::vector<uint8_t> tail(2);
  device().download(buffer, 7, std::as_writable_bytes(std::span(tail)));
  EXPECT_EQ(tail, (std::vector<uint8_t>{9, 1}));
  EXPECT_EQ(error_of([&] { device().upload(buffer, 9, std::as_bytes(std::span(piece))); }).code(),
            ErrorCode::kInvalidArgument);
}

TEST_F(DeviceTest, ValidationMessagesAreCollected) {
  if (!validates()) GTEST_SKIP() << "the layer is off";
  VkBufferCreateInfo info{};
  info.sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO;
  info.size = 0;  // not allowed
  info.usage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT;
  VkBuffer buffer = VK_NULL_HANDLE;
  if (vkCreateBuffer(device().handle(), &info, nullptr, &buffer) == VK_SUCCESS) {
    vkDestroyBuffer(device().handle(), buffer, nullptr);
  }
  const std::vector<std::string> messages = device().take_validation_messages();
  ASSERT_FALSE(messages.empty());
  EXPECT_THAT(messages.front(), HasSubstr("VUID-VkBufferCreateInfo-size"));
  EXPECT_TRUE(device().take_validation_messages().empty());
}

TEST(Check, NamesCallResultAndPlace) {
  const Error lost = error_of([] { check(VK_ERROR_DEVICE_LOST, "vkSubmit(a, b)", "x/y.cc", 12); });
  EXPECT_EQ(lost.code(), ErrorCode::kDeviceLost);
  EXPECT_STREQ(lost.what(), "vkSubmit gave VK_ERROR_DEVICE_LOST (y.cc:12)");
  EXPECT_EQ(error_of([] { check(VK_ERROR_OUT_OF_DEVICE_MEMORY, "f", "f", 1); }).code(),
            ErrorCode::kOutOfMemory);
  EXPECT_EQ(error_of([] { check(VK_ERROR_UNKNOWN, "f", "f", 1); }).code(), ErrorCode::kInternal);
  EXPECT_NO_THROW(check(VK_SUCCESS, "f", "f", 1));
}

}  // namespace
}  // namespace kbench::vulkan
