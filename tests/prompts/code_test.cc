#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kbench/listing.h"
#include "kbench/ops.h"
#include "kbench/prompts.h"

namespace kbench {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

std::string pytorch_of(const std::string& task) {
  const Task& found = find_task(parse_task_id(task));
  return pytorch_code(found, *build_graph(found, Preset::v0));
}

TEST(Code, OfAShortTaskReadsAsItIsWritten) {
  EXPECT_EQ(pytorch_of("2/12"),
            "import torch\n"
            "import torch.nn.functional as F\n"
            "\n"
            "\n"
            "# Gemm_Multiply_LeakyReLU. p: the parameters by name.\n"
            "def forward(x, p):\n"
            "  v1 = F.linear(x, p[\"gemm.weight\"], p[\"gemm.bias\"])\n"
            "  v2 = v1 * 2.0\n"
            "  output = F.leaky_relu(v2, negative_slope=0.1)\n"
            "  return output\n");
}

TEST(Code, HasLoopsAndKeepsWhatIsReadLater) {
  const std::string code = pytorch_of("3/34");
  EXPECT_THAT(code, HasSubstr("  v1 = h0\n  for i in range(256):\n"));
  EXPECT_THAT(code, HasSubstr("    v2 = x[i:1+i]\n"));
  EXPECT_THAT(code, HasSubstr("    v1 = torch.tanh(v5)\n"));
  EXPECT_THAT(code, HasSubstr(".append("));
}

TEST(Code, CallsRecurrentLayersByTheirFlatWeights) {
  EXPECT_THAT(pytorch_of("3/42"),
              HasSubstr("torch.gru(x, h0, [p[f\"gru.{w}_l{layer}{end}\"] for layer in range(6) for "
                        "end in (\"\", \"_reverse\") for w in (\"weight_ih\", \"weight_hh\", "
                        "\"bias_ih\", \"bias_hh\")], True, 6, 0.0, False, True, False)\n"));
  EXPECT_THAT(
      pytorch_of("3/37"),
      HasSubstr("torch.lstm(x, (h0, c0), [p[f\"lstm.{w}_l{layer}\"] for layer in range(6) for w "
                "in (\"weight_ih\", \"weight_hh\", \"bias_ih\", \"bias_hh\")], True, 6, "
                "0.0, False, False, True)\n"));
}

TEST(Code, JoinsValuesOfALoopAsTheListThatItIs) {
  EXPECT_THAT(pytorch_of("3/34"), HasSubstr("torch.cat(all_v7[0:64], dim=0)\n"));
}

TEST(Code, RenamesInputsWhoseNamesPythonOrTheProgramHas) {
  Task task;
  task.name = "names";
  Graph graph;
  const Value p = graph.input("p", {2}), word = graph.input("lambda", {2});
  const Value own = graph.input("p_", {2}), c = graph.input("c", {2});
  graph.output(p * word + own * c);
  const std::string code = pytorch_code(task, graph);
  EXPECT_NE(code.find("def forward(p__, lambda_, p_, c, p):"), std::string::npos) << code;
  EXPECT_NE(code.find("p__ * lambda_"), std::string::npos) << code;
  EXPECT_NE(code.find("p_ * c"), std::string::npos) << code;
  EXPECT_NE(pytorch_problem(task, graph).find("def forward(self, p__, lambda_, p_, c):"),
            std::string::npos);
}

TEST(Module, HasTheTasksParametersAndConstants) {
  const Task& task = find_task(TaskId{3, 43});
  const std::string text = pytorch_module(task, *build_graph(task, Preset::smoke));
  EXPECT_THAT(text, StartsWith("# task: level3/43\n"));
  EXPECT_THAT(text, HasSubstr("class ModelNew(torch.nn.Module):\n"));
  EXPECT_THAT(text, HasSubstr("\n        \"c_attn.bias\": (144, ),"));
  EXPECT_THAT(text, HasSubstr(" 0, *[-torch.inf] * 23, *[0] * 2,"));
  EXPECT_THAT(text, HasSubstr("dtype=torch.float32).reshape((24, 24, ))"));
  EXPECT_THAT(text, HasSubstr("    return forward(*inputs, self.parameters_by_name(), c)\n"));
}

/// cuDNN copies weights that lie apart in every call.
TEST(Module, KeepsTheWeightsOfARecurrentLayerInOneBlock) {
  const Task& task = find_task(TaskId{3, 42});
  const std::string text = pytorch_module(task, *build_graph(task, Preset::v0));
  EXPECT_THAT(text, HasSubstr("    self.gru = torch.nn.GRU(128, 256, 6, bidirectional=True)\n"));
  EXPECT_THAT(text, HasSubstr("    shapes = {}\n"));
}

/// Every operator has a form, brackets close, and what is long is folded.
TEST(Code, OfEveryTaskIsWhole) {
  for (const Task& task : tasks()) {
    SCOPED_TRACE(to_string(task.id));
    const std::string code = pytorch_code(task, *build_graph(task, Preset::v0));
    EXPECT_NO_THROW(pytorch_code(task, *build_graph(task, Preset::v0_1)));
    int depth = 0;
    for (const char c : code) {
      depth += c == '(' || c == '[' || c == '{';
      depth -= c == ')' || c == ']' || c == '}';
      ASSERT_GE(depth, 0);
    }
    EXPECT_EQ(depth, 0);
    EXPECT_LT(code.size(), 8000u);
  }
}

}  // namespace
}  // namespace kbench
