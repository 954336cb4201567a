// Values of uniform blocks, whose types the shader's own declarations give.
#include <gmock/gmock.h>

#include "kbench/task.h"
#include "tests/candidate/support.h"
#include "tests/error_of.h"

namespace kbench {
namespace {

using ::testing::HasSubstr;

std::string with(const std::string& step) {
  return "kbench: 1\ntask: level1/19\nkernels:\n  k: {source: x}\ndispatch:\n  - {kernel: k, bind: "
         "[x, output], groups: 1, " +
         step + "}\n";
}

Error refusal(const std::string& text) {
  return error_of([&] {
    const Candidate candidate = parse_candidate(text, "test.yaml", ".");
    const auto graph = build_graph(find_task({1, 19}), Preset::smoke);
    resolve(candidate, *graph);
  });
}

TEST(CandidateUniforms, AreReadByNameAndInOrder) {
  const Candidate candidate = parse_candidate(
      with("uniforms: {2: {size: [batch_size, dim], slope: 1 / 2}, b1: [1, [\"2.5\", dim]]}"),
      "test.yaml", ".");
  const auto graph = build_graph(find_task({1, 19}), Preset::smoke);
  const ResolvedCandidate resolved = resolve(candidate, *graph);
  const std::vector<ResolvedUniform>& blocks = resolved.dispatch[0].uniforms;
  ASSERT_EQ(blocks.size(), 2u);
  EXPECT_EQ(blocks[0].place.text, "2");
  ASSERT_EQ(blocks[0].fields.size(), 2u);
  EXPECT_EQ(blocks[0].fields[0].name, "size");
  ASSERT_EQ(blocks[0].fields[0].values.size(), 2u);
  // The shader's type decides which of the two is meant.
  EXPECT_EQ(blocks[0].fields[1].values[0].integer, 0);
  EXPECT_EQ(blocks[0].fields[1].values[0].real, 0.5);
  ASSERT_EQ(blocks[1].fields.size(), 2u);
  EXPECT_EQ(blocks[1].fields[1].name, "");
  EXPECT_EQ(blocks[1].fields[1].values[0].integer, std::nullopt);
  EXPECT_EQ(blocks[1].fields[1].values[0].real, 2.5);
}

TEST(CandidateUniforms, WhatIsNoneIsSaidWithItsPlace) {
  EXPECT_THAT(refusal(with("uniforms: 3")).what(), HasSubstr("uniforms"));
  EXPECT_THAT(refusal(with("uniforms: {2: 3}")).what(), HasSubstr("a uniform block"));
  EXPECT_THAT(refusal(with("uniforms: {2: {n: nowhere}}")).what(), HasSubstr("nowhere"));
  std::string many;
  for (int i = 0; i < 5000; ++i) many += "1, ";
  EXPECT_THAT(refusal(with("uniforms: {2: [" + many + "1]}")).what(), HasSubstr("at most 4096"));
  EXPECT_THAT(refusal("kbench: 1\ntask: level1/19\nkernels:\n  k: {language: cuda, source: x}\n"
                      "dispatch:\n  - {kernel: k, args: [x, output], grid: 1, block: 1, uniforms: "
                      "{2: [1]}}\n")
                  .what(),
              HasSubstr("'uniforms' belongs to shaders"));
}

}  // namespace
}  // namespace kbench
