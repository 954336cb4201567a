// What a file becomes, and for which sizes.
#include "tests/import/support.h"

namespace kbench::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

TEST(Import, AnElementwiseKernel) {
  const Imported found = imported("1/19", relu_file());
  EXPECT_EQ(stopped(found), "imported");
  EXPECT_THAT(found.notes, IsEmpty());
  EXPECT_EQ(found.launches, 1u);
  EXPECT_EQ(found.yaml,
            "kbench: 1\ntask: level1/19\nname: \"kernel\"\n"
            "description: imported from KernelBench's form\n"
            "kernels:\n  relu_kernel:\n    language: cuda\n    entry: \"relu_kernel\"\n"
            "    source: &source0 |\n      // source0\n\n"
            "      __global__ void relu_kernel(const float* x, float* y, int n) {\n"
            "        int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
            "        if (i < n) y[i] = fmaxf(x[i], 0.f);\n"
            "      }\n"
            "dispatch:\n  - kernel: relu_kernel\n"
            "    grid: [\"ceil_div(batch_size * dim, 256)\"]\n    block: [256]\n"
            "    args: [x, output, {i32: \"batch_size * dim\"}]\n");
}

TEST(Import, WhatOnlyTheHostNeedsIsLeftOut) {
  std::string file = relu_file();
  file.insert(file.find("__global__"),
              "#include <vector>\n#include <cuda_fp16.h>\n#define CHECK(x) TORCH_CHECK(x)\n"
              "#define LIMIT 3\nusing namespace at;\ntorch::Tensor relu(torch::Tensor x);\n"
              "__device__ inline float best() { return FLT_MAX; }\n");
  const Imported found = imported("1/19", file);
  EXPECT_EQ(stopped(found), "imported");
  EXPECT_THAT(found.yaml, HasSubstr("#include <cuda_fp16.h>"));
  EXPECT_THAT(found.yaml, HasSubstr("#define LIMIT 3"));
  EXPECT_THAT(found.yaml, HasSubstr("#define FLT_MAX 3.402823466e+38f"));
  EXPECT_THAT(found.yaml, HasSubstr("float best()"));
  EXPECT_THAT(found.yaml, Not(HasSubstr("torch")));
  EXPECT_THAT(found.yaml, Not(HasSubstr("vector")));
}

TEST(Import, OfCubWhatIsUsed) {
  std::string file = relu_file();
  file.insert(file.find("__global__"), "#include <cub/cub.cuh>\n");
  EXPECT_THAT(imported("1/19", file).yaml, Not(HasSubstr("cub/")));
  file.insert(file.find("  int i ="), "  using Reduce = cub::BlockReduce<float, 256>;\n");
  EXPECT_THAT(imported("1/19", file).yaml, HasSubstr("#include <cub/block/block_reduce.cuh>\n"));
}

TEST(Import, ABranchOnASizeIsTakenAsAtThePresetAndSaid) {
  std::string file = relu_file();
  const std::string threads = "const int threads = 256;";
  file.replace(file.find(threads), threads.size(),
               "int threads = 64; if (n > 100000) threads = 512;");
  const Imported large = imported("1/19", file);
  EXPECT_EQ(stopped(large), "imported");
  EXPECT_THAT(large.yaml, HasSubstr("block: [512]"));
  ASSERT_EQ(large.notes.size(), 1u);
  EXPECT_THAT(large.notes[0].message,
              HasSubstr("presets take differently; the candidate is for the sizes of v0.1"));
  EXPECT_EQ(large.notes[0].at.line, 17);
  const Imported small = imported("1/19", file, {Preset::smoke});
  EXPECT_THAT(small.yaml, HasSubstr("block: [64]"));
}

TEST(Import, AnOutputOfAnotherSizeIsNoCandidate) {
  std::string file = relu_file();
  const std::string like = "torch::empty_like(x)";
  file.replace(file.find(like), like.size(), "torch::empty({x.size(0)}, x.options())");
  EXPECT_THAT(stopped(imported("1/19", file)), HasSubstr("sizes"));
}

TEST(Import, ZerosAreFilled) {
  std::string file = relu_file();
  const std::string like = "torch::empty_like(x)";
  file.replace(file.find(like), like.size(), "torch::zeros_like(x)");
  const Imported found = imported("1/19", file);
  EXPECT_EQ(found.launches, 1u);
  EXPECT_THAT(found.yaml, HasSubstr("  - kernel: kbench_fill\n"));
  EXPECT_THAT(found.yaml, HasSubstr("args: [output, {f32: 0.0}, {i64: \"batch_size * dim\"}]"));
}

TEST(Import, ALayerBecomesABuiltInStep) {
  const std::string file = kernel_file(
      "__global__ void scale(float* x, float by, float slope, int n) {\n"
      "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
      "  if (i < n) { float v = x[i] * by; x[i] = v > 0 ? v : v * slope; }\n}\n"
      "torch::Tensor scaled(torch::Tensor x, double by, double slope) {\n"
      "  scale<<<(x.numel() + 255) / 256, 256>>>(x.data_ptr<float>(), (float)by,\n"
      "      static_cast<float>(slope), x.numel());\n  return x;\n}\n",
      "'scaled'",
      "    def __init__(self, in_features, out_features, multiplier, negative_slope):\n"
      "        super().__init__()\n        self.gemm = nn.Linear(in_features, out_features)\n"
      "        self.m = multiplier\n        self.s = negative_slope\n"
      "    def forward(self, x):\n        return ext.scaled(self.gemm(x), self.m, self.s)\n");
  const Imported found = imported("2/12", file);
  EXPECT_EQ(stopped(found), "imported");
  EXPECT_THAT(found.operators, ElementsAre("linear"));
  EXPECT_THAT(found.yaml, HasSubstr("{op: linear, in: [x, gemm.weight, gemm.bias], out: output}"));
  EXPECT_THAT(found.yaml, HasSubstr("args: [output, {f32: multiplier}, {f32: negative_slope}, "
                                    "{i32: \"batch_size * out_features\"}]"));
}

