// What is assembled is printed from what was checked.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "harness/measure/cuda/ptx.h"
#include "kbench/error.h"
#include "tests/cuda/compilers.h"
#include "tests/cuda/ptx_kernel.h"

namespace kbench::cuda {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

std::string printed(const std::string& text) { return print_ptx(parse_ptx(text)); }

TEST(PtxPrint, GivesEachStatementOnItsLine) {
  EXPECT_EQ(printed(".version 8.0\n.target sm_90a, debug\n.address_size 64\n"
                    ".file 1 \"k.cu\", 5, 6\n"
                    ".visible .entry k(\n  .param .u64 x\n) .maxntid 32, 1\n{ // a comment\n"
                    ".reg .b64 %rd<2>; .loc 1 4 0, function_name $L__info, inlined_at 1 2 3\n"
                    "$L: @!%p1 bra $L;\n}\n.section .debug_info { .b8 1, 2 }\n"),
            ".version 8.0 .target sm_90a .address_size 64\n\n\n\n"
            ".visible .entry k (\n.param .u64 x\n) .maxntid 32 , 1 {\n\n"
            ".reg .b64 %_rd < 2 >;\n$L: @ ! %_p1 bra $L;\n}\n");
}

TEST(PtxPrint, LeavesNoNameOfASpecialRegisterButThoseOnTheList) {
  const std::string text =
      printed(kernel("mov.u32 %r1, %tid.x; mov.u64 %rd3, %clock64; { .reg .b64 %new<4>, own; "
                     "mov.u64 own, %new2; }"));
  EXPECT_THAT(text, HasSubstr("mov.u32 %_r1 , %tid.x;"));
  EXPECT_THAT(text, HasSubstr("mov.u64 %_rd3 , %_clock64;"));
  EXPECT_THAT(text, HasSubstr("mov.u64 %$own , %_new2;"));
  EXPECT_EQ(with_own_names("Unknown symbol '%_r9' near '%$own'"),
            "Unknown symbol '%r9' near 'own'");
}

TEST(PtxPrint, JoinsModifiersThatStandApart) {
  EXPECT_THAT(printed(kernel("mov .u32 %r1, %tid\n.x;")), HasSubstr("mov.u32 %_r1 , %tid.x;"));
  EXPECT_THAT(printed(kernel("{.reg.b32 a, b;.reg .b16 c;mov.b32 a,0x80000000U;}")),
              HasSubstr("{ .reg .b32 %$a , %$b; .reg .b16 %$c; mov.b32 %$a , 0x80000000U; }"));
}

TEST(PtxPrint, HoldsAnIndexedBranchToItsTargets) {
  const std::string text =
      kernel("T: .branchtargets A, B, C;\n@%p1 brx.idx %r1, T;\nA: ret;\nB: ret;\nC: ret;");
  EXPECT_FALSE(check(text));
  EXPECT_THAT(printed(text), HasSubstr("{ .reg .u32 %kb_index; min.u32 %kb_index, %_r1, 2; @ %_p1 "
                                       "brx.idx %kb_index , T; }"));
  EXPECT_TRUE(check(kernel("T: .branchtargets A;\nbrx.idx %r1, A;\nA: ret;")));
}

/// What the assembler takes for another instruction than a reader of lines does.
TEST(PtxPrint, ShowsWhatStandsBehindALineDirective) {
  for (const char* directive : {".loc 1 1 1 ", ".file 1 \"a\" ", ".file 1 \"a\", 1, 2 ",
                                ".loc 1 1 1, function_name F, inlined_at 1 1 1 "}) {
    for (const char* hidden :
         {"mov.u64 %rd3, %clock64;", "mov.u64 %rd3, %globaltimer;", "mov.u64 %rd3, %gridid;",
          "mov.u32 %r1, %pm0;", "membar.sys;", "brkpt;", "fence.sc.sys;",
          "call (%r1), vprintf, (%rd1, %rd2);", "{ .reg .b64 %clock64; }"}) {
      EXPECT_TRUE(check(kernel(std::string(directive) + hidden))) << directive << hidden;
    }
  }
  EXPECT_FALSE(check_ptx(parse_ptx(kernel(".loc 1 1 1 trap;"))));
}

TEST(PtxPrint, RefusesDirectivesWithAWordTooMany) {
  for (const char* line :
       {".version 8.0 8.1", ".version 8.0\n.version 8.1", ".target sm_90 sm_80",
        ".target sm_90, map_f64_to_f32", ".address_size 32", ".address_size 64 64", ".file 1 k",
        ".file 1 \"k\", x", ".loc 1 1", ".loc 1 1 1 1", ".loc 1 1 1, function_name F",
        ".global .u32 x y;", ".global .u32 x = 1 y;", ".global .u32;", ".const .f32 a[4 = {1};",
        ".func f() .maxntid;", ".func f() ret;", ".pragma \"nounroll\" x;",
        ".weak mov.u32 a, b;"}) {
    const std::string text = std::string(line) + "\n";
    try {
      EXPECT_TRUE(check(text)) << line;
    } catch (const Error& e) {
      EXPECT_EQ(e.code(), ErrorCode::kParse) << line;
    }
  }
}

TEST(PtxPrint, RefusesInstructionsWithAWordTooMany) {
  for (const char* body :
       {"mov.u32 %r1, 5 %r2;", "mov.u32 %r1 .u64, 5;", "ld.global.u32 %r1, [%rd1] [%rd2];",
        "mov.u32 %r1.foo, 5;", "mov.u32 %r1.x.y, 5;", "add.u32 %r1, (1 + 2), 3;", "mov.u32 , 5;",
        "mov.u32 %r1, 5mov;", "mov.u32 %r1, 0f12;", "ld.const [3].u32 %r1, [0];", "@%p1;",
        "5 mov.u32;", "ld.global.u32 %r1, [%rd1+%rd2];", "ld.global.u32 %r1, [%rd1-8];",
        "call (%r1, vprintf;", ".loc 1 1 1 mov.u32 %r1, 5 6;"}) {
    EXPECT_THROW(parse_ptx(kernel(body)), Error) << body;
  }
}

TEST(PtxPrint, IsAssembledAsTheTextItCameFrom) {
  const RealCompilers real = real_compilers();
  if (!real.assembler) GTEST_SKIP() << real.missing;
  for (const char* body :
       {".loc 1 1 1\nst.global.u32 [%rd1], 1;",
        "{.reg.b32 a, b; mov.b32 a, 0x80000000U; mov .u32 b, %tid .x; st.global.v2.u32 [%rd1+8], "
        "{a,b};}",
        "T: .branchtargets A, B;\nmov.u32 %r1, %tid.x;\nbrx.idx %r1, T;\nA: st.global.u32 [%rd1], "
        "1;\nB: st.global.u32 [%rd2], 2;",
        "{ .reg .b32 t<3>; mov.u32 t0, 1; { .reg .b32 t0; mov.u32 t0, 2; st.global.u32 [%rd1], t0; "
        "} st.global.u32 [%rd2], t0; }",
        "ld.const.f32 %r1, [table+4];\nst.global.u32 [%rd1], %r1;"}) {
    const std::string text = kernel(body, ".const .f32 table[2] = {0f3F800000, -1.5e-3};\n");
    const AssembleOutcome made = real.assembler->assemble(printed(text), {9, 0}, "k.ptx", 1);
    EXPECT_TRUE(made.ok()) << body << ": "
                           << (made.diagnostics.empty() ? "" : made.diagnostics[0].message);
  }
}

TEST(PtxPrint, IsReadAgainAsItWasChecked) {
  const std::string once = printed(kernel("mov .u32 %r1, %tid.x;\n@%p1 bra L;\nL: exit;"));
  const PtxModule again = parse_ptx(once);
  EXPECT_FALSE(check_ptx(again));
  EXPECT_EQ(again.version, "8.0");
  EXPECT_EQ(again.target, "sm_90a");
}

}  // namespace
}  // namespace kbench::cuda
