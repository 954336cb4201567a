// PyTorch in the baseline's place: it is timed, the truth stays kbench's, and what fails in it is
// not the candidate's fault.
#include <cstdlib>
#include <filesystem>

#include "kbench/listing.h"
#include "tests/error_of.h"
#include "tests/judge/evaluator_fixture.h"
#include "tests/support/needs_torch.h"

namespace kbench::testing {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

/// One judge for all, but for the tests that take another opponent or a new judge.
class OpponentTest : public EvaluatorTest {
 protected:
  OpponentTest() { shares_ = true; }
  void SetUp() override {
    EvaluatorTest::SetUp();
    asked_.opponent = opponent_from_name("torch");
    asked_.plan.min_samples = 8;
    if (IsSkipped()) return;
    KBENCH_NEED_TORCH();
    // One that computes on a GPU, where the device is one.
    if (!torch_runs()) GTEST_SKIP() << "no PyTorch for this device";
  }

  /// Evaluates once, as the judge searches the interpreter.
  bool torch_runs() {
    static const bool kRuns = [this] {
      try {
        return run(right()).correct();
      } catch (const Error& error) {
        return error.code() != ErrorCode::kUnsupported;
      }
    }();
    return kRuns;
  }
  static std::string module_of(const char* task) {
    const Task& found = find_task(parse_task_id(task));
    return pytorch_module(found, *build_graph(found, Preset::smoke));
  }
  Result run_module(const std::string& text) {
    folder_.write("model_new.py", text);
    return ask(folder_.path("model_new.py"));
  }
};

TEST_F(OpponentTest, IsTimedBesideAShader) {
  const Result result = run(right());
  ASSERT_TRUE(result.correct()) << result.message;
  EXPECT_EQ(result.baseline, "torch");
  EXPECT_THAT(result.opponent, StartsWith("PyTorch "));
  EXPECT_THAT(result.opponent, HasSubstr("torch, without TF32"));
  EXPECT_EQ(result.opponent_finding, "");
  EXPECT_GT(result.baseline_ms, 0);
  EXPECT_EQ(result.lane, "vulkan");
}

TEST_F(OpponentTest, SaysWhetherItsConvolutionsMayBeInTf32) {
  for (const bool tf32 : {true, false}) {  // One process takes both.
    asked_.opponent = opponent_from_name(tf32 ? "torch+tf32" : "torch");
    const Result result = run(right());
    ASSERT_TRUE(result.correct()) << result.message;
    EXPECT_EQ(result.baseline, name_of(asked_.opponent));
    EXPECT_THAT(result.opponent, HasSubstr(tf32 ? "convolutions in TF32" : "without TF32"));
  }
}

TEST_F(OpponentTest, IsTimedAsAModuleIsAndTakesOneTaskAfterAnother) {
  for (const char* task : {"level1/19", "level1/40", "level2/1", "level3/43"}) {
    const Result result = run_module(module_of(task));
    ASSERT_TRUE(result.correct()) << task << ": " << result.message;
    EXPECT_EQ(result.lane, "torch");
    EXPECT_EQ(result.opponent_finding, "") << task;
    EXPECT_GT(result.speedup.high, 0.2) << task;  // They are the same program.
    EXPECT_LT(result.speedup.low, 5) << task;
  }
}

TEST_F(OpponentTest, AModuleOnACpuDeviceIsNotCapturedByItsOwnWord) {
  const Result result = run_module(R"(# task: level1/19
import sys

import torch

driver = sys.modules["__main__"]
run = driver.Model.run
driver.Model.run = lambda self, *request: dict(run(self, *request), captured=True)


class ModelNew(torch.nn.Module):
  def forward(self, x):
    return torch.relu(x)
)");
  ASSERT_TRUE(result.correct()) << result.message;
  if (only_software_devices()) {
    EXPECT_EQ(result.lane, "torch");
  }
}

TEST_F(OpponentTest, WhatIsWrittenToAnInputOfAnyCallIsTheCandidatesFault) {
  const Result in_place = run_module(R"(# task: level1/19
import torch


class ModelNew(torch.nn.Module):
  def forward(self, x):
    return x.relu_()
)");
  EXPECT_EQ(name_of(in_place.verdict), "input_modified");
  EXPECT_THAT(in_place.message, StartsWith("input x was written to")) << in_place.message;
  if (!only_software_devices()) return;  // On a GPU a module has copies of later calls' inputs.
  const Result later = run_module(R"(# task: level1/19
import sys

import torch


class ModelNew(torch.nn.Module):
  def forward(self, x):
    y = torch.relu(x)
    if sys._getframe(1).f_back.f_locals.get("call", 0) > 0:
      x.fill_(float("nan"))
    return y
)");
  EXPECT_EQ(name_of(later.verdict), "input_modified");
  EXPECT_THAT(later.message, StartsWith("input x of call 2 was written to")) << later.message;
  EXPECT_EQ(later.opponent_finding, "");
}

TEST_F(OpponentTest, DoesNotDecideWhatIsRight) {
  const Result wrong = run(relu("if (i < n) y[i] = x[i];"));
  EXPECT_EQ(name_of(wrong.verdict), "wrong_values") << wrong.message;
}

TEST_F(OpponentTest, IsReadyForTheNextTaskWhereACandidateWasRefused) {
  shares_ = false;
  EXPECT_EQ(name_of(run(relu("no such thing")).verdict), "compile_error");
  const Result result = run_module(module_of("level1/20"));
  EXPECT_TRUE(result.correct()) << result.message;
}

TEST_F(OpponentTest, ThatThisPyTorchLacksIsNotTheCandidatesFault) {
  asked_.opponent = opponent_from_name("torch.compile:max-autotune");
  try {  // PyTorch 2 and later
    const Result result = run(right());
    EXPECT_TRUE(result.correct()) << result.message;
    EXPECT_THAT(result.opponent, HasSubstr("torch.compile:max-autotune"));
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kUnsupported);
    EXPECT_THAT(error.message(), HasSubstr("the opponent torch.compile:max-autotune: PyTorch 1."));
    EXPECT_THAT(error.message(), HasSubstr("has no torch.compile"));
  }
}

