// SPIR-V as a candidate may give it: frozen, validated, inspected and held to the rules.
#include <cstring>

#include "harness/runner/kernel_rules.h"
#include "harness/vulkan/spirv.h"
#include "tests/fuzz/fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace kbench;
  if (size < sizeof(uint32_t) || size > fuzz::kMostBytes) return 0;
  vulkan::Spirv spirv(size / sizeof(uint32_t));
  std::memcpy(spirv.data(), data, spirv.size() * sizeof(uint32_t));
  const vulkan::DeviceSnapshot snapshot;
  const vulkan::DevicePlan plan;
  // The validator stands before these in a runner; they must not lean on it.
  fuzz::succeeds([&] { vulkan::inspect_spirv(spirv); });
  for (const bool specialized : {false, true}) {
    fuzz::succeeds([&] {
      const vulkan::Specialization constants =
          specialized ? vulkan::Specialization{{0, 64}, {1, ~0u}} : vulkan::Specialization{};
      const vulkan::SpirvFacts facts =
          vulkan::inspect_spirv(vulkan::freeze_spirv(spirv, constants, "main"));
      runner::check_module(facts, snapshot, plan, specialized);
      runner::check_interface(facts, 1, 8);
    });
  }
  return 0;
}
