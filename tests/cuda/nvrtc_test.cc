#include "harness/measure/cuda/nvrtc.h"

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
  const Error e = error_of([&] {
    const Nvrtc nvrtc({.nvrtc = "/nowhere/libnvrtc.so", .nvjitlink = "", .include = {}},
                      {.nvrtc = "/nowhere/libnvrtc.so", .roots = {}, .site = {}});
  });
  EXPECT_EQ(e.code(), ErrorCode::kUnsupported);
  EXPECT_THAT(e.message(), HasSubstr("libnvrtc.so"));
  EXPECT_THAT(e.message(), HasSubstr("KBENCH_NVRTC"));
}

TEST(Nvrtc, ThatIsSomeOtherLibraryIsRefused) {
  EXPECT_THROW(Nvrtc({.nvrtc = "libdl.so.2", .nvjitlink = "", .include = {}}, {}), Error);
}

TEST(Nvrtc, IsAskedForTheDeviceTheMacrosAndNoCache) {
  CudaSource asked = source("kernel");
  asked.macros = {{"KB_dim", "7"}, {"X", "0.5"}};
  asked.entry = "f<int>";
  const CudaOutcome outcome = fake().compile(asked, kHopper);
  ASSERT_TRUE(outcome.ok());
  for (const char* option :
       {"--gpu-architecture=compute_90a", "--define-macro=KB_dim=7", "--define-macro=X=0.5",
        "--include-path=/some/include", "--no-cache", "--std=c++20"}) {
    EXPECT_THAT(outcome.ptx, HasSubstr(std::string("// ") + option + "\n"));
  }
  EXPECT_EQ(outcome.entry, "_Zf<int>");
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
  const Error e = error_of([&] { fake().compile(source("OUT_OF_MEMORY"), kHopper); });
  EXPECT_EQ(e.code(), ErrorCode::kOutOfMemory);
}

TEST(Nvrtc, OfAnotherAgeThanTheDeviceIsUnsupported) {
  const Error e = error_of([&] { fake().compile(source("kernel"), {10, 3}); });
  EXPECT_EQ(e.code(), ErrorCode::kUnsupported);
  EXPECT_THAT(e.message(), HasSubstr("sm_103"));
}

/// The real one, where it is.
class RealNvrtc : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!real_.nvrtc) GTEST_SKIP() << real_.missing;
  }
  const RealCompilers real_ = real_compilers();
};

TEST_F(RealNvrtc, MakesPtxThatIsCheckedPrintedAndAssembled) {
  CudaSource asked = source(
      "template <class T, int N> __global__ void scale(const T* x, T* y, int n, bool b) {\n"
      "  __shared__ T s[N];\n"
      "  s[threadIdx.x % N] = x[0];\n"
      "  __syncthreads();\n"
      "  if (b && threadIdx.x < n) y[threadIdx.x] = KB_dim * s[0];\n"
      "}\n");
  asked.macros = {{"KB_dim", "7"}};
  asked.entry = "scale<float, 32>";
  const CudaOutcome outcome = real_.nvrtc->compile(asked, kHopper);
  ASSERT_TRUE(outcome.ok()) << (outcome.diagnostics.empty() ? "" : outcome.diagnostics[0].message);
  const PtxModule module = parse_ptx(outcome.ptx);
  EXPECT_FALSE(check_ptx(module).has_value());
  EXPECT_EQ(module.target, "sm_90a");
  const PtxFunction* entry = module.find_entry(outcome.entry);
  ASSERT_NE(entry, nullptr) << outcome.entry;
  ASSERT_THAT(entry->parameters, SizeIs(4));
  EXPECT_EQ(entry->parameters[0].size, 8u);
  EXPECT_EQ(entry->parameters[2].size, 4u);
  EXPECT_EQ(entry->parameters[3].size, 1u);
  EXPECT_EQ(static_shared_bytes(module, *entry), 128u);
  if (!real_.assembler) GTEST_SKIP() << real_.missing;
  const AssembleOutcome made = real_.assembler->assemble(print_ptx(module), kHopper, "k.cu", 0);
  ASSERT_TRUE(made.ok()) << (made.diagnostics.empty() ? "" : made.diagnostics[0].message);
  const auto registers = cubin_registers(made.cubin, outcome.entry);
  ASSERT_TRUE(registers.has_value());
  EXPECT_GT(*registers, 4u);
  EXPECT_LT(*registers, 128u);
}

