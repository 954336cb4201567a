// Running single operators on the device, between guards, against their definitions.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "harness/measure/eager/eager.h"
#include "kbench/graph.h"
#include "libkbench/base/half.h"
#include "tests/eager/planned.h"
#include "tests/vulkan/device_fixture.h"

namespace kbench::eager {

using definitions::call_of;
using definitions::Example;
using definitions::Row;
using definitions::row_of;

inline constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
inline constexpr float kInfinity = std::numeric_limits<float>::infinity();

inline Tensor tensor_of(const std::vector<float>& values) {
  Tensor tensor(DType::f32, {static_cast<int64_t>(values.size())});
  std::copy(values.begin(), values.end(), tensor.data<float>().begin());
  return tensor;
}

// --- floats in storage of 16 bits ----------------------------------------------------------------

/// A tensor's elements as they lie on the device.
inline std::vector<std::byte> to_storage(const Tensor& tensor, DType real) {
  if (stored_dtype(tensor.dtype(), real) == tensor.dtype()) {
    return {tensor.raw(), tensor.raw() + tensor.bytes()};
  }
  std::vector<uint16_t> halves;
  for (const float value : tensor.data<float>()) halves.push_back(to_half(value, real));
  const auto bytes = std::as_bytes(std::span(halves));
  return {bytes.begin(), bytes.end()};
}
/// And back, of the type that the graph says.
inline Tensor from_storage(const std::byte* bytes, const TensorType& type, DType real) {
  Tensor tensor(type);
  if (stored_dtype(type.dtype, real) == type.dtype) {
    std::memcpy(tensor.raw(), bytes, tensor.bytes());
    return tensor;
  }
  for (float& value : tensor.data<float>()) {
    uint16_t bits;
    std::memcpy(&bits, bytes, sizeof bits);
    bytes += sizeof bits;
    value = from_half(bits, real);
  }
  return tensor;
}

/// The tensor with floats that are values of `real`.
inline Tensor rounded(const Tensor& tensor, DType real) {
  return from_storage(to_storage(tensor, real).data(), tensor.type(), real);
}
inline std::vector<Tensor> rounded(std::vector<Tensor> tensors, DType real) {
  for (Tensor& tensor : tensors) tensor = rounded(tensor, real);
  return tensors;
}

class EagerTest : public vulkan::DeviceTest {
 protected:
  static constexpr uint64_t kGuard = 4096;
  static constexpr uint32_t kPattern =
      0x7fc07fc0u;  // NaNs in every type: stray reads spoil results

  DeviceTraits device_traits() { return traits_of(device().snapshot()); }
  /// The device's limits with a GPU's choices.
  DeviceTraits gpu_traits() {
    DeviceTraits traits = device_traits();
    traits.software = false;
    return traits;
  }

  /// Runs a plan with every tensor, and the scratch, between guards that must stay as they were:
  /// from the byte behind the last element, or behind the last word where elements are bytes.
  std::vector<Tensor> run(const OperatorCall& call, const CallPlan& plan,
                          const std::vector<Tensor>& inputs, DType real = DType::f32) {
    const PreparedCall prepared(device(), plan);
    std::vector<vulkan::Buffer> buffers;
    std::vector<uint64_t> ends;
    buffers.reserve(inputs.size() + call.outputs.size() + 1);
    const auto place = [&](int64_t bytes, bool may_fill_word,
                           const std::vector<std::byte>& content = {}) {
      const uint64_t body = (static_cast<uint64_t>(bytes) + 3) / 4 * 4;
      std::vector<uint32_t> words((kGuard * 2 + body) / 4, kPattern);
      if (!content.empty()) {
        std::memcpy(words.data() + kGuard / 4, content.data(), content.size());
      }
      buffers.push_back(upload(words));
      ends.push_back(kGuard + (may_fill_word ? body : static_cast<uint64_t>(bytes)));
      return vulkan::Region{&buffers.back(), kGuard, static_cast<uint64_t>(bytes)};
    };
    const auto place_type = [&](const TensorType& type,
                                const std::vector<std::byte>& content = {}) {
      const TensorType stored = stored_type(type, real);
      return place(stored.bytes(), size_of(stored.dtype) == 1, content);
    };
    std::vector<vulkan::Region> in, out;
    for (const Tensor& tensor : inputs) {
      in.push_back(place_type(tensor.type(), to_storage(tensor, real)));
    }
    for (const TensorType& type : call.outputs) out.push_back(place_type(type));
    const vulkan::Region scratch = place(prepared.scratch_bytes(), false);
    vulkan::Commands commands(device());
    commands.begin();
    prepared.record(commands, in, out, scratch);
    commands.submit_and_wait(60);

    std::vector<Tensor> results;
    for (size_t b = 0; b < buffers.size(); ++b) {
      const auto bytes = download<std::byte>(buffers[b]);
      const auto guarded = [&bytes](uint64_t from, uint64_t to) {
        for (uint64_t i = from; i < to; ++i) {
          if (bytes[i] != std::byte(kPattern >> i % 4 * 8 & 0xffu)) return false;
        }
        return true;
      };
      EXPECT_TRUE(guarded(0, kGuard)) << "written before buffer " << b;
      EXPECT_TRUE(guarded(ends[b], bytes.size())) << "written after buffer " << b;
      if (b < inputs.size()) {
        const auto content = to_storage(inputs[b], real);
        EXPECT_EQ(0, std::memcmp(bytes.data() + kGuard, content.data(), content.size()))
            << "input " << b << " overwritten";
      } else if (b < inputs.size() + call.outputs.size()) {
        results.push_back(
            from_storage(bytes.data() + kGuard, call.outputs[b - inputs.size()], real));
      }
    }
    return results;
  }

  /// One output, planned for the device.
  Tensor run(const OperatorCall& call, const std::vector<Tensor>& inputs, DType real = DType::f32) {
    return run(call, plan_call(call, device_traits(), real), inputs, real)[0];
  }

  /// The inputs as they are stored, and the definition's answer to those.
  static Example stored(Example example, DType real) {
    if (real == DType::f32) return example;
    for (definitions::Array& input : example.inputs) {
      const Tensor tensor = rounded(definitions::tensor_of(input), real);
      for (size_t i = 0; i < input.values.size(); ++i) {
        input.values[i] = tensor.at(static_cast<int64_t>(i));
      }
    }
    const auto& definition = definitions::definition_of(example.call.op->name);
    example.answer = definition.work_out(example.call, example.inputs);
    return example;
  }

  /// The plan gives the answer to inputs that are stored; `error` in place of the definition's.
  void expect_runs(const Example& example, const CallPlan& plan, DType real,
                   std::optional<double> error = {}) {
    SCOPED_TRACE(definitions::text_of(example.call) + " in " + std::string(name_of(real)));
    definitions::expect_answer(
        run(example.call, plan, definitions::tensors_of(example.inputs), real),
        example.answer.outputs,
        error.value_or(definitions::definition_of(example.call.op->name).float_error), real);
  }
};

}  // namespace kbench::eager
