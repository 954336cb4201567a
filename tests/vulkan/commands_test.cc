#include "harness/measure/vulkan/commands.h"

#include <gmock/gmock.h>

#include <numeric>

#include "tests/vulkan/device_fixture.h"

namespace kbench::vulkan {
namespace {

using ::testing::HasSubstr;

constexpr double kTimeoutSeconds = 30;
constexpr uint32_t kCount = 1000;

constexpr const char* kScaleByBinding = R"(
layout(local_size_x = 64) in;
layout(binding = 0) readonly buffer X { float x[]; };
layout(binding = 1) writeonly buffer Y { float y[]; };
layout(push_constant) uniform Push { float factor; uint count; };
void main() {
  uint i = gl_GlobalInvocationID.x;
  if (i < count) y[i] = factor * x[i];
})";

constexpr const char* kAddOneByAddress = R"(
layout(local_size_x = 64) in;
layout(buffer_reference, std430) buffer Floats { float at[]; };
layout(push_constant) uniform Push { uint64_t x; uint count; };
void main() {
  uint i = gl_GlobalInvocationID.x;
  if (i < count) Floats(x).at[i] += 1.0;
})";

class CommandsTest : public DeviceTest {
 protected:
  const Pipeline& scale() {
    return device().pipelines().get(
        {.spirv = compile(kScaleByBinding), .bindings = 2, .push_bytes = 8});
  }
  const Pipeline& add_one() {
    return device().pipelines().get({.spirv = compile(kAddOneByAddress), .push_bytes = 12});
  }
  static std::vector<float> ramp() {
    std::vector<float> values(kCount);
    std::iota(values.begin(), values.end(), 0.0f);
    return values;
  }
  static constexpr std::array<uint32_t, 3> kGroups = {(kCount + 63) / 64, 1, 1};
};

TEST_F(CommandsTest, DispatchesByBindingAndByAddress) {
  const Buffer x = upload(ramp());
  const Buffer y = upload(std::vector<float>(kCount, -1));
  Commands commands(device());
  commands.begin();
  commands.dispatch(scale(), std::vector{whole(x), whole(y)}, push_block(3.0f, kCount), kGroups);
  commands.barrier();
  commands.dispatch(add_one(), {}, push_block(y.address(), kCount), kGroups);
  commands.submit_and_wait(kTimeoutSeconds);
  std::vector<float> expected = ramp();
  for (float& value : expected) value = 3 * value + 1;
  EXPECT_EQ(download<float>(y), expected);
}

TEST_F(CommandsTest, AMissingBarrierIsAValidationMessage) {
  if (!validates()) GTEST_SKIP() << "the layer is off";
  const Buffer x = upload(ramp());
  const Buffer y = device().allocate(x.size());
  Commands commands(device());
  commands.begin();
  commands.copy(x, 0, y, 0, x.size());
  commands.fill(y, 0, 16, 0);
  const std::vector<std::string> messages = device().take_validation_messages();
  ASSERT_FALSE(messages.empty());
  EXPECT_THAT(messages.front(), HasSubstr("WRITE_AFTER_WRITE"));
}

TEST_F(CommandsTest, TheSameRecordingRunsAgain) {
  const Buffer x = upload(std::vector<float>(kCount, 0));
  Commands commands(device());
  commands.begin();
  commands.dispatch(add_one(), {}, push_block(x.address(), kCount), kGroups);
  for (int run = 0; run < 3; ++run) commands.submit_and_wait(kTimeoutSeconds);
  EXPECT_EQ(download<float>(x), std::vector<float>(kCount, 3));
}

TEST_F(CommandsTest, BindsPartsOfABuffer) {
  const uint64_t offset = 256;
  ASSERT_EQ(offset % device().snapshot().storage_offset_alignment, 0u);
  const Buffer both = upload(std::vector<float>(128, 2));
  Commands commands(device());
  commands.begin();
  commands.dispatch(scale(), std::vector<Region>{{&both, 0, 256}, {&both, offset, 256}},
                    push_block(5.0f, 64u), {1, 1, 1});
  commands.submit_and_wait(kTimeoutSeconds);
  std::vector<float> expected(128, 2);
  std::fill(expected.begin() + 64, expected.end(), 10);
  EXPECT_EQ(download<float>(both), expected);
}

TEST_F(CommandsTest, RecordsMoreDispatchesThanAPoolHolds) {
  const Buffer x = upload(std::vector<float>(64, 1));
  const Buffer y = upload(std::vector<float>(64, 0));
  const Pipeline& pipeline = scale();
  Commands commands(device());
  for (int round = 0; round < 2; ++round) {
    commands.begin();
    for (int i = 0; i < 600; ++i) {
      commands.dispatch(pipeline, std::vector{whole(x), whole(y)},
                        push_block(static_cast<float>(i + round), 64u), {1, 1, 1});
      commands.barrier();
    }
    commands.submit_and_wait(kTimeoutSeconds);
    EXPECT_EQ(download<float>(y), std::vector<float>(64, 599.0f + round));
  }
}