TEST_F(RealNvrtc, NamesTheLineOfAnErrorInASourceAndInItsInclude) {
  CudaSource asked = source("#include \"a.cuh\"\n__global__ void k() { nothing(); }\n");
  asked.include = [](const std::string& name, const std::string&) {
    return std::optional(std::pair{"folder/" + name, std::string("\nint x = \"a\";\n")});
  };
  const CudaOutcome outcome = real_.nvrtc->compile(asked, kHopper);
  EXPECT_FALSE(outcome.ok());
  ASSERT_THAT(outcome.diagnostics, SizeIs(2));
  EXPECT_EQ(outcome.diagnostics[0].file, "folder/a.cuh");
  EXPECT_EQ(outcome.diagnostics[0].line, 2);
  EXPECT_EQ(outcome.diagnostics[1].file, "k.cu");
  EXPECT_EQ(outcome.diagnostics[1].line, 2);
}

TEST_F(RealNvrtc, FindsTheToolkitsHeadersWhichPassTheRules) {
  if (!real_.nvrtc->has_headers()) GTEST_SKIP() << "no CUDA headers on this machine";
  const CudaOutcome outcome = real_.nvrtc->compile(
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
  const auto violation = check_ptx(parse_ptx(outcome.ptx));
  EXPECT_FALSE(violation.has_value()) << violation->message;
  EXPECT_TRUE(uses_float16(parse_ptx(outcome.ptx)));
}

/// What NVIDIA's headers write as assembly, and tables of several kinds.
constexpr const char* kHeadersAndTables = R"(
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <mma.h>
__device__ const float table[16] = {1, 2, 3, 4, 5, 6, 7, 8};
__constant__ float weights[64] = {1, 2};
__constant__ float C[2];
__device__ const int nested[5][3] = {{1, 2, 3}, {4, 5, 6}};
__global__ void k(const float* x, float* y, int n, const __half* h) {
  __shared__ float tile[32];
  const float local[4] = {x[0], x[1], x[2], x[3]};
  float s = C[n & 1] + local[n & 3];
  for (int i = threadIdx.x; i < n; ++i) s += x[i] * table[i & 15] + sinf(x[i]) * weights[i & 63];
#pragma unroll 1
  for (int i = 0; i < 16; ++i) s = s * y[i] + table[i];
#pragma unroll 1
  for (int i = 0; i < 5; ++i) {
    for (int j = 0; j < 3; ++j) s += y[nested[i][j]];
  }
  const float* either = n > 5 ? table : x;
  tile[threadIdx.x & 31] = s + either[n];
  __syncthreads();
  const __half2 a = *reinterpret_cast<const __half2*>(h);
  __half2 r = h2exp(a);
  r = __hfma2(h2log(a), h2sin(a), __hadd2(r, h2exp2(h2sqrt(h2rcp(h2cos(h2log2(a)))))));
  r = __hmax2(__hmul2_sat(r, a), h2rsqrt(h2log10(h2exp10(a))));
  __half e = __hadd(hexp(h[0]), hlog(h[1]));
  e = __hfma(hsin(e), hcos(e), __hdiv(hexp2(e), hlog2(h[2])));
  e = __hadd(hexp10(e), __hadd(hlog10(e), __hadd(hrcp(e), hrsqrt(hsqrt(e)))));
  __nv_bfloat16 b = __float2bfloat16(s);
  b = __hadd(hexp(b), __hadd(hlog(b), __hadd(hsin(b), __hadd(hcos(b), hexp2(b)))));
  b = __hfma(hexp10(b), hlog10(b), __hadd(hrcp(b), hrsqrt(hsqrt(b))));
  s = tile[(threadIdx.x + 1) & 31] + __half2float(r.x) + __half2float(e) + __bfloat162float(b);
  y[threadIdx.x] = __shfl_xor_sync(~0u, s, 1) + __reduce_add_sync(~0u, n) + erff(s) + tgammaf(s);
}
)";

