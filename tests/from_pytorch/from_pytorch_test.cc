// Tasks made of PyTorch's modules: every task, printed as a problem's file, comes back as the graph
// that it was; what cannot be made a task says why, and where.
#include "harness/evaluate/from_pytorch/from_pytorch.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <map>
#include <string>
#include <vector>

#include "harness/evaluate/from_pytorch/compare.h"
#include "harness/measure/runner/python_interpreter.h"
#include "kbench/error.h"
#include "kbench/listing.h"
#include "kbench/reference.h"
#include "kbench/task_file.h"
#include "libkbench/base/files.h"
#include "tests/error_of.h"
#include "tests/from_pytorch/same_graph.h"
#include "tests/support/needs_torch.h"

namespace kbench {
namespace {

using from_pytorch::Problem;
using from_pytorch::Traced;

class FromPytorch : public ::testing::Test {
 protected:
  void SetUp() override { KBENCH_NEED_TORCH(); }

  static std::vector<Traced> trace(const std::vector<Problem>& problems, double seconds = 60) {
    runner::PythonHelper python;
    return from_pytorch::trace(python, problems, seconds);
  }

  static Problem problem(const std::string& text) {
    return {.text = text, .shown = "problem.py", .name = "my/problem"};
  }

  /// A model whose forward(x) has that body, of one input [2, 3].
  static Problem body(const std::string& lines, const std::string& made = "") {
    return problem(
        "import torch\nimport torch.nn as nn\nimport torch.nn.functional as F\n"
        "class Model(nn.Module):\n    def __init__(self):\n        super().__init__()\n" +
        made + "    def forward(self, x):\n" + lines +
        "def get_inputs():\n    return [torch.rand(2, 3)]\n"
        "def get_init_inputs():\n    return []\n");
  }

  static std::string error_in(const Problem& problem, double seconds = 60) {
    return errors_in({problem}, seconds).at(0);
  }

  /// One of each, from one process.
  static std::vector<std::string> errors_in(const std::vector<Problem>& problems,
                                            double seconds = 60) {
    std::vector<std::string> errors;
    for (const Traced& traced : trace(problems, seconds)) {
      EXPECT_EQ(traced.task, "");
      errors.push_back(traced.error);
    }
    return errors;
  }

  /// Operators of the graph of each problem, in order: "linear relu".
  static std::vector<std::string> operators_of(const std::vector<Problem>& problems) {
    std::vector<std::string> all;
    for (const Traced& traced : trace(problems)) {
      all.push_back(traced.error);
      if (!traced.error.empty()) continue;
      const auto graph = build_graph(add_task_file(traced.task, "traced"), Preset::v0_1);
      for (const auto& node : graph->nodes()) {
        all.back() += (all.back().empty() ? "" : " ") + node.call.op->name;
      }
    }
    return all;
  }
};

/// Of a file whose sizes are no constants at its top level.
constexpr char kOtherSizes[] = "other sizes";

/// Outputs in float64 of a graph whose tensors are those of the other graph of the same name, or,
/// of inputs and parameters of other names, in the same order.
std::string difference_in_values(const Task& task, const Graph& ours, const Graph& traced) {
  NamedTensors given = draw_tensors(ours, task.id, 1);
  NamedTensors same;
  for (const Graph::Kind kind : {Graph::Kind::input, Graph::Kind::parameter}) {
    std::vector<int> left;
    for (const int id : ours.values_of(kind)) {
      const auto is_named = [&](int other) {
        return traced.value(other).name == ours.value(id).name;
      };
      if (std::ranges::none_of(traced.values_of(kind), is_named)) left.push_back(id);
    }
    size_t next = 0;
    for (const int id : traced.values_of(kind)) {
      const std::string& name = traced.value(id).name;
      if (given.contains(name)) {
        same[name] = given.at(name);
      } else if (next < left.size()) {
        same[name] = given.at(ours.value(left[next++]).name);
      } else {
        return "no tensor for " + name;
      }
    }
  }
  for (const auto& [name, tensor] : same) {
    for (const auto& value : traced.values()) {
      if (value.name == name && value.type.shape != tensor.shape()) return kOtherSizes;
    }
  }
  const ReferenceOptions options{.precision = Precision::f64};
  const auto expected = run_reference(ours, given, options);
  const auto got = run_reference(traced, same, options);
  if (expected.size() != got.size()) return "another number of outputs";
  for (size_t i = 0; i < got.size(); ++i) {
    if (got[i].type() != expected[i].type()) {
      return "an output " + to_string(got[i].type()) + " for " + to_string(expected[i].type());
    }
    if (got[i].dtype() != DType::f64) continue;
    const auto a = got[i].data<double>(), b = expected[i].data<double>();
    double worst = 0, most = 0;
    for (size_t k = 0; k < a.size(); ++k) {
      worst = std::max(worst, std::abs(a[k] - b[k]));
      most = std::max(most, std::abs(b[k]));
      if (!(std::abs(a[k] - b[k]) <= 1e300)) return "a value that is no number";
    }
    // What float32 has in its place, an attribute that is rounded, counts as the same.
    if (worst > 1e-6 * most) {
      return "values off by " + std::to_string(worst) + " of " + std::to_string(most);
    }
  }
  return "";
}

// --- kbench's own tasks
class PrintedTasks : public FromPytorch, public ::testing::WithParamInterface<int> {};

TEST_P(PrintedTasks, ComeBackAsTheGraphsThatTheyWere) {
  std::vector<const Task*> chosen;
  std::vector<Problem> problems;
  for (const Task& task : tasks()) {
    if (task.id.level != GetParam()) continue;
    chosen.push_back(&task);
    const std::string name =
        "printed/task_" + std::to_string(task.id.level) + "_" + std::to_string(task.id.number);
    problems.push_back({.text = pytorch_problem(task, *build_graph(task, Preset::smoke)),
                        .shown = to_string(task.id) + ".py",
                        .name = name});
  }
  const std::vector<Traced> traced = trace(problems);
  ASSERT_EQ(traced.size(), chosen.size());
  for (size_t i = 0; i < chosen.size(); ++i) {
    SCOPED_TRACE(to_string(chosen[i]->id));
    EXPECT_EQ(traced[i].error, "");
    if (!traced[i].error.empty()) continue;
    const auto ours = build_graph(*chosen[i], Preset::smoke);
    const auto again = build_graph(add_task_file(traced[i].task, "traced"), Preset::smoke);
    EXPECT_EQ(difference_of(*ours, *again), "") << problems[i].text;
  }
}

INSTANTIATE_TEST_SUITE_P(Levels, PrintedTasks, ::testing::Values(1, 2, 3));

// --- KernelBench's own files
// KBENCH_KERNELBENCH names a folder with its level1, level2 and level3, which do not come with
// kbench. Each file is kbench's task of its level and number, at the sizes of both: in the same
// steps or, where its author composes them otherwise, in values at preset smoke.
class KernelBenchFiles : public FromPytorch, public ::testing::WithParamInterface<int> {
 protected:
  static std::map<int, std::string> files(int level) {
    std::map<int, std::string> found;
    const std::filesystem::path folder(std::getenv("KBENCH_KERNELBENCH"));
    for (const auto& entry :
         std::filesystem::directory_iterator(folder / ("level" + std::to_string(level)))) {
      if (entry.path().extension() != ".py") continue;
      found[std::atoi(entry.path().filename().c_str())] = entry.path();
    }
    return found;
  }

