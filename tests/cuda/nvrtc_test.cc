#include "harness/cuda/nvrtc.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "harness/cuda/cubin.h"
#include "harness/cuda/ptx.h"
#include "harness/cuda/ptx_rules.h"
#include "kbench/error.h"

namespace kbench::cuda {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

constexpr ComputeCapability kHopper{9, 0};

const Nvrtc& fake() {
  static const Nvrtc nvrtc({.nvrtc = FAKE_NVRTC, .nvjitlink = "", .include = {"/some/include"}},
                           {});
  return nvrtc;
}

CudaSource source(const std::string& text) {
  CudaSource source;
  source.text = text;
  source.file = "k.cu";
  return source;
}

TEST(ComputeCapability, NamesWhatIsTheArchitecturesOwn) {
  EXPECT_EQ((ComputeCapability{8, 6}.architecture()), "sm_86");
  EXPECT_EQ((ComputeCapability{9, 0}.architecture()), "sm_90a");
  EXPECT_EQ((ComputeCapability{12, 0}.architecture()), "sm_120a");
}

TEST(Nvrtc, ThatIsMissingIsSaidWithWhereItWasLookedFor) {
  try {
    const Nvrtc nvrtc({.nvrtc = "/nowhere/libnvrtc.so", .nvjitlink = "", .include = {}},
                      {.nvrtc = "/nowhere/libnvrtc.so", .roots = {}, .site = {}});
    FAIL() << "it is there";
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), ErrorCode::kUnsupported);
    EXPECT_THAT(e.message(), HasSubstr("libnvrtc.so"));
    EXPECT_THAT(e.message(), HasSubstr("KBENCH_NVRTC"));
  }
}

TEST(Nvrtc, ThatIsSomeOtherLibraryIsRefused) {
  EXPECT_THROW(Nvrtc({.nvrtc = "libdl.so.2", .nvjitlink = "", .include = {}}, {}), Error);
}

TEST(Nvrtc, IsAskedForTheDeviceTheMacrosAndNoCache) {
  CudaSource asked = source("kernel");
  asked.macros = {{"KB_dim", "7"}, {"X", "0.5"}};
  asked.fast_math = true;
  asked.entry = "f<int>";
  const CudaOutcome outcome = fake().compile(asked, kHopper);
  ASSERT_TRUE(outcome.ok());
  for (const char* option :
       {"--gpu-architecture=sm_90a", "--define-macro=KB_dim=7", "--define-macro=X=0.5",
        "--use_fast_math", "--include-path=/some/include", "--no-cache", "--std=c++20"}) {
    EXPECT_THAT(outcome.ptx, HasSubstr(std::string("// ") + option + "\n"));
  }
  EXPECT_EQ(outcome.entry, "_Zf<int>");
  EXPECT_EQ(outcome.cubin.size(), 5u);
  EXPECT_THAT(fake().compile(source("kernel"), kHopper).ptx, Not(HasSubstr("fast_math")));
  EXPECT_EQ(fake().version(), "12.9");
}

TEST(Nvrtc, IsGivenMacrosWithParametersAsLinesThatDoNotCount) {
  CudaSource asked = source("kernel");
  asked.macros = {{"KB_dim", "7"}, {"ld(b,i)", "b[i]"}, {"zero()", "0"}};
  const std::string asked_for = fake().compile(asked, kHopper).ptx;
  EXPECT_THAT(asked_for,
              HasSubstr("// text #define ld(b,i) b[i]\n#define zero() 0\n#line 1\nkernel"));
  EXPECT_THAT(asked_for, HasSubstr("--define-macro=KB_dim=7"));
  EXPECT_THAT(asked_for, Not(HasSubstr("--define-macro=ld")));
  EXPECT_THAT(fake().compile(source("kernel"), kHopper).ptx, HasSubstr("// text kernel"));
}

TEST(Nvrtc, IsGivenTheCandidatesFiles) {
  CudaSource asked = source("#include \"a.cuh\"\n");
  asked.include = [](const std::string& name, const std::string&) {
    return std::optional(std::pair{"folder/" + name, std::string("text")});
  };
  EXPECT_THAT(fake().compile(asked, kHopper).ptx, HasSubstr("// header folder/a.cuh=text\n"));
}

TEST(Nvrtc, SaysWhatIsWrongWithASourceAndWhere) {
  CudaSource asked = source("ERROR");
  asked.first_line = 10;
  const CudaOutcome outcome = fake().compile(asked, kHopper);
  EXPECT_FALSE(outcome.ok());
  ASSERT_THAT(outcome.diagnostics, SizeIs(1));
  EXPECT_EQ(outcome.diagnostics[0].line, 11);
  EXPECT_EQ(outcome.diagnostics[0].message, "it says ERROR");
  EXPECT_THAT(fake().compile(source("SILENT"), kHopper).diagnostics, SizeIs(1));
  const CudaOutcome warned = fake().compile(source("WARN"), kHopper);
  EXPECT_TRUE(warned.ok());
  ASSERT_THAT(warned.diagnostics, SizeIs(1));
  EXPECT_EQ(warned.diagnostics[0].severity, "warning");
}

TEST(Nvrtc, ThatFailsItselfThrows) {
  try {
    fake().compile(source("OUT_OF_MEMORY"), kHopper);
    FAIL() << "no error";
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), ErrorCode::kOutOfMemory);
  }
}

