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
#include "kbench/compare.h"
#include "kbench/graph.h"
#include "kbench/random.h"
#include "kbench/reference.h"
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

class EagerTest : public vulkan::DeviceTest {
 protected:
  static constexpr uint64_t kGuard = 4096;
  static constexpr uint32_t kPattern = 0x7fc0beefu;  // a NaN: stray reads spoil results

  DeviceTraits device_traits() { return traits_of(device().snapshot()); }
  /// The device's limits with a GPU's choices.
  DeviceTraits gpu_traits() {
    DeviceTraits traits = device_traits();
    traits.software = false;
    return traits;
  }

  /// Runs a plan with every tensor, and the scratch, between guards that must stay as they were.
  std::vector<Tensor> run(const OperatorCall& call, const CallPlan& plan,
                          const std::vector<Tensor>& inputs) {
    const PreparedCall prepared(device(), plan);
    std::vector<vulkan::Buffer> buffers;
    buffers.reserve(inputs.size() + call.outputs.size() + 1);
    const auto place = [&](int64_t bytes, const Tensor* tensor) {
      const uint64_t body = (static_cast<uint64_t>(bytes) + 3) / 4 * 4;
      std::vector<uint32_t> words((kGuard * 2 + body) / 4, kPattern);
      if (tensor) std::memcpy(words.data() + kGuard / 4, tensor->raw(), tensor->bytes());
      buffers.push_back(upload(words));
      return vulkan::Region{&buffers.back(), kGuard, static_cast<uint64_t>(bytes)};
    };
    std::vector<vulkan::Region> in, out;
    for (const Tensor& tensor : inputs) in.push_back(place(tensor.bytes(), &tensor));
    for (const TensorType& type : call.outputs) out.push_back(place(type.bytes(), nullptr));
    const vulkan::Region scratch = place(prepared.scratch_bytes(), nullptr);
    vulkan::Commands commands(device());
    commands.begin();
    prepared.record(commands, in, out, scratch);
    commands.submit_and_wait(60);

    std::vector<Tensor> results;
    for (size_t b = 0; b < buffers.size(); ++b) {
      const auto words = download<uint32_t>(buffers[b]);
      const auto guarded = [](uint32_t word) { return word == kPattern; };
      EXPECT_TRUE(std::all_of(words.begin(), words.begin() + kGuard / 4, guarded))
          << "written before buffer " << b;
      EXPECT_TRUE(std::all_of(words.end() - kGuard / 4, words.end(), guarded))
          << "written after buffer " << b;
      if (b < inputs.size()) {
        EXPECT_EQ(0, std::memcmp(words.data() + kGuard / 4, inputs[b].raw(), inputs[b].bytes()))
            << "input " << b << " overwritten";
      } else if (b < inputs.size() + call.outputs.size()) {
        Tensor result(call.outputs[b - inputs.size()]);
        std::memcpy(result.raw(), words.data() + kGuard / 4, result.bytes());
        results.push_back(std::move(result));
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

  /// The case on the device against the reference, planned for `traits`.
  CallPlan check(const Case& c, const DeviceTraits& traits) {
    const OperatorCall call = call_of(c);
    const std::vector<Tensor> inputs = draw_inputs(c);
    std::string trace = c.op;
    for (const Shape& shape : c.inputs) trace += " " + to_string(shape);
    const testing::ScopedTrace scope(__FILE__, __LINE__, trace);
    CallPlan plan = plan_call(call, traits);
    expect_close(run(call, plan, inputs), truth_of(call, inputs), c.relative);
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
