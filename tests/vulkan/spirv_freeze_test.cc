#include <gmock/gmock.h>

#include <glslang/SPIRV/spirv.hpp>

#include "harness/measure/vulkan/compiler.h"
#include "harness/measure/vulkan/spirv_interface.h"
#include "harness/measure/vulkan/spirv_module.h"
#include "kbench/error.h"
#include "tests/error_of.h"
#include "tests/vulkan/assemble.h"
#include "tests/vulkan/compiled.h"

namespace kbench::vulkan {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

SpirvFacts frozen(const Spirv& spirv, const Specialization& values = {}) {
  return inspect_spirv(freeze_spirv(spirv, values, "main"));
}

/// What freezing says against the module.
Error refusal(const Spirv& spirv, const Specialization& values = {},
              const std::string& entry = "main") {
  return error_of([&] { freeze_spirv(spirv, values, entry); });
}

/// The words of the constants a module declares, by value of the first 32 bits.
std::vector<uint32_t> constants(const Spirv& spirv) {
  std::vector<uint32_t> values;
  const SpirvModule module(spirv);
  for (const Instruction& each : module.instructions()) {
    if (each.op() == spv::OpConstant) values.push_back(each[2]);
  }
  return values;
}

bool has(const Spirv& spirv, uint32_t op) {
  const SpirvModule module(spirv);
  for (const Instruction& each : module.instructions()) {
    if (each.op() == op) return true;
  }
  return false;
}

TEST(FreezeSpirv, SizesFollowTheGivenValuesElseTheDefaults) {
  for (const bool optimize : {true, false}) {
    const Spirv spirv = compiled(
        "layout(local_size_x_id = 0, local_size_y = 2) in;\n"
        "layout(constant_id = 1) const uint TILE = 8;\n"
        "layout(binding = 0) buffer A { float a[]; };\n"
        "shared float tile[TILE * (TILE + 1)];\n"
        "shared vec4 other[2];\n"
        "void main() { tile[gl_LocalInvocationIndex] = a[0]; other[1] = vec4(a[1]);\n"
        "  barrier(); a[0] = tile[1] + other[0].x; }\n",
        optimize);
    const SpirvFacts defaults = frozen(spirv);
    EXPECT_THAT(defaults.local_size, ElementsAre(1, 2, 1));
    EXPECT_EQ(defaults.shared_bytes, 8u * 9 * 4 + 32);
    const SpirvFacts given = frozen(spirv, {{0, 64}, {1, 16}});
    EXPECT_THAT(given.local_size, ElementsAre(64, 2, 1));
    EXPECT_EQ(given.shared_bytes, 16u * 17 * 4 + 32);
  }
}

TEST(FreezeSpirv, ThePushBlockIsAsLongAsItsSpecializedArray) {
  const Spirv spirv = compiled(
      "layout(local_size_x = 1) in;\n"
      "layout(constant_id = 0) const uint N = 1;\n"
      "layout(binding = 0) buffer A { uint a[]; };\n"
      "layout(push_constant) uniform P { uint first; uint rest[N]; };\n"
      "void main() { a[0] = rest[first]; }\n");
  EXPECT_EQ(reflect_spirv(freeze_spirv(spirv, {}, "main")).push.size(), 2u);
  EXPECT_EQ(reflect_spirv(freeze_spirv(spirv, {{0, 30}}, "main")).push.size(), 31u);
}

TEST(FreezeSpirv, LeavesNoConstantToSpecialize) {
  const Spirv spirv = compiled(
      "layout(local_size_x = 1) in;\n"
      "layout(constant_id = 0) const uint N = 3;\n"
      "layout(constant_id = 1) const bool B = false;\n"
      "layout(constant_id = 2) const float F = 1.0;\n"
      "layout(constant_id = 3) const int I = 7;\n"
      "layout(binding = 0) buffer A { float a[]; };\n"
      "void main() { a[N] = B ? F : float(I); }\n",
      false);
  const Spirv plain = freeze_spirv(spirv, {{1, 5}, {2, 0x40200000}, {3, 0xfffffffe}}, "main");
  for (const uint32_t op : {spv::OpSpecConstant, spv::OpSpecConstantTrue, spv::OpSpecConstantFalse,
                            spv::OpSpecConstantOp, spv::OpSpecConstantComposite}) {
    EXPECT_FALSE(has(plain, op)) << op;
  }
  EXPECT_TRUE(has(plain, spv::OpConstantTrue)) << "any value but 0 is true";
  EXPECT_THAT(constants(plain), ::testing::IsSupersetOf({3u, 0x40200000u, 0xfffffffeu}));
  EXPECT_EQ(freeze_spirv(plain, {}, "main"), plain) << "nothing is left to do";
}

TEST(FreezeSpirv, NamesAConstantItCannotSet) {
  const Spirv spirv = compiled(
      "#extension GL_EXT_shader_explicit_arithmetic_types_int64 : require\n"
      "layout(local_size_x = 1) in;\n"
      "layout(constant_id = 4) const uint64_t WIDE = 1;\n"
      "layout(binding = 0) buffer A { uint a[]; };\n"
      "void main() { a[0] = uint(WIDE); }\n");
  Error error = refusal(spirv, {{9, 1}});
  EXPECT_EQ(error.code(), ErrorCode::kInvalidArgument);
  EXPECT_THAT(error.what(), HasSubstr("specialization constant 9"));
  error = refusal(spirv, {{4, 1}});
  EXPECT_EQ(error.code(), ErrorCode::kInvalidArgument);
  EXPECT_THAT(error.what(), HasSubstr("specialization constant 4, which is no bool"));
}

TEST(FreezeSpirv, FoldsOperationsOnVectorsAndOfEveryKind) {
  const SpirvFacts facts = frozen(
      Assembly{.decorations = "OpDecorate %n SpecId 0\nOpDecorate %size BuiltIn WorkgroupSize\n",
               .declarations = "%n = OpSpecConstant %uint 4\n"
                               "%v2 = OpTypeVector %uint 2\n%v3 = OpTypeVector %uint 3\n"
                               "%pair = OpSpecConstantComposite %v2 %n %uint_1\n"
                               "%sum = OpSpecConstantOp %v2 IAdd %pair %pair\n"
                               "%eight = OpSpecConstantOp %uint CompositeExtract %sum 0\n"
                               "%same = OpSpecConstantOp %v2 VectorShuffle %sum %pair 0 2\n"
                               "%four = OpSpecConstantOp %uint CompositeExtract %same 1\n"
                               "%size = OpSpecConstantComposite %v3 %eight %four %uint_1\n"
                               "%array = OpTypeArray %float %eight\n"
                               "%pointer = OpTypePointer Workgroup %array\n"
                               "%tile = OpVariable %pointer Workgroup\n"},
      {{0, 16}});
  EXPECT_THAT(facts.local_size, ElementsAre(32, 16, 1));
  EXPECT_EQ(facts.shared_bytes, 32u * 4);
}

Assembly dividing(const std::string& operations, const std::string& length) {
  return {.decorations = "OpDecorate %a SpecId 0\nOpDecorate %b SpecId 1\n",
          .declarations = "%a = OpSpecConstant %int 7\n%b = OpSpecConstant %int 2\n" + operations +
                          "%array = OpTypeArray %float " + length +
                          "\n%pointer = OpTypePointer Workgroup %array\n"
                          "%tile = OpVariable %pointer Workgroup\n"};
}

TEST(FreezeSpirv, DividesSignedNumbersAlsoByOnesItHasYetToFold) {
  const Spirv spirv = dividing(
      "%sum = OpSpecConstantOp %int IAdd %a %b\n"
      "%quotient = OpSpecConstantOp %int SDiv %sum %b\n"  // (a + b) / b
      "%twice = OpSpecConstantOp %int IAdd %quotient %quotient\n"
      "%rest = OpSpecConstantOp %int SMod %twice %a\n"  // 2 ((a + b) / b) mod a
      "%length = OpSpecConstantOp %int SRem %rest %a\n",
      "%length");
  EXPECT_EQ(frozen(spirv, {{0, 50}, {1, 3}}).shared_bytes, 34u * 4);
  EXPECT_EQ(frozen(spirv, {{0, 30}, {1, 2}}).shared_bytes, 2u * 4);
}

TEST(FreezeSpirv, RefusesDivisionsThatTrap) {
  const Spirv spirv = dividing("%length = OpSpecConstantOp %int SDiv %a %b\n", "%length");
  EXPECT_THAT(refusal(spirv, {{0, 0x80000000}, {1, 0xffffffff}}).what(), HasSubstr("overflows"));
  EXPECT_THAT(refusal(spirv, {{1, 0}}).what(), HasSubstr("divides by zero"));
  const Spirv vectors = dividing(
      "%v2 = OpTypeVector %int 2\n%left = OpSpecConstantComposite %v2 %a %a\n"
      "%right = OpSpecConstantComposite %v2 %b %b\n"
      "%both = OpSpecConstantOp %v2 SDiv %left %right\n"
      "%length = OpSpecConstantOp %int CompositeExtract %both 0\n",
      "%length");
  EXPECT_THAT(refusal(vectors, {{0, 0x80000000}, {1, 0xffffffff}}).what(),
              HasSubstr("signed vectors"));
}

TEST(FreezeSpirv, RefusesOperationsThatMakeNoSense) {
  const auto said = [](const std::string& operation) {
    return std::string(refusal(dividing("%v2 = OpTypeVector %int 2\n"
                                        "%pair = OpSpecConstantComposite %v2 %a %b\n" +
                                            operation + "\n",
                                        "%b"))
                           .what());
  };
  EXPECT_THAT(said("%x = OpSpecConstantOp %v2 VectorShuffle %pair %pair 0 18"), HasSubstr("valid"));
  EXPECT_THAT(said("%x = OpSpecConstantOp %v2 VectorShuffle %pair %pair 0 4294967295"),
              HasSubstr("undefined components"));
  EXPECT_THAT(said("%x = OpSpecConstantOp %int CompositeExtract %pair 7"), HasSubstr("valid"));
  EXPECT_THAT(said("%x = OpSpecConstantOp %v2 IAdd %pair %a"), HasSubstr("valid"));
}

TEST(FreezeSpirv, AnOperationLeftUnfoldedIsNoSize) {
  const std::string wide =
      "%long = OpTypeInt 64 0\n%long_5 = OpConstant %long 5\n"
      "%wide = OpSpecConstantOp %long UConvert %a\n"
      "%sum = OpSpecConstantOp %long IAdd %wide %long_5\n";
  Assembly assembly = dividing(wide, "%b");
  assembly.capabilities = "OpCapability Int64\n";
  EXPECT_EQ(frozen(assembly).shared_bytes, 8u) << "it may stand where no size depends on it";
  assembly = dividing(wide, "%sum");
  assembly.capabilities = "OpCapability Int64\n";
  const Spirv spirv = freeze_spirv(assembly, {}, "main");
  EXPECT_THROW(inspect_spirv(spirv), Error);
}

TEST(FreezeSpirv, WantsTheOneEntryPointThatIsAskedFor) {
  const Spirv one = compiled("layout(local_size_x = 1) in;\nvoid main() {}\n");
  EXPECT_THAT(refusal(one, {}, "other").what(), HasSubstr("no compute entry point named 'other'"));
  const Assembly two = {
      .entry_points =
          "OpEntryPoint GLCompute %main \"main\"\nOpEntryPoint GLCompute %second \"second\"\n",
      .modes = "OpExecutionMode %main LocalSize 1 1 1\nOpExecutionMode %second LocalSize 8 1 1\n",
      .functions =
          "%second = OpFunction %void None %function\n%second_start = OpLabel\nOpReturn\n"
          "OpFunctionEnd\n"};
  EXPECT_EQ(validate_spirv(two), "");
  EXPECT_THAT(refusal(two).what(), HasSubstr("has 2 entry points"));
}

TEST(FreezeSpirv, WithoutANameTakesTheOneEntryPointThereIs) {
  // As browsers make them of WGSL: a name of their own, bindings of a group that is not 0.
  const Assembly renamed = {
      .entry_points = "OpEntryPoint GLCompute %main \"dawn_entry_point_6d61696e\"\n",
      .decorations =
          "OpDecorate %block Block\nOpMemberDecorate %block 0 Offset 0\n"
          "OpDecorate %words ArrayStride 4\nOpDecorate %buffer DescriptorSet 1\n"
          "OpDecorate %buffer Binding 2\n",
      .declarations =
          "%words = OpTypeRuntimeArray %uint\n%block = OpTypeStruct %words\n"
          "%pointer = OpTypePointer StorageBuffer %block\n"
          "%buffer = OpVariable %pointer StorageBuffer\n"};
  EXPECT_EQ(inspect_spirv(freeze_spirv(renamed, {}, "")).entry, "dawn_entry_point_6d61696e");
  EXPECT_STREQ(refusal(renamed, {}, "relu").what(),
               "has no compute entry point named 'relu'; it has 'dawn_entry_point_6d61696e'");
}

TEST(FreezeSpirv, TakesNonSemanticInformationOut) {
  const Spirv spirv = compiled(
      "#extension GL_EXT_debug_printf : require\n"
      "layout(local_size_x = 1) in;\n"
      "layout(binding = 0) buffer A { float a[]; };\n"
      "void main() { debugPrintfEXT(\"%f\", a[0]); a[0] = 1.0; }\n");
  EXPECT_THAT(inspect_spirv(spirv).instruction_sets,
              ::testing::Contains("NonSemantic.DebugPrintf"));
  EXPECT_THAT(frozen(spirv).instruction_sets,
              ::testing::Not(::testing::Contains("NonSemantic.DebugPrintf")));
}

TEST(FreezeSpirv, RefusesWhatIsNotValid) {
  Spirv spirv = compiled("layout(local_size_x = 1) in;\nvoid main() {}\n");
  spirv.pop_back();  // OpFunctionEnd
  EXPECT_THAT(refusal(spirv).what(), HasSubstr("is not valid SPIR-V"));
  EXPECT_EQ(refusal({1, 2, 3}).code(), ErrorCode::kCompile);
}

}  // namespace
}  // namespace kbench::vulkan
