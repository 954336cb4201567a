// Barriers that some invocations skip.
#include "harness/measure/vulkan/spirv_flow.h"

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

SkippedBarriers skipped_in(const Spirv& spirv) { return skipped_barriers(SpirvModule(spirv)); }

enum class Found { nothing, behind_return, in_branch };

void expect(Found where, const std::string& text) {
  for (const bool optimize : {false, true}) {
    const SkippedBarriers found = skipped_in(compiled(text, optimize));
    EXPECT_EQ(found.behind_return, where == Found::behind_return) << optimize << text;
    EXPECT_EQ(found.in_branch, where == Found::in_branch) << optimize << text;
  }
}

const std::string kUse = "  s[l] = x[i];\n  barrier();\n  y[i] = s[63 - l];\n";

TEST(SpirvFlow, FindsABarrierBehindAReturnOfSome) {
  const SkippedBarriers found =
      skipped_in(compiled(shader("  if (i >= n) return;\n" + kUse), false));
  EXPECT_TRUE(found.behind_return);
  // Optimized, the return is a branch around the rest.
  const SkippedBarriers optimized =
      skipped_in(compiled(shader("  if (i >= n) return;\n" + kUse), true));
  EXPECT_TRUE(optimized.behind_return || optimized.in_branch);
}

TEST(SpirvFlow, FindsABarrierInABranchOrALoopOfSome) {
  expect(Found::in_branch, shader("  if (l < 32) {\n    s[l] = x[i];\n    barrier();\n  }\n"
                                  "  y[i] = s[l];\n"));
  expect(Found::in_branch, shader("  for (uint k = 0; k < l; ++k) {\n    s[l] = x[k];\n"
                                  "    barrier();\n    y[i] = s[63 - l];\n  }\n"));
}

TEST(SpirvFlow, PassesWhatAllInvocationsReach) {
  expect(Found::nothing, shader("  if (i < n) s[l] = x[i]; else s[l] = 0.0;\n  barrier();\n"
                                "  if (i < n) y[i] = s[63 - l];\n"));
  expect(Found::nothing, shader("  s[l] = x[i];\n"
                                "  for (uint k = 32; k > 0; k /= 2) {\n    barrier();\n"
                                "    if (l < k) s[l] += s[l + k];\n  }\n"
                                "  if (l == 0) y[i] = s[0];\n"));
  expect(Found::nothing, shader("  for (uint t = 0; t < n; t += 64) {\n    s[l] = x[t + l];\n"
                                "    barrier();\n    y[i] += s[63 - l];\n    barrier();\n  }\n"));
}

TEST(SpirvFlow, PassesWhatIsTheSameForAWorkgroup) {
  expect(Found::nothing, shader("  if (gl_WorkGroupID.x >= n) return;\n" + kUse));
  expect(Found::nothing, shader("  if (l == 0) count = n / 2;\n  barrier();\n"
                                "  for (uint k = 0; k < count; ++k) {\n    s[l] = x[k];\n"
                                "    barrier();\n    y[i] += s[63 - l];\n    barrier();\n  }\n"));
}

TEST(SpirvFlow, FollowsWhatDiffersThroughFunctions) {
  const std::string functions = "bool outside(uint at) { return at >= n; }\n";
  const SkippedBarriers found =
      skipped_in(compiled(shader("  if (outside(i)) return;\n" + kUse, functions), false));
  EXPECT_TRUE(found.behind_return);
  EXPECT_FALSE(skipped_in(compiled(shader("  if (outside(n)) return;\n" + kUse, functions), false))
                   .behind_return);
}

}  // namespace
}  // namespace kbench::vulkan
