// What is not followed is said, with its line; no text makes the reader fail otherwise.
#include "tests/import/support.h"

namespace kbench::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

/// relu_file() with a part replaced.
std::string changed(const std::string& part, const std::string& with) {
  std::string file = relu_file();
  const size_t at = file.find(part);
  EXPECT_NE(at, std::string::npos) << part;
  return file.replace(at, part.size(), with);
}

TEST(Refusals, CallsOfPyTorchAndCublasInHostCode) {
  EXPECT_EQ(stopped(imported("1/19", changed("torch::empty_like(x)", "torch::relu(x)"))),
            "library_call 15: host code calls 'torch::relu'");
  EXPECT_THAT(stopped(imported("1/19", changed("int n = x.numel();",
                                               "cublasSgemm(0, x.data_ptr<float>()); int n = 1;"))),
              StartsWith("library_call 16: host code calls 'cublasSgemm'"));
  EXPECT_THAT(
      stopped(imported("1/19", changed("int n = x.numel();", "int n = x.sum().item<int>();"))),
      StartsWith("library_call 16: the tensor's method 'sum'"));
}

TEST(Refusals, HalfPrecision) {
  EXPECT_THAT(stopped(imported("1/19", changed("self.ext.relu(x)", "self.ext.relu(x.half())"))),
              StartsWith("data_type"));
  EXPECT_THAT(stopped(imported("1/19", changed("x.data_ptr<float>()", "x.data_ptr<at::Half>()"))),
              StartsWith("data_type 19"));
}

TEST(Refusals, LaunchesInALoopOverASize) {
  EXPECT_EQ(stopped(imported("1/19", changed("relu_kernel<<<",
                                             "for (int b = 0; b < x.size(0); ++b) "
                                             "relu_kernel<<<"))),
            "launch 19: a launch in a loop whose count follows from a size");
  EXPECT_EQ(stopped(imported(
                "1/19", changed("relu_kernel<<<", "for (int b = 0; b < 3; ++b) relu_kernel<<<"))),
            "imported");
}

TEST(Refusals, ViewsThatNoPointerStandsFor) {
  EXPECT_THAT(stopped(imported("1/19", changed("self.ext.relu(x)", "self.ext.relu(x.t())"))),
              StartsWith("layout 19: a pointer to a transposed view"));
  EXPECT_THAT(stopped(imported("1/19", changed("self.ext.relu(x)", "self.ext.relu(x[:, 1:])"))),
              StartsWith("layout"));
}

TEST(Refusals, ParametersThatNoArgumentCanBe) {
  EXPECT_THAT(stopped(imported("1/19", changed("float* y, int n)", "float* y, dim3 n)"))),
              HasSubstr("kernel_parameter 19: parameter 'n' of 'relu_kernel' is of type 'dim3'"));
  EXPECT_THAT(stopped(imported("1/19", changed("y.data_ptr<float>(), n)", "y.data_ptr<float>())"))),
              StartsWith("kernel_parameter 19: 'relu_kernel' is launched with 2 arguments"));
}

TEST(Refusals, SyntaxIsSaidWithItsLine) {
  EXPECT_EQ(stopped(imported("1/19", changed("int n = x.numel();", "int n = x.numel()"))),
            "syntax 17: expected ';' before 'const'");
  EXPECT_THAT(stopped(imported("1/19", changed("verbose=False,", "verbose=False,,"))),
              StartsWith("syntax 29: "));
  EXPECT_THAT(stopped(imported("1/19", changed("\"\"\"\n\next", "\n\next"))),
              StartsWith("syntax 6: a string that does not end"));
  EXPECT_THAT(stopped(imported("1/19", changed("  return y;\n}\n", "  return y;\n"))),
              StartsWith("syntax"));
}

TEST(Refusals, NoModelNoKernelNoWeight) {
  EXPECT_EQ(stopped(imported("1/19", "")), "no_model 0: there is no class ModelNew");
  EXPECT_THAT(stopped(imported("1/19",
                               "import torch.nn as nn\nclass ModelNew(nn.Module):\n"
                               "    def forward(self, x):\n        return x.relu()\n")),
              StartsWith("no_cuda"));
  const std::string norm = relu_file();
  EXPECT_THAT(stopped(imported(
                  "1/19", changed("self.ext.relu(x)", "self.ext.relu(nn.Linear(4, 4).weight)"))),
              StartsWith("parameters"));
}

