#include "harness/measure/cuda/assembler.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "harness/measure/cuda/ptx.h"
#include "harness/measure/cuda/ptx_rules.h"
#include "kbench/error.h"
#include "tests/cuda/compilers.h"
#include "tests/error_of.h"

namespace kbench::cuda {
namespace {

using ::testing::HasSubstr;
using ::testing::SizeIs;

TEST(Assembler, ThatIsMissingIsSaidWithWhereItWasLookedFor) {
  const Error e = error_of([&] {
    const Assembler assembler({.nvrtc = "", .nvjitlink = "/nowhere/libnvJitLink.so", .include = {}},
                              {});
  });
  EXPECT_EQ(e.code(), ErrorCode::kUnsupported);
  EXPECT_THAT(e.message(), HasSubstr("libnvJitLink.so"));
}

TEST(Assembler, ThatIsSomeOtherLibraryIsRefused) {
  EXPECT_THROW(Assembler({.nvrtc = "", .nvjitlink = FAKE_NVRTC, .include = {}}, {}), Error);
}

TEST(Assembler, MakesACubinOfPtxAndNamesTheLineOfAnError) {
  const RealCompilers real = real_compilers();
  if (!real.assembler) GTEST_SKIP() << real.missing;
  const std::string good =
      ".version 7.0\n.target sm_70\n.address_size 64\n"
      ".visible .entry k(.param .u64 y) {\n"
      "  .reg .b64 %rd<2>;\n"
      "  ld.param.u64 %rd1, [y];\n"
      "  st.global.u32 [%rd1], 1;\n"
      "  ret;\n}\n";
  const AssembleOutcome made = real.assembler->assemble(good, {9, 0}, "k.ptx", 1);
  ASSERT_TRUE(made.ok()) << made.diagnostics.at(0).message;
  EXPECT_TRUE(cubin_registers(made.cubin, "k").has_value());
  EXPECT_FALSE(cubin_registers(made.cubin, "other").has_value());

  std::string bad = good;
  bad.replace(bad.find("%rd1]"), 4, "%rd7");
  bad.replace(bad.find("ret;"), 4, "mov.u32 %r, nothing;");
  const AssembleOutcome refused = real.assembler->assemble(bad, {9, 0}, "c.yaml", 11);
  EXPECT_FALSE(refused.ok());
  ASSERT_FALSE(refused.diagnostics.empty());
  EXPECT_EQ(refused.diagnostics[0].file, "c.yaml");
  EXPECT_GE(refused.diagnostics[0].line, 17);
  EXPECT_LE(refused.diagnostics[0].line, 18);
}

TEST(Assembler, KeepsTheLinesOfTheAuthorsFile) {
  const RealCompilers real = real_compilers();
  if (!real.assembler) GTEST_SKIP() << real.missing;
  CudaSource source;
  source.text =
      "__device__ float twice(float v) { return 2.0f * v; }\n"
      "__global__ void k(float* y) { y[threadIdx.x] = twice(y[threadIdx.x]); }\n";
  source.file = "my/lines.yaml";
  source.first_line = 12;
  source.line_info = true;
  const CudaOutcome compiled = real.nvrtc->compile(source, {9, 0});
  ASSERT_TRUE(compiled.ok());
  EXPECT_THAT(compiled.ptx, HasSubstr(".loc\t1 13 "));
  // The rules for candidates let it through.
  EXPECT_FALSE(check_ptx(parse_ptx(compiled.ptx)));
  const AssembleOutcome made =
      real.assembler->assemble(compiled.ptx, {9, 0}, source.file, 0, /*line_info=*/true);
  ASSERT_TRUE(made.ok());
  const std::string_view bytes(reinterpret_cast<const char*>(made.cubin.data()), made.cubin.size());
  EXPECT_NE(bytes.find("lines.yaml"), bytes.npos);
}

TEST(Cubin, OfAnyBytesIsReadWithoutLookingBehindThem) {
  std::vector<std::byte> bytes(64);
  EXPECT_FALSE(cubin_registers(bytes, "k").has_value());
  const unsigned char head[] = {0x7f, 'E', 'L', 'F', 2};
  std::copy(std::begin(head), std::end(head), reinterpret_cast<unsigned char*>(bytes.data()));
  for (size_t i = 40; i < 64; ++i) bytes[i] = std::byte{0xff};
  EXPECT_FALSE(cubin_registers(bytes, "k").has_value());
}

}  // namespace
}  // namespace kbench::cuda
