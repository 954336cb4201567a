// The idioms of model-written kernels, each followed to its launch.
#include "tests/import/support.h"

namespace kbench::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr const char* kPlainModel =
    "    def __init__(self):\n        super(ModelNew, self).__init__()\n"
    "    def forward(self, x):\n        return ext.f(x)\n";

std::string plain(const std::string& cuda) { return kernel_file(cuda, "'f'", kPlainModel); }

TEST(Idioms, SoftmaxWithDynamicSharedMemory) {
  const Imported found = imported(
      "1/23",
      plain("__global__ void softmax_kernel(const float* x, float* y, int dim) {\n"
            "  extern __shared__ float shared[];\n}\n"
            "torch::Tensor f(torch::Tensor x) {\n  auto y = torch::empty_like(x);\n"
            "  const auto rows = x.size(0); const auto dim = x.size(1);\n"
            "  const int threads = 1024;\n  const int bytes = 2 * threads * sizeof(float);\n"
            "  softmax_kernel<<<rows, threads, bytes>>>(x.data_ptr<float>(),\n"
            "      y.data_ptr<float>(), dim);\n  C10_CUDA_KERNEL_LAUNCH_CHECK();\n"
            "  return y;\n}\n"));
  EXPECT_EQ(stopped(found), "imported");
  EXPECT_THAT(found.yaml, HasSubstr("    grid: [batch_size]\n    block: [1024]\n    shared: 8192\n"
                                    "    args: [x, output, {i32: dim}]\n"));
}

TEST(Idioms, MatmulTilesWithDim3AndAMacro) {
  const Imported found = imported(
      "1/1",
      kernel_file("#define TILE 16\n__global__ void mm(const float* A, const float* B, float* "
                  "C, int N) {\n"
                  "  __shared__ float a[TILE][TILE];\n}\n"
                  "torch::Tensor f(torch::Tensor A, torch::Tensor B) {\n"
                  "  int N = A.size(0);\n  auto C = torch::zeros({N, N}, A.options());\n"
                  "  dim3 block(TILE, TILE);\n"
                  "  dim3 grid((N + TILE - 1) / TILE, (N + TILE - 1) / TILE);\n"
                  "  mm<<<grid, block>>>(A.data_ptr<float>(), B.data_ptr<float>(),\n"
                  "                      C.data_ptr<float>(), N);\n  return C;\n}\n",
                  "'f'", "    def forward(self, A, B):\n        return ext.f(A, B)\n"));
  EXPECT_EQ(stopped(found), "imported");
  EXPECT_THAT(found.yaml, HasSubstr("    grid: [\"ceil_div(N, 16)\", \"ceil_div(N, 16)\"]\n"
                                    "    block: [16, 16]\n    args: [A, B, output, {i32: N}]\n"));
}

TEST(Idioms, TwoKernelsWithATemporaryBetween) {
  const Imported found =
      imported("1/19", plain("__global__ void a(const float* x, float* t, int n) {}\n"
                             "__global__ void b(const float* t, float* y, int n) {}\n"
                             "torch::Tensor f(torch::Tensor x) {\n"
                             "  auto t = torch::empty({x.size(0), x.size(1)}, x.options());\n"
                             "  auto y = torch::empty_like(x);\n  const int n = x.numel();\n"
                             "  a<<<n / 128, 128>>>(x.data_ptr<float>(), t.data_ptr<float>(), n);\n"
                             "  b<<<n / 128, 128>>>(t.data_ptr<float>(), y.data_ptr<float>(), n);\n"
                             "  return y;\n}\n"));
  EXPECT_EQ(stopped(found), "imported");
  EXPECT_EQ(found.launches, 2u);
  EXPECT_THAT(found.yaml, HasSubstr("temps:\n  t0: {dtype: f32, shape: [batch_size, dim]}\n"));
  EXPECT_THAT(found.yaml, HasSubstr("    source: *source0\n"));
  EXPECT_THAT(found.yaml, HasSubstr("args: [t0, output, {i32: \"batch_size * dim\"}]"));
}

TEST(Idioms, DispatchOverFloatingTypes) {
  const Imported found = imported(
      "1/19",
      plain("template <typename scalar_t>\n"
            "__global__ void k(const scalar_t* __restrict__ x, scalar_t* __restrict__ y, size_t n) "
            "{}\n"
            "torch::Tensor f(torch::Tensor x) {\n  auto y = at::empty_like(x);\n"
            "  const int threads = 1024;\n"
            "  AT_DISPATCH_FLOATING_TYPES(x.scalar_type(), \"f\", ([&] {\n"
            "    k<scalar_t><<<(x.numel() + threads - 1) / threads, threads>>>(\n"
            "        x.data_ptr<scalar_t>(), y.data_ptr<scalar_t>(), x.numel());\n"
            "  }));\n  return y;\n}\n"));
  EXPECT_EQ(stopped(found), "imported");
  EXPECT_THAT(found.yaml, HasSubstr("entry: \"k<float>\""));
  EXPECT_THAT(found.yaml, HasSubstr("{u64: \"batch_size * dim\"}"));
}

