// kbench's own shaders' matrices, from NV's terms to KHR's.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "harness/measure/vulkan/capabilities.h"
#include "harness/measure/vulkan/compiler.h"
#include "harness/measure/vulkan/spirv.h"
#include "harness/measure/vulkan/spirv_matrix.h"
#include "harness/measure/vulkan/spirv_module.h"
#include "harness/measure/vulkan/spirv_names.h"
#include "kbench/error.h"

namespace kbench::vulkan {
namespace {

using ::testing::Contains;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::Not;
using ::testing::UnorderedElementsAre;

/// A product of two matrices; `mark` is added to the numbers that say the operands' use.
Spirv product(int mark, bool optimize) {
  static ShaderCompiler compiler;
  ShaderSource source;
  source.file = "product.comp";
  source.optimize = optimize;
  source.macros = {{"MARK", std::to_string(mark)}};
  source.text = R"(#version 450
#extension GL_EXT_shader_explicit_arithmetic_types_float16 : require
#extension GL_KHR_memory_scope_semantics : require
#extension GL_NV_cooperative_matrix : require
#pragma use_vulkan_memory_model
layout(local_size_x = 32) in;
layout(constant_id = 0 + MARK) const int kEdgeA = 16;
layout(constant_id = 1 + MARK) const int kEdgeB = 16;
layout(constant_id = 2) const int kEdgeSum = 16;
layout(binding = 0) buffer Out { float y[]; };
shared uvec4 tile[128];
void main() {
  tile[gl_LocalInvocationID.x] = uvec4(0);
  barrier();
  fcoopmatNV<16, gl_ScopeSubgroup, kEdgeA, kEdgeA> a;
  fcoopmatNV<16, gl_ScopeSubgroup, kEdgeB, kEdgeB> b;
  fcoopmatNV<32, gl_ScopeSubgroup, kEdgeSum, kEdgeSum> sum =
      fcoopmatNV<32, gl_ScopeSubgroup, kEdgeSum, kEdgeSum>(0.0);
  coopMatLoadNV(a, tile, 0, 3, false);
  coopMatLoadNV(b, tile, 1, 5, true);
  sum = coopMatMulAddNV(a, b, sum);
  coopMatStoreNV(sum, y, 0, 7, false);
}
)";
  const CompileOutcome outcome = compiler.compile(source);
  for (const Diagnostic& each : outcome.diagnostics) ADD_FAILURE() << each.message;
  return outcome.spirv;
}

/// What a module says of its matrices.
struct Said {
  std::vector<uint32_t> uses, bits, loaded_by, strides, stored_by;
  std::vector<size_t> float_words;  ///< of each matrix's component type
  size_t products = 0, specialized = 0, nv = 0;
};
Said read(const Spirv& spirv) {
  const SpirvModule module(spirv);
  const auto number = [&module](uint32_t id) {
    return static_cast<uint32_t>(module.constant(id).value());
  };
  Said said;
  for (const Instruction& each : module.instructions()) {
    switch (each.op()) {
      case kOpTypeCooperativeMatrixKhr: {
        const Instruction* component = module.type(each[1], spv::OpTypeFloat);
        EXPECT_EQ(number(each[2]), uint32_t{spv::ScopeSubgroup});
        EXPECT_EQ(number(each[3]), 16u);
        EXPECT_EQ(number(each[4]), 16u);
        said.uses.push_back(number(each[5]));
        said.bits.push_back((*component)[1]);
        said.float_words.push_back(component->size());
        break;
      }
      case kOpCooperativeMatrixLoadKhr:
        said.loaded_by.push_back(number(each[3]));
        said.strides.push_back(number(each[4]));
        break;
      case kOpCooperativeMatrixStoreKhr:
        said.stored_by.push_back(number(each[2]));
        said.strides.push_back(number(each[3]));
        break;
      case kOpCooperativeMatrixMulAddKhr:
        ++said.products;
        break;
      case spv::OpSpecConstant:
        ++said.specialized;
        break;
      case spv::OpTypeCooperativeMatrixNV:
      case spv::OpCooperativeMatrixLoadNV:
      case spv::OpCooperativeMatrixStoreNV:
      case spv::OpCooperativeMatrixMulAddNV:
        ++said.nv;
        break;
      default:
        break;
    }
  }
  return said;
}

TEST(KhrMatrices, OfFloat16HaveTheirUsesAndLayouts) {
  for (const bool optimize : {false, true}) {
    const Spirv nv = product(0, optimize);
    ASSERT_TRUE(has_nv_matrices(nv));
    EXPECT_EQ(validate_spirv(nv), "");
    const Spirv khr = to_khr_matrices(nv);
    EXPECT_FALSE(has_nv_matrices(khr));
    EXPECT_EQ(validate_spirv(khr), "") << "translated back to NV's";
    const Said said = read(khr);
    EXPECT_THAT(said.uses, UnorderedElementsAre(0, 1, 2));
    EXPECT_THAT(said.bits, UnorderedElementsAre(16, 16, 32));
    EXPECT_THAT(said.float_words, Each(2)) << "an id and the bits";
    EXPECT_THAT(said.loaded_by, ElementsAre(0, 1)) << "by rows, by columns";
    EXPECT_THAT(said.stored_by, ElementsAre(0));
    EXPECT_THAT(said.strides, ElementsAre(3, 5, 7));
    EXPECT_EQ(said.products, 1u);
    EXPECT_EQ(said.specialized + said.nv, 0u);
    const SpirvFacts facts = inspect_spirv(khr);
    EXPECT_THAT(facts.capabilities, Contains(kCooperativeMatrixKhr));
    EXPECT_THAT(facts.capabilities, Not(Contains(kBfloat16Type)));
    EXPECT_THAT(facts.extensions, ElementsAre("SPV_KHR_cooperative_matrix"));
  }
}

TEST(KhrMatrices, OfBfloat16DifferInTheirOperandsAlone) {
  for (const bool optimize : {false, true}) {
    const Spirv khr = to_khr_matrices(product(8, optimize));
    const Said said = read(khr);
    std::map<uint32_t, std::pair<uint32_t, size_t>> components;  // by use
    for (size_t i = 0; i < said.uses.size(); ++i) {
      components[said.uses[i]] = {said.bits[i], said.float_words[i]};
    }
    const std::map<uint32_t, std::pair<uint32_t, size_t>> expected = {
        {0, {16, 3}}, {1, {16, 3}}, {2, {32, 2}}};  // with an encoding, or IEEE's
    EXPECT_EQ(components, expected);
    EXPECT_EQ(said.loaded_by, read(to_khr_matrices(product(0, optimize))).loaded_by);
    EXPECT_EQ(said.specialized + said.nv, 0u);
    const SpirvFacts facts = inspect_spirv(khr);
    for (const uint32_t capability : {kCooperativeMatrixKhr, kBfloat16Type, kBfloat16Matrix}) {
      EXPECT_THAT(facts.capabilities, Contains(capability));
    }
    EXPECT_THAT(facts.extensions,
                UnorderedElementsAre("SPV_KHR_cooperative_matrix", "SPV_KHR_bfloat16"));
  }
}

TEST(KhrMatrices, ThatDoNotSayTheirUseAreRefused) {
  EXPECT_THROW(to_khr_matrices(product(3, false)), Error);
  EXPECT_THROW(to_khr_matrices(product(16, false)), Error);
}

}  // namespace
}  // namespace kbench::vulkan
