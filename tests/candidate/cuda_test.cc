// CUDA C++, PTX and Triton kernels in a candidate's file: what is read, and what is refused where.
#include <cstring>

#include "kbench/candidate_limits.h"
#include "kbench/task.h"
#include "tests/candidate/support.h"

namespace kbench {
namespace {

using ::testing::ElementsAre;
using testing_support::expect_error;
using testing_support::parse;
using testing_support::ScratchFolder;

/// A candidate of level1/19 (x and output of batch_size x dim) with this kernel and this step.
std::string candidate(const std::string& kernel, const std::string& step) {
  return "kbench: 1\ntask: level1/19\nkernels:\n  k: {" + kernel +
         "}\ndispatch:\n  - {kernel: k, " + step + "}\n";
}

struct Resolved {
  Candidate candidate;
  std::unique_ptr<Graph> graph;
  ResolvedCandidate resolved;
};

std::unique_ptr<Resolved> resolve_text(const std::string& text) {
  auto made = std::make_unique<Resolved>();
  made->candidate = parse(text);
  made->graph = build_graph(find_task(made->candidate.task), Preset::smoke);
  made->resolved = resolve(made->candidate, *made->graph);
  return made;
}

int64_t shape(const Graph& graph, const std::string& name) {
  return static_cast<int64_t>(expression_names(graph.variables()).at(name));
}

template <class T>
T at(const std::vector<std::byte>& bytes, size_t offset) {
  T value;
  std::memcpy(&value, bytes.data() + offset, sizeof value);
  return value;
}

constexpr const char* kStep = "grid: 1, block: 32, args: [x, output]";

TEST(CudaCandidate, HasItsLanguageByNameOfFileOrWord) {
  const ScratchFolder folder;
  folder.write("k.cu", "#include \"a.cuh\"\n#include <cuda_fp16.h>\n");
  folder.write("a.cuh", "int a;");
  folder.write("k.ptx", ".version 8.0");
  folder.write("k.py", "import triton");
  const auto language = [&](const std::string& kernel, const std::string& step) {
    return parse_candidate(candidate(kernel, step), folder.path("c.yaml"), folder.path());
  };
  const Candidate cuda = language("file: k.cu", kStep);
  EXPECT_EQ(cuda.kernels[0].language, Kernel::Language::cuda);
  EXPECT_EQ(cuda.kernels[0].entry, "");
  EXPECT_EQ(cuda.includes.at("a.cuh"), "int a;");
  EXPECT_EQ(language("file: k.ptx", kStep).kernels[0].language, Kernel::Language::ptx);
  EXPECT_EQ(language("file: k.py", "grid: 1, args: [x, output]").kernels[0].language,
            Kernel::Language::triton);
  EXPECT_EQ(parse(candidate("language: cuda, source: k", kStep)).kernels[0].language,
            Kernel::Language::cuda);
  expect_error([] { parse(candidate("language: hip, source: k", kStep)); }, 4, 17,
               "unknown language 'hip' (allowed: glsl, hlsl, cuda, ptx, triton)");
}

TEST(CudaCandidate, PacksParametersAsACompilerLaysThemOut) {
  const auto made = resolve_text(candidate(
      "language: cuda, source: k, entry: \"ns::f<float, 4>\"",
      "bind: [output], grid: [batch_size, \"2\"], block: [8, 4], shared: 4 * dim, "
      "args: [{bool: 1}, {i32: -3}, x, {f32: 0.5}, {i64: -5}, {u32: 7}, {f64: 0.25}, {u64: 9}]"));
  EXPECT_EQ(made->candidate.kernels[0].entry, "ns::f<float, 4>");
  const ResolvedStep& step = made->resolved.dispatch.at(0);
  EXPECT_THAT(step.block, ElementsAre(8u, 4u, 1u));
  EXPECT_EQ(step.groups[1], 2u);
  EXPECT_EQ(step.shared_bytes, 4 * shape(*made->graph, "dim"));
  std::vector<size_t> offsets;
  for (const ResolvedArgument& argument : step.arguments) offsets.push_back(argument.offset);
  EXPECT_THAT(offsets, ElementsAre(0u, 8u, 12u, 16u, 24u, 32u, 40u, 48u, 56u));
  EXPECT_EQ(at<uint8_t>(step.push, 8), 1);
  EXPECT_EQ(at<int32_t>(step.push, 12), -3);
  EXPECT_EQ(at<float>(step.push, 24), 0.5f);
  EXPECT_EQ(at<int64_t>(step.push, 32), -5);
  EXPECT_EQ(at<double>(step.push, 48), 0.25);
  EXPECT_EQ(at<uint64_t>(step.push, 56), 9u);
  ASSERT_EQ(step.addresses.size(), 2u);
  EXPECT_EQ(step.addresses[0].first, 0u);
  EXPECT_EQ(made->resolved.buffers[static_cast<size_t>(step.addresses[0].second)].name, "output");
  EXPECT_EQ(step.addresses[1].first, 16u);
}

TEST(CudaCandidate, RefusesTheWordsOfTheOtherKind) {
  const std::string cuda = "language: cuda, source: k";
  expect_error([&] { parse(candidate(cuda, "groups: 1, bind: [x, output]")); }, 6, 17,
               "'groups' belongs to shaders; a CUDA C++ kernel takes 'grid' and 'block'");
  expect_error([&] { parse(candidate(cuda, "grid: 1, block: 1, push: []")); }, 6, 36,
               "'push' belongs to shaders; a CUDA C++ kernel takes 'args'");
  expect_error([&] { parse(candidate(cuda, "grid: 1, args: [x, output]")); }, 6, 5,
               "missing key 'block' in a step of a CUDA C++ kernel");
  expect_error([&] { parse(candidate("source: k", "groups: 1, args: [x]")); }, 6, 28,
               "'args' belongs to CUDA, PTX and Triton kernels, and 'k' is GLSL");
  expect_error([&] { parse(candidate(cuda + ", specialization: {0: 1}", kStep)); }, 4, 34,
               "'specialization' has no effect on CUDA C++");
  expect_error([&] { parse(candidate("source: k, num_warps: 4", "groups: 1")); }, 4, 18,
               "'num_warps' has no effect on GLSL");
  expect_error([&] { parse(candidate("language: ptx, source: k, constants: {A: 1}", kStep)); }, 4,
               33, "'constants' has no effect on PTX");
}

TEST(CudaCandidate, RefusesParametersThatAreNone) {
  const std::string cuda = "language: cuda, source: k";
  const auto step = [](const std::string& args) {
    return "grid: 1, block: 1, args: [" + args + "]";
  };
  expect_error([&] { parse(candidate(cuda, step("{address: x}"))); }, 6, 44,
               "unknown key 'address'");
  expect_error([&] { parse(candidate(cuda, step("{i32: 1, u32: 2}"))); }, 6, 43,
               "a parameter is a buffer's name or one of");
  expect_error([&] { resolve_text(candidate(cuda, step("x, output, nothing"))); }, 6, 54,
               "there is no buffer 'nothing'");
  expect_error([&] { resolve_text(candidate(cuda, step("x, output, {bool: 2}"))); }, 6, 61,
               "a bool");
  expect_error([&] { resolve_text(candidate(cuda, step("x"))); }, 5, 1,
               "no step of dispatch binds the output 'output'");
  std::string many = "output";
  for (size_t i = 0; i < limits::kParameters; ++i) many += ", x";
  EXPECT_THROW(parse(candidate(cuda, step(many))), Error);
}

TEST(TritonCandidate, HasWarpsAndStages) {
  const std::string step = "grid: BLOCK, args: [x, output, {i32: dim}]";
  const auto plain =
      resolve_text(candidate("language: triton, source: k, constants: {BLOCK: 64}", step));
  EXPECT_EQ(plain->resolved.kernels[0].num_warps, 4u);
  EXPECT_EQ(plain->resolved.kernels[0].num_stages, 3u);
  EXPECT_THAT(plain->resolved.dispatch[0].block, ElementsAre(128u, 1u, 1u));
  const auto given = resolve_text(
      candidate("language: triton, source: k, constants: {BLOCK: 64}, num_warps: 8, num_stages: "
                "BLOCK / 16",
                step));
  EXPECT_EQ(given->resolved.kernels[0].num_warps, 8u);
  EXPECT_EQ(given->resolved.kernels[0].num_stages, 4u);
  EXPECT_THAT(given->resolved.dispatch[0].block, ElementsAre(256u, 1u, 1u));
}

TEST(TritonCandidate, RefusesWhatItCannotBe) {
  expect_error(
      [] {
        resolve_text(
            candidate("language: triton, source: k, num_warps: 3", "grid: 1, args: [x, output]"));
      },
      4, 47, "num_warps must be a power of two, but is 3");
  expect_error([] { parse(candidate("language: triton, source: k", kStep)); }, 6, 26,
               "'block' of a Triton kernel follows from num_warps");
}

}  // namespace
}  // namespace kbench
