#include "harness/measure/trial/device_draw.h"

#include <cstring>
#include <string>
#include <vector>

#include "kbench/random.h"
#include "tests/vulkan/device_fixture.h"

namespace kbench::trial {
namespace {

using Then = Distribution::Then;

struct Case {
  std::string name;
  Distribution distribution;
  TensorType type;
};

Distribution with(Distribution distribution, Then then) {
  distribution.then = then;
  return distribution;
}

std::vector<Case> cases() {
  const Shape odd = {7, 13, 11};  // 1001 elements: not a multiple of four
  return {
      {"uniform", uniform(-4, 4), {DType::f32, odd}},
      {"uniform_off_centre", uniform(0.1, 0.7), {DType::f32, {100003}}},
      {"normal", normal(), {DType::f32, {(1 << 22) + 1}}},
      {"normal_about_one", normal(1, 0.5), {DType::f32, {1 << 20}}},
      {"normal_near_the_least", normal(0, 1e-38), {DType::f32, {4096}}},
      {"normal_scaled", normal(-1.5, 0.3), {DType::f32, odd}},
      {"randint", randint(0, 1000), {DType::i64, {5001}}},
      {"randint_negative", randint(-7, 3), {DType::i64, {6}}},
      {"randint_as_f32", randint(0, 2), {DType::f32, odd}},
      {"plus_minus_one", with(randint(0, 2), Then::plus_minus_one), {DType::f32, {4099}}},
      {"triu", with(normal(), Then::triu), {DType::f32, {3, 33, 65}}},
      {"tril", with(uniform(-1, 1), Then::tril), {DType::f32, {2, 65, 33}}},
      {"offset", offset(normal()), {DType::f32, odd}},
      {"offset_of_rows", offset(uniform(-1, 1)), {DType::f32, {5, 4099}}},
      {"offset_in_runs_of_one", offset(normal(0, 2)), {DType::f32, {9, 7, 1}}},
      {"boolean", randint(0, 2), {DType::boolean, {4100}}},
      {"bytes", randint(0, 256), {DType::u8, {4100}}},
      {"bytes_of_a_range", randint(3, 16), {DType::u8, {7, 12, 11}}},
      {"softmax", with(normal(0, 8), Then::softmax_last), {DType::f32, {5, 7, 1025}}},
      {"softmax_of_narrow_rows", with(uniform(-2, 2), Then::softmax_last), {DType::f32, {301, 3}}},
      {"symmetrize", with(normal(), Then::symmetrize), {DType::f32, {67, 67}}},
  };
}

class DeviceDrawTest : public vulkan::DeviceTest {};

TEST_F(DeviceDrawTest, GivesTheHostsBitsForEveryDistribution) {
  for (const Case& each : cases()) {
    SCOPED_TRACE(each.name);
    if (!draws_on_device(device().plan(), each.distribution, each.type)) {
      EXPECT_FALSE(device().plan().float64);  // The only reason a device may have.
      continue;
    }
    const DrawKey key{0x0123456789abcdefull, 0x10001, "x"};
    const auto bytes = static_cast<size_t>(each.type.bytes());
    const std::vector<uint32_t> before((bytes + 15) / 16 * 4 + 4, 0xdeadbeef);
    const vulkan::Buffer buffer = upload(before);
    vulkan::Commands commands(device());
    commands.begin();
    record_draw(device(), commands, each.distribution, key, each.type, {&buffer, 0, bytes});
    commands.submit_and_wait(60);

    const Tensor expected = draw(each.distribution, key, each.type);
    const std::vector<uint32_t> got = download<uint32_t>(buffer);
    std::vector<uint32_t> want(bytes / 4);
    std::memcpy(want.data(), expected.raw(), bytes);
    size_t different = 0;
    for (size_t i = 0; i < want.size(); ++i) different += got[i] != want[i];
    EXPECT_EQ(different, 0u) << "of " << want.size();
    EXPECT_EQ(got[bytes / 4], 0xdeadbeef) << "wrote past the end";
  }
}

TEST_F(DeviceDrawTest, LeavesRowsLongerThanAWorkgroupsLoopToTheHost) {
  const Distribution distribution = with(uniform(0, 1), Then::softmax_last);
  const TensorType type{DType::f32, {2, (1 << 18) + 4}};
  EXPECT_FALSE(draws_on_device(device().plan(), distribution, type));
  const DrawKey key{5, 1, "y"};
  const vulkan::Buffer buffer = device().allocate(static_cast<uint64_t>(type.bytes()));
  trial::upload(device(), draw(distribution, key, type), vulkan::whole(buffer));
  const Tensor expected = draw(distribution, key, type);
  const std::vector<float> got = download<float>(buffer);
  EXPECT_TRUE(std::equal(got.begin(), got.end(), expected.data<float>().begin()));
}

}  // namespace
}  // namespace kbench::trial