TEST(Nvrtc, OfAnotherAgeThanTheDeviceIsUnsupported) {
  try {
    fake().compile(source("kernel"), {10, 3});
    FAIL() << "no error";
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), ErrorCode::kUnsupported);
    EXPECT_THAT(e.message(), HasSubstr("sm_103"));
  }
}

/// The real one, where it is.
class RealNvrtc : public ::testing::Test {
 protected:
  void SetUp() override {
    const ToolkitPlaces places = toolkit_places();
    try {
      nvrtc_ = std::make_unique<Nvrtc>(find_toolkit(places), places);
    } catch (const Error& e) {
      GTEST_SKIP() << e.message();
    }
  }
  std::unique_ptr<Nvrtc> nvrtc_;
};

TEST_F(RealNvrtc, MakesACubinAndThePtxItCameFrom) {
  CudaSource asked = source(
      "template <class T, int N> __global__ void scale(const T* x, T* y, int n, bool b) {\n"
      "  __shared__ T s[N];\n"
      "  s[threadIdx.x % N] = x[0];\n"
      "  __syncthreads();\n"
      "  if (b && threadIdx.x < n) y[threadIdx.x] = KB_dim * s[0];\n"
      "}\n");
  asked.macros = {{"KB_dim", "7"}};
  asked.entry = "scale<float, 32>";
  const CudaOutcome outcome = nvrtc_->compile(asked, kHopper);
  ASSERT_TRUE(outcome.ok()) << (outcome.diagnostics.empty() ? "" : outcome.diagnostics[0].message);
  const PtxModule module = parse_ptx(outcome.ptx);
  PtxNeeds needs;
  EXPECT_FALSE(check_ptx(module, needs).has_value());
  EXPECT_EQ(module.target, "sm_90a");
  const PtxFunction* entry = module.find_entry(outcome.entry);
  ASSERT_NE(entry, nullptr) << outcome.entry;
  ASSERT_THAT(entry->parameters, SizeIs(4));
  EXPECT_EQ(entry->parameters[0].size, 8u);
  EXPECT_EQ(entry->parameters[2].size, 4u);
  EXPECT_EQ(entry->parameters[3].size, 1u);
  EXPECT_EQ(static_shared_bytes(module, *entry), 128u);
  const auto registers = cubin_registers(outcome.cubin, outcome.entry);
  ASSERT_TRUE(registers.has_value());
  EXPECT_GT(*registers, 4u);
  EXPECT_LT(*registers, 128u);
}

TEST_F(RealNvrtc, NamesTheLineOfAnErrorInASourceAndInItsInclude) {
  CudaSource asked = source("#include \"a.cuh\"\n__global__ void k() { nothing(); }\n");
  asked.include = [](const std::string& name, const std::string&) {
    return std::optional(std::pair{"folder/" + name, std::string("\nint x = \"a\";\n")});
  };
  const CudaOutcome outcome = nvrtc_->compile(asked, kHopper);
  EXPECT_FALSE(outcome.ok());
  ASSERT_THAT(outcome.diagnostics, SizeIs(2));
  EXPECT_EQ(outcome.diagnostics[0].file, "folder/a.cuh");
  EXPECT_EQ(outcome.diagnostics[0].line, 2);
  EXPECT_EQ(outcome.diagnostics[1].file, "k.cu");
  EXPECT_EQ(outcome.diagnostics[1].line, 2);
}

TEST_F(RealNvrtc, FindsTheToolkitsHeadersAndWhatTheyHoldPassesTheRules) {
  if (!nvrtc_->has_headers()) GTEST_SKIP() << "no CUDA headers on this machine";
  const CudaOutcome outcome = nvrtc_->compile(
      source("#include <cuda_runtime.h>\n#include <cuda_fp16.h>\n#include <mma.h>\n"
             "#include <cooperative_groups.h>\n#include <cuda_bf16.h>\n"
             "namespace cg = cooperative_groups;\n"
             "__global__ void k(float* y, const __half* a) {\n"
             "  using namespace nvcuda;\n"
             "  wmma::fragment<wmma::matrix_a, 16, 16, 16, __half, wmma::row_major> fa;\n"
             "  wmma::fragment<wmma::matrix_b, 16, 16, 16, __half, wmma::col_major> fb;\n"
             "  wmma::fragment<wmma::accumulator, 16, 16, 16, float> c;\n"
             "  wmma::fill_fragment(c, 0.0f);\n"
             "  wmma::load_matrix_sync(fa, a, 16);\n"
             "  wmma::load_matrix_sync(fb, a + 256, 16);\n"
             "  wmma::mma_sync(c, fa, fb, c);\n"
             "  auto tile = cg::tiled_partition<32>(cg::this_thread_block());\n"
             "  tile.sync();\n"
             "  float s = tile.shfl_xor(c.x[0], 1) + sinf(y[0]) + powf(y[1], y[2]) + erff(y[3]);\n"
             "  s += expf(y[4]) + tanhf(y[5]) + (float)lgamma((double)y[6]) + fmodf(y[7], y[8]);\n"
             "  atomicAdd(&y[9], s);\n"
             "}\n"),
      kHopper);
  ASSERT_TRUE(outcome.ok()) << (outcome.diagnostics.empty() ? "" : outcome.diagnostics[0].message);
  PtxNeeds needs;
  const auto violation = check_ptx(parse_ptx(outcome.ptx), needs);
  EXPECT_FALSE(violation.has_value()) << violation->message;
  EXPECT_TRUE(uses_float16(parse_ptx(outcome.ptx)));
}

}  // namespace
}  // namespace kbench::cuda