TEST(Import, AConvolutionsExtentsFollow) {
  const std::string file = kernel_file(
      "__global__ void k(float* x, const float* b, int c, int hw, long n) {}\n"
      "torch::Tensor f(torch::Tensor x, torch::Tensor b) {\n"
      "  const int h = x.size(2), w = x.size(-1);\n  int64_t n = x.numel();\n"
      "  k<<<dim3((n + 511) / 512), dim3(512)>>>(x.data_ptr<float>(), b.data_ptr<float>(),\n"
      "      x.size(1), h * w, n);\n  return x;\n}\n",
      "\"f\"",
      "    def __init__(self, in_channels, out_channels, kernel_size, bias_shape):\n"
      "        super().__init__()\n"
      "        self.conv = nn.Conv2d(in_channels, out_channels, kernel_size)\n"
      "        self.bias = nn.Parameter(torch.randn(bias_shape) * 0.02)\n"
      "    def forward(self, x):\n        x = self.conv(x)\n        return ext.f(x, self.bias)\n");
  const Imported found = imported("2/1", file);
  EXPECT_EQ(stopped(found), "imported");
  EXPECT_THAT(found.notes, IsEmpty());
  EXPECT_THAT(found.yaml, HasSubstr("args: [output, bias, {i32: out_channels}, {i32: \"(height - "
                                    "kernel_size + 1) * (width - kernel_size + 1)\"}"));
}

TEST(Import, ATransposedConvolutionsExtentsFollow) {
  const std::string file = kernel_file(
      "__global__ void k(float* x, const float* none, int h, long n) {}\n"
      "torch::Tensor f(torch::Tensor x) {\n  auto none = torch::zeros({0}, x.options());\n"
      "  k<<<(x.numel() + 255) / 256, 256>>>(x.data_ptr<float>(), none.data_ptr<float>(),\n"
      "      x.size(2), x.numel());\n  return x;\n}\n",
      "\"f\"",
      "    def __init__(self, in_channels, out_channels, kernel_size, stride, padding,\n"
      "                 output_padding, bias_shape, scaling_factor):\n"
      "        super().__init__()\n"
      "        self.conv_transpose = nn.ConvTranspose2d(in_channels, out_channels, kernel_size,\n"
      "            stride=stride, padding=padding, output_padding=output_padding)\n"
      "        self.bias = nn.Parameter(torch.randn(bias_shape) * 0.02)\n"
      "    def forward(self, x):\n        return ext.f(self.conv_transpose(x) + self.bias)\n");
  const Imported found = imported("2/2", file);
  EXPECT_EQ(stopped(found), "imported");
  EXPECT_THAT(found.notes, IsEmpty());
  EXPECT_THAT(found.yaml, HasSubstr("args: [output, {u64: 0}, {i32: \"(height - 1) * stride + "
                                    "kernel_size - 1 + 1 - padding * 2 + output_padding\"}"));
}

TEST(Import, WeightsUnderOtherNamesAreFound) {
  const std::string file = kernel_file(
      "__global__ void k(const float* x, const float* g, const float* b, float* y, int n) {}\n"
      "torch::Tensor f(torch::Tensor x, torch::Tensor g, torch::Tensor b) {\n"
      "  auto y = torch::empty_like(x);\n"
      "  k<<<x.size(0), 256>>>(x.data_ptr<float>(), g.data_ptr<float>(), b.data_ptr<float>(),\n"
      "      y.data_ptr<float>(), g.numel());\n  return y;\n}\n",
      "'f'",
      "    def __init__(self, normalized_shape):\n        super().__init__()\n"
      "        self.weight = nn.Parameter(torch.ones(normalized_shape))\n"
      "        self.bias = nn.Parameter(torch.zeros(normalized_shape))\n"
      "    def forward(self, x):\n        return ext.f(x, self.weight, self.bias)\n");
  const Imported found = imported("1/40", file);
  EXPECT_EQ(stopped(found), "imported");
  EXPECT_THAT(found.yaml, HasSubstr("args: [x, ln.weight, ln.bias, output, {i32: \"features * dim1 "
                                    "* dim2\"}]"));
  ASSERT_EQ(found.notes.size(), 2u);
  EXPECT_EQ(found.notes[0].message, "'weight' is taken for the task's ln.weight");
}

TEST(Import, TheTaskOfAPath) {
  const auto named = [](std::string_view path) {
    const auto id = task_of_kernel_file(path);
    return id ? to_string(*id) : "none";
  };
  EXPECT_EQ(named("a/level1/19_ReLU.py"), "level1/19");
  EXPECT_EQ(named("runs/level_2_problem_12_sample_0_kernel.py"), "level2/12");
  EXPECT_EQ(named("run_level3/problem_7_kernel.py"), "level3/7");
  EXPECT_EQ(named("level1/relu.py"), "none");
  EXPECT_EQ(named("19_ReLU.py"), "none");
  EXPECT_EQ(named(""), "none");
  EXPECT_EQ(named("level99999999999999999999_problem_1"), "level9999/1");
}

}  // namespace
}  // namespace kbench::testing