TEST(Refusals, DeviceCodeThatNeedsPyTorch) {
  EXPECT_THAT(
      stopped(imported("1/19", changed("if (i < n)", "at::opmath_type<float> v; if (i < n)"))),
      StartsWith("device_code 11: device code uses at::opmath_type"));
}

TEST(Refusals, ValuesThatDecide) {
  EXPECT_THAT(stopped(imported("1/19", changed("return self.ext.relu(x)",
                                               "if x.sum() > 0:\n            return x\n"
                                               "        return self.ext.relu(x)"))),
              StartsWith("torch_operator 38: '>' of tensors"));
}

TEST(Refusals, TextsThatGoOnForever) {
  EXPECT_THAT(stopped(imported(
                  "1/19", changed("int n = x.numel();", "int n = 0; while (true) { n = n + 1; }"))),
              StartsWith("limits 16"));
  EXPECT_THAT(stopped(imported("1/19", changed("#include <cuda_runtime.h>",
                                               "#define threads threads + 1\n#define n n"))),
              ::testing::AnyOf(StartsWith("limits"), "imported"));
  EXPECT_THAT(stopped(imported("1/19",
                               "def f(x):\n    return f(x)\nclass ModelNew(nn.Module):\n"
                               "    def forward(self, x):\n        return f(x)\n")),
              StartsWith("limits"));
  EXPECT_THAT(stopped(imported("1/19", "x = " + std::string(5000, '('))), StartsWith("limits"));
  EXPECT_THAT(stopped(imported(
                  "1/19", changed("int n = x.numel();", "int n = " + std::string(5000, '(') + "1" +
                                                            std::string(5000, ')') + ";"))),
              StartsWith("limits"));
  EXPECT_THAT(stopped(imported("1/19", std::string((size_t{1} << 20) + 1, ' '))),
              StartsWith("limits"));
}

TEST(Refusals, TextsAndListsThatDouble) {
  std::string doubled = "s = 'x'\nl = [1]\nn = []\n";
  for (const char* line :
       {"s = s + s\n", "l = l + l\n", "l = [l, l]\n", "n = [n]\n", "l = l * 64\n"}) {
    std::string file = doubled;
    for (int i = 0; i < 90; ++i) file += line;
    file += "class ModelNew(nn.Module):\n    def forward(self, x):\n        return f(s, l, n)\n";
    EXPECT_THAT(stopped(imported("1/19", file)), StartsWith("limits")) << line;
  }
}

TEST(Refusals, AListChangedUnderASecondName) {
  EXPECT_THAT(stopped(imported("1/19", changed("return self.ext.relu(x)",
                                               "a = [x]\n        b = a\n        b.append(x)\n"
                                               "        return self.ext.relu(a[0])"))),
              StartsWith("python 40: a change of a list that has a second name"));
}

TEST(Refusals, AnOldNameOfATensorChangedInPlace) {
  EXPECT_THAT(stopped(imported("1/19", changed("return self.ext.relu(x)",
                                               "y = x\n        y.sigmoid_()\n"
                                               "        return self.ext.relu(x)"))),
              StartsWith("python"));
  const Imported found = imported(
      "1/19", changed("return self.ext.relu(x)", "x.sigmoid_()\n        return self.ext.relu(x)"));
  EXPECT_THAT(found.operators, ::testing::ElementsAre("sigmoid"));
  EXPECT_THAT(found.yaml, HasSubstr("{op: sigmoid, in: x, out: t0}"));
}

