// A validated device for tests, and what they do with it.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "harness/measure/vulkan/commands.h"
#include "harness/measure/vulkan/compiler.h"
#include "harness/measure/vulkan/device.h"
#include "harness/measure/vulkan/pipeline.h"
#include "kbench/error.h"
#include "tests/error_of.h"

namespace kbench::vulkan {

/// One device for all tests of a program, with the validation layer on: its messages fail the test
/// that caused them. Without any device tests are skipped, or fail under KBENCH_REQUIRE_VULKAN=1.
/// KBENCH_TEST_VALIDATE=0 leaves the layer out, for machines that lack it.
class DeviceTest : public ::testing::Test {
 protected:
  static std::unique_ptr<Device>& shared() {
    static std::unique_ptr<Device> device;
    return device;
  }
  static void TearDownTestSuite() { shared().reset(); }

  void SetUp() override {
    if (!shared() && enumerate_devices().empty()) {
      if (variable("KBENCH_REQUIRE_VULKAN") == "1") FAIL() << "no Vulkan device";
      GTEST_SKIP() << "no Vulkan device";
    }
    if (!shared()) shared() = Device::open({.selector = "auto", .validate = validates()});
    device_ = shared().get();
  }
  void TearDown() override {
    if (!device_) return;
    for (const std::string& message : device_->take_validation_messages()) ADD_FAILURE() << message;
  }

  static std::string variable(const char* name) {
    const char* value = std::getenv(name);
    return value ? value : "";
  }
  static bool validates() { return variable("KBENCH_TEST_VALIDATE") != "0"; }

  Device& device() { return *device_; }

  /// SPIR-V of a compute shader's body after "#version 450" and what kbench's own shaders use.
  Spirv compile(const std::string& body) {
    ShaderSource source;
    source.text =
        "#version 450\n"
        "#extension GL_EXT_buffer_reference : require\n"
        "#extension GL_EXT_shader_explicit_arithmetic_types_int64 : require\n" +
        body;
    source.file = "test.comp";
    CompileOutcome outcome = device().compiler().compile(source);
    for (const Diagnostic& each : outcome.diagnostics) {
      ADD_FAILURE() << each.file << ":" << each.line << ": " << each.message;
    }
    return std::move(outcome.spirv);
  }

  template <typename T>
  Buffer upload(const std::vector<T>& values) {
    Buffer buffer = device().allocate(values.size() * sizeof(T));
    device().upload(buffer, 0, std::as_bytes(std::span(values)));
    return buffer;
  }
  template <typename T>
  std::vector<T> download(const Buffer& buffer) {
    std::vector<T> values(buffer.size() / sizeof(T));
    device().download(buffer, 0, std::as_writable_bytes(std::span(values)));
    return values;
  }

 private:
  Device* device_ = nullptr;
};

inline Region whole(const Buffer& buffer) { return {&buffer, 0, buffer.size()}; }

/// Plain values one after another, as a push block of 4- and 8-byte members in falling size.
template <typename... T>
std::vector<std::byte> push_block(const T&... values) {
  std::vector<std::byte> bytes;
  const auto append = [&bytes](const auto& value) {
    const size_t at = bytes.size();
    bytes.resize(at + sizeof value);
    std::memcpy(bytes.data() + at, &value, sizeof value);
  };
  (append(values), ...);
  return bytes;
}

}  // namespace kbench::vulkan
