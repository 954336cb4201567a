// KHR cooperative matrices, which the SPIRV-Tools of Debian 12 do not know. Its glslang does not
// either, so modules are compiled with NV matrices and rewritten here.

#include "harness/measure/vulkan/spirv_matrix.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <glslang/SPIRV/spirv.hpp>
#include <map>
#include <string>
#include <vector>

#include "harness/measure/vulkan/capabilities.h"
#include "harness/measure/vulkan/compiler.h"
#include "harness/measure/vulkan/spirv.h"
#include "harness/measure/vulkan/spirv_module.h"
#include "harness/measure/vulkan/spirv_names.h"
#include "kbench/error.h"
#include "tests/error_of.h"
#include "tests/vulkan/assemble.h"

namespace kbench::vulkan {

namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

const char* const kMatrixHeader =
    "#version 450\n"
    "#extension GL_NV_cooperative_matrix : require\n"
    "#extension GL_KHR_memory_scope_semantics : require\n"
    "#extension GL_EXT_shader_explicit_arithmetic_types_float16 : require\n"
    "#extension GL_EXT_shader_16bit_storage : require\n";

const char* const kProduct =
    "layout(local_size_x_id = 0) in;\n"
    "layout(constant_id = 1) const uint M = 16;\n"
    "layout(binding = 0) buffer A { float16_t a[]; };\n"
    "layout(binding = 1) buffer C { float c[]; };\n"
    "shared float16_t tile[M * 16];\n"
    "void main() {\n"
    "  fcoopmatNV<16, gl_ScopeSubgroup, M, 8> x;\n"
    "  fcoopmatNV<16, gl_ScopeSubgroup, 8, M> y;\n"
    "  fcoopmatNV<32, gl_ScopeSubgroup, M, M> z = fcoopmatNV<32, gl_ScopeSubgroup, M, M>(0.0);\n"
    "  coopMatLoadNV(x, a, 0, 16, false);\n"
    "  coopMatLoadNV(y, tile, 0, 16, true);\n"
    "  z = coopMatMulAddNV(x, y, z);\n"
    "  for (int i = 0; i < z.length(); ++i) z[i] *= 2.0;\n"
    "  coopMatStoreNV(z, c, 0, 16, false);\n"
    "}\n";

/// The module in KHR's terms: uses in the order of the types, every load and store by rows.
Spirv as_khr(const Spirv& nv) {
  const SpirvModule module(nv);
  const uint32_t uses = module.bound();  // ids of 0, 1, 2
  uint32_t next_use = 2;                 // the accumulator is declared first
  Spirv khr = rewritten(module, [&](const Instruction& each, Spirv& to) {
    switch (each.op()) {
      case spv::OpCapability:
        if (each[0] != spv::CapabilityCooperativeMatrixNV) return false;
        append_instruction(to, each.op(), std::vector{kCooperativeMatrixKhr});
        return true;
      case spv::OpExtension:
        if (each.text(0) != kNvMatrixExtension) return false;
        append_extension(to, kKhrMatrixExtension);
        return true;
      case spv::OpTypeCooperativeMatrixNV:
        for (uint32_t use = 0; next_use == 2 && use <= 2; ++use) {
          const uint32_t uint_type = module.definition(each[2])->result_type();
          append_instruction(to, spv::OpConstant, std::vector{uint_type, uses + use, use});
        }
        append_instruction(to, kOpTypeCooperativeMatrixKhr, spliced(each, 5, 5, {uses + next_use}));
        next_use = (next_use + 1) % 3;
        return true;
      case spv::OpCooperativeMatrixLoadNV:
        append_instruction(to, kOpCooperativeMatrixLoadKhr, spliced(each, 3, 5, {uses, each[3]}));
        return true;
      case spv::OpCooperativeMatrixStoreNV:
        append_instruction(to, kOpCooperativeMatrixStoreKhr, spliced(each, 2, 4, {uses, each[2]}));
        return true;
      case spv::OpCooperativeMatrixMulAddNV:
        append_instruction(to, kOpCooperativeMatrixMulAddKhr, spliced(each, 5, 5, {16}));
        return true;
      case spv::OpCooperativeMatrixLengthNV:
        append_instruction(to, kOpCooperativeMatrixLengthKhr, each.words());
        return true;
      case spv::OpSpecConstantOp:
        if (each[2] != spv::OpCooperativeMatrixLengthNV) return false;
        append_instruction(to, each.op(), spliced(each, 2, 3, {kOpCooperativeMatrixLengthKhr}));
        return true;
      default:
        return false;
    }
  });
  khr[3] += 3;
  return khr;
}

Spirv compiled_with(ShaderSource source) {
  static ShaderCompiler compiler;
  source.file = "test.comp";
  const CompileOutcome outcome = compiler.compile(source);
  for (const Diagnostic& each : outcome.diagnostics) ADD_FAILURE() << each.message;
  return outcome.spirv;
}

Spirv khr(const std::string& text = kProduct) {
  ShaderSource source;
  source.text = kMatrixHeader + text;
  source.optimize = false;
  return as_khr(compiled_with(source));
}

size_t count(const Spirv& spirv, uint32_t op) {
  size_t found = 0;
  const SpirvModule module(spirv);
  for (const Instruction& each : module.instructions()) found += each.op() == op;
  return found;
}

/// The first instruction of the kind, with word `at` changed.
Spirv with(Spirv spirv, uint32_t op, size_t at, uint32_t word) {
  const SpirvModule module(spirv);
  for (const Instruction& each : module.instructions()) {
    if (each.op() != op) continue;
    EXPECT_LT(at, each.size());
    spirv[static_cast<size_t>(each.words().data() - spirv.data()) + at] = word;
    return spirv;
  }
  ADD_FAILURE() << "no such instruction";
  return spirv;
}

TEST(CooperativeMatrices, AreValidatedAndSpecialized) {
  const Spirv module = khr();
  EXPECT_EQ(validate_spirv(module), "");
  const Spirv frozen = freeze_spirv(module, {{0, 64}, {1, 32}}, "main");
  const SpirvFacts facts = inspect_spirv(frozen);
  EXPECT_THAT(facts.local_size, ElementsAre(64, 1, 1));
  EXPECT_EQ(facts.shared_bytes, 32u * 16 * 2);
  EXPECT_THAT(facts.bindings, ElementsAre(0, 1));
  EXPECT_THAT(facts.capabilities, Contains(kCooperativeMatrixKhr));
  EXPECT_THAT(facts.extensions, Contains("SPV_KHR_cooperative_matrix"));
  for (const uint32_t op :
       {kOpTypeCooperativeMatrixKhr, kOpCooperativeMatrixLoadKhr, kOpCooperativeMatrixStoreKhr,
        kOpCooperativeMatrixMulAddKhr, uint32_t{spv::OpStore}}) {
    EXPECT_EQ(count(frozen, op), count(module, op)) << op;
  }
  EXPECT_GT(count(module, spv::OpSpecConstant), 0u);
  EXPECT_EQ(count(frozen, spv::OpSpecConstant), 0u);
}

TEST(CooperativeMatrices, StayAsTheyAreWithoutSpecialization) {
  std::string text = kProduct;
  text.replace(text.find("local_size_x_id = 0"), 19, "local_size_x = 32");
  text.replace(text.find("layout(constant_id = 1) "), 24, "");
  const Spirv module = khr(text);
  // A loop's bound may still be an operation on constants, the number of elements.
  const Spirv frozen = freeze_spirv(module, {}, "main");
  EXPECT_EQ(count(frozen, kOpTypeCooperativeMatrixKhr), 3u);
  const SpirvModule after(frozen);
  std::vector<uint32_t> uses;
  for (const Instruction& each : after.instructions()) {
    if (each.op() == kOpTypeCooperativeMatrixKhr) {
      uses.push_back(static_cast<uint32_t>(*after.constant(each[5])));
    }
    if (each.op() == kOpCooperativeMatrixMulAddKhr) {
      EXPECT_EQ(each[5], 16u);
    }
  }
  EXPECT_THAT(uses, ElementsAre(2, 0, 1));
}

TEST(CooperativeMatrices, DoNotHideAnInvalidModule) {
  EXPECT_NE(validate_spirv(with(khr(), spv::OpStore, 0, 1)), "") << "a store to what is no pointer";
  EXPECT_NE(validate_spirv(with(khr(), kOpCooperativeMatrixMulAddKhr, 2, 1)), "");
  EXPECT_NE(validate_spirv(with(khr(), kOpCooperativeMatrixLoadKhr, 2, 1)), "");
  Spirv cut = khr();
  cut.pop_back();
  EXPECT_NE(validate_spirv(cut), "");
  Spirv unknown = khr();
  const Spirv end(unknown.end() - 2, unknown.end());  // OpReturn, OpFunctionEnd
  unknown.resize(unknown.size() - 2);
  append_instruction(unknown, 4999, {});
  unknown.insert(unknown.end(), end.begin(), end.end());
  EXPECT_NE(validate_spirv(unknown), "");
}

TEST(CooperativeMatrices, OperandsThatOnlyKhrHasAreChecked) {
  const auto said = [](const Spirv& spirv) { return validate_spirv(spirv); };
  EXPECT_THAT(said(with(khr(), kOpCooperativeMatrixLoadKhr, 3, 1)), HasSubstr("layout"));
  EXPECT_THAT(said(with(khr(), kOpCooperativeMatrixStoreKhr, 2, 1)), HasSubstr("layout"));
  EXPECT_THAT(said(with(khr(), kOpTypeCooperativeMatrixKhr, 5, 1)), HasSubstr("use"));
  EXPECT_THAT(said(with(khr(), kOpTypeCooperativeMatrixKhr, 2, 1)), HasSubstr("scope"));
  EXPECT_THAT(said(with(khr(), kOpCooperativeMatrixMulAddKhr, 5, 0x20)), HasSubstr("operands"));
}

/// Of the constant with that SpecId.
uint32_t id_of(const Spirv& spirv, uint32_t number) {
  const SpirvModule module(spirv);
  for (const Instruction& each : module.instructions()) {
    if (each.op() == spv::OpDecorate && each[1] == spv::DecorationSpecId && each[2] == number) {
      return each[0];
    }
  }
  return 0;
}

TEST(CooperativeMatrices, LayoutsMayBeSpecializationConstants) {
  std::string text = "layout(constant_id = 2) const uint LAYOUT = 0;\n" + std::string(kProduct);
  text.insert(text.find("  fcoopmat"), "  c[9] = float(LAYOUT);\n");
  Spirv module = khr(text);
  const uint32_t layout = id_of(module, 2);
  ASSERT_NE(layout, 0u);
  module = with(module, kOpCooperativeMatrixLoadKhr, 3, layout);
  module = with(module, kOpCooperativeMatrixStoreKhr, 2, layout);
  EXPECT_EQ(validate_spirv(module), "");
  const Spirv frozen = freeze_spirv(module, {{2, 1}}, "main");
  EXPECT_EQ(count(frozen, kOpCooperativeMatrixLoadKhr), 2u);
  const SpirvModule after(frozen);
  std::vector<uint64_t> layouts;
  for (const Instruction& each : after.instructions()) {
    if (each.op() == kOpCooperativeMatrixLoadKhr) layouts.push_back(*after.constant(each[3]));
    if (each.op() == kOpCooperativeMatrixStoreKhr) layouts.push_back(*after.constant(each[2]));
  }
  EXPECT_THAT(layouts, ElementsAre(1, 0, 1));
  EXPECT_EQ(count(frozen, spv::OpCopyObject), count(module, spv::OpCopyObject));
  const Error error = error_of([&] { freeze_spirv(module, {{2, 4202}}, "main"); });
  EXPECT_STREQ(error.what(),
               "has a cooperative matrix that kbench does not understand: its layout is 4202, "
               "which is not known");
}

TEST(CooperativeMatrices, ThatAreNotUnderstoodSayWhatItIs) {
  const Error error =
      error_of([&] { freeze_spirv(with(khr(), kOpTypeCooperativeMatrixKhr, 5, 1), {}, "main"); });
  EXPECT_STREQ(error.what(),
               "has a cooperative matrix that kbench does not understand: its use is no plain "
               "constant");
  Spirv newer = khr();  // with CooperativeMatrixReductionsNV declared first
  const std::vector<uint32_t> declared = {uint32_t{2} << 16 | spv::OpCapability, 5430};
  newer.insert(newer.begin() + kSpirvHeaderWords, declared.begin(), declared.end());
  EXPECT_THROW(freeze_spirv(newer, {}, "main"), Error);
  EXPECT_THAT(declared_by(newer).capabilities, Contains(5430u));
  EXPECT_THAT(declared_by(newer).extensions, Contains("SPV_KHR_cooperative_matrix"));
}

TEST(CooperativeMatrices, AnyWordMayBeWrong) {
  const Spirv module = khr();
  size_t taken = 0;
  for (size_t at = kSpirvHeaderWords; at < module.size(); ++at) {
    for (const uint32_t word : {module[at] + 1, uint32_t{0xffffffff}}) {
      Spirv wrong = module;
      wrong[at] = word;
      try {
        inspect_spirv(freeze_spirv(wrong, {}, "main"));
        ++taken;
      } catch (const Error& error) {
        EXPECT_EQ(error.code(), ErrorCode::kCompile) << at;
      }
    }
  }
  EXPECT_LT(taken, module.size()) << "names and literals may differ, little else";
}

TEST(CooperativeMatrices, AreOfOneExtension) {
  Spirv both = khr();
  const std::vector<uint32_t> nv = {uint32_t{2} << 16 | spv::OpCapability,
                                    uint32_t{spv::CapabilityCooperativeMatrixNV}};
  both.insert(both.begin() + kSpirvHeaderWords, nv.begin(), nv.end());
  EXPECT_THAT(validate_spirv(both), HasSubstr("mixes"));
  Spirv hidden = khr();
  const SpirvModule module(hidden);
  for (const Instruction& each : module.instructions()) {  // NV's opcode without its capability
    if (each.op() != kOpCooperativeMatrixMulAddKhr) continue;
    const auto at = static_cast<size_t>(each.words().data() - hidden.data());
    hidden[at - 1] = (hidden[at - 1] & 0xffff0000) | spv::OpCooperativeMatrixMulAddNV;
  }
  EXPECT_THAT(validate_spirv(hidden), HasSubstr("mixes"));
}

TEST(CooperativeMatrices, DoNotHideClocksAndPointers) {
  std::string text = "#extension GL_ARB_shader_clock : require\n" + std::string(kProduct);
  text.insert(text.find("  fcoopmat"), "  c[5] = float(clock2x32ARB().x);\n");
  SpirvFacts facts = inspect_spirv(freeze_spirv(khr(text), {}, "main"));
  EXPECT_TRUE(facts.reads_clock);
  EXPECT_THAT(facts.capabilities, Contains(spv::CapabilityShaderClockKHR));

  text =
      "#extension GL_EXT_buffer_reference : require\n"
      "#extension GL_EXT_shader_explicit_arithmetic_types_int64 : require\n"
      "layout(buffer_reference, std430, buffer_reference_align = 4) buffer F { float at[]; };\n"
      "layout(binding = 2) buffer S { uint64_t stored[]; };\n" +
      std::string(kProduct);
  text.insert(text.find("  fcoopmat"), "  c[6] = F(stored[0]).at[0];\n");
  facts = inspect_spirv(freeze_spirv(khr(text), {}, "main"));
  EXPECT_TRUE(facts.foreign_addresses);
  EXPECT_THAT(facts.capabilities, Contains(spv::CapabilityPhysicalStorageBufferAddresses));
}

using ::testing::Each;
using ::testing::Not;
using ::testing::UnorderedElementsAre;

/// A product of two matrices; `mark` is added to the numbers that say the operands' use.
Spirv product(int mark, bool optimize) {
  ShaderSource source;
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
  return compiled_with(source);
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