/// __init__ may do what is not followed; nothing of that is taken for half of what it says.
TEST(Refusals, PartsMadeInALoopThatIsNotFollowed) {
  const auto with = [](const std::string& loop) {
    std::string file =
        changed("        self.ext = ext\n",
                "        self.ext = ext\n        self.parts = nn.ModuleList()\n" + loop);
    const std::string call = "return self.ext.relu(x)";
    return file.replace(file.find(call), call.size(),
                        "for p in self.parts:\n            x = p(x)\n        " + call);
  };
  EXPECT_EQ(stopped(imported("1/19", with(""))), "imported");
  EXPECT_THAT(imported("1/19", with("        for i in range(2):\n"
                                    "            self.parts.append(nn.Sigmoid())\n"))
                  .operators,
              ::testing::ElementsAre("sigmoid", "sigmoid"));
  EXPECT_THAT(stopped(imported("1/19", with("        for i in os.listdir('.'):\n"
                                            "            self.parts.append(nn.Sigmoid())\n"))),
              StartsWith("python"));
  EXPECT_THAT(stopped(imported("1/19", with("        self.parts.append(nn.Sigmoid())\n"
                                            "        self.parts.insert(0, nn.Tanh())\n"))),
              StartsWith("python"));
}

TEST(Refusals, AParameterThatNoStepReads) {
  const std::string file = kernel_file(
      "__global__ void k(float* x, int n) {}\n"
      "torch::Tensor f(torch::Tensor x) {\n"
      "  k<<<1, 256>>>(x.data_ptr<float>(), x.numel());\n  return x;\n}\n",
      "'f'",
      "    def __init__(self, in_features, out_features, multiplier, negative_slope):\n"
      "        super().__init__()\n"
      "        self.gemm = nn.Linear(in_features, out_features, bias=False)\n"
      "    def forward(self, x):\n        return ext.f(self.gemm(x))\n");
  EXPECT_EQ(
      stopped(imported("2/12", file)),
      "parameters 0: no step reads the task's parameter gemm.bias: the file leaves it out, or "
      "uses it in a way that was not followed");
}

TEST(Refusals, OperatorsOfTensorsThatHaveNoStep) {
  EXPECT_THAT(
      stopped(imported("1/19", changed("self.ext.relu(x)", "self.ext.relu(0.5 * x + x ** 3)"))),
      StartsWith("torch_operator 38: '**'"));
  EXPECT_THAT(
      stopped(imported("1/19", changed("self.ext.relu(x)", "self.ext.relu(x.unsqueeze(0).T)"))),
      StartsWith("torch_operator 38: .T"));
}

/// KernelBench declares parameters that its own forward does not read.
TEST(Refusals, AParameterThatTheTaskItselfDoesNotReadMayBeLeftOut) {
  const std::string file = kernel_file(
      "__global__ void k(float* x, int n) {}\n"
      "torch::Tensor f(torch::Tensor x) {\n"
      "  k<<<1, 256>>>(x.data_ptr<float>(), x.numel());\n  return x;\n}\n",
      "'f'",
      "    def __init__(self, in_channels, out_channels, kernel_size, stride, padding,\n"
      "                 output_padding, bias_shape):\n"
      "        super().__init__()\n"
      "        self.conv_transpose = nn.ConvTranspose3d(in_channels, out_channels, kernel_size,\n"
      "            stride=stride, padding=padding, output_padding=output_padding)\n"
      "    def forward(self, x, add_input):\n"
      "        return ext.f(self.conv_transpose(x) + add_input)\n");
  EXPECT_EQ(stopped(imported("2/26", file)), "imported");
}

TEST(Refusals, TritonIsSaid) {
  EXPECT_THAT(stopped(imported("1/19",
                               "import triton\n@triton.jit\ndef k(x):\n    pass\n"
                               "class ModelNew(nn.Module):\n    def forward(self, x):\n"
                               "        return x\n")),
              HasSubstr("Triton"));
}

/// As a model's answer is where its tokens run out.
TEST(Refusals, TextsCutOffAnywhere) {
  const std::string file = changed("        return self.ext.relu(x)\n",
                                   "        try:\n"
                                   "            with torch.cuda.device(x.device):\n"
                                   "                f = lambda v: self.ext.relu(v)\n"
                                   "        except RuntimeError:\n"
                                   "            pass\n"
                                   "        return self.ext.relu(x)\n");
  EXPECT_EQ(stopped(imported("1/19", file)), "imported");
  for (size_t length = 0; length < file.size(); ++length) {
    const Imported found = imported("1/19", file.substr(0, length));
    EXPECT_NE(found.yaml.empty(), found.obstacles.empty()) << length;
  }
}

}  // namespace
}  // namespace kbench::testing
