// The work that no right kernel can leave undone.
#include <gtest/gtest.h>

#include "kbench/task.h"
#include "libkbench/core/graph_facts.h"

namespace kbench {
namespace {

LeastWork of(TaskId task, DType dtype = DType::f32) {
  return least_work(*build_graph(task_at(task, Preset::v0_1, {}, dtype)));
}

TEST(LeastWork, OfAnElementwiseTaskIsReadingAndWritingAll) {
  const auto graph = build_graph(find_task({1, 19}), Preset::v0_1);
  const LeastWork work = of({1, 19});
  EXPECT_DOUBLE_EQ(work.read_bytes + work.written_bytes, graph->least_bytes());
  EXPECT_DOUBLE_EQ(work.read_bytes, work.written_bytes);
  EXPECT_EQ(work.flops, 0);
  EXPECT_DOUBLE_EQ(of({1, 19}, DType::f16).read_bytes, work.read_bytes / 2);
}

TEST(LeastWork, OfAProductIsHalfOfItsOperations) {
  const auto graph = build_graph(find_task({1, 1}), Preset::v0_1);
  EXPECT_DOUBLE_EQ(of({1, 1}).flops, graph->flops() / 2);
}

/// Half of A is zeros: 1/14 multiplies triangles. A diagonal's product is elementwise.
TEST(LeastWork, OfAProductOfTrianglesIsUnknown) {
  EXPECT_EQ(of({1, 14}).flops, 0);
  EXPECT_EQ(of({1, 15}).flops, 0);
}

TEST(LeastWork, OfAConvolutionIsAMultiplicationForEachOutputAndChannel) {
  Graph graph;
  const Value x = graph.input("x", {2, 3, 8, 8});
  graph.output(
      relu(conv2d(x, graph.module("conv"), {.out_channels = 4, .kernel = {3}, .bias = false})));
  const double products = 2.0 * 4 * 6 * 6 * 3 * 3 * 3;
  EXPECT_DOUBLE_EQ(least_work(graph).flops, 2 * products / 9);
  EXPECT_DOUBLE_EQ(least_work(graph).read_bytes, 4.0 * (2 * 3 * 8 * 8 + 4 * 3 * 3 * 3));
}

/// A sum over a product's columns is a product with a sum of columns.
TEST(LeastWork, OfASummedProductHasNoOperations) {
  Graph graph;
  const Value x = graph.input("x", {16, 32}), w = graph.parameter("w", {64, 32});
  graph.output(sum(matmul(x, w, {.transpose_b = true}), {.axis = 1}));
  EXPECT_EQ(least_work(graph).flops, 0);
  EXPECT_DOUBLE_EQ(least_work(graph).read_bytes, 4.0 * (16 * 32 + 64 * 32));
  for (const TaskId& task : {TaskId{2, 14}, TaskId{2, 18}, TaskId{2, 42}, TaskId{2, 44}}) {
    EXPECT_EQ(of(task).flops, 0) << to_string(task);
  }
}

TEST(LeastWork, OfAPartThatIsCutOutIsNotReadingTheWhole) {
  Graph graph;
  const Value x = graph.input("x", {16, 32});
  graph.output(relu(slice(x, {.axis = 1, .stop = 8})));
  EXPECT_EQ(least_work(graph).read_bytes, 0);
  EXPECT_DOUBLE_EQ(least_work(graph).written_bytes, 4.0 * 16 * 8);
}

TEST(LeastWork, OfAWindowWithStridesIsNotReadingTheWhole) {
  Graph graph;
  const Value x = graph.input("x", {2, 3, 9, 9});
  graph.output(conv2d(x, graph.module("conv"), {.out_channels = 4, .stride = {2}}));
  EXPECT_EQ(least_work(graph).read_bytes, 0);
}

/// The floor is one: of no task more than what the task is said to move and compute.
TEST(LeastWork, IsNeverMoreThanTheWholeOfATask) {
  for (const Task& task : tasks()) {
    const auto graph = build_graph(task, Preset::v0_1);
    const LeastWork work = least_work(*graph);
    EXPECT_LE(work.read_bytes + work.written_bytes, graph->least_bytes()) << to_string(task.id);
    EXPECT_LE(work.flops, graph->flops() / 2) << to_string(task.id);
    EXPECT_GT(work.written_bytes, 0) << to_string(task.id);
  }
}

}  // namespace
}  // namespace kbench