TEST_F(CommandsTest, FillsAndCopiesOddParts) {
  const Buffer a = upload(std::vector<uint8_t>(101, 1));
  const Buffer b = upload(std::vector<uint8_t>(53, 2));
  Commands commands(device());
  commands.begin();
  commands.fill(a, 4, 92, 0x07070707);
  commands.barrier();
  commands.copy(a, 3, b, 1, 51);
  commands.submit_and_wait(kTimeoutSeconds);
  std::vector<uint8_t> expected_a(101, 7), expected_b(53, 7);
  std::fill_n(expected_a.begin(), 4, 1);
  std::fill(expected_a.begin() + 96, expected_a.end(), 1);
  expected_b.front() = expected_b.back() = 2;
  expected_b[1] = 1;
  EXPECT_EQ(download<uint8_t>(a), expected_a);
  EXPECT_EQ(download<uint8_t>(b), expected_b);
}

TEST_F(CommandsTest, TimestampsRiseWithTheWork) {
  const Buffer buffer = device().allocate(16 << 20);
  Commands commands(device(), 4);
  commands.begin();
  commands.timestamp(0);
  commands.fill(buffer, 0, buffer.size(), 1);
  commands.barrier();
  commands.timestamp(1);
  commands.fill(buffer, 0, buffer.size(), 2);
  commands.barrier();
  commands.timestamp(2);
  commands.submit_and_wait(kTimeoutSeconds);
  const double first = commands.elapsed_ns(0, 1), second = commands.elapsed_ns(1, 2);
  EXPECT_GT(first, 0);
  EXPECT_GT(second, 0);
  EXPECT_NEAR(commands.elapsed_ns(0, 2), first + second, 1);
  EXPECT_LT(commands.elapsed_ns(0, 2), kTimeoutSeconds * 1e9);
  EXPECT_EQ(error_of([&] { commands.elapsed_ns(0, 3); }).code(), ErrorCode::kInvalidArgument);
  commands.begin();
  EXPECT_EQ(error_of([&] { commands.timestamp(4); }).code(), ErrorCode::kInvalidArgument);
  EXPECT_EQ(error_of([&] { commands.elapsed_ns(0, 1); }).code(), ErrorCode::kInvalidArgument);
}

TEST_F(CommandsTest, RefusesMoreGroupsThanTheDeviceTakes) {
  const Buffer x = upload(std::vector<float>(64, 1));
  const uint32_t limit = device().snapshot().max_group_count[1];
  if (limit == UINT32_MAX) GTEST_SKIP() << "every count is allowed";
  Commands commands(device());
  commands.begin();
  const Error error = error_of([&] {
    commands.dispatch(add_one(), {}, push_block(x.address(), 64u), {1, limit + 1, 1});
  });
  EXPECT_EQ(error.code(), ErrorCode::kUnsupported);
  EXPECT_THAT(error.what(), HasSubstr(std::to_string(limit)));
  EXPECT_THAT(error.what(), HasSubstr("groups in y"));
}

TEST_F(CommandsTest, RefusesRegionsOverTheBindingLimit) {
  const uint64_t limit = device().snapshot().max_storage_buffer_range;
  if (limit > uint64_t{256} << 20) GTEST_SKIP() << "too much memory for a test";
  const Buffer x = device().allocate(limit + 256);
  Commands commands(device());
  commands.begin();
  const Error error = error_of([&] {
    commands.dispatch(scale(), std::vector{whole(x), whole(x)}, push_block(1.0f, 1u), {1, 1, 1});
  });
  EXPECT_EQ(error.code(), ErrorCode::kUnsupported);
  EXPECT_THAT(error.what(), HasSubstr("device address"));
}

TEST_F(CommandsTest, RefusesWhatDoesNotFitTheKernel) {
  const Buffer x = upload(std::vector<float>(64, 1));
  const std::vector<Region> two = {whole(x), whole(x)};
  const auto refuses = [&](std::vector<Region> regions, std::vector<std::byte> push) {
    Commands commands(device());
    commands.begin();
    return error_of([&] { commands.dispatch(scale(), regions, push, {1, 1, 1}); }).code();
  };
  EXPECT_EQ(refuses({whole(x)}, push_block(1.0f, 1u)), ErrorCode::kInvalidArgument);
  EXPECT_EQ(refuses(two, push_block(1.0f, 1u, 2u)), ErrorCode::kInvalidArgument);
  EXPECT_EQ(refuses({whole(x), {&x, 0, x.size() + 4}}, push_block(1.0f, 1u)),
            ErrorCode::kInvalidArgument);
  EXPECT_EQ(refuses({whole(x), {}}, push_block(1.0f, 1u)), ErrorCode::kInvalidArgument);
}

TEST_F(CommandsTest, RefusesToRunWithoutARecording) {
  Commands commands(device());
  EXPECT_EQ(error_of([&] { commands.submit_and_wait(1); }).code(), ErrorCode::kInvalidArgument);
  EXPECT_EQ(error_of([&] { commands.barrier(); }).code(), ErrorCode::kInvalidArgument);
  const Buffer x = upload(std::vector<float>(4, 1));
  commands.begin();
  EXPECT_EQ(error_of([&] { commands.fill(x, 2, 4, 0); }).code(), ErrorCode::kInvalidArgument);
  EXPECT_EQ(error_of([&] { commands.fill(x, 0, 20, 0); }).code(), ErrorCode::kInvalidArgument);
  EXPECT_EQ(error_of([&] { commands.copy(x, 0, x, 8, 12); }).code(), ErrorCode::kInvalidArgument);
}

}  // namespace
}  // namespace kbench::vulkan