TEST_F(RealNvrtc, AssemblesTheAssemblyOfNvidiasHeaders) {
  if (!real_.nvrtc->has_headers()) GTEST_SKIP() << "no CUDA headers on this machine";
  const CudaOutcome outcome = real_.nvrtc->compile(source(kHeadersAndTables), kHopper);
  ASSERT_TRUE(outcome.ok()) << (outcome.diagnostics.empty() ? "" : outcome.diagnostics[0].message);
  const PtxModule module = parse_ptx(outcome.ptx);
  const auto violation = check_ptx(module);
  ASSERT_FALSE(violation.has_value()) << violation->line << ": " << violation->message;
  if (!real_.assembler) GTEST_SKIP() << real_.missing;
  const AssembleOutcome printed = real_.assembler->assemble(print_ptx(module), kHopper, "k.cu", 0);
  ASSERT_TRUE(printed.ok()) << (printed.diagnostics.empty() ? "" : printed.diagnostics[0].message);
  // The names that registers are printed with make no difference to the code.
  const AssembleOutcome own = real_.assembler->assemble(outcome.ptx, kHopper, "k.cu", 0);
  ASSERT_TRUE(own.ok());
  EXPECT_TRUE(printed.cubin == own.cubin);
}

CudaSource source_with(const std::string& text, std::map<std::string, std::string> files) {
  CudaSource source;
  source.text = text;
  source.file = "c/k.cu";
  source.include =
      [files](const std::string& name,
              const std::string& from) -> std::optional<std::pair<std::string, std::string>> {
    const std::string beside = from.substr(0, from.rfind('/') + 1) + name;
    for (const std::string& path : {beside, "c/" + name}) {
      if (files.contains(path)) return std::pair{path, files.at(path)};
    }
    return std::nullopt;
  };
  return source;
}

TEST(Includes, NameTheCandidatesFileByItsPath) {
  const Included all = resolve_includes(source_with(
      "#include \"sub/a.cuh\"\n  #  include <b.cuh> // x\nint k;",
      {{"c/sub/a.cuh", "#include \"b.cuh\"\n"}, {"c/sub/b.cuh", "1"}, {"c/b.cuh", "2"}}));
  EXPECT_THAT(all.errors, IsEmpty());
  EXPECT_EQ(all.text, "#include \"c/sub/a.cuh\"\n  #  include \"c/b.cuh\" // x\nint k;");
  ASSERT_THAT(all.headers, SizeIs(3));
  EXPECT_EQ(all.headers.at("c/sub/a.cuh"), "#include \"c/sub/b.cuh\"\n");
  EXPECT_EQ(all.headers.at("c/sub/b.cuh"), "1");
}

TEST(Includes, OfTheToolkitStay) {
  const Included all = resolve_includes(source_with("#include <cuda_fp16.h>\n", {}));
  EXPECT_THAT(all.errors, IsEmpty());
  EXPECT_EQ(all.text, "#include <cuda_fp16.h>\n");
}

TEST(Includes, ThatIncludeThemselvesEnd) {
  const Included all =
      resolve_includes(source_with("#include \"a.cuh\"\n", {{"c/a.cuh", "#include \"a.cuh\"\n"}}));
  EXPECT_THAT(all.errors, IsEmpty());
  EXPECT_EQ(all.headers.at("c/a.cuh"), "#include \"c/a.cuh\"\n");
}

TEST(Includes, OfAnythingElseAreRefused) {
  for (const char* text : {"#include NAME\n", "#include \"../x\"\n", "#include </etc/passwd>\n",
                           "#inc\\\nlude \"x\"\n", "%:include NAME\n", "#/**/include \"/x\"\n",
                           "#include \\\n\"/x\"\n"}) {
    const Included all = resolve_includes(source_with(std::string("int a;\n") + text, {}));
    ASSERT_THAT(all.errors, SizeIs(1)) << text;
    EXPECT_EQ(all.errors[0].line, 2) << text;
    EXPECT_THAT(all.errors[0].message, HasSubstr("#include")) << text;
  }
}

}  // namespace

}  // namespace kbench::cuda
