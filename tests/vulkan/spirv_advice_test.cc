// Mistakes that a valid module shows: barriers that are skipped, shared memory without one, types.
#include "harness/measure/vulkan/spirv_advice.h"

#include <gtest/gtest.h>

#include <string>

#include "tests/vulkan/compiled.h"

namespace kbench::vulkan {
namespace {

/// A shader with x, y, `n`, shared memory `s` and what belongs to it.
std::string shader(const std::string& body, const std::string& functions = "") {
  return "layout(local_size_x = 64) in;\n"
         "layout(binding = 0) readonly buffer X { float x[]; };\n"
         "layout(binding = 1) buffer Y { float y[]; };\n"
         "layout(push_constant) uniform Push { uint n; };\n"
         "shared float s[64];\nshared uint count;\n" +
         functions +
         "void main() {\n"
         "  const uint l = gl_LocalInvocationIndex;\n"
         "  const uint i = gl_GlobalInvocationID.x;\n" +
         body + "}\n";
}

enum class Found { nothing, behind_return, in_branch };

void expect(Found found, const std::string& text) {
  for (const bool optimize : {false, true}) {
    const SpirvAdvice advice = advise(compiled(text, optimize));
    EXPECT_EQ(advice.barrier_behind_return, found == Found::behind_return) << optimize << text;
    EXPECT_EQ(advice.barrier_in_branch, found == Found::in_branch) << optimize << text;
  }
}

const std::string kUse = "  s[l] = x[i];\n  barrier();\n  y[i] = s[63 - l];\n";

TEST(SpirvAdvice, FindsABarrierBehindAReturnOfSome) {
  const SpirvAdvice advice = advise(compiled(shader("  if (i >= n) return;\n" + kUse), false));
  EXPECT_TRUE(advice.barrier_behind_return);
  // Optimized, the return is a branch around the rest.
  const SpirvAdvice optimized = advise(compiled(shader("  if (i >= n) return;\n" + kUse), true));
  EXPECT_TRUE(optimized.barrier_behind_return || optimized.barrier_in_branch);
}

TEST(SpirvAdvice, FindsABarrierInABranchOrALoopOfSome) {
  expect(Found::in_branch, shader("  if (l < 32) {\n    s[l] = x[i];\n    barrier();\n  }\n"
                                  "  y[i] = s[l];\n"));
  expect(Found::in_branch, shader("  for (uint k = 0; k < l; ++k) {\n    s[l] = x[k];\n"
                                  "    barrier();\n    y[i] = s[63 - l];\n  }\n"));
}

TEST(SpirvAdvice, PassesWhatAllInvocationsReach) {
  expect(Found::nothing, shader("  if (i < n) s[l] = x[i]; else s[l] = 0.0;\n  barrier();\n"
                                "  if (i < n) y[i] = s[63 - l];\n"));
  expect(Found::nothing, shader("  s[l] = x[i];\n"
                                "  for (uint k = 32; k > 0; k /= 2) {\n    barrier();\n"
                                "    if (l < k) s[l] += s[l + k];\n  }\n"
                                "  if (l == 0) y[i] = s[0];\n"));
  expect(Found::nothing, shader("  for (uint t = 0; t < n; t += 64) {\n    s[l] = x[t + l];\n"
                                "    barrier();\n    y[i] += s[63 - l];\n    barrier();\n  }\n"));
}

TEST(SpirvAdvice, PassesWhatIsTheSameForAWorkgroup) {
  expect(Found::nothing, shader("  if (gl_WorkGroupID.x >= n) return;\n" + kUse));
  expect(Found::nothing, shader("  if (l == 0) count = n / 2;\n  barrier();\n"
                                "  for (uint k = 0; k < count; ++k) {\n    s[l] = x[k];\n"
                                "    barrier();\n    y[i] += s[63 - l];\n    barrier();\n  }\n"));
}

TEST(SpirvAdvice, FollowsWhatDiffersThroughFunctions) {
  const std::string functions = "bool outside(uint at) { return at >= n; }\n";
  const SpirvAdvice advice =
      advise(compiled(shader("  if (outside(i)) return;\n" + kUse, functions), false));
  EXPECT_TRUE(advice.barrier_behind_return);
  EXPECT_FALSE(advise(compiled(shader("  if (outside(n)) return;\n" + kUse, functions), false))
                   .barrier_behind_return);
}

TEST(SpirvAdvice, FindsSharedMemoryWithoutABarrier) {
  const std::string racy = shader("  s[l] = x[i];\n  y[i] = s[63 - l];\n");
  EXPECT_TRUE(advise(compiled(racy, true)).shared_without_barrier);
  EXPECT_FALSE(advise(compiled(shader(kUse), true)).shared_without_barrier);
  EXPECT_FALSE(advise(compiled(shader("  y[i] = x[i];\n"), true)).shared_without_barrier);
}

TEST(SpirvAdvice, TellsWhatElementsAreReadAs) {
  const std::string text =
      "layout(local_size_x = 64) in;\n"
      "layout(binding = 0) readonly buffer A { int a[]; };\n"
      "layout(binding = 1) readonly buffer B { vec4 b[]; };\n"
      "layout(binding = 2) buffer C { double c; double d[]; };\n"
      "layout(binding = 3) buffer D { uint head; float tail[]; };\n"
      "void main() { c = a[0] + b[1].x; d[0] = tail[head]; }\n";
  const Spirv spirv = compiled(text, false);
  const ShaderInterface interface = reflect_spirv(spirv);
  const auto types = element_types(spirv);
  const auto type_at = [&](uint32_t binding) -> std::string {
    for (const Resource& each : interface.resources) {
      const auto found = types.find(each.variable);
      if (each.binding != binding || found == types.end()) continue;
      return name_of(found->second.number) + " x" + std::to_string(found->second.together);
    }
    return "";
  };
  EXPECT_EQ(type_at(0), "int x1");
  EXPECT_EQ(type_at(1), "float x4");
  EXPECT_EQ(type_at(2), "double x1");
  EXPECT_EQ(type_at(3), "");
  EXPECT_FALSE(reads_bits(spirv));
  EXPECT_TRUE(reads_bits(
      compiled(shader("  y[i] = uintBitsToFloat(floatBitsToUint(x[i]) & 0x7fffffffu);\n"), false)));
}

}  // namespace
}  // namespace kbench::vulkan