TEST(Idioms, TemplateNumbersAndDeducedTypes) {
  const Imported found = imported(
      "1/19", plain("template <typename T, int BLOCK, bool VEC = false>\n"
                    "__global__ void k(const T* x, T* y, unsigned int n) {}\n"
                    "torch::Tensor f(torch::Tensor x) {\n  auto y = torch::empty_like(x);\n"
                    "  constexpr int kBlock = 128;\n"
                    "  k<float, kBlock><<<1024, kBlock>>>(x.data_ptr<float>(),\n"
                    "      y.data_ptr<float>(), x.numel());\n  return y;\n}\n"));
  EXPECT_EQ(stopped(found), "imported");
  EXPECT_THAT(found.yaml, HasSubstr("entry: \"k<float, 128, false>\""));
  EXPECT_THAT(found.yaml, HasSubstr("{u32: \"batch_size * dim\"}"));
}

TEST(Idioms, VectorPointersAndStreams) {
  const Imported found =
      imported("1/19", plain("__global__ void k(const float4* x, float4* y, int n4) {}\n"
                             "torch::Tensor f(torch::Tensor x) {\n"
                             "  const at::cuda::OptionalCUDAGuard guard(device_of(x));\n"
                             "  auto in = x.contiguous();\n  auto y = torch::empty_like(in);\n"
                             "  cudaStream_t stream = at::cuda::getCurrentCUDAStream();\n"
                             "  int n4 = in.numel() / 4;\n"
                             "  k<<<std::min(n4 / 256, 65535), 256, 0, stream>>>(\n"
                             "      reinterpret_cast<const float4*>(in.data_ptr<float>()),\n"
                             "      (float4*)y.data_ptr<float>(), n4);\n"
                             "  cudaError_t err = cudaGetLastError();\n"
                             "  if (err != cudaSuccess) { throw std::runtime_error(\"launch\"); }\n"
                             "  return y;\n}\n"));
  EXPECT_EQ(stopped(found), "imported");
  EXPECT_THAT(found.yaml, HasSubstr("grid: [\"min(batch_size * dim / 4 / 256, 65535)\"]"));
  EXPECT_THAT(found.yaml, HasSubstr("args: [x, output, {i32: \"batch_size * dim / 4\"}]"));
}

TEST(Idioms, LoopsOverDimensionsOfTheShape) {
  const Imported found = imported(
      "1/36",
      kernel_file("__global__ void k(const float* x, float* y, int c, int rest, float eps) {}\n"
                  "torch::Tensor f(torch::Tensor x, float eps) {\n"
                  "  auto y = torch::empty_like(x);\n  auto sizes = x.sizes();\n"
                  "  int rest = 1;\n"
                  "  for (int i = 2; i < x.dim(); ++i) { rest *= sizes[i]; }\n"
                  "  k<<<x.size(0) * rest, 64>>>(x.data_ptr<float>(), y.data_ptr<float>(),\n"
                  "      x.size(1), rest, eps);\n  return y;\n}\n",
                  "'f'",
                  "    def __init__(self, num_features, eps=1e-5):\n"
                  "        super().__init__()\n        self.eps = eps\n"
                  "    def forward(self, x):\n        return ext.f(x, self.eps)\n"));
  EXPECT_EQ(stopped(found), "imported");
  EXPECT_THAT(found.yaml,
              HasSubstr("args: [x, output, {i32: features}, {i32: \"dim1 * dim2\"}, {f32: "
                        "1e-05}]"));
}

TEST(Idioms, CeilOfAQuotientOfReals) {
  const Imported found = imported(
      "1/19", plain("__global__ void k(const float* x, float* y, int n) {}\n"
                    "torch::Tensor f(torch::Tensor x) {\n  auto y = torch::empty_like(x);\n"
                    "  int n = x.numel();\n  int blocks = ceil((float)n / 256);\n"
                    "  k<<<blocks, 256>>>(x.data_ptr<float>(), y.data_ptr<float>(), n);\n"
                    "  return y;\n}\n"));
  EXPECT_EQ(stopped(found), "imported");
  EXPECT_THAT(found.yaml, HasSubstr("grid: [\"ceil_div(batch_size * dim, 256)\"]"));
}