TEST_F(OpponentTest, TheBestIsTheOneThatThereIs) {
  asked_.opponent = opponent_from_name("best");
  for (int i = 0; i < 2; ++i) {
    const Result result = run(right());
    ASSERT_TRUE(result.correct()) << result.message;
    if (!result.opponent.starts_with("PyTorch 1.")) return;  // The faster of two.
    EXPECT_THAT(result.opponent, HasSubstr("torch, without TF32"));
    EXPECT_THAT(said_of(result), ElementsAre(HasSubstr("has no torch.compile")));
  }
}

/// Takes a PyTorch 2 on a CPU: a virtual environment of Python's, in which the installed PyTorch is
/// called 2.0 and has a torch.compile that takes its time: 60 ms a call, with max-autotune none,
/// and with max-autotune-no-cudagraphs it fails.
class CompiledOpponentTest : public OpponentTest {
 protected:
  void SetUp() override {
    OpponentTest::SetUp();
    shares_ = false;
    if (IsSkipped()) return;
    if (!only_software_devices()) GTEST_SKIP() << "compiled on a GPU by what is installed";
    const std::string made = "/usr/bin/python3 -m venv --without-pip --system-site-packages '" +
                             folder_.path("venv") + "' 2>/dev/null";
    if (std::system(made.c_str()) != 0) GTEST_SKIP() << "no module venv";
    for (const auto& entry : std::filesystem::directory_iterator(folder_.path("venv/lib"))) {
      const std::string packages =
          "venv/lib/" + entry.path().filename().string() + "/site-packages/";
      folder_.write(packages + "kbench_two.pth", "import kbench_two\n");
      folder_.write(packages + "kbench_two.py", kTwo);
    }
    setenv("KBENCH_PYTHON", folder_.path("venv/bin/python3").c_str(), 1);
  }
  void TearDown() override {
    unsetenv("KBENCH_PYTHON");
    OpponentTest::TearDown();
  }

  static constexpr char kTwo[] = R"(
import importlib.abc, importlib.machinery, sys, time


def compiled(module, mode):
  import torch

