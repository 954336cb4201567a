#include "harness/measure/cuda/messages.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kbench::cuda {
namespace {

using ::testing::HasSubstr;
using ::testing::SizeIs;

TEST(NvrtcMessages, HaveFileLineAndWhatFollows) {
  const auto all = parse_nvrtc_log(
      "k.cu(3): error: identifier \"foo\" is undefined\n"
      "    foo();\n"
      "    ^\n"
      "\n"
      "inc/a.cuh(7): warning #177-D: variable \"x\" was declared but never referenced\n"
      "      int x;\n"
      "          ^\n"
      "\n"
      "Remark: The warnings can be suppressed with \"-diag-suppress <warning-number>\"\n"
      "\n"
      "1 error detected in the compilation of \"k.cu\".\n",
      "k.cu", 1);
  ASSERT_THAT(all, SizeIs(2));
  EXPECT_EQ(all[0].severity, "error");
  EXPECT_EQ(all[0].file, "k.cu");
  EXPECT_EQ(all[0].line, 3);
  EXPECT_EQ(all[0].message, "identifier \"foo\" is undefined foo();");
  EXPECT_EQ(all[1].severity, "warning");
  EXPECT_EQ(all[1].file, "inc/a.cuh");
  EXPECT_EQ(all[1].line, 7);
}

TEST(NvrtcMessages, CountLinesOfInlineSourceFromItsFirst) {
  const auto all = parse_nvrtc_log(
      "c.yaml(2): catastrophic error: cannot open source file \"x.h\"\n"
      "other.h(2): error: expected a \";\"\n",
      "c.yaml", 11);
  ASSERT_THAT(all, SizeIs(2));
  EXPECT_EQ(all[0].severity, "error");
  EXPECT_EQ(all[0].line, 12);
  EXPECT_EQ(all[1].line, 2);
}

TEST(NvrtcMessages, OfNoKnownFormAreOneError) {
  const auto all =
      parse_nvrtc_log("nvrtc: error: invalid value for --gpu-architecture\n", "k.cu", 1);
  ASSERT_THAT(all, SizeIs(1));
  EXPECT_EQ(all[0].severity, "error");
  EXPECT_THAT(all[0].message, HasSubstr("invalid value"));
}

TEST(NvrtcMessages, OfItsAssemblerHaveNoLine) {
  const auto all =
      parse_nvrtc_log("ptxas application ptx input, line 52; error   : No such place\n", "k.cu", 1);
  ASSERT_THAT(all, SizeIs(1));
  EXPECT_EQ(all[0].line, 0);
  EXPECT_EQ(all[0].message, "No such place");
}

TEST(PtxasMessages, HaveLineAndLeaveOutWhatSaysNothing) {
  const auto all = parse_ptxas_log(
      "ptxas application ptx input, line 122; error   : Unknown symbol 'foo'\n"
      "ptxas fatal   : Ptx assembly aborted due to errors\n"
      "ERROR NVJITLINK_ERROR_PTX_COMPILE: JIT the PTX (k.ptx)\n",
      "k.ptx", 5);
  ASSERT_THAT(all, SizeIs(1));
  EXPECT_EQ(all[0].file, "k.ptx");
  EXPECT_EQ(all[0].line, 126);
  EXPECT_EQ(all[0].message, "Unknown symbol 'foo'");
}

}  // namespace
}  // namespace kbench::cuda