  /// The task's sizes at preset smoke that are constants of the file.
  static std::string smoke_sizes(const Graph& graph, const std::string& text) {
    std::string sizes;
    for (const auto& [name, value] : graph.variables()) {
      const auto begins = [&, &variable = name](const char* before, const char* after) {
        return text.find(before + variable + after) != std::string::npos;
      };
      // At the beginning of a line, or as one of several: height, width = 224, 224.
      if (!begins("\n", " =") && !begins("\n", ", ") && !begins("\n", "=") &&
          !(begins(", ", " = ") && !begins("    ", " = "))) {
        continue;
      }
      std::string written = to_string(AttributeValue(int64_t{0}));
      if (const auto* integer = std::get_if<int64_t>(&value)) written = std::to_string(*integer);
      if (const auto* real = std::get_if<double>(&value)) written = std::to_string(*real);
      if (const auto* list = std::get_if<std::vector<int64_t>>(&value)) {
        written = "(";
        for (const int64_t each : *list) written += std::to_string(each) + ",";
        written += ")";
      }
      sizes += (sizes.empty() ? "" : ",") + name + "=" + written;
    }
    return sizes;
  }
};

TEST_P(KernelBenchFiles, AreOurTasks) {
  const auto paths = files(GetParam());
  std::vector<const Task*> chosen;
  std::vector<Problem> full, small;
  for (const Task& task : tasks()) {
    if (task.id.level != GetParam() || !paths.contains(task.id.number)) continue;
    chosen.push_back(&task);
    const std::string name =
        "own/task_" + std::to_string(task.id.level) + "_" + std::to_string(task.id.number);
    const std::string text = read_file(paths.at(task.id.number));
    full.push_back({.text = text, .shown = to_string(task.id) + ".py", .name = name});
    small.push_back(full.back());
    small.back().sizes = smoke_sizes(*build_graph(task, Preset::smoke), text);
  }
  const std::vector<Traced> at_full = trace(full), at_small = trace(small);
  std::map<std::string, std::vector<std::string>> found;
  for (size_t i = 0; i < chosen.size(); ++i) {
    const Task& task = *chosen[i];
    const std::string id = to_string(task.id);
    EXPECT_EQ(at_full[i].error, "");
    if (!at_full[i].error.empty()) continue;
    const auto ours = build_graph(task, Preset::v0_1);
    const auto theirs = build_graph(add_task_file(at_full[i].task, id), Preset::v0_1);
    if (difference_of(*ours, *theirs).empty()) {
      found["the same graph, drawn alike"].push_back(id);
      continue;
    }
    const std::string exact = difference_of(*ours, *theirs, {.distributions = false});
    if (exact.empty()) {
      found["the same graph"].push_back(id);
      continue;
    }
    const SameGraphOptions loose{.distributions = false, .up_to_views = true};
    if (difference_of(*ours, *theirs, loose).empty()) {
      found["the same up to views and the order of operands"].push_back(id);
      continue;
    }
    std::string values = at_small[i].error;
    if (values.empty()) {
      const auto ours_small = build_graph(task, Preset::smoke);
      const auto theirs_small = build_graph(add_task_file(at_small[i].task, id), Preset::smoke);
      values = difference_in_values(task, *ours_small, *theirs_small);
    }
    EXPECT_TRUE(values.empty() || values == kOtherSizes) << id << ": " << values;
    found[values.empty()          ? "the same values in other steps"
          : values == kOtherSizes ? "other steps, and sizes that smoke's cannot replace"
                                  : "other values"]
        .push_back(id + " (" + exact + ")");
  }
  for (const auto& [how, ids] : found) {
    std::cout << ids.size() << " " << how << "\n";
    if (how.find("graph") != std::string::npos) continue;
    for (const std::string& each : ids) std::cout << "  " << each << "\n";
  }
}

/// None without a folder: a test that is skipped everywhere would be none.
std::vector<int> levels_of_kernelbench() {
  if (std::getenv("KBENCH_KERNELBENCH") == nullptr) return {};
  return {1, 2, 3};
}

GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(KernelBenchFiles);
INSTANTIATE_TEST_SUITE_P(Levels, KernelBenchFiles, ::testing::ValuesIn(levels_of_kernelbench()));

// --- what forward() may do
TEST_F(FromPytorch, AProblemIsATaskWithItsNamesAndDraws) {
  const Traced traced = trace({problem(R"(
import torch
import torch.nn as nn
class Model(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.gate = nn.Linear(width, width)
        self.scale = nn.Parameter(torch.rand(width) * 2 - 1)
    def forward(self, x):
        return x * torch.sigmoid(self.gate(x)) * self.scale
tokens = 4
width = 12
def get_inputs():
    return [torch.randn(tokens, width)]
def get_init_inputs():
    return [width]
)")})
                            .at(0);
  ASSERT_EQ(traced.error, "");
  const Variables sizes = {{"tokens", int64_t{4}}, {"width", int64_t{12}}};
  EXPECT_EQ(traced.sizes, sizes);
  const auto graph = build_graph(add_task_file(traced.task, "traced"), Preset::v0_1);
  const auto distribution = [&](const std::string& name) {
    for (const auto& value : graph->values()) {
      if (value.name == name) return to_string(value.distribution);
    }
    return "no " + name;
  };
  EXPECT_EQ(distribution("x"), "normal");
  EXPECT_EQ(distribution("gate.weight"), "uniform(-0.5, 0.5)");  // sqrt(3 / 12)
  EXPECT_EQ(distribution("gate.bias"), "uniform(-0.5, 0.5)");
  EXPECT_EQ(distribution("scale"), "uniform(-1, 1)");
  EXPECT_EQ(graph->nodes().size(), 4u);
}

TEST_F(FromPytorch, SizesReplaceConstantsOfTheFile) {
  Problem with_sizes = problem(R"(
import torch
batch, unused = 128, 1
extents = (7, 9)
doubled = 2 * batch
class Model(torch.nn.Module):
    def forward(self, x):
        return torch.relu(x)
def get_inputs():
    return [torch.rand(doubled, *extents)]
)");
  with_sizes.sizes = "batch=3,extents=(2,5)";
  const Traced traced = trace({with_sizes}).at(0);
  ASSERT_EQ(traced.error, "");
  const auto graph = build_graph(add_task_file(traced.task, "traced"), Preset::smoke);
  EXPECT_EQ(graph->value(graph->outputs()[0]).type.shape, (Shape{6, 2, 5}));
  with_sizes.sizes = "batsch=3";
  EXPECT_EQ(error_in(with_sizes),
            "problem.py: problem.py has no constant 'batsch' at its top level (it has: batch, "
            "unused, extents, doubled)");
}

TEST_F(FromPytorch, WhatIsWrittenInPlaceIsSeenThroughEveryView) {
  const std::vector<Problem> problems = {
      body("        y = x.t()\n        y += 1\n        return x * 2\n"),
      body("        y = torch.zeros(2, 3)\n        y[:, 1] = x[:, 0]\n        return y\n"),
      body("        z = x.t().contiguous()\n        z.mul_(3)\n        return x + 1\n"),
      body("        y = x * 1.5\n        y[0].zero_()\n        return y\n"),
      body("        a, b, c = x.unbind(1)\n        return F.relu(x, inplace=True) + a[:, None]\n")};
  const std::vector<Traced> traced = trace(problems);
  std::vector<Tensor> outputs;
  const std::vector<float> x = {1, 2, 3, -4, 5, -6};
  const std::vector<std::vector<float>> expected = {{4, 6, 8, -6, 12, -10},
                                                    {0, 1, 0, 0, -4, 0},
                                                    {2, 3, 4, -3, 6, -5},
                                                    {0, 0, 0, -6, 7.5, -9},
                                                    {2, 3, 4, 0, 5, 0}};
  for (size_t i = 0; i < problems.size(); ++i) {
    SCOPED_TRACE(problems[i].text);
    ASSERT_EQ(traced[i].error, "");
    const auto graph = build_graph(add_task_file(traced[i].task, "traced"), Preset::v0_1);
    Tensor input(TensorType{DType::f32, {2, 3}});
    std::ranges::copy(x, input.data<float>().begin());
    const std::vector<Tensor> got = run_reference(*graph, {{"x", input}});
    const auto values = got.at(0).data<float>();
    EXPECT_EQ(std::vector<float>(values.begin(), values.end()), expected[i]);
  }
}

TEST_F(FromPytorch, FunctionsAreComposedOfOperators) {
  const std::vector<std::string> operators = operators_of({
      body("        return F.scaled_dot_product_attention(x, x, x)\n"),
      body("        return F.silu(x)\n"),
      body("        return torch.einsum('ij,kj->ik', x, x)\n"),
      body("        return self.attention(x, x, x)[0]\n",
           "        self.attention = nn.MultiheadAttention(3, 1)\n"),
      body("        return F.tanhshrink(x)\n"),
      body("        return x.masked_fill(self.mask == 0, float('-inf'))\n",
           "        self.register_buffer('mask', torch.tril(torch.ones(2, 3)))\n"),
      body("        return x[torch.tensor([1, 0, 1])]\n"),
      body("        return F.dropout(x, 0.5) + torch.zeros(3)\n"),
  });
  const std::vector<std::string> expected = {
      "matmul mul_scalar softmax matmul",
      "sigmoid mul",
      "matmul",
      "reshape permute linear slice slice slice reshape permute reshape permute reshape permute "
      "matmul mul_scalar softmax matmul permute reshape linear permute reshape",
      "tanh sub",  // It has no row, and is Python: PyTorch takes it apart.
      "add",
      "index_rows",
      "add_scalar",
  };
  EXPECT_EQ(operators, expected);
}

// --- arguments
/// A model of forward(x, t) with x [4, 16] and t as given.
Problem of_two(const std::string& result, const std::string& t = "torch.randn(4, 16)",
               const std::string& made = "") {
  return {.text =
              "import torch\nimport torch.nn.functional as F\n"
              "class Model(torch.nn.Module):\n    def __init__(self):\n"
              "        super().__init__()\n" +
              made + "    def forward(self, x, t):\n        return " + result +
              "\ndef get_inputs():\n    return [torch.randn(4, 16), " + t + "]\n",
          .shown = "two.py",
          .name = "my/two"};
}

TEST_F(FromPytorch, ArgumentsThatAreNotUnderstoodAreRefused) {
  const std::string classes = "torch.randint(0, 16, (4,))";
  const std::vector<std::string> errors = errors_in({
      of_two("F.cross_entropy(x, t, ignore_index=3)", classes),
      of_two("F.nll_loss(F.log_softmax(x, 1), t, self.w)", classes,
             "        self.w = torch.nn.Parameter(torch.rand(16))\n"),
      of_two("F.nll_loss(F.log_softmax(x, 1), t, reduction='none')", classes),
      of_two("torch.linalg.norm(x, 2) + t"),
      of_two("F.unfold(x[None, None], 2, 2, 2)"),
      of_two("F.pad(x + t, (1, 1), value=float('-inf'))"),
      of_two("(x + t).sum(1, dtype=torch.int64)"),
      of_two("F.embedding(t, x, max_norm=1.0)", classes),
      of_two("torch.tensor([x.mean(), 1.0]) + t"),
      of_two("F.adaptive_max_pool2d(x[None] + t, 2, return_indices=True)[0]"),
      of_two("x + t + torch.empty(4, 16).exponential_()"),
      of_two(
          "x + t * self.w.float()", "torch.randn(4, 16)",
          "        self.register_buffer('w', torch.randint(-9, 9, (4, 16), dtype=torch.int8))\n"),
  });
  const std::vector<std::string> expected = {
      "torch.nn.functional.cross_entropy with ignore_index=3",
      "torch.nn.functional.nll_loss with weight=a tensor",
      "torch.nn.functional.cross_entropy with reduction='none'",
      "torch.linalg.norm of matrices with ord=2",
      "torch.nn.functional.unfold, by way of im2col",
      "torch.nn.functional.pad with value=-inf",
      "torch.Tensor.sum with dtype=torch.int64",
      "torch.nn.functional.embedding with max_norm=1.0",
      "torch.tensor of what depends on the inputs",
      "torch.nn.functional.adaptive_max_pool with return_indices",
      "torch.Tensor.exponential_: a task's file has no such distribution",
      "w, whole numbers that the model draws at random",
  };
  for (size_t i = 0; i < errors.size(); ++i) {
    EXPECT_NE(errors[i].find("kbench has no operator for " + expected[i]), std::string::npos)
        << errors[i];
  }
}

TEST_F(FromPytorch, WhatIsWrittenComputesWhatItsModuleDoes) {
  runner::PythonHelper python;
  const std::vector<Problem> problems = {
      of_two("(F.nll_loss(F.log_softmax(x, 1), t, reduction='sum'), "
             "F.cross_entropy(x, t, size_average=False), F.cross_entropy(x, t))",
             "torch.randint(0, 16, (4,))"),
      of_two("(F.cross_entropy(x, F.softmax(t, 1)), F.mse_loss(x, t, size_average=False), "
             "F.smooth_l1_loss(x, t, size_average=False), F.smooth_l1_loss(x, t, beta=0.3), "
             "F.huber_loss(x, t, delta=0.5, reduction='none'), F.l1_loss(x, t, reduce=False), "
             "F.kl_div(F.log_softmax(x, 1), F.softmax(t, 1), size_average=False))"),
      of_two("(torch.addbmm(x[:, :4], t, t.transpose(1, 2), alpha=2), "
             "torch.einsum('ij,kj->ik', x, t[0, :, :1]), torch.einsum('...ij,...jk', t, t), "
             "torch.linalg.matrix_norm(t))",
             "torch.randn(3, 4, 4)"),
      of_two("x * torch.zeros(4, 16, dtype=torch.bfloat16) + t.bfloat16().float()"),
      of_two("(F.dropout(x, 0.5) + self.table * t, self.norm(x) + torch.rand_like(t), "
             "self.attention(x[None], t[None], t[None])[0])",
             "F.softplus(torch.randn(4, 16))",
             "        self.table = torch.sin(torch.arange(16) * 300.0)\n"
             "        self.norm = torch.nn.BatchNorm1d(16)\n"
             "        self.attention = torch.nn.MultiheadAttention(16, 2, dropout=0.1)\n"),
      of_two("(*torch.split(x, 2, 1), t * 2)"),
      of_two("(x > t, x >= 0, x == t, x != t, torch.logical_not(x < t), "
             "(x > 0) & ~(t > 0), (x > 0) | (t <= 0), torch.logical_xor(x > 0, t > 0), "
             "torch.sign(x), x * (t > 0), (x > 0).any(), (x > -9).all(1))"),
      of_two("(torch.where(x > t, x, t), x.masked_fill(x > t, float('-inf')), "
             "torch.where(x > 0, float('inf'), t), torch.where(x > t, 1.0, 0.0), "
             "F.threshold(x, 0.1, 20.0), F.hardshrink(x), F.softshrink(t))"),
      of_two("(torch.sinh(x), torch.cosh(t), torch.tan(x), torch.logaddexp(x, t), x.prod(1), "
             "torch.prod(t), x.abs() ** 1.5, (x.abs() + 0.5) ** t, 2 ** x, x.sigmoid() ** -2, "
             "torch.floor(x * 3), torch.ceil(t), torch.trunc(x * 3), x * 9 // 2, "
             "torch.div(t, 0.3, rounding_mode='trunc'))"),
      of_two("(torch.gather(x, 1, t), torch.gather(x, 0, t[:, :3] // 4), "
             "torch.take_along_dim(x, t, dim=-1), x[[slice(None), t[0]]])",
             "torch.randint(0, 16, (4, 5))"),
      of_two("(*torch.topk(x, k=3), torch.topk(t, 2, dim=0, largest=False).values, "
             "torch.vstack([x[0], t]), torch.diag(x[:, :4]), torch.diag(t[0, :5]))"),
      of_two("(F.interpolate(x, scale_factor=2, mode='bilinear'), "
             "F.interpolate(x, size=(3, 7), mode='bilinear', align_corners=True), "
             "F.interpolate(x, size=(3, 4), mode='bicubic', antialias=True), "
             "F.interpolate(x, size=(3, 5)), F.interpolate(x, size=(2, 4), mode='area'), "
             "F.interpolate(x[:, 0], scale_factor=1.5, mode='linear'), "
             "F.interpolate(t, scale_factor=2, mode='trilinear'))",
             "torch.randn(1, 2, 3, 4, 2)"),
  };
  for (Problem each : problems) {
    if (each.text.find("F.interpolate") != std::string::npos) {
      each.text.replace(each.text.find("[torch.randn(4, 16)"), 19, "[torch.randn(1, 2, 4, 8)");
    }
    SCOPED_TRACE(each.text);
    const auto written = from_pytorch::task_of(python, each, {}, 60);
    EXPECT_TRUE(written.compared.starts_with("computes the same on two draws in float64"))
        << written.compared;
    EXPECT_NE(written.text.find("module: \"two.py: computes the same"), std::string::npos);
  }
}

TEST_F(FromPytorch, ALargeModuleIsComparedAtSmallerSizes) {
  runner::PythonHelper python;
  const auto written = from_pytorch::task_of(
      python, of_two("torch.matmul(x, t)", "torch.randn(16, int('1572861'))"), {}, 60);
  EXPECT_NE(written.compared.find("not compared with it: "), std::string::npos)
      << "a size that no divisor makes smaller: " << written.compared;
  // Where presets have numbers apart, preset smoke has them divided.
  const std::string sizes[] = {"1048576", "1572861"};
  for (const std::string& size : sizes) {
    const auto smaller = from_pytorch::task_of(
        python, of_two("torch.matmul(x, t)", "torch.randn(16, " + size + ")"), {}, 60);
    EXPECT_NE(smaller.compared.find("at preset smoke: "), std::string::npos) << smaller.compared;
    EXPECT_TRUE(smaller.smoke.starts_with("its sizes divided by ")) << smaller.smoke;
    EXPECT_NE(smaller.text.find("v0.1: " + size + "}"), std::string::npos) << smaller.text;
  }
  // Numbers of the class alone.
  const auto deep = from_pytorch::task_of(
      python,
      of_two("x @ self.w @ self.w.T + t", "torch.randn(4, 16)",
             "        self.w = torch.nn.Parameter(torch.randn(16, 262144))\n"),
      {}, 60);
  EXPECT_EQ(deep.smoke, "its sizes and its classes' numbers divided by 8");
}

TEST_F(FromPytorch, ATaskOfAnotherModuleIsToldFromIt) {
  runner::PythonHelper python;
  const Problem twice = of_two("x * 2 + t");
  const Traced traced = trace({twice}).at(0);
  const Task& task = add_task_file(traced.task, "traced");
  const auto graph = build_graph(task, Preset::smoke);
  const auto same =
      from_pytorch::compare_with_module(python, twice, traced.given, task, *graph, 60);
  EXPECT_EQ(same.not_compared + same.difference, "");
  for (const char* other : {"x * 2.00001 + t", "x * 2 + t.flip(0)", "(x * 2 + t)[:2]"}) {
    const auto found =
        from_pytorch::compare_with_module(python, of_two(other), traced.given, task, *graph, 60);
    EXPECT_EQ(found.not_compared, "");
    EXPECT_NE(found.difference, "") << other;
  }
}

// --- inputs
TEST_F(FromPytorch, InputsAreDrawnAsTheirProgramDrawsThem) {
  struct Case {
    std::string drawn, distribution, operators;  ///< of the task x + t
  };
  const std::vector<Case> cases = {
      {"torch.rand(4, 16) * 2 - 1", "uniform(-1, 1)", "add"},
      {"F.softplus(torch.randn(4, 16))", "normal", "softplus add"},
      {"torch.randn(4, 16).abs() + 0.1", "normal", "abs add_scalar add"},
      {"torch.exp(torch.randn(4, 16))", "normal", "exp add"},
      {"(torch.rand(4, 16) > .5).float()", "randint(0, 2)", "cast add"},
      {"(torch.rand(4, 16) > .3).float()", "uniform(0, 1)", "sub_scalar relu cast cast add"},
      {"torch.randn(4, 16) * torch.rand(1).item()", "normal(0, 0.5)", "add"},
      {"torch.rand(4, 16, dtype=torch.float16) + torch.ones(16)", "uniform(1, 2)", "add"},
      {"torch.bernoulli(torch.full((4, 16), 0.5))", "randint(0, 2)", "cast add"},
      {"torch.randint(0, 5, (4, 16)).float()", "randint(0, 5)", "cast add"},
      {"torch.randn(1, 16).expand(4, 16)", "normal", "expand add"},
      {"torch.zeros(4, 16)", "uniform(0, 0)", "add"},
      {"torch.full((4, 16), 3.0)", "uniform(3, 3)", "add"},
      {"torch.zeros(4, 16).uniform_(-1, 1)", "uniform(-1, 1)", "add"},
      {"torch.arange(16).float()", "no t", "add"},
  };
  std::vector<Problem> problems;
  for (const Case& each : cases) problems.push_back(of_two("x + t", each.drawn));
  const std::vector<Traced> traced = trace(problems);
  for (size_t i = 0; i < cases.size(); ++i) {
    SCOPED_TRACE(cases[i].drawn);
    ASSERT_EQ(traced[i].error, "");
    const auto graph = build_graph(add_task_file(traced[i].task, "traced"), Preset::v0_1);
    std::string operators, distribution = "no t";
    for (const auto& node : graph->nodes()) {
      operators += (operators.empty() ? "" : " ") + node.call.op->name;
    }
    for (const int id : graph->values_of(Graph::Kind::input)) {
      if (graph->value(id).name == "t") distribution = to_string(graph->value(id).distribution);
    }
    EXPECT_EQ(operators, cases[i].operators);
    EXPECT_EQ(distribution, cases[i].distribution);
  }
}

TEST_F(FromPytorch, InputsThatNoFileCanDrawAreRefused) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"torch.randperm(16)", "no operator for torch.randperm: a task's file has no such"},
      {"torch.sort(torch.rand(4, 16))[0]", "no operator for torch.sort (for input t)"},
      {"torch.zeros(4, 16).exponential_()", "no operator for torch.Tensor.exponential_"},
      {"torch.from_numpy(__import__('numpy').random.rand(16))", "other values in every call"},
      {"(i for i in range(3))", "gives a generator as t, no tensor"},
      {"torch.randn(4, 16, dtype=torch.complex64)", "no operator for tensors of torch.complex64"},
      {"torch.randint(0, 2, (4, 1)) << 2", "no operator for torch.Tensor.__lshift__"},
  };
  std::vector<Problem> problems;
  for (const auto& [drawn, error] : cases) problems.push_back(of_two("x + t", drawn));
  const std::vector<std::string> errors = errors_in(problems);
  for (size_t i = 0; i < cases.size(); ++i) {
    EXPECT_NE(errors[i].find(cases[i].second), std::string::npos) << errors[i];
  }
}

TEST_F(FromPytorch, InputsThatGoTogetherStayTogether) {
  const std::string both =
      "import torch\nclass Model(torch.nn.Module):\n    def forward(self, x, t):\n"
      "        return x * t\ndef get_inputs():\n    x = torch.randn(4, 16)\n";
  const std::vector<Problem> problems = {problem(both + "    return [x, x + 1]\n"),
                                         problem(both + "    y, z = torch.randn(2, 4, 16)\n"
                                                        "    return [y, z]\n"),
                                         problem(both + "    return [x, (x > 0).float()]\n")};
  const std::vector<Traced> traced = trace(problems);
  for (size_t i = 0; i < 2; ++i) {
    ASSERT_EQ(traced[i].error, "");
    const auto graph = build_graph(add_task_file(traced[i].task, "traced"), Preset::v0_1);
    EXPECT_EQ(graph->values_of(Graph::Kind::input).size(), 1u);
  }
  EXPECT_NE(traced[2].error.find("also compares with a number"), std::string::npos);
}

TEST_F(FromPytorch, ArgumentsOfTheModelAndListsOfInputsComeInTheirOtherForms) {
  const std::string model =
      "import torch\nclass Model(torch.nn.Module):\n    def __init__(self, axis=0):\n"
      "        super().__init__()\n        self.axis = axis\n    def forward(self, x):\n"
      "        return x.sum(self.axis)\n";
  const std::vector<Traced> traced =
      trace({problem(model + "def get_init_inputs():\n    return [[], {'axis': 1}]\n"
                             "def get_inputs():\n    return [torch.randn(4, 16)]\n"),
             problem(model + "def get_inputs():\n    for n in (4, 8):\n"
                             "        yield [torch.randn(n, 16)]\n"),
             problem(model + "def get_inputs():\n    yield torch.randn(4, 16)\n")});
  const std::vector<Shape> shapes = {{4}, {16}, {16}};
  for (size_t i = 0; i < traced.size(); ++i) {
    ASSERT_EQ(traced[i].error, "");
    const auto graph = build_graph(add_task_file(traced[i].task, "traced"), Preset::v0_1);
    EXPECT_EQ(graph->value(graph->outputs()[0]).type.shape, shapes[i]);
  }
  EXPECT_EQ(traced[1].notes, std::vector<std::string>{"it has 2 lists of inputs: list 1 is taken"});
}

TEST_F(FromPytorch, FilesOfOtherCollectionsAreTaken) {
  // Modules of any name, [[...], {...}] for the constructor, a generator of inputs.
  const std::string modules =
      "import torch\nclass Half(torch.nn.Module):\n    def forward(self, x):\n"
      "        return x / 2\nclass Scaled(torch.nn.Module):\n"
      "    def __init__(self, by, axis=0):\n        super().__init__()\n"
      "        self.by, self.axis, self.inner = by, axis, Half()\n    def forward(self, x):\n"
      "        return self.inner(x).sum(self.axis) * self.by\n"
      "def get_inputs():\n    for n in (4, 8):\n        yield [torch.randn(n, 16)]\n";
  const std::string arguments = "def get_init_inputs():\n    return [[3], {'axis': 1}]\n";
  Problem named = problem(modules + arguments), second = named, by_hand = problem(modules);
  named.module_class = second.module_class = by_hand.module_class = "Scaled";
  second.list = 2;
  by_hand.init = "by=3.5";
  // Lists of inputs whose shapes a file of the same name has.
  Problem beside = problem(
      "import json, os, torch\nclass Model(torch.nn.Module):\n    def forward(self, x, dim):\n"
      "        return x.sum(dim)\ndef get_input_groups():\n"
      "    path = os.path.splitext(__file__)[0] + '.json'\n"
      "    return [[torch.randn(each['shape']), each['dim']] for each in json.load(open(path))]\n");
  beside.beside["problem.json"] = "[{\"shape\": [4, 16], \"dim\": 0}]";
  Problem divided = beside;
  divided.divisor = 4;
  const std::vector<Traced> traced = trace({named, second, by_hand, beside, divided});
  const std::vector<Shape> shapes = {{4}, {8}, {16}, {16}, {4}};
  for (size_t i = 0; i < traced.size(); ++i) {
    ASSERT_EQ(traced[i].error, "") << i;
    const auto graph = build_graph(add_task_file(traced[i].task, "traced"), Preset::v0_1);
    EXPECT_EQ(graph->value(graph->outputs()[0]).type.shape, shapes[i]);
  }
  Problem unknown = named, third = named;
  unknown.module_class = "Other";
  third.list = 3;
  const std::vector<std::string> errors =
      errors_in({unknown, problem(modules + arguments), third,
                 problem("import torch\nclass Model(torch.nn.Module):\n    pass\n"),
                 problem("import nowhere.to_be_found\n")});
  const std::string own = "; --class names one of its own: Half in line 2, Scaled in line 5";
  const std::vector<std::string> expected = {
      "problem.py: it has no torch.nn.Module of the name Other" + own,
      "problem.py: it has no torch.nn.Module of the name Model" + own,
      "problem.py:11: it has 2 lists of inputs, and no list 3",
      "problem.py:2: it has no function get_inputs() or get_input_groups(), which gives its inputs",
      "problem.py:1: it needs the package nowhere, which this python3 does not have",
  };
  EXPECT_EQ(errors, expected);
  by_hand.init = "";
  EXPECT_EQ(error_in(by_hand),
            "problem.py:5: Scaled() with no get_init_inputs(): missing a required argument: 'by'; "
            "--init gives others");
}

TEST_F(FromPytorch, ValuesHaveTheNamesOfTheModulesThatMakeThem) {
  const Traced traced = trace({body("        for layer in self.layers:\n"
                                    "            x = torch.relu(layer(x))\n"
                                    "        return self.last(x * 2) * 2\n",
                                    "        self.layers = nn.ModuleList(\n"
                                    "            nn.Linear(3, 3) for _ in range(2))\n"
                                    "        self.last = nn.Softplus()\n")})
                            .at(0);
  ASSERT_EQ(traced.error, "");
  const auto graph = build_graph(add_task_file(traced.task, "traced"), Preset::v0_1);
  std::string names;
  for (const auto& node : graph->nodes()) names += graph->value(node.outputs[0]).name + " ";
  EXPECT_EQ(names, "layers.0 relu_1 layers.1 relu_2 mul_scalar_1 last mul_scalar_2 ");
}

// --- what cannot be made a task
TEST_F(FromPytorch, ErrorsSayWhatAndWhere) {
  const std::vector<std::string> errors = errors_in({
      problem("import torch\ndef get_inputs():\n    return []\n"),
      problem("import torch\nx = = 1\n"),
      body("        return x + self.nothing\n"),
      body("        y = torch.relu(x)\n        return torch.lgamma(y)\n"),
      body("        return self.layer(x)\n",
           "        self.layer = nn.Sequential(nn.ReLU(), nn.RReLU())\n"),
      body("        return torch.ones(3)\n"),
      body("        return 3\n"),
      body("        for _ in range(16385):\n            x = x + 1\n        return x\n"),
      // What the values decide is no graph.
      body("        return -x if x.sum() else x\n"),
      body("        return x * float(x.mean())\n"),
  });
  const std::string values = " needs the values of a tensor that depends on the inputs ";
  const std::string no_graph = ": the task's graph cannot depend on them";
  const std::vector<std::string> expected = {
      "problem.py: it has no torch.nn.Module of the name Model",
      "problem.py:2: executing it fails: SyntaxError: invalid syntax (problem_1.py, line 2)",
      "problem.py:8: its forward() fails: AttributeError: 'Model' object has no attribute "
      "'nothing'",
      "problem.py:9: kbench has no operator for torch.lgamma",
      "problem.py:9: kbench has no operator for torch.nn.functional.rrelu, by way of torch.rrelu "
      "(in module layer.1 (RReLU))",
      "problem.py:7: an output of its forward() does not depend on the inputs",
      "problem.py:7: its forward() returns int, no tensor",
      "problem.py:9: its forward() is 16385 steps, 16385 of which this line makes; a task has "
      "16384 "
      "at most",
      "problem.py:8: torch.Tensor.__bool__" + values + "(bool())" + no_graph,
      "problem.py:8: torch.Tensor.__float__" + values + "(float())" + no_graph,
  };
  EXPECT_EQ(errors, expected);
}

TEST_F(FromPytorch, ALoopThatNeverEndsIsEndedWithItsLine) {
  const Problem endless = body("        while True:\n            x = x + 0\n        return x\n");
  const std::string error = error_in(endless, 2);
  EXPECT_NE(error.find("it takes longer than 2 s (a loop that does not end?)"), std::string::npos)
      << error;
  EXPECT_TRUE(error.starts_with("problem.py:")) << error;
}

TEST_F(FromPytorch, TheFileHasNoNetworkAndWritesInItsFolderAlone) {
  const Problem bad = problem(R"(
import socket
import torch
found = []
try:
    socket.socket(socket.AF_INET, socket.SOCK_STREAM).connect(("127.0.0.1", 9))
    found.append("connected")
except ConnectionRefusedError:
    found.append("network")
except OSError:
    pass
for path in ("/tmp/kbench_from_pytorch_test", "/etc/hostname"):
    try:
        open(path, "a").close()
        found.append(path)
    except OSError:
        pass
assert not found, found
class Model(torch.nn.Module):
    def forward(self, x):
        return torch.relu(x)
def get_inputs():
    return [torch.rand(2)]
)");
  EXPECT_EQ(trace({bad}).at(0).error, "");
}

TEST_F(FromPytorch, ATasksFileIsWrittenWithRepeatsFolded) {
  const Problem deep = body(
      "        for _ in range(40):\n            x = torch.relu(x) * 0.5\n"
      "        return x\n");
  runner::PythonHelper python;
  const auto written = from_pytorch::task_of(python, deep, {}, 60);
  EXPECT_NE(written.text.find("repeat: {t: "), std::string::npos) << written.text;
  const auto graph = build_graph(add_task_file(written.text, "written"), Preset::v0_1);
  EXPECT_EQ(graph->nodes().size(), 80u);
  const Error error = error_of(
      [&] { from_pytorch::task_of(python, body("        return torch.lgamma(x)\n"), {}, 60); });
  EXPECT_EQ(error.code(), ErrorCode::kInvalidArgument);
  EXPECT_EQ(error.message(), "problem.py:8: kbench has no operator for torch.lgamma");
}

// --- a task's graph beside PyTorch
TEST_F(FromPytorch, PresetsHaveTheirNumbersAsVariables) {
  runner::PythonHelper python;
  const Problem problem{.text =
                            "import torch\n"
                            "batch_size = 128\n"
                            "dim = 1024\n"
                            "layers = 6\n"
                            "class Model(torch.nn.Module):\n"
                            "    def __init__(self, dim, layers):\n"
                            "        super().__init__()\n"
                            "        self.layers = torch.nn.ModuleList(\n"
                            "            torch.nn.Linear(dim, dim) for _ in range(layers))\n"
                            "        self.last = torch.nn.Linear(dim, 3 * dim)\n"
                            "    def forward(self, x):\n"
                            "        for layer in self.layers:\n"
                            "            x = torch.relu(layer(x))\n"
                            "        return self.last(x)\n"
                            "def get_inputs():\n"
                            "    return [torch.randn(batch_size, dim)]\n"
                            "def get_init_inputs():\n"
                            "    return [dim, layers]\n",
                        .shown = "deep.py",
                        .name = "from_pytorch/presets"};
  const auto written =
      from_pytorch::task_of(python, problem, {{Preset::smoke, "batch_size=3,dim=16,layers=4"}}, 60);
  EXPECT_NE(written.text.find("dim: {smoke: 16, v0.1: 1024}"), std::string::npos) << written.text;
  EXPECT_NE(written.text.find("repeat: {t: layers}"), std::string::npos) << written.text;
  EXPECT_NE(written.text.find("last_weight_dim0: {smoke: 48, v0.1: 3072}"), std::string::npos)
      << written.text;
  EXPECT_NE(written.text.find("shape: [last_weight_dim0, dim]"), std::string::npos) << written.text;
  const Task& task = add_task_file(written.text, "presets.yaml");
  const auto nodes = [&](Preset preset) { return build_graph(task, preset)->nodes().size(); };
  EXPECT_EQ(nodes(Preset::smoke), 9u);
  EXPECT_EQ(nodes(Preset::train), 13u) << "that of v0.1";
  EXPECT_EQ(nodes(Preset::v0), 13u) << "that of v0.1";
  EXPECT_EQ(nodes(Preset::v0_1), 13u);
  const auto graph = build_graph(task, Preset::smoke, {{"batch_size", int64_t{5}}});
  EXPECT_EQ(graph->value(graph->outputs()[0]).type.shape, (Shape{5, 48}));
}

TEST_F(FromPytorch, TheProgramOfATaskComputesTheSame) {
  runner::PythonHelper python;
  for (const TaskId& id : {TaskId{1, 93}, TaskId{3, 43}}) {
    const Task& task = find_task(id);
    const auto graph = build_graph(task, Preset::smoke);
    std::string program = pytorch_module(task, *graph);
    const auto same = from_pytorch::compare_with_pytorch(python, program, task, *graph);
    EXPECT_EQ(same.not_compared, "");
    EXPECT_EQ(same.difference, "");
    EXPECT_LT(same.worst_error, 1e-5);
  }
  const Task& task = find_task({1, 19});
  const auto graph = build_graph(task, Preset::smoke);
  std::string program = pytorch_module(task, *graph);
  program.replace(program.find("torch.relu"), 10, "torch.tanh");
  const auto other = from_pytorch::compare_with_pytorch(python, program, task, *graph);
  EXPECT_NE(other.difference.find("elements wrong"), std::string::npos) << other.difference;
  program.replace(program.find("torch.tanh"), 10, "torch.none");
  const auto failed = from_pytorch::compare_with_pytorch(python, program, task, *graph);
  EXPECT_NE(failed.not_compared.find("AttributeError"), std::string::npos) << failed.not_compared;
}

}  // namespace
}  // namespace kbench