  class Compiled(torch.nn.Module):
    def __init__(self):
      super().__init__()
      self.module, self.calls = module, 0

    def forward(self, *inputs):
      if mode == "max-autotune-no-cudagraphs":
        raise RuntimeError("NoValidChoicesError: no choices to select")
      self.calls += 1
      time.sleep(0 if mode == "max-autotune" else 0.06)
      return self.module(*inputs)

  return Compiled()


class Two(importlib.abc.MetaPathFinder):
  def find_spec(self, name, path, target=None):
    if name != "torch":
      return None
    sys.meta_path.remove(self)
    spec = importlib.machinery.PathFinder.find_spec(name)
    load = spec.loader.exec_module

    def exec_module(torch):
      load(torch)
      torch.__version__ = "2.0"
      torch.compile = compiled
      torch.compiler = type("compiler", (), {"cudagraph_mark_step_begin": staticmethod(int)})

    spec.loader.exec_module = exec_module
    return spec


sys.meta_path.insert(0, Two())
)";
};

TEST_F(CompiledOpponentTest, ModesHaveNamesAndTheFastestOfThoseAskedForIsTimed) {
  asked_.opponent = opponent_from_name(
      "best:torch.compile,torch.compile:max-autotune,torch.compile:max-autotune-no-cudagraphs");
  for (int i = 0; i < 2; ++i) {  // The second trial knows the choice.
    const Result result = run(right());
    ASSERT_TRUE(result.correct()) << result.message;
    EXPECT_EQ(result.baseline, name_of(asked_.opponent));
    EXPECT_EQ(result.opponent, "PyTorch 2.0, torch.compile:max-autotune, without TF32");
    EXPECT_EQ(result.opponent_finding, "");
    EXPECT_LT(result.baseline_ms, 40);
    EXPECT_THAT(said_of(result),
                ElementsAre(AllOf(
                    StartsWith("left out: the opponent torch.compile:max-autotune-no-cudagraphs "
                               "cannot run the task: "),
                    HasSubstr("no choices to select"))));
  }
}

TEST_F(CompiledOpponentTest, TheFastestIsTimedAgainWhereItWasNotTheLast) {
  asked_.opponent = opponent_from_name("best:torch.compile:reduce-overhead,torch.compile,torch");
  const Result result = run_module(module_of("level1/19"));
  ASSERT_TRUE(result.correct()) << result.message;
  EXPECT_EQ(result.opponent, "PyTorch 2.0, torch, without TF32");
  EXPECT_LT(result.baseline_ms, 40);
  EXPECT_THAT(said_of(result), ::testing::IsEmpty());
}

TEST_F(CompiledOpponentTest, AModeIsTimedAloneWhereItIsAskedForAlone) {
  asked_.opponent = opponent_from_name("torch.compile:reduce-overhead");
  const Result result = run(right());
  ASSERT_TRUE(result.correct()) << result.message;
  EXPECT_EQ(result.opponent, "PyTorch 2.0, torch.compile:reduce-overhead, without TF32");
  EXPECT_GT(result.baseline_ms, 60);
}

TEST_F(CompiledOpponentTest, ThatFailsAloneIsAHarnessError) {
  asked_.opponent = opponent_from_name("torch.compile:max-autotune-no-cudagraphs");
  const Result result = run(right());
  EXPECT_EQ(name_of(result.verdict), "harness_error");
  EXPECT_THAT(result.message,
              HasSubstr("the opponent torch.compile:max-autotune-no-cudagraphs cannot run the "
                        "task: its forward fails: RuntimeError: NoValidChoicesError"));
}

TEST_F(OpponentTest, WithoutPyTorchIsAnError) {
  shares_ = false;
  setenv("KBENCH_PYTHON", "/bin/false", 1);
  const Error error = error_of([&] { run(right()); });
  EXPECT_EQ(error.code(), ErrorCode::kUnsupported);
  EXPECT_THAT(error.message(), HasSubstr("the opponent torch: takes a python3"));
  unsetenv("KBENCH_PYTHON");
}

}  // namespace
}  // namespace kbench::testing
