#include "harness/measure/cuda/ptx_rules.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "harness/measure/cuda/ptx_state.h"
#include "tests/cuda/ptx_kernel.h"

namespace kbench::cuda {

namespace {

using ::testing::HasSubstr;

TEST(PtxRules, LetOrdinaryKernelsPass) {
  for (const char* body :
       {"mov.u32 %r1, %tid.x;",
        "mov.u32 %r1, %ctaid.y;",
        "@%p1 bra L;\nL: add.s32 %r1, %r2, -1;",
        "ld.global.nc.v4.f32 {%f1, %f2, %f3, %f4}, [%rd1+16];",
        "bar.sync 0;",
        "barrier.sync 1, 64;",
        "shfl.sync.bfly.b32 %r1|%p1, %r2, 1, 31, -1;",
        "atom.global.add.f32 %f1, [%rd2], %f2;",
        "red.relaxed.gpu.global.add.f32 [%rd2], %f1;",
        "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%f1,%f2,%f3,%f4}, {%r1,%r2,%r3,%r4}, "
        "{%r5,%r6}, {%f1,%f2,%f3,%f4};",
        "cp.async.cg.shared.global [%r1], [%rd1], 16;",
        "cp.async.commit_group;",
        "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r1], [%rd1], 16, "
        "[%r2];",
        "mbarrier.init.shared::cta.b64 [%r1], 1;",
        "fence.proxy.async;",
        "membar.gl;",
        "wgmma.fence.sync.aligned;",
        "mov.u64 %SP, 0;",
        "setp.lt.u32 %p1, %r1, 0x10;",
        ".pragma \"nounroll\";",
        "ld.volatile.global.f32 %f1, [%rd1];",
        "st.shared.f32 [64], %f1;",
        "createpolicy.fractional.L2::evict_last.b64 %rd3, 1.0;",
        "nanosleep.u32 20;"}) {
    expect_passes(body);
  }
}

struct Refused {
  const char* body;
  bool unsupported;
  const char* message;
};

TEST(PtxRules, RefuseWhatKernelsMayNotByItsName) {
  const Refused kRefused[] = {
      {"mov.u32 %r1, %clock;", false, "clock"},
      {"mov.u64 %rd3, %clock64;", false, "clock"},
      {"mov.u32 %r1, %clock_hi;", false, "clock"},
      {"mov.u64 %rd3, %globaltimer;", false, "clock"},
      {"mov.u32 %r1, %globaltimer_lo;", false, "clock"},
      {"mov.u32 %r1, %pm3;", false, "performance monitor"},
      {"mov.u64 %rd3, %pm0_64;", false, "performance monitor"},
      {"mov.u64 %rd3, %gridid;", false, "counts launches"},
      {"mov.u32 %r1, %envreg3;", false, "%envreg"},
      {"mov.u32 %r1, %new_register;", true, "%new_register"},
      {"@%clock bra L;\nL:", false, "clock"},
      {"{ .reg .b32 %clock; mov.u32 %r1, %clock; }", false, "special"},
      {".reg .b32 %clock<65>;", false, "special"},
      {".reg .b32 %cluster_ctarank<4>;", false, "special"},
      {".reg .b32 %envreg1;", false, "special"},
      {"clusterlaunchcontrol.try_cancel.async.shared::cta.b128 [%r1], [%r2];", true,
       "clusterlaunchcontrol"},
      {"cp.async.bulk.tensor.1d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%r1], "
       "[%rd1, {%r2}], [%r3];",
       true, "tensor map"},
      {"fence.acq_rel.cluster;", false, nullptr},  // orders, and reaches nobody
      {"tex.2d.v4.f32.s32 {%f1,%f2,%f3,%f4}, [%rd1, {%r1,%r2}];", true, "texture"},
      {"sust.b.1d.b32.trap [%rd1, {%r1}], {%r2};", true, "surface"},
      {"multimem.red.add.u32 [%rd1], %r1;", true, "multimem"},
      {"griddepcontrol.wait;", true, "griddepcontrol"},
      {"pmevent 1;", true, "pmevent"},
      {"brkpt;", true, "brkpt"},
      {"alloca.u64 %rd3, 64;", true, "alloca"},
      {"frobnicate.u32 %r1;", true, "frobnicate"},
      {"atom.sys.global.add.u32 %r1, [%rd1], 1;", false, "system scope"},
      {"red.release.sys.global.add.u32 [%rd1], 1;", false, "system scope"},
      {"membar.sys;", false, "system scope"},
      {"fence.sc.sys;", false, "system scope"},
      {"ld.mmio.relaxed.sys.global.u32 %r1, [%rd1];", false, "system scope"},
      {"ld.global.u32 %r1, [4096];", false, "number"},
      {"st.u32 [0x7f0000000000], %r1;", false, "number"},
      {"call (%r1), vprintf, (%rd1, %rd2);", true, "vprintf"},
      {"call %rd1, (%r1), P;", true, "%rd1"},
      {"call.uni malloc, (%rd1);", true, "malloc"},
      {".pragma \"enable_smem_spilling\";", true, ".pragma"},
      {".tex .u64 t;", true, ".tex"},
  };
  for (const Refused& each : kRefused) {
    const auto violation = check(kernel(each.body));
    if (!each.message) {
      EXPECT_FALSE(violation && !violation->unsupported) << each.body;
      continue;
    }
    ASSERT_TRUE(violation) << each.body;
    EXPECT_THAT(violation->message, HasSubstr(each.message)) << each.body;
    EXPECT_EQ(violation->unsupported, each.unsupported) << each.body << ": " << violation->message;
    EXPECT_GE(violation->line, 6) << each.body;
  }
}

TEST(PtxRules, RefuseDeclarations) {
  const Refused kRefused[] = {
      {".extern .func vprintf(.param .b64 a);", true, "printf"},
      {".extern .func (.param .b64 r) malloc(.param .b64 a);", true, "malloc"},
      {".extern .func __assertfail(.param .b64 a);", true, "assert"},
      {".extern .func (.param .b32 r) cudaLaunchDevice(.param .b64 a);", true, "cudaLaunchDevice"},
      {".alias f, g;", true, ".alias"},
      {".global .attribute(.managed) .align 4 .u32 m;", true, ".attribute"},
      {".global .texref t;", true, "texture"},
      {".section .nv.info { .b32 1 }", true, "section"},
      {".func f() .somethingcluster { ret; }", true, "cluster"},
  };
  for (const Refused& each : kRefused) {
    const auto violation = check(kernel("", each.body));
    ASSERT_TRUE(violation) << each.body;
    EXPECT_THAT(violation->message, HasSubstr(each.message)) << each.body;
    EXPECT_EQ(violation->unsupported, each.unsupported) << each.body;
  }
}

TEST(PtxRules, LetClustersAndTrapsPassAndNoBarrierOfAGrid) {
  for (const char* body :
       {"mov.u32 %r1, %cluster_ctarank;", "mov.u32 %r1, %nclusterid.x;", "barrier.cluster.arrive;",
        "mapa.u64 %rd3, %rd1, 0;", "ld.shared::cluster.u32 %r1, [%r2];",
        "st.async.weak.shared::cluster.u32 [%r1], %r2, [%r3];",
        "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster "
        "[%r1], [%rd1], 16, [%r2], %r3;",
        "@%p1 bra L;\ntrap;\nL:"}) {
    expect_passes(body);
  }
  for (const char* header :
       {".reqnctapercluster 2, 1, 1", ".explicitcluster", ".maxclusterrank 8"}) {
    EXPECT_FALSE(check(std::string(".entry k() ") + header + " { ret; }")) << header;
  }
  expect_refused("mov.u32 %r1, %envreg2;", "(%envreg), as the barrier of a grid does");
}

TEST(PtxRules, ReadTheClusterThatAKernelRequires) {
  const PtxModule module = parse_ptx(
      ".entry k() .reqnctapercluster 2, 1, 1 .maxntid 64, 2 { ret; }\n"
      ".entry plain() { ret; }");
  EXPECT_THAT(module.find_entry("k")->required_cluster, ::testing::ElementsAre(2, 1, 1));
  EXPECT_EQ(module.find_entry("k")->max_threads, 128u);
  EXPECT_TRUE(module.find_entry("k")->required_block.empty());
  EXPECT_TRUE(module.find_entry("plain")->required_cluster.empty());
}

TEST(PtxRules, LetDebugSectionsAndOwnFunctionsPass) {
  EXPECT_FALSE(check(kernel("call.uni helper, (%rd1);",
                            ".func helper(.param .b64 a);\n.func helper(.param .b64 a) { ret; }\n"
                            ".section .debug_info { .b32 1 }\n.file 1 \"k.cu\"")));
}

TEST(PtxState, IsNotWrittenByAnyWay) {
  const std::string variable = ".global .align 4 .u32 kept;\n.global .align 8 .b8 more[64];";
  for (const char* body :
       {"st.global.u32 [kept], 1;", "st.global.u32 [more+8], 1;",
        "mov.u64 %rd3, kept;\natom.global.add.u32 %r1, [%rd3], 1;",
        "mov.u64 %rd3, more;\nadd.s64 %rd4, %rd3, 8;\ncvta.global.u64 %rd5, %rd4;\nst.u32 [%rd5], "
        "1;",
        "mov.u64 %rd3, kept;\nselp.b64 %rd4, %rd2, %rd3, %p1;\nst.global.u32 [%rd4], 1;",
        // Its address first reaches the store on the way back.
        "L: st.global.u32 [%rd5], 1;\nmov.u64 %rd4, kept;\nmov.u64 %rd5, %rd4;\n@%p1 bra L;",
        "mov.u64 %rd3, kept;\nst.global.u64 [%rd2], %rd3;",
        "mov.u64 %rd3, kept;\nst.param.b64 [p], %rd3;",
        "mov.u64 %rd3, kept;\nmov.b64 {%r1, %r2}, %rd3;\nmov.b64 %rd4, {%r1, %r2};\n"
        "st.global.u32 [%rd4], 1;",
        "red.global.add.u32 [kept], 1;",
        "cp.async.bulk.global.shared::cta.bulk_group [kept], [%r1], 16;",
        "prefetch.global.L2 [kept];\nmov.u64 %rd3, kept;\nshfl.sync.idx.b32 %r1|%p1, %rd3, 0, 31, "
        "-1;\n"
        "st.global.u32 [%r1], 1;"}) {
    expect_refused(body, "__device__ variable", variable);
  }
}

TEST(PtxState, IsNotReachedByAnAddressPutTogetherAgain) {
  const std::string variables = ".global .align 8 .u64 kept;\n.const .align 8 .u64 table = 5;";
  for (const char* body :
       {// bit by bit, by guards, branches, choices
        "mov.u64 %rd3, kept;\nand.b64 %rd4, %rd3, 1;\nsetp.eq.u64 %p1, %rd4, 1;\n"
        "@%p1 or.b64 %rd5, %rd5, 1;\nst.global.u32 [%rd5], 1;",
        "mov.u64 %rd3, kept;\nsetp.lt.u64 %p1, %rd3, %rd1;\n@%p1 bra L;\nL: ret;",
        "mov.u64 %rd3, kept;\nsetp.eq.u64 %p1, %rd3, %rd1;\nselp.b64 %rd4, 1, 0, %p1;",
        // in parts, shifted out, added to itself, as an index of a load
        "mov.u64 %rd3, kept;\ncvt.u32.u64 %r1, %rd3;\nst.global.u32 [%rd1], %r1;",
        "mov.u64 %rd3, kept;\nshl.b64 %rd4, %rd3, 32;\nadd.s64 %rd4, %rd4, %rd1;\n"
        "ld.global.u8 %r1, [%rd4];",
        "mov.u64 %rd3, kept;\nadd.s64 %rd3, %rd3, %rd3;",
        "mov.u64 %rd3, kept;\nsub.s64 %rd4, %rd1, %rd3;\nld.global.u8 %r1, [%rd4];",
        "mov.u64 %rd3, kept;\nadd.s64 %rd4, %rd1, -%rd3;",
        "mov.u64 %rd3, kept;\nmad.lo.s64 %rd4, %rd3, 2, %rd1;",
        "mov.u64 %rd3, kept;\nor.b64 %rd4, %rd3, -2;\nld.global.u8 %r1, [%rd4];",
        // through a load's width, shared memory, a copy, a call, a policy
        "mov.u64 %rd3, kept;\nst.shared.u64 [64], %rd3;",
        "cp.async.ca.shared.global [%r1], [kept], 16;",
        "mov.u64 %rd3, kept;\nld.global.L2::cache_hint.u32 %r1, [%rd1], %rd3;",
        "mov.u64 %rd3, kept;\nisspacep.global %p1, %rd3;",
        // a constant is written through its generic address
        "mov.u64 %rd3, table;\ncvta.const.u64 %rd4, %rd3;\nst.u64 [%rd4], %rd1;",
        "cvta.const.u64 %rd4, table;\natom.add.u64 %rd5, [%rd4], 1;",
        // of a variable of the function's own
        "{ .global .u32 own;\nmov.u64 %rd3, own;\natom.global.add.u32 %r1, [%rd3], 1; }",
        "mov.u64 %rd3, kept;\nnanosleep.u32 %rd3;",
        // by a register that has the name of another in another block
        "{ .reg .b64 a; mov.u64 a, kept; { st.global.u32 [a], 1; } }"}) {
    expect_refused(body, "__device__ variable", variables);
  }
}

TEST(PtxState, IsInNoInitialValue) {
  for (const char* variables :
       {".global .u64 kept;\n.global .u64 to = kept;", ".const .u64 to[2] = {0, generic(kept)};",
        ".global .u8 to[1] = {0xff(kept)};", ".global .u64 to = k;",
        ".global .u64 to = {kept + 8};"}) {
    expect_refused("ld.global.u64 %rd3, [to];", "the address of", variables);
  }
  const auto elsewhere = check(kernel("", ".extern .global .u32 theirs;"));
  ASSERT_TRUE(elsewhere);
  EXPECT_TRUE(elsewhere->unsupported);
}

TEST(PtxRules, GiveNoAddressOfFunctionsAndParameters) {
  for (const char* body :
       {"mov.u64 %rd3, f;", "mov.u64 %rd3, k;", "st.global.u64 [%rd1], f;",
        "ld.global.u64 %rd3, [f];", "mov.b64 %rd3, x;", "cvta.param.u64 %rd3, x;",
        "ld.param.u64 %rd3, [x+8];", "ld.param.u64 %rd3, [x+-8];",
        "ld.param.v2.u64 {%rd3, %rd4}, [x];", "ld.param.u64 %rd3, [%rd1];",
        "ld.param.u64 %rd3, [16];", "ld.param::entry.u32 %r1, [x+6];",
        "{ .reg .b64 f; call f, (%rd1); }", "L: mov.u64 %rd3, L;", "mov.u64 %rd3, nothing;",
        "{ .reg .b64 inner; }\nmov.u64 %rd3, inner;"}) {
    EXPECT_TRUE(check(kernel(body, ".func f() { ret; }"))) << body;
  }
  for (const char* body : {"ld.param.u32 %r1, [x+4];", "ld.param.v2.u32 {%r1, %r2}, [x];",
                           "mov.u32 %r1, WARP_SZ;", "elect.sync _|%p1, -1;",
                           "{ .param .b64 p;\nst.param.b64 [p+0], %rd1;\ncall.uni g, (p); }"}) {
    expect_passes(body, ".func g(.param .b64 a) { .reg .b64 %a; ld.param.b64 %a, [a]; ret; }");
  }
}

TEST(PtxRules, FindSpecialRegistersInEveryScope) {
  for (const char* body :
       {"{ .reg .b64 %clock_; }\nmov.u64 %rd3, %clock64;",
        "{ .reg .b32 %unknown; mov.u32 %unknown, 1; }\nmov.u32 %r1, %unknown;",
        "mov.u32 %r1, %late;\n.reg .b32 %late;", "mov.u32 %r1, %r9;", "mov.u32 %r1, %r01;",
        "mov.u32 %r1, %tid .x;\nmov.u64 %rd3, %globaltimer\n;", "{ .reg .b32 %envreg<33>; }",
        "{ .reg .b32 %tid; }"}) {
    EXPECT_TRUE(check(kernel(body))) << body;
  }
  EXPECT_FALSE(check(kernel("{ .reg .f32 %pmax, %clocks; mov.f32 %pmax, %clocks; }")));
}

TEST(PtxRules, FindModifiersThatStandApart) {
  for (const char* body :
       {"membar .sys;", "fence.sc .sys;", "atom.global .sys.add.u32 %r1, [%rd1], 1;",
        "ld .mmio.relaxed .sys.global.u32 %r1, [%rd1];"}) {
    expect_refused(body, "system scope");
  }
}

TEST(PtxRules, FindAddressesThatAreMadeOfNumbers) {
  const std::string table = ".const .u64 where = 140000000000000;";
  for (const char* body :
       {"mov.u64 %rd3, 140000000000000;\nst.global.u32 [%rd3], 1;",
        "mov.u32 %r1, 5;\nmov.b64 %rd3, {%r1, %r2};\nst.u32 [%rd3], 1;",
        "mov.u32 %r1, %tid.x;\nmul.wide.u32 %rd3, %r1, 4;\nadd.s64 %rd4, %rd3, "
        "140000000000000;\nld.global.u32 %r2, [%rd4];",
        "ld.const.u64 %rd3, [where];\nst.global.u32 [%rd3], 1;",
        "cp.async.ca.shared.global [%r1], [%rd3], 16;", "atom.global.add.u32 %r1, [%rd3], 1;"}) {
    expect_refused(body, "numbers", table);
  }
  for (const char* body :
       {"ld.global.u64 %rd3, [%rd1];\nst.global.u32 [%rd3], 1;",
        "add.s64 %rd3, %rd1, 4096;\nst.global.u32 [%rd3], 1;",
        "mov.u64 %rd3, s;\ncvta.shared.u64 %rd3, %rd3;\nst.u32 [%rd3], 1;",
        "st.shared.u32 [%r1], 1;", "ld.global.u32 %r1, [%rd4];\nmov.u64 %rd4, %rd2;"}) {
    expect_passes(body, ".shared .b32 s[4];");
  }
}

TEST(PtxState, ThatIsOnlyReadIsATable) {
  const std::string variable = ".global .align 4 .b8 table[8] = {1, 2, 3, 4, 5, 6, 7, 8};";
  for (const char* body :
       {"ld.global.u32 %r1, [table+4];",
        "mov.u64 %rd3, table;\nadd.s64 %rd4, %rd3, 4;\nld.global.nc.u32 %r1, [%rd4];\n"
        "st.global.u32 [%rd2], %r1;",
        "mov.u64 %rd3, table+4;\nL: ld.global.u32 %r1, [%rd3+-4];\nadd.s64 %rd3, %rd3, 4;\n"
        "@%p1 bra L;",
        "cvta.global.u64 %rd3, table;\nmad.wide.u32 %rd3, %r2, 4, %rd3;\n"
        "selp.b64 %rd4, %rd3, %rd1, %p1;\nld.v2.u32 {%r1, %r2}, [%rd4];",
        "st.global.u32 [%rd2], %r1;"}) {
    expect_passes(body, variable);
  }
}

TEST(PtxRules, TellWhoComputesInFloat16) {
  EXPECT_TRUE(uses_float16(parse_ptx(kernel("fma.rn.f16x2 %r1, %r2, %r3, %r4;"))));
  EXPECT_TRUE(uses_float16(parse_ptx(
      kernel("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%f1}, {%r1}, {%r2}, {%f2};"))));
  EXPECT_FALSE(uses_float16(parse_ptx(kernel("cvt.f32.f16 %f1, %r1;\nadd.f32 %f1, %f1, %f2;"))));
}

std::string found_in(const std::string& instructions) {
  const std::string text = ".version 8.0\n.target sm_90\n.address_size 64\n.entry k()\n{\n" +
                           instructions + "  ret;\n}\n";
  return approximate_functions(parse_ptx(text));
}

TEST(PtxApproximate, NamesEachFunctionOnce) {
  EXPECT_EQ(found_in("  tanh.approx.f32 %f1, %f2;\n  tanh.approx.f32 %f3, %f1;\n"
                     "  @%p1 sin.approx.ftz.f32 %f4, %f3;\n  div.full.f32 %f5, %f4, %f1;\n"),
            "tanh.approx.f32, sin.approx.ftz.f32, div.full.f32");
}

TEST(PtxApproximate, WhatAccurateFunctionsAreMadeOfIsNotOne) {
  const std::string expf =
      "  fma.rn.f32 %f1, %f2, %f3, %f4;\n  ex2.approx.ftz.f32 %f5, %f1;\n"
      "  rsqrt.approx.f32 %f6, %f5;\n  rcp.rn.f32 %f7, %f6;\n";
  EXPECT_EQ(found_in(expf), "");
  EXPECT_EQ(found_in(expf + "  mul.ftz.f32 %f8, %f7, %f6;\n"),
            "ex2.approx.ftz.f32, rsqrt.approx.f32")
      << "--use_fast_math flushes small numbers everywhere";
}

}  // namespace

}  // namespace kbench::cuda
