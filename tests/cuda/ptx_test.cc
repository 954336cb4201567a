#include "harness/measure/cuda/ptx.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "harness/measure/cuda/ptx_rules.h"
#include "kbench/error.h"
#include "tests/error_of.h"

namespace kbench::cuda {
namespace {

using ::testing::ElementsAre;
using ::testing::SizeIs;

constexpr const char* kText = R"(//
.version 8.0
.target sm_90a, debug
.address_size 64
.global .align 4 .b8 table[8] = {1, 2, 3, 4,
   5, 6, 7, 8};
.extern .shared .align 16 .b8 dynamic[];
.shared .align 8 .b8 both[24];
.func (.param .b32 out) helper(.param .b64 p)
{
  .shared .f32 mine[5];
  ret;
}
.visible .entry k(
  .param .u64 .ptr .global .align 16 x,
  .param .align 8 .b8 pair[24],
  .param .u8 flag /* a comment; with { */
)
.maxntid 16, 8, 1
.minnctapersm 2
{
  .reg .pred %p<2>;
  .shared .align 4 .b8 own[132];
  .loc 1 4 0
$L:
  @!%p1 bra $L;
  { mov.b64 {%r1, %r2}, %rd1; }
  ret;
}
.entry fixed() .reqntid 32 { exit; }
)";

TEST(Ptx, TellsEntriesWithTheirParametersAndLimits) {
  const PtxModule module = parse_ptx(kText);
  EXPECT_EQ(module.target, "sm_90a");
  ASSERT_THAT(module.functions, SizeIs(3));
  EXPECT_FALSE(module.functions[0].entry);
  const PtxFunction* k = module.find_entry("k");
  ASSERT_NE(k, nullptr);
  ASSERT_THAT(k->parameters, SizeIs(3));
  EXPECT_EQ(k->parameters[0].name, "x");
  EXPECT_EQ(k->parameters[0].size, 8u);
  EXPECT_EQ(k->parameters[0].alignment, 8u);
  EXPECT_EQ(k->parameters[1].size, 24u);
  EXPECT_EQ(k->parameters[1].alignment, 8u);
  EXPECT_EQ(k->parameters[2].size, 1u);
  EXPECT_EQ(k->max_threads, 128u);
  EXPECT_TRUE(k->required_block.empty());
  EXPECT_THAT(module.find_entry("fixed")->required_block, ElementsAre(32u));
  EXPECT_EQ(module.find_entry("helper"), nullptr);
}

TEST(Ptx, CountsSharedMemoryOfKernelModuleAndFunctions) {
  const PtxModule module = parse_ptx(kText);
  EXPECT_EQ(static_shared_bytes(module, *module.find_entry("k")), 132u + 24 + 20);
  EXPECT_EQ(static_shared_bytes(module, *module.find_entry("fixed")), 24u + 20);
}

TEST(Ptx, TellsInstructionsBehindTheirGuards) {
  const PtxModule module = parse_ptx(kText);
  std::vector<std::string> opcodes;
  for (const PtxStatement& statement : module.statements) {
    if (statement.kind != PtxStatement::Kind::instruction) continue;
    opcodes.emplace_back(statement.tokens[statement.opcode].text);
  }
  EXPECT_THAT(opcodes, ElementsAre("ret", "bra", "mov.b64", "ret", "exit"));
}

TEST(Ptx, SizesThatNoMemoryHasStayLarge) {
  const PtxModule module = parse_ptx(
      ".entry k() { .shared .b64 a[0x2000000000000000]; .shared .b8 b[18446744073709551615]; }");
  EXPECT_GE(static_shared_bytes(module, *module.find_entry("k")), uint64_t{1} << 40);
}

TEST(Ptx, ThatIsNoneNamesItsLine) {
  const std::pair<const char*, int> kBad[] = {{"\n#include \"/etc/passwd\"\n", 2},
                                              {".entry k() {\n ret;\n", 2},
                                              {"}\n", 1},
                                              {".entry k() { mov.u32 %r1, 5\n", 1},
                                              {"/* no end", 1},
                                              {"\n\n\x01", 3},
                                              {".pragma \"no\nend\";", 1},
                                              {".shared .align;", 1},
                                              {".entry k(.param .u32 a", 1}};
  for (const auto& [text, line] : kBad) {
    const Error e = error_of([&] { parse_ptx(text); });
    EXPECT_EQ(e.code(), ErrorCode::kParse);
    EXPECT_EQ(e.location().line, line) << text << ": " << e.message();
  }
}

TEST(Ptx, TypesHaveBytes) {
  EXPECT_EQ(ptx_type_bytes(".f32"), 4u);
  EXPECT_EQ(ptx_type_bytes(".b128"), 16u);
  EXPECT_EQ(ptx_type_bytes(".u8"), 1u);
  EXPECT_EQ(ptx_type_bytes(".bf16x2"), 4u);
  EXPECT_EQ(ptx_type_bytes(".x32"), 0u);
  EXPECT_EQ(ptx_type_bytes(".u33"), 0u);
  EXPECT_EQ(ptx_type_bytes(".shared"), 0u);
}

}  // namespace
}  // namespace kbench::cuda
