// Running single operators on the device, between guards, against the reference.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "harness/measure/eager/eager.h"
#include "harness/measure/eager/storage.h"
#include "kbench/compare.h"
#include "kbench/graph.h"
#include "kbench/random.h"
#include "kbench/reference.h"
#include "libkbench/base/half.h"
#include "tests/vulkan/device_fixture.h"

namespace kbench::eager {

inline constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
inline constexpr float kInfinity = std::numeric_limits<float>::infinity();

/// A call and where its inputs come from.
struct Case {
  std::string op;
  std::vector<Shape> inputs;
  Attributes attributes = {};
  Distribution distribution = normal();
  double relative = 1e-5;
};

/// An NVIDIA data-centre GPU, as far as plans see it.
inline DeviceTraits large_gpu() {
  DeviceTraits traits;
  traits.subgroup_size = 32;
  traits.max_shared_memory = 49152;
  traits.max_invocations = 1024;
  traits.max_group_count[0] = 2147483647;
  traits.max_group_count[1] = traits.max_group_count[2] = 65535;
  return traits;
}

inline OperatorCall call_of(const Case& c) {
  std::vector<TensorType> types;
  for (const Shape& shape : c.inputs) types.push_back({DType::f32, shape});
  return make_call(find_operator(c.op), types, c.attributes);
}

inline std::vector<Tensor> draw_inputs(const Case& c) {
  std::vector<Tensor> inputs;
  for (size_t i = 0; i < c.inputs.size(); ++i) {
    inputs.push_back(
        draw(c.distribution, {7, 1, "input" + std::to_string(i)}, {DType::f32, c.inputs[i]}));
  }
  return inputs;
}

/// The reference's result in float64.
inline std::vector<Tensor> truth_of(const OperatorCall& call, const std::vector<Tensor>& inputs) {
  Graph graph;
  std::vector<Value> values;
  NamedTensors given;
  for (size_t i = 0; i < inputs.size(); ++i) {
    const std::string name = "input" + std::to_string(i);
    values.push_back(graph.input(name, inputs[i].shape(), normal(), inputs[i].dtype()));
    given[name] = inputs[i];
  }
  for (const Value& value : graph.apply(*call.op, values, call.attributes)) graph.output(value);
  ReferenceOptions options;
  options.precision = Precision::f64;
  options.threads = 2;
  return run_reference(graph, given, options);
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

/// One unit in the last place of a number of that size.
inline double last_place(double value, DType real) {
  const bool f16 = real == DType::f16;
  const int least = f16 ? -14 : -126, bits = f16 ? 10 : 7;
  const double size = std::max(std::abs(value), std::ldexp(1.0, least));
  return std::ldexp(1.0, std::ilogb(size) - bits);
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

  void expect_close(const std::vector<Tensor>& got, const std::vector<Tensor>& truth,
                    double relative) {
    ASSERT_EQ(got.size(), truth.size());
    for (size_t i = 0; i < got.size(); ++i) {
      const Comparison found = compare(got[i], truth[i], relative);
      EXPECT_TRUE(found.passed()) << describe(found, got[i].shape(), relative);
    }
  }

  /// Of results that were stored as `real`: one unit in the last place is allowed besides.
  void expect_close(const std::vector<Tensor>& got, const std::vector<Tensor>& truth,
                    double relative, DType real) {
    if (real == DType::f32) return expect_close(got, truth, relative);
    ASSERT_EQ(got.size(), truth.size());
    for (size_t o = 0; o < got.size(); ++o) {
      if (got[o].dtype() != DType::f32) {
        expect_close({got[o]}, {truth[o]}, relative);
        continue;
      }
      ASSERT_EQ(got[o].shape(), truth[o].shape());
      double squares = 0;
      for (int64_t i = 0; i < got[o].elements(); ++i) squares += std::pow(truth[o].at(i), 2);
      const double rms = std::sqrt(squares / static_cast<double>(got[o].elements()));
      for (int64_t i = 0; i < got[o].elements(); ++i) {
        const double g = got[o].at(i), t = truth[o].at(i);
        if (g == t) continue;
        const double place =
            last_place(std::max(std::abs(t), std::isfinite(g) ? std::abs(g) : 0), real);
        const double allowed = place + relative * (rms + std::abs(t));
        // Too large for float16, or nearly.
        const bool infinite = real == DType::f16 && std::abs(t) + allowed > 65504 &&
                              std::isinf(g) && std::signbit(g) == std::signbit(t);
        ASSERT_TRUE(infinite || std::abs(g - t) <= allowed)
            << "output " << o << ", element " << i << ": " << g << " for " << t;
      }
    }
  }

  /// The case on the device against the reference, planned for `traits`.
  CallPlan check(const Case& c, const DeviceTraits& traits, DType real = DType::f32) {
    const OperatorCall call = call_of(c);
    return check(c, call, plan_call(call, traits, real), real);
  }
  CallPlan check(const Case& c, const OperatorCall& call, CallPlan plan, DType real) {
    const std::vector<Tensor> inputs = rounded(draw_inputs(c), real);
    std::string trace = c.op + " in " + std::string(name_of(real));
    for (const Shape& shape : c.inputs) trace += " " + to_string(shape);
    const testing::ScopedTrace scope(__FILE__, __LINE__, trace);
    expect_close(run(call, plan, inputs, real), truth_of(call, inputs), c.relative, real);
    return plan;
  }
};

/// Value of a launch's macro; empty when it has none.
inline std::string macro(const Launch& launch, const std::string& name) {
  for (const auto& [key, value] : launch.macros) {
    if (key == name) return value;
  }
  return "";
}

}  // namespace kbench::eager
