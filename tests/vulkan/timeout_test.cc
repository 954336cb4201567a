// After a timeout the device is lost to its process, so the test runs in a child of its own.
#include <chrono>

#include "tests/vulkan/child.h"
#include "tests/vulkan/device_fixture.h"

namespace kbench::vulkan {
namespace {

class TimeoutTest : public DeviceTest {
 protected:
  /// Seconds of work on any device, in loops far shorter than llvmpipe's limit.
  Spirv long_kernel() {
    return compile(
        "layout(local_size_x = 64) in;\n"
        "layout(binding = 0) buffer A { float a[]; };\n"
        "void main() {\n"
        "  float x = a[gl_LocalInvocationIndex];\n"
        "  for (int i = 0; i < 20000; ++i) x = sin(x) + 1.0;\n"
        "  if (x > 1e9) a[0] = x;\n"
        "}\n");
  }

  void expect_timeout() {
    {
      const Buffer buffer = upload(std::vector<float>(64, 1));
      Commands commands(device());
      commands.begin();
      commands.dispatch(device().pipelines().get({.spirv = long_kernel(), .bindings = 1}),
                        std::vector{whole(buffer)}, {}, {65535, 64, 1});
      const auto start = std::chrono::steady_clock::now();
      EXPECT_EQ(error_of([&] { commands.submit_and_wait(0.1); }).code(), ErrorCode::kTimeout);
      EXPECT_TRUE(device().hung());
      EXPECT_EQ(error_of([&] { commands.begin(); }).code(), ErrorCode::kInvalidArgument);
      EXPECT_EQ(error_of([&] { commands.submit_and_wait(1); }).code(), ErrorCode::kInvalidArgument);
      EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(5));
    }
    EXPECT_TRUE(device().take_validation_messages().empty());
    shared().reset();  // returns, though the work is still in flight
  }
};

TEST_F(TimeoutTest, ALateDeviceThrowsAndIsLeaked) {
  if (in_child()) {
    expect_timeout();
    end_child();
  }
  EXPECT_EQ(run_child(own_environment()).status, kChildPassed);
}

}  // namespace
}  // namespace kbench::vulkan
