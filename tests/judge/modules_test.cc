// ModelNew files from end to end: what is honest passes, and what takes too long ends by the limit
// that its message names.
#include <cstdlib>
#include <string>

#include "tests/judge/evaluator_fixture.h"
#include "tests/support/needs_torch.h"

namespace kbench::testing {
namespace {

using ::testing::HasSubstr;

/// One judge for all, but for the tests that change its options.
class ModuleTest : public EvaluatorTest {
 protected:
  ModuleTest() { shares_ = true; }
  void SetUp() override {
    EvaluatorTest::SetUp();
    where_.device = "cpu";
    if (!IsSkipped()) KBENCH_NEED_TORCH();
  }
  Result judged(const std::string& task, const std::string& text) {
    folder_.write("model_new.py", text + "\n# task: " + task + "\n");
    return ask(folder_.path("model_new.py"));
  }
};

TEST_F(ModuleTest, MayBeAnotherNameOfAClassBelowAnIf) {
  const Result result = judged("level1/19",
                               "\xEF\xBB\xBF"
                               "import torch\n"
                               "if torch.__version__:\n"
                               "  class  Fast(torch.nn.Module):\n"
                               "    def forward(self, x, dim=1):\n"  // of a variable's name
                               "      return torch.relu(x.transpose(0, dim)).transpose(0, dim)\n"
                               "  ModelNew = Fast\n");
  EXPECT_EQ(name_of(result.verdict), "passed") << result.message;
}

/// As KernelBench's file of this task is called; its name for it is `s`.
TEST_F(ModuleTest, TakesItsTasksScalar) {
  for (const std::string more : {"", "s", "scalar"}) {
    const Result result = judged("level1/5",
                                 "import torch\n"
                                 "class ModelNew(torch.nn.Module):\n"
                                 "  def forward(self, A" +
                                     (more.empty() ? "" : ", " + more) +
                                     "):\n"
                                     "    return A * " +
                                     (more.empty() ? "3.14" : more) + "\n");
    EXPECT_EQ(name_of(result.verdict), "passed") << more << ": " << result.message;
  }
}

TEST_F(ModuleTest, MayHaveLazyWeightsAndSuchMadeInInferenceMode) {
  for (const char* layer : {"torch.nn.LazyLinear(outputs)", "torch.nn.Linear(inputs, outputs)"}) {
    const Result result = judged("level2/29",
                                 "import torch\n"
                                 "import torch.nn.functional as F\n"
                                 "class ModelNew(torch.nn.Module):\n"
                                 "  def __init__(self, inputs, outputs):\n"
                                 "    super().__init__()\n"
                                 "    with torch.inference_mode():\n"
                                 "      self.linear = " +
                                     std::string(layer) +
                                     "\n"
                                     "  def forward(self, x):\n"
                                     "    return F.mish(F.mish(self.linear(x)))\n");
    EXPECT_EQ(name_of(result.verdict), "passed") << layer << ": " << result.message;
  }
}

/// level1/100 has a single column there.
TEST_F(ModuleTest, ThatFailsAtV0IsToldWhatTheFirstReleaseHad) {
  shares_ = false;
  const auto hinge = [](const std::string& targets) {
    return "import torch\n"
           "class ModelNew(torch.nn.Module):\n"
           "  def forward(self, predictions, targets):\n"
           "    return (1 - predictions * targets" +
           targets + ").clamp(min=0).mean()\n";
  };
  for (const char* preset : {"v0", "smoke"}) {
    asked_.preset = preset;
    const Result right = judged("level1/100", hinge(""));
    EXPECT_EQ(name_of(right.verdict), "passed") << right.message;
    EXPECT_THAT(said_of(right), ::testing::IsEmpty());
  }
  asked_.preset = "v0";
  const Result wrong = judged("level1/100", hinge("[:, None]"));
  EXPECT_TRUE(is_about_values(wrong.verdict)) << wrong.message;
  ASSERT_EQ(wrong.diagnostics.size(), 1u);
  EXPECT_EQ(wrong.diagnostics[0].severity, "note");
  EXPECT_THAT(wrong.diagnostics[0].message, HasSubstr("its targets are a column, not a vector"));
}

TEST_F(ModuleTest, HasTheTasksWeightsInItsInit) {
  const auto with_init = [&](const std::string& init, const std::string& weight) {
    return judged("level2/29",
                  "import torch\n"
                  "import torch.nn.functional as F\n"
                  "class ModelNew(torch.nn.Module):\n"
                  "  def __init__(self, inputs, outputs):\n"
                  "    super().__init__()\n" +
                      init +
                      "  def forward(self, x):\n"
                      "    return F.mish(F.mish(torch.addmm(self.bias, x, " +
                      weight + ")))\n");
  };
  const Result packed = with_init(
      "    self.linear = torch.nn.Linear(inputs, outputs)\n"
      "    self.bias = self.linear.bias\n"
      "    self.register_buffer('t', self.linear.weight.detach().t().contiguous())\n",
      "self.t");
  EXPECT_EQ(name_of(packed.verdict), "passed") << packed.message;
  const Result without = with_init(
      "    self.weight = torch.nn.Parameter(torch.randn(outputs, inputs))\n"
      "    self.bias = torch.zeros(outputs)\n",
      "self.weight.t()");
  EXPECT_EQ(name_of(without.verdict), "invalid_candidate") << without.message;
  EXPECT_THAT(without.message, HasSubstr("ModelNew leaves out the task's linear.bias ["));
}

TEST_F(ModuleTest, WithCudaCodeIsUnsupportedWhereThereIsNoCuda) {
  const Result result =
      judged("level1/19",
             "import torch\n"
             "from torch.utils.cpp_extension import load_inline\n"
             "made = load_inline('made', cpp_sources='torch::Tensor f(torch::Tensor x);',\n"
             "                   cuda_sources='torch::Tensor f(torch::Tensor x) { return x; }',\n"
             "                   functions=['f'])\n"
             "class ModelNew(torch.nn.Module):\n"
             "  def forward(self, x):\n"
             "    return made.f(x)\n");
  EXPECT_EQ(name_of(result.verdict), "unsupported") << result.message;
  EXPECT_THAT(result.message, HasSubstr("this device has no CUDA"));
}

TEST_F(ModuleTest, ACrashSaysPhaseCallAndLine) {
  const auto model = [&](const std::string& init, const std::string& forward) {
    return judged("level1/19",
                  "import ctypes, warnings\n"
                  "import torch\n"
                  "class ModelNew(torch.nn.Module):\n"
                  "  def __init__(self):\n"
                  "    super().__init__()\n"
                  "    self.calls = 0\n" +
                      init +
                      "  def forward(self, x):\n"
                      "    self.calls += 1\n"
                      "    warnings.warn('an old function')\n" +
                      forward + "    return torch.relu(x)\n");
  };
  const std::string dies = "    ctypes.string_at(0)\n";
  const Result in_forward = model("", dies);
  EXPECT_EQ(name_of(in_forward.verdict), "crashed") << in_forward.message;
  EXPECT_THAT(in_forward.message, HasSubstr("in a call of forward(): signal 11"));
  EXPECT_THAT(in_forward.message, HasSubstr("Segmentation fault in forward (line 10)"));
  const Result in_init = model(dies, "");
  EXPECT_EQ(name_of(in_init.verdict), "crashed") << in_init.message;
  EXPECT_THAT(in_init.message, HasSubstr("while ModelNew was made: signal 11"));
  EXPECT_THAT(in_init.message, HasSubstr("in __init__ (line 7)"));
  const Result first = model("", "    nothing(x)\n");
  EXPECT_THAT(first.message, HasSubstr("is not defined, in its first call (line 10)"));
  const Result later = model("", "    if self.calls == 3: nothing(x)\n");
  EXPECT_THAT(later.message, ::testing::ContainsRegex("is not defined, in (a later call|call [0-9] "
                                                      "of [0-9]) \\(line 10\\)"));
}

/// The first runs of a module have the time of compiling.
TEST_F(ModuleTest, ThatDoesNotEndIsEndedByTheLimitThatItsMessageNames) {
  asked_.limits.device_seconds = 1;
  asked_.limits.compile_seconds = 5;
  const Result result = judged("level1/19",
                               "import torch\n"
                               "class ModelNew(torch.nn.Module):\n"
                               "  def forward(self, x):\n"
                               "    while True: pass\n");
  EXPECT_EQ(name_of(result.verdict), "timeout");
  EXPECT_THAT(result.message, HasSubstr("took longer than 5 s"));
  EXPECT_THAT(result.message, HasSubstr("--compile-seconds sets the limit"));
}

TEST_F(ModuleTest, ThatDoesNotEndAtOtherSizesIsEndedByTheLimitOfAll) {
  asked_.rule.other_sizes = OtherSizes::note;
  asked_.limits.device_seconds = 300;
  asked_.limits.compile_seconds = 300;
  asked_.limits.total_seconds = 12;
  const Result result = judged("level1/19",
                               "import time\n"
                               "import torch\n"
                               "class ModelNew(torch.nn.Module):\n"
                               "  def forward(self, x):\n"
                               "    while x.numel() - 399 > 1: time.sleep(1)\n"
                               "    return torch.relu(x)\n");
  EXPECT_EQ(name_of(result.verdict), "timeout");
  EXPECT_THAT(result.message, HasSubstr("took longer than 12 s in all"));
  EXPECT_THAT(result.message, HasSubstr("--total-seconds sets the limit"));
  EXPECT_LT(result.wall_s, 250);  // Any other limit is above this.
}

}  // namespace
}  // namespace kbench::testing
