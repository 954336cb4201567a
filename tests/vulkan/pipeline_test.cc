#include "harness/measure/vulkan/pipeline.h"

#include <gmock/gmock.h>

#include "tests/vulkan/device_fixture.h"

namespace kbench::vulkan {
namespace {

using ::testing::HasSubstr;

class PipelineTest : public DeviceTest {
 protected:
  /// Writes the specialization constant and the subgroup size.
  Spirv probe(const Specialization& values = {}) {
    const Spirv spirv = compile(
        "#extension GL_KHR_shader_subgroup_basic : require\n"
        "layout(local_size_x = 64) in;\n"
        "layout(constant_id = 5) const uint VALUE = 11;\n"
        "layout(binding = 0) buffer A { uint a[]; };\n"
        "void main() { a[0] = VALUE; a[1] = gl_SubgroupSize; }\n");
    return freeze_spirv(spirv, values, "main");
  }
  std::vector<uint32_t> run(const Pipeline& pipeline) {
    const Buffer out = upload(std::vector<uint32_t>(2, 0));
    Commands commands(device());
    commands.begin();
    commands.dispatch(pipeline, std::vector{whole(out)}, {}, {1, 1, 1});
    commands.submit_and_wait(30);
    return download<uint32_t>(out);
  }
  Error refusal(const PipelineKey& key) {
    return error_of([&] { device().pipelines().get(key); });
  }
};

TEST_F(PipelineTest, EqualKeysGiveTheSamePipeline) {
  PipelineCache cache(device());
  const PipelineKey key = {.spirv = probe(), .bindings = 1};
  const Pipeline& first = cache.get(key);
  EXPECT_EQ(&cache.get({.spirv = probe(), .bindings = 1}), &first);
  EXPECT_EQ(cache.size(), 1u);
  PipelineKey other = key;
  other.spirv = probe({{5, 12}});
  EXPECT_NE(&cache.get(other), &first);
  other = key;
  other.push_bytes = 4;
  EXPECT_NE(&cache.get(other), &first);
  EXPECT_EQ(cache.size(), 3u);
}

TEST_F(PipelineTest, SpecializationConstantsReachTheShader) {
  PipelineKey key = {.spirv = probe(), .bindings = 1};
  EXPECT_EQ(run(device().pipelines().get(key))[0], 11u);
  key.spirv = probe({{5, 77}});
  EXPECT_EQ(run(device().pipelines().get(key))[0], 77u);
}

TEST_F(PipelineTest, CachesEmbeddedShadersByTheirWholeKey) {
  PipelineCache cache(device());
  const Pipeline& first = cache.get_embedded({"void.comp", {}, 0, 0});
  EXPECT_EQ(&cache.get_embedded({"void.comp", {}, 0, 0}), &first);
  EXPECT_NE(&cache.get_embedded({"void.comp", {}, 8, 0}), &first);
  Commands commands(device());
  commands.begin();
  commands.dispatch(first, {}, {}, {3, 2, 1});
  commands.submit_and_wait(30);
  const Error missing = error_of([&] { cache.get_embedded({"nothing.comp", {}, 0, 0}); });
  EXPECT_THAT(missing.what(), HasSubstr("nothing.comp"));
}

TEST_F(PipelineTest, PreparesSeveralAtOnceAndLeavesOutWhatFails) {
  PipelineCache& cache = device().pipelines();
  std::vector<PipelineKey> keys;
  for (uint32_t bytes : {4u, 12u, 20u, 12u}) {
    keys.push_back({.spirv = probe(), .bindings = 1, .push_bytes = bytes});
  }
  keys.push_back(
      {.spirv = probe(), .bindings = 1, .push_bytes = device().snapshot().max_push_constants + 4});
  const size_t before = cache.size();
  cache.prepare(keys);
  EXPECT_EQ(cache.size(), before + 3);
  EXPECT_EQ(cache.get(keys[1]).push_bytes, 12u);
  EXPECT_EQ(cache.size(), before + 3);
  EXPECT_EQ(refusal(keys.back()).code(), ErrorCode::kUnsupported);
}

TEST_F(PipelineTest, PreparesNothingMoreOnceItIsToStop) {
  PipelineCache cache(device());
  std::vector<PipelineKey> keys;
  for (uint32_t bytes : {4u, 8u, 16u, 24u}) {
    keys.push_back({.spirv = probe(), .bindings = 1, .push_bytes = bytes});
  }
  cache.prepare(keys, {}, [] { return true; });
  EXPECT_EQ(cache.size(), 0u);
  cache.prepare(keys, {}, [] { return false; });
  EXPECT_EQ(cache.size(), 4u);
}

TEST_F(PipelineTest, LooksForBuiltInShadersAmongThoseKeptAndIgnoresWhatIsNotTheDrivers) {
  const PipelineKey own = {.spirv = probe(), .bindings = 1, .built_in = true};
  const PipelineKey candidates = {.spirv = probe(), .bindings = 1};
  std::map<std::string, std::string> kept;
  std::vector<std::string> asked;
  for (const std::string& other : {std::string(), std::string(100, 'x'), std::string(1, '\0')}) {
    PipelineCache cache(device());
    cache.use(
        {.find =
             [&](const std::string& name) {
               asked.push_back(name);
               return kept.contains(name) ? kept.at(name) : other;
             },
         .keep = [&](const std::string& name, const std::string& bytes) { kept[name] = bytes; }});
    EXPECT_EQ(run(cache.get(candidates)).front(), 11u);
    EXPECT_EQ(run(cache.get(own)).front(), 11u);
  }
  ASSERT_EQ(asked.size(), 3u);  // Never for a candidate's.
  EXPECT_EQ(asked[0], asked[1]);
  EXPECT_EQ(asked[0], asked[2]);
  EXPECT_LE(kept.size(), 1u);  // lavapipe has nothing to keep.
}

TEST_F(PipelineTest, RefusesConstantsThatAreNotFrozen) {
  const Error error =
      refusal({.spirv = compile("layout(local_size_x_id = 0) in;\nvoid main() {}\n")});
  EXPECT_EQ(error.code(), ErrorCode::kCompile);
  EXPECT_THAT(error.what(), HasSubstr("not frozen"));
}

TEST_F(PipelineTest, GivesARequiredSubgroupSizeOrSaysWhichItHas) {
  const DeviceSnapshot& limits = device().snapshot();
  PipelineKey key = {.spirv = probe(), .bindings = 1, .subgroup_size = limits.subgroup_size};
  EXPECT_EQ(run(device().pipelines().get(key))[1], limits.subgroup_size);
  key.subgroup_size = limits.max_subgroup_size * 2;
  const Error error = refusal(key);
  EXPECT_EQ(error.code(), ErrorCode::kUnsupported);
  EXPECT_THAT(error.what(), HasSubstr("its sizes: " + std::to_string(limits.min_subgroup_size)));
}

TEST_F(PipelineTest, RefusesWhatIsOverALimit) {
  const DeviceSnapshot& limits = device().snapshot();
  Error error =
      refusal({.spirv = probe(), .bindings = 1, .push_bytes = limits.max_push_constants + 4});
  EXPECT_EQ(error.code(), ErrorCode::kUnsupported);
  EXPECT_THAT(error.what(), HasSubstr("push-constant bytes"));

  const Spirv sized = compile("layout(local_size_x_id = 0) in;\nvoid main() {}\n");
  error = refusal({.spirv = freeze_spirv(sized, {{0, limits.max_invocations + 1}}, "main")});
  EXPECT_EQ(error.code(), ErrorCode::kUnsupported);
  EXPECT_THAT(error.what(), HasSubstr("invocations"));

  const std::string count = std::to_string(limits.max_shared_memory / 4 + 1);
  error = refusal({.spirv = compile("layout(local_size_x = 2) in;\nshared uint tile[" + count +
                                    "];\nlayout(binding = 0) buffer A { uint a[]; };\n"
                                    "void main() { tile[a[2]] = a[1]; barrier();\n"
                                    "  a[0] = tile[a[3]]; }\n"),
                   .bindings = 1});
  EXPECT_EQ(error.code(), ErrorCode::kUnsupported);
  EXPECT_THAT(error.what(), HasSubstr("shared memory"));
}

TEST_F(PipelineTest, RefusesCapabilitiesTheDeviceWasNotOpenedWith) {
  const Error error =
      refusal({.spirv = compile(
                   "#extension GL_EXT_shader_atomic_float2 : require\n"
                   "layout(local_size_x = 1) in;\nlayout(binding = 0) buffer A { float a[]; };\n"
                   "void main() { atomicMax(a[0], 1.0); }\n"),
               .bindings = 1});
  EXPECT_EQ(error.code(), ErrorCode::kUnsupported);
  EXPECT_THAT(error.what(), HasSubstr("AtomicFloat32MinMaxEXT, which kbench does not enable"));
}

}  // namespace
}  // namespace kbench::vulkan
