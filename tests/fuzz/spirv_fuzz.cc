// SPIR-V as a candidate may give it: frozen, validated, inspected and held to the rules.
#include <cstring>

#include "harness/measure/runner/kernel_rules.h"
#include "harness/measure/vulkan/spirv.h"
#include "harness/measure/vulkan/spirv_interface.h"
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
  fuzz::succeeds([&] { vulkan::reflect_spirv(spirv); });
  for (const bool specialized : {false, true}) {
    fuzz::succeeds([&] {
      const vulkan::Specialization constants =
          specialized ? vulkan::Specialization{{0, 64}, {1, ~0u}} : vulkan::Specialization{};
      const vulkan::Spirv frozen = vulkan::freeze_spirv(spirv, constants, "main");
      const vulkan::ShaderInterface interface = vulkan::reflect_spirv(frozen);
      const vulkan::Spirv rebound = vulkan::rebind_spirv(frozen, interface);
      runner::check_module(vulkan::inspect_spirv(rebound), snapshot, plan, specialized);
      if (interface.stray_length) return;
      const std::vector<uint64_t> bytes(interface.resources.size(), 64);
      const std::vector<uint32_t> texels(interface.resources.size(), 4);
      vulkan::inspect_spirv(vulkan::with_lengths(rebound, interface, bytes, texels));
    });
  }
  return 0;
}
