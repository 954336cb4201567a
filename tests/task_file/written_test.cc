// Graphs written as files and read back: those of every task of the suite, and some made by hand.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "kbench/error.h"
#include "kbench/ops.h"
#include "kbench/task_file.h"
#include "tests/error_of.h"
#include "tests/task_file/meaning.h"

namespace kbench {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class WrittenTasks : public ::testing::TestWithParam<int> {};

TEST_P(WrittenTasks, ReadBackAreTheSameGraphs) {
  for (const Task& task : tasks()) {
    if (task.id.level != GetParam()) continue;
    SCOPED_TRACE(to_string(task.id));
    const std::string text = task_file_text(task);
    const Task& read = add_task_file(text, "written.yaml");
    EXPECT_EQ(read.name, task.name);
    EXPECT_EQ(read.family, task.family);
    EXPECT_EQ(read.tolerance.relative, task.tolerance.relative);
    for (const Preset preset : kAllPresets) {
      for (const DType dtype : kTaskDTypes) {
        const auto again = build_graph(read, preset, {}, dtype);
        const auto first = build_graph(task, preset, {}, dtype);
        EXPECT_EQ(again->dtype(), dtype);
        ASSERT_EQ(meaning_of(*again), meaning_of(*first)) << text.substr(0, 4000);
        if (dtype != DType::f32) continue;
        // A file of one preset has its numbers.
        const std::string one_size = task_file_text(task, *first, preset);
        EXPECT_THAT(one_size, Not(HasSubstr("variables:")));
        const Task& of_one_size = add_task_file(one_size, "one_size.yaml");
        ASSERT_EQ(meaning_of(*build_graph(of_one_size, Preset::smoke)), meaning_of(*first))
            << one_size.substr(0, 4000);
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Levels, WrittenTasks, ::testing::Values(1, 2, 3));

TEST(WrittenFile, OfARecurrentNetworkIsShort) {
  const Task& task = find_task({3, 34});
  const auto graph = build_graph(task, Preset::v0_1);
  EXPECT_GT(graph->nodes().size(), 1000u);
  for (const std::string& text :
       {task_file_text(task), task_file_text(task, *graph, Preset::v0_1)}) {
    EXPECT_LT(std::ranges::count(text, '\n'), 60) << text;
    EXPECT_THAT(text, HasSubstr("repeat: {t: "));
  }
}

/// Layers of one width, of images that are halved first.
std::unique_ptr<Graph> network(int64_t batch, int64_t size, int64_t width, int64_t layers) {
  auto graph = std::make_unique<Graph>();
  Value x = graph->input("x", {batch, 3, size, size});
  x = max_pool2d(x, {.kernel = {2}, .stride = {2}});
  x = reshape(x, {batch, 3 * (size / 2) * (size / 2)});
  x = linear(x, graph->module("first"), {.out = width});
  for (int64_t i = 0; i < layers; ++i) {
    x = relu(linear(x, graph->module("layers." + std::to_string(i)), {.out = width}));
  }
  graph->output(x);
  return graph;
}

Task made_by_hand() {
  Task task;
  task.id.own = "made/by_hand";
  task.name = "Network";
  task.family = "own";
  return task;
}

/// That the file gives the graphs at the presets: of the smallest at smoke, of the largest at v0.1,
/// of one in between at v0, and at train where it is not given.
void expect_same(const std::string& text, const std::vector<SizedGraph>& built) {
  const Task& read = add_task_file(text, "merged.yaml");
  const size_t most = built.size() - 1;
  const auto expect_at = [&](Preset preset, size_t place) {
    EXPECT_EQ(meaning_of(*build_graph(read, preset)), meaning_of(*built[place].graph)) << text;
  };
  expect_at(Preset::smoke, 0);
  expect_at(Preset::train, std::min<size_t>(1, most));
  expect_at(Preset::v0, most < 2 ? most : most - 1);
  expect_at(Preset::v0_1, most);
}

Variables sizes(int64_t batch, int64_t width, int64_t layers) {
  return {{"batch", batch}, {"width", width}, {"layers", layers}};
}

TEST(WrittenFile, HasItsSizesNamesAndVariablesForNumbersWithoutOne) {
  const auto a = network(2, 6, 5, 3), b = network(16, 10, 12, 4), c = network(64, 14, 40, 6);
  const std::vector<SizedGraph> built = {
      {sizes(2, 5, 3), a.get()}, {sizes(16, 12, 4), b.get()}, {sizes(64, 40, 6), c.get()}};
  const std::string text = task_file_text(made_by_hand(), built);
  EXPECT_THAT(text, HasSubstr("batch: {smoke: 2, v0: 16, v0.1: 64}"));
  EXPECT_THAT(text, HasSubstr("x_dim2: {smoke: 6, v0: 10, v0.1: 14}"));
  EXPECT_THAT(text, HasSubstr("first_weight_dim1: {smoke: 27, v0: 75, v0.1: 147}"));
  EXPECT_THAT(text, HasSubstr("x: {shape: [batch, 3, x_dim2, x_dim2]"));
  EXPECT_THAT(
      text,
      HasSubstr("shape: [width, first_weight_dim1], distribution: fan_in(first_weight_dim1)"));
  EXPECT_THAT(text, HasSubstr("repeat: {t: layers}"));
  expect_same(text, built);
}

TEST(WrittenFile, HasFourPresets) {
  const auto a = network(2, 6, 5, 3), b = network(8, 10, 7, 3), c = network(16, 12, 12, 3),
             d = network(64, 14, 40, 3);
  const std::vector<SizedGraph> built = {{sizes(2, 5, 3), a.get()},
                                         {sizes(8, 7, 3), b.get()},
                                         {sizes(16, 12, 3), c.get()},
                                         {sizes(64, 40, 3), d.get()}};
  const std::string text = task_file_text(made_by_hand(), built);
  EXPECT_THAT(text, HasSubstr("batch: {smoke: 2, train: 8, v0: 16, v0.1: 64}"));
  EXPECT_THAT(text, Not(HasSubstr("layers: {")));
  expect_same(text, built);
}

TEST(WrittenFile, OfOneSizeHasNumbers) {
  const auto a = network(2, 6, 5, 3);
  const std::vector<SizedGraph> built = {{{{"batch", int64_t{2}}}, a.get()}};
  const std::string text = task_file_text(made_by_hand(), built);
  EXPECT_THAT(text, Not(HasSubstr("variables:")));
  EXPECT_THAT(text, HasSubstr("x: {shape: [2, 3, 6, 6]"));
  expect_same(text, built);
}

TEST(WrittenFile, OfGraphsThatComputeDifferentThingsIsRefused) {
  const auto a = network(2, 6, 5, 3);
  Graph other;
  other.output(relu(other.input("x", {4, 3, 6, 6})));
  const std::vector<SizedGraph> built = {{{}, a.get()}, {{}, &other}};
  const Error error = error_of([&] { task_file_text(made_by_hand(), built); });
  EXPECT_EQ(error.code(), ErrorCode::kUnsupported);
  EXPECT_THAT(error.what(), HasSubstr("made/by_hand: its"));
  EXPECT_EQ(error_of([&] { task_file_text(made_by_hand(), {}); }).code(),
            ErrorCode::kInvalidArgument);
}

}  // namespace
}  // namespace kbench
