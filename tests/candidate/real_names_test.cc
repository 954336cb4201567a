// The types that a candidate is written for, and the names by which it can serve several.
#include "kbench/ops.h"
#include "libkbench/candidate/defines.h"
#include "tests/candidate/support.h"
#include "tests/error_of.h"

namespace kbench {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::Pair;
using testing_support::expect_error;
using testing_support::parse;

constexpr const char* kHead = "kbench: 1\ntask: 1/19\n";

std::string copy_by(const std::string& source, const std::string& language = "glsl") {
  return "kernels:\n  k:\n    language: " + language + "\n    source: |\n      " + source +
         "\ndispatch:\n  - {kernel: k, bind: [x, output], groups: 1}\n";
}

/// ReLU of four elements.
Graph& graph_in(DType dtype) {
  static std::map<DType, std::unique_ptr<Graph>> graphs;
  auto& graph = graphs[dtype];
  if (!graph) {
    graph = std::make_unique<Graph>(Variables{{"dim", int64_t{4}}}, dtype);
    graph->output(relu(graph->input("x", {4})));
  }
  return *graph;
}

TEST(CandidateDType, IsOneTypeOrAList) {
  EXPECT_THAT(parse(kHead + copy_by("a")).dtypes, IsEmpty());
  EXPECT_THAT(parse(std::string(kHead) + "dtype: f16\n" + copy_by("a")).dtypes,
              ElementsAre(DType::f16));
  EXPECT_THAT(parse(std::string(kHead) + "dtype: [f32, bf16]\n" + copy_by("a")).dtypes,
              ElementsAre(DType::f32, DType::bf16));
}

TEST(CandidateDType, ThatNoTaskHasIsRefusedAtItsPlace) {
  const auto refuse = [](const std::string& value, int column, const std::string& message) {
    expect_error([&] { parse(std::string(kHead) + "dtype: " + value + "\n" + copy_by("a")); }, 3,
                 column, message);
  };
  refuse("f64", 8, "f64");
  refuse("half", 8, "half");
  refuse("[f16, i32]", 14, "i32");
  refuse("[f16, f16]", 14, "twice");
  refuse("[]", 8, "empty");
}

TEST(CandidateDType, HoldsTheRunToIt) {
  const Candidate any = parse(kHead + copy_by("a"));
  const Candidate halves = parse(std::string(kHead) + "dtype: [f16, bf16]\n" + copy_by("a"));
  for (const DType dtype : kTaskDTypes) {
    EXPECT_TRUE(is_for(any, dtype));
    EXPECT_NO_THROW(resolve(any, graph_in(dtype)));
    EXPECT_EQ(is_for(halves, dtype), is_half(dtype));
  }
  EXPECT_NO_THROW(resolve(halves, graph_in(DType::bf16)));
  const Error error = error_of([&] { resolve(halves, graph_in(DType::f32)); });
  EXPECT_EQ(error.code(), ErrorCode::kUnsupported);
  EXPECT_EQ(error.location().line, 3);
  EXPECT_THAT(error.message(), HasSubstr("written for f16, bf16, the task is in f32"));
}

TEST(CandidateDType, OfATemporaryMayBeTheTasks) {
  const Candidate candidate = parse(
      std::string(kHead) + "temps: {t: {dtype: real, shape: [dim]}}\nkernels: {k: {source: a}}\n" +
      "dispatch:\n  - {kernel: k, bind: [x, t, output], groups: 1}\n");
  for (const DType dtype : kTaskDTypes) {
    const ResolvedCandidate resolved = resolve(candidate, graph_in(dtype));
    EXPECT_EQ(resolved.buffers.back().type, (TensorType{dtype, {4}}));
  }
  expect_error(
      [] {
        parse(std::string(kHead) + "temps: {t: {dtype: reel, shape: [dim]}}\n" + copy_by("a"));
      },
      3, 20, "or real");
}

TEST(CandidateDType, IsANameInExpressionsAndAMacro) {
  const Candidate candidate =
      parse(std::string(kHead) + "constants: {DEPTH: 16 + 48 * dtype_f16}\n" + copy_by("a"));
  const ResolvedCandidate half = resolve(candidate, graph_in(DType::f16));
  EXPECT_THAT(half.kernels[0].macros, Contains(Pair("DEPTH", "64")));
  EXPECT_THAT(half.kernels[0].macros, Contains(Pair("KB_DTYPE_F16", "1")));
  EXPECT_THAT(half.kernels[0].macros, Contains(Pair("KB_DTYPE_F32", "0")));
  const ResolvedCandidate single = resolve(candidate, graph_in(DType::f32));
  EXPECT_THAT(single.kernels[0].macros, Contains(Pair("DEPTH", "16")));
  EXPECT_THAT(single.kernels[0].macros, Contains(Pair("KB_DTYPE_F32", "1")));
  EXPECT_THAT(single.kernels[0].macros, Contains(Pair("KB_DTYPE_BF16", "0")));
}

TEST(RealNames, AreTheTypesOfTheLanguage) {
  const auto names = [](const std::string& source, const std::string& language, DType dtype) {
    const Candidate candidate = parse(kHead + copy_by(source, language));
    return real_names(candidate.kernels[0], candidate, dtype);
  };
  EXPECT_THAT(names("KB_REAL v;", "glsl", DType::f32), HasSubstr("#define KB_REAL float\n"));
  EXPECT_THAT(names("KB_REAL v;", "glsl", DType::f16), HasSubstr("#define KB_REAL float16_t\n"));
  EXPECT_THAT(names("KB_REAL v;", "glsl", DType::bf16), HasSubstr("#define KB_REAL uint16_t\n"));
  EXPECT_THAT(names("KB_REAL v;", "hlsl", DType::f16), HasSubstr("#define KB_REAL half\n"));
  for (const char* language : {"glsl", "hlsl"}) {
    EXPECT_THAT(names("float v;", language, DType::f16), IsEmpty());
    EXPECT_THAT(names("KB_FROM_FLOAT(v)", language, DType::f16), Not(IsEmpty()));
  }
}

/// The toolkit's headers are not on every machine, and slow.
TEST(RealNames, OfCudaTakeTheToolkitsTypeOnlyWithItsHeader) {
  const auto names = [](const std::string& source, DType dtype) {
    Candidate candidate;
    Kernel kernel;
    kernel.language = Kernel::Language::cuda;
    kernel.source = source;
    return real_names(kernel, candidate, dtype);
  };
  const std::string plain = "KB_REAL x;", half = "#include <cuda_fp16.h>\n" + plain;
  EXPECT_THAT(names(plain, DType::f16), Not(HasSubstr("#include")));
  EXPECT_THAT(names(half, DType::f16), HasSubstr("using KB_REAL = __half;"));
  EXPECT_THAT(names(half, DType::bf16), Not(HasSubstr("#include")));
  EXPECT_THAT(names("#include <cuda_bf16.h>\n" + plain, DType::bf16),
              HasSubstr("using KB_REAL = __nv_bfloat16;"));
  EXPECT_THAT(names(half, DType::f32), HasSubstr("using KB_REAL = float;"));
}

TEST(RealNames, AreThereWhereAnIncludedFileSaysThem) {
  const testing_support::ScratchFolder folder;
  folder.write("memory.glsl", "#define LOAD(i) KB_TO_FLOAT(x[i])\n");
  folder.write("candidate.yaml", kHead + copy_by("#include \"memory.glsl\""));
  const Candidate candidate = load_candidate(folder.path("candidate.yaml"));
  EXPECT_THAT(real_names(candidate.kernels[0], candidate, DType::f16), HasSubstr("KB_TO_FLOAT"));
}

}  // namespace
}  // namespace kbench
