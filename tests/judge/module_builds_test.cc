// Before a module runs: what is killed as it compiles or starts, and what never ends.
#include <signal.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>

#include "tests/judge/evaluator_fixture.h"
#include "tests/judge/processes.h"
#include "tests/support/needs_torch.h"

namespace kbench::testing {
namespace {

/// Its text says load_inline: the module is loaded once to compile what that would.
constexpr char kModule[] = R"(# task: level1/19
# load_inline
import time
import torch
TOP
class ModelNew(torch.nn.Module):
  def forward(self, x):
    return torch.relu(x)
)";

std::string module_with(const std::string& top) {
  std::string text = kModule;
  return text.replace(text.find("TOP"), 3, top);
}

/// Kills one process below a judge's Python server whose command says this; returns once that is
/// done, or when there is to be none.
int kill_one(const std::string& command, const std::stop_token& stop) {
  while (!stop.stop_requested()) {
    for (const pid_t judge : judges()) {
      for (const pid_t server : children_of(judge)) {
        for (const pid_t job : children_of(server)) {
          const bool meant = command_of(job).find(command) != std::string::npos;
          if (meant && kill(job, SIGKILL) == 0) return 1;
        }
      }
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return 0;
}

class ModuleBuilds : public EvaluatorTest {
 protected:
  void SetUp() override {
    setenv("KBENCH_CACHE", "", 1);  // What an earlier run of this test built is not built again.
    EvaluatorTest::SetUp();
    if (IsSkipped()) return;
    // PyTorch takes seconds to start, on a busy machine many.
    asked_.limits = {.compile_seconds = 60, .device_seconds = 60, .total_seconds = 200};
    KBENCH_NEED_TORCH();
    static const bool kRuns = run_module(module_with("")).verdict != Verdict::unsupported;
    if (kRuns) return;
    if (std::getenv("KBENCH_REQUIRE_TORCH") != nullptr) FAIL() << "no PyTorch for this device";
    GTEST_SKIP() << "no PyTorch for this device";
  }
  Result run_module(const std::string& text) {
    folder_.write("model_new.py", text);
    return evaluate(about(folder_.path("model_new.py")), where_);
  }
  /// Kills the first process whose command says this, and expects `passed` for the module.
  void expect_right_though_killed(const std::string& command, const std::string& text) {
    int kills = 0;
    std::jthread killer([&](const std::stop_token& stop) { kills = kill_one(command, stop); });
    const Result result = run_module(text);
    killer.request_stop();
    killer.join();
    EXPECT_EQ(kills, 1);
    EXPECT_EQ(name_of(result.verdict), "passed") << result.message;
    expect_accounted(result);
  }
};

TEST_F(ModuleBuilds, OneKilledFromOutsideCostsNoVerdict) {
  expect_right_though_killed("script.py", module_with("time.sleep(1)"));
}

TEST_F(ModuleBuilds, APyTorchKilledAsItStartsCostsNoVerdict) {
  expect_right_though_killed("driver.py", module_with(""));
}

TEST_F(ModuleBuilds, ACheckMakesTheModule) {
  const auto check_module = [&](const std::string& text) {
    folder_.write("model_new.py", text);
    return check(folder_.path("model_new.py"));
  };
  EXPECT_EQ(name_of(check_module(module_with("")).verdict), "compiles");
  const auto refused = [&](const std::string& text, const char* verdict, const char* says) {
    const Result result = check_module(text);
    EXPECT_EQ(name_of(result.verdict), verdict) << text;
    EXPECT_THAT(result.message, ::testing::HasSubstr(says));
  };
  refused(module_with("def f(x)"), "compile_error", "SyntaxError: expected ':' (line 5)");
  refused(module_with("import nothing_here"), "compile_error", "No module named 'nothing_here'");
  const std::string head = "# task: level1/19\nimport torch\nclass ModelNew(torch.nn.Module):\n";
  refused(head + "  def __init__(self, a):\n    pass\n", "invalid_candidate", "argument: 'a'");
  refused(head + "  def __init__(self):\n    import os\n    os._exit(3)\n", "crashed",
          "ended while ModelNew was made: exit status 3");
  refused(head +
              "  def __init__(self):\n    super().__init__()\n"
              "    self.l = torch.nn.LazyLinear(7)\n"
              "  def forward(self, x):\n    return self.l(x)\n",
          "invalid_candidate", "ModelNew has l.weight");
}

/// A python3 in which no memory can be mapped: on a CPU device kbench maps the task's tensors
/// before the module is loaded.
TEST_F(ModuleBuilds, MemoryThatKbenchLacksInItsProcessIsNotItsFault) {
  const char* given = std::getenv("KBENCH_PYTHON");
  const std::string before = given == nullptr ? "" : given;
  const std::string venv = folder_.path("venv");
  const std::string make = "'" + (before.empty() ? "python3" : before) +
                           "' -m venv --without-pip --system-site-packages '" + venv + "'";
  ASSERT_EQ(std::system(make.c_str()), 0) << make;  // NOLINT: a program of the test's own
  std::string packages;
  for (const auto& each : std::filesystem::directory_iterator(venv + "/lib")) {
    packages = each.path() / "site-packages";
  }
  std::ofstream(packages + "/no_memory.pth") << "import no_memory\n";
  std::ofstream(packages + "/no_memory.py")
      << "import mmap\n"
         "def map_none(*arguments, **named):\n"
         "  raise RuntimeError('CUDA out of memory. Tried to allocate 8.00 GiB')\n"
         "mmap.mmap = map_none\n";
  setenv("KBENCH_PYTHON", (venv + "/bin/python3").c_str(), 1);
  const Result result = run_module(module_with(""));
  before.empty() ? unsetenv("KBENCH_PYTHON") : setenv("KBENCH_PYTHON", before.c_str(), 1);
  EXPECT_EQ(name_of(result.verdict), "does_not_fit");
  EXPECT_THAT(result.message, ::testing::HasSubstr("no memory for the task's tensors"));
  EXPECT_THAT(result.message, ::testing::HasSubstr("Tried to allocate 8.00 GiB"));
  EXPECT_EQ(result.task, (TaskId{1, 19}));
}

/// With extensions that are compiled: takes PyTorch's headers.
class ModuleExtensions : public ModuleBuilds {
 protected:
  void SetUp() override {
    ModuleBuilds::SetUp();
    if (IsSkipped()) return;
    for (const auto& [header, package] : {std::pair("torch/extension.h", "libtorch-dev"),
                                          std::pair("pybind11/pybind11.h", "pybind11-dev")}) {
      if (!std::filesystem::exists(std::string("/usr/include/") + header)) {
        GTEST_SKIP() << "needs " << header << " (Debian: " << package << ")";
      }
    }
    static testing_support::ScratchFolder cache;  // kbench's library is made once for all tests.
    setenv("KBENCH_CACHE", cache.path("kbench").c_str(), 1);
  }
  /// ReLU by an extension of this body, made by `where`: "forward" or "init".
  static std::string module_of(const std::string& body, const std::string& where,
                               const std::string& otherwise = "raise") {
    std::string text = R"(# task: level1/19
import torch
from torch.utils.cpp_extension import load_inline
CODE = """
torch::Tensor relu(torch::Tensor x) {
  BODY
}
"""
def made():
  try:
    return load_inline(name="own", cpp_sources=CODE, functions=["relu"]).relu
  except Exception:
    OTHERWISE
class ModelNew(torch.nn.Module):
  def __init__(self):
    super().__init__()
    self.own = made() if "WHERE" == "init" else None
  def forward(self, x):
    if self.own is None:
      self.own = made()
    return self.own(x)
)";
    for (const auto& [name, value] : {std::pair<std::string, std::string>{"BODY", body},
                                      {"OTHERWISE", otherwise},
                                      {"WHERE", where}}) {
      text.replace(text.find(name), name.size(), value);
    }
    return text;
  }
};

TEST_F(ModuleExtensions, AreBuiltWhereverTheModuleMakesThem) {
  for (const char* where : {"init", "forward"}) {
    const Result result = run_module(module_of("return x.clamp_min(0);", where));
    EXPECT_EQ(name_of(result.verdict), "passed") << where << ": " << result.message;
    EXPECT_GT(result.compile_s, 0) << where;
    EXPECT_THAT(said_of(result), ::testing::IsEmpty()) << where;
  }
}

TEST_F(ModuleExtensions, ErrorsAreAtTheLinesOfTheFile) {
  const Result result = run_module(module_of("return rlu(x);", "forward"));
  ASSERT_EQ(name_of(result.verdict), "compile_error") << result.message;
  ASSERT_FALSE(result.diagnostics.empty());
  EXPECT_EQ(result.diagnostics[0].file, folder_.path("model_new.py"));
  EXPECT_EQ(result.diagnostics[0].line, 6);
  EXPECT_NE(result.diagnostics[0].message.find("rlu"), std::string::npos);
}

TEST_F(ModuleExtensions, AFileThatGoesOnWithoutOneSaysSo) {
  const Result result = run_module(module_of("return rlu(x);", "forward", "return torch.relu"));
  EXPECT_EQ(name_of(result.verdict), "passed") << result.message;
  ASSERT_GE(result.diagnostics.size(), 2u);
  EXPECT_NE(result.diagnostics[0].message.find("does not compile"), std::string::npos);
  EXPECT_EQ(result.diagnostics[1].severity, "warning");
}

}  // namespace
}  // namespace kbench::testing
