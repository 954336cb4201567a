#include <gtest/gtest.h>

#include "harness/measure/cuda/ptx_rules.h"

namespace kbench::cuda {
namespace {

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