TEST(Idioms, FunctionsOfOneSourceCallEachOtherAndBindingsRename) {
  const Imported found = imported(
      "1/19",
      kernel_file("__global__ void k(const float* x, float* y, int n) {}\n"
                  "int div_up(int a, int b) { return (a + b - 1) / b; }\n"
                  "void run(torch::Tensor x, torch::Tensor y) {\n  int n = x.numel();\n"
                  "  k<<<div_up(n, 256), 256>>>(x.data_ptr<float>(), y.data_ptr<float>(), n);\n}\n"
                  "torch::Tensor host(torch::Tensor x) {\n  auto y = torch::empty_like(x);\n"
                  "  run(x, y);\n  return y;\n}\n"
                  "PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {\n"
                  "  m.def(\"f\", &host, \"a function\");\n}\n",
                  "'f'", kPlainModel));
  EXPECT_EQ(stopped(found), "imported");
  EXPECT_THAT(found.yaml, HasSubstr("grid: [\"ceil_div(batch_size * dim, 256)\"]"));
}

TEST(Idioms, OptionalTensorsAndNullPointers) {
  const Imported found = imported(
      "1/19", kernel_file("__global__ void k(const float* x, const float* b, float* y, bool has, "
                          "int n) {}\n"
                          "torch::Tensor f(torch::Tensor x, c10::optional<torch::Tensor> b) {\n"
                          "  auto y = torch::empty_like(x);\n"
                          "  k<<<64, 64>>>(x.data_ptr<float>(),\n"
                          "      b.has_value() ? b.value().data_ptr<float>() : nullptr,\n"
                          "      y.data_ptr<float>(), b.has_value(), x.numel());\n  return y;\n}\n",
                          "'f'", "    def forward(self, x):\n        return ext.f(x, None)\n"));
  EXPECT_EQ(stopped(found), "imported");
  EXPECT_THAT(found.yaml, HasSubstr("args: [x, {u64: 0}, output, {bool: 0}, {i32: "));
}

TEST(Idioms, AutogradFunctionsAndHelpers) {
  const std::string file = relu_file();
  const size_t model = file.find("class ModelNew");
  const std::string wrapped =
      file.substr(0, model) +
      "class Relu(torch.autograd.Function):\n    @staticmethod\n    def forward(ctx, x):\n"
      "        ctx.save_for_backward(x)\n        return ext.relu(x)\n\n"
      "def helper(x, *, scale=1):\n    if not x.is_contiguous():\n        x = x.contiguous()\n"
      "    return Relu.apply(x)\n\n"
      "class ModelNew(nn.Module):\n    def forward(self, x):\n        return helper(x)\n";
  EXPECT_EQ(stopped(imported("1/19", wrapped)), "imported");
}

TEST(Idioms, TransposedOperandsOfAMatrixProduct) {
  const std::string file = relu_file();
  const size_t model = file.find("class ModelNew");
  const Imported found =
      imported("1/16", file.substr(0, model) +
                           "class ModelNew(nn.Module):\n    def forward(self, A, B):\n"
                           "        return ext.relu(torch.matmul(A.T, B))\n");
  EXPECT_EQ(stopped(found), "imported");
  EXPECT_THAT(found.operators, ElementsAre("matmul"));
  EXPECT_THAT(found.yaml,
              HasSubstr("{op: matmul, in: [A, B], out: t0, attributes: {transpose_a: 1}}"));
}

TEST(Idioms, TwoExtensionsAndAViewBetween) {
  std::string file = relu_file();
  const size_t model = file.find("class ModelNew");
  const Imported found = imported(
      "1/19",
      file.substr(0, model) +
          "second = load_inline(name='b', cpp_sources=['torch::Tensor relu(torch::Tensor);'],\n"
          "    cuda_sources=[source.replace('0.f', '0.0f')], functions=['relu'],\n"
          "    extra_cuda_cflags=['-O3', '--use_fast_math'])\n"
          "class ModelNew(nn.Module):\n    def forward(self, x):\n"
          "        B, D = x.shape\n        y = ext.relu(x.view(-1))\n"
          "        return second.relu(y).view(B, D)\n");
  EXPECT_EQ(stopped(found), "imported");
  EXPECT_THAT(found.yaml, HasSubstr("  relu_kernel_2:\n"));
  EXPECT_THAT(found.yaml, HasSubstr("args: [t0, output, {i32: \"batch_size * dim\"}]"));
}

}  // namespace
}  // namespace kbench::testing
