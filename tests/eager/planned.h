// The plans that a row of the operators' table is run with.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "harness/measure/eager/convolution.h"
#include "harness/measure/eager/eager.h"
#include "harness/measure/eager/gemm.h"
#include "harness/measure/vulkan/compiler.h"
#include "tests/operators/table.h"

namespace kbench::eager {

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

/// Value of a launch's macro; empty when it has none.
inline std::string macro(const Launch& launch, const std::string& name) {
  for (const auto& [key, value] : launch.macros) {
    if (key == name) return value;
  }
  return "";
}

/// No launch has more workgroups than the device takes.
inline void expect_groups_within(const CallPlan& plan, const DeviceTraits& traits) {
  for (const Launch& launch : plan.launches) {
    for (int axis = 0; axis < 3; ++axis) {
      EXPECT_GE(launch.groups[axis], 1u) << launch.shader;
      EXPECT_LE(launch.groups[axis], traits.max_group_count[axis]) << launch.shader;
    }
  }
}

/// The launch's shader as the compiler leaves it.
inline vulkan::Spirv compile_words(vulkan::ShaderCompiler& compiler, const Launch& launch,
                                   bool optimize = true) {
  vulkan::ShaderSource source;
  source.text = vulkan::embedded_shader(launch.shader).value();
  source.file = launch.shader;
  source.macros = launch.macros;
  source.include = vulkan::embedded_include;
  source.optimize = optimize;
  const vulkan::CompileOutcome outcome = compiler.compile(source);
  for (const Diagnostic& each : outcome.diagnostics) ADD_FAILURE() << each.message;
  EXPECT_EQ(vulkan::validate_spirv(outcome.spirv), "");
  return outcome.spirv;
}

/// A product or convolution in that tile, its depth in `splits` parts, its floats stored as `real`.
inline CallPlan plan_tile(const OperatorCall& call, const GemmTile& tile, int64_t splits,
                          const DeviceTraits& traits, DType real, bool channels_last = false) {
  const OperatorCall stored = stored_call(call, real);
  const auto plan = [&] {
    if (call.op->name.starts_with("conv")) {
      return plan_product(stored, tile, splits, traits, channels_last);
    }
    const bool linear = call.op->name == "linear";
    const bool ta = !linear && call.attributes.flag("transpose_a");
    const bool tb = linear || call.attributes.flag("transpose_b");
    const Shape &a = call.inputs[0].shape, &b = call.inputs[1].shape;
    GemmProblem problem;
    problem.m = a[ta ? 1 : 0];
    problem.k = a[ta ? 0 : 1];
    problem.n = b[tb ? 0 : 1];
    problem.a_along_m = ta;
    problem.b_along_n = !tb;
    problem.stored = real;
    problem.a = input(0);
    problem.b = input(1);
    if (call.inputs.size() > 2) problem.bias = input(2);
    problem.c = output(0);
    return plan_gemm(problem, with_splits(tile, problem.k, splits), traits);
  };
  return with_storage(plan(), stored, traits);
}

/// Every way in which the row's words want it planned for a device of these limits.
inline std::vector<CallPlan> plans_of(const definitions::Row& row, const DeviceTraits& device,
                                      DType real) {
  DeviceTraits gpu = device, few = device, wide = device;
  gpu.software = false;
  few.max_group_count[0] = 3;  // forces rows of workgroups
  wide.subgroup_size = 64;     // two units of a recurrent layer a workgroup
  std::vector<CallPlan> plans;
  if (!row.has("plan")) plans.push_back(plan_call(row.call, device, real));
  if (row.has("gpu")) plans.push_back(plan_call(row.call, gpu, real));
  if (row.has("few")) plans.push_back(plan_call(row.call, few, real));
  if (row.has("wide")) plans.push_back(plan_call(row.call, wide, real));
  if (!row.has("plan")) return plans;
  const std::string& plan = row.words.find("plan")->second;
  const auto winograd = [&] {
    return plan_winograd(describe_convolution(row.call), device).value().plan;
  };
  if (plan == "winograd") {
    plans.push_back(with_storage(winograd(), stored_call(row.call, real), device));
  } else if (plan == "split") {
    plans.push_back(plan_tile(row.call, tiles().back(), 3, device, real));
  } else {  // in every tile; floats of 16 bits in the largest alone
    for (const GemmTile& tile : tiles()) {
      if (tile.shared_bytes() > gpu.max_shared_memory) continue;
      plans.push_back(plan_tile(row.call, tile, 1, gpu, real));
      if (real != DType::f32) break;
      if (row.call.op->name == "linear") plans.push_back(plan_tile(row.call, tile, 2, gpu, real));
    }
  }
  return plans;
}

}  // namespace kbench::eager
