// One file for all presets: that of every task of the suite, and of graphs made by hand.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "kbench/error.h"
#include "kbench/ops.h"
#include "kbench/other_sizes.h"
#include "kbench/task_file.h"
#include "libkbench/task_file/write.h"
#include "tests/error_of.h"
#include "tests/task_file/meaning.h"

namespace kbench {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

/// The values of those variables that the task has.
Variables known_of(const Task& task, const Variables& set) {
  Variables known;
  for (const VariableSpec& spec : task.variables) {
    const auto value = set.find(spec.name);
    if (value != set.end()) known.insert(*value);
  }
  return known;
}

/// How many tasks of a level may have no file for all presets, or one with variables of its own, or
/// one that is not the same task at other values of its variables.
struct Limits {
  int level;
  size_t refused, added, unexplained;
};

class FilesForAllPresets : public ::testing::TestWithParam<Limits> {};

TEST_P(FilesForAllPresets, AreTheSameGraphsReadBack) {
  std::vector<std::string> refused, added, unexplained;
  for (const Task& task : tasks()) {
    if (task.id.level != GetParam().level) continue;
    SCOPED_TRACE(to_string(task.id));
    written::WrittenFile file;
    try {
      file = written::write_file(task, written::SizesAround(task).built());
    } catch (const Error& error) {
      ASSERT_EQ(error.code(), ErrorCode::kUnsupported) << error.what();
      refused.push_back(to_string(task.id));
      continue;
    }
    if (!file.added.empty()) added.push_back(to_string(task.id));
    if (!file.unexplained.empty()) unexplained.push_back(to_string(task.id));
    const Task& read = add_task_file(file.text, "written.yaml");
    EXPECT_EQ(read.tolerance.relative, task.tolerance.relative);
    for (const Preset preset : kAllPresets) {
      for (const DType dtype : kTaskDTypes) {
        const auto again = build_graph(read, preset, {}, dtype);
        const auto first = build_graph(task, preset, {}, dtype);
        ASSERT_EQ(meaning_of(*again), meaning_of(*first)) << file.text.substr(0, 4000);
      }
    }
    if (!file.added.empty() || !file.unexplained.empty()) continue;
    for (const Variables& set : other_sizes(task_at(task.id, Preset::smoke))) {
      const auto again = build_graph(read, Preset::smoke, known_of(read, set));
      ASSERT_EQ(meaning_of(*again), meaning_of(*build_graph(task, Preset::smoke, set)))
          << file.text.substr(0, 4000);
    }
  }
  const auto listed = [](const std::vector<std::string>& names) {
    std::string text;
    for (const std::string& name : names) text += " " + name;
    return text;
  };
  EXPECT_LE(refused.size(), GetParam().refused) << listed(refused);
  EXPECT_LE(added.size(), GetParam().added) << listed(added);
  EXPECT_LE(unexplained.size(), GetParam().unexplained) << listed(unexplained);
}

INSTANTIATE_TEST_SUITE_P(Levels, FilesForAllPresets,
                         ::testing::Values(Limits{1, 0, 0, 0}, Limits{2, 0, 3, 5},
                                           Limits{3, 0, 3, 6}),
                         [](const auto& info) {
                           return "level" + std::to_string(info.param.level);
                         });

TEST(FileForAllPresets, OfARecurrentNetworkIsShort) {
  const std::string text = task_file_text(find_task({3, 34}));
  EXPECT_LT(std::ranges::count(text, '\n'), 55) << text;
  EXPECT_THAT(text, HasSubstr("repeat: {t: sequence_length - 1}"));
  EXPECT_THAT(text, HasSubstr("shape: [batch_size, input_size]"));
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

TEST(MergedGraphs, HaveTheNamesOfTheirSizes) {
  const auto a = network(2, 6, 5, 3), b = network(16, 10, 12, 4), c = network(64, 14, 40, 6);
  const auto sizes = [](int64_t batch, int64_t size, int64_t width, int64_t layers) {
    return Variables{{"batch", batch}, {"size", size}, {"width", width}, {"layers", layers}};
  };
  const std::vector<SizedGraph> built = {{sizes(2, 6, 5, 3), a.get()},
                                         {sizes(16, 10, 12, 4), b.get()},
                                         {sizes(64, 14, 40, 6), c.get()}};
  const std::string text = task_file_text(made_by_hand(), built);
  EXPECT_THAT(text, HasSubstr("batch: {smoke: 2, v0: 16, v0.1: 64}"));
  EXPECT_THAT(text, HasSubstr("x: {shape: [batch, 3, size, size]"));
  EXPECT_THAT(text, HasSubstr("repeat: {t: layers}"));
  EXPECT_THAT(text, HasSubstr("fan_in(width)"));
  expect_same(text, built);
}

TEST(MergedGraphs, HaveFourPresets) {
  const auto a = network(2, 6, 5, 3), b = network(8, 10, 7, 3), c = network(16, 12, 12, 3),
             d = network(64, 14, 40, 3);
  const auto sizes = [](int64_t batch, int64_t size, int64_t width) {
    return Variables{{"batch", batch}, {"size", size}, {"width", width}};
  };
  const std::vector<SizedGraph> built = {{sizes(2, 6, 5), a.get()},
                                         {sizes(8, 10, 7), b.get()},
                                         {sizes(16, 12, 12), c.get()},
                                         {sizes(64, 14, 40), d.get()}};
  const std::string text = task_file_text(made_by_hand(), built);
  EXPECT_THAT(text, HasSubstr("batch: {smoke: 2, train: 8, v0: 16, v0.1: 64}"));
  expect_same(text, built);
}

TEST(MergedGraphs, HaveVariablesForSizesWithoutAName) {
  const auto a = network(2, 6, 5, 3), b = network(16, 10, 12, 3);
  const std::vector<SizedGraph> built = {{{{"batch", int64_t{2}}}, a.get()},
                                         {{{"batch", int64_t{16}}}, b.get()}};
  const std::string text = task_file_text(made_by_hand(), built);
  EXPECT_THAT(text, HasSubstr("batch: {smoke: 2, v0.1: 16}"));
  EXPECT_THAT(text, HasSubstr("x_dim2: {smoke: 6, v0.1: 10}"));
  EXPECT_THAT(text, HasSubstr("x: {shape: [batch, 3, x_dim2, x_dim2]"));
  EXPECT_THAT(text, HasSubstr("fan_in(3 * (x_dim2 / 2) * (x_dim2 / 2))"));
  EXPECT_THAT(text, HasSubstr("first.bias: {shape: [first_weight_dim0]"));
  expect_same(text, built);
}

TEST(MergedGraphs, OfOneSizeHaveNumbers) {
  const auto a = network(2, 6, 5, 3);
  const std::vector<SizedGraph> built = {{{{"batch", int64_t{2}}}, a.get()}};
  const std::string text = task_file_text(made_by_hand(), built);
  EXPECT_THAT(text, Not(HasSubstr("variables:")));
  EXPECT_THAT(text, HasSubstr("x: {shape: [2, 3, 6, 6]"));
  expect_same(text, built);
}

TEST(MergedGraphs, ThatComputeSomethingElseAreRefused) {
  const auto a = network(2, 6, 5, 3);
  Graph other;
  other.output(relu(other.input("x", {4, 3, 6, 6})));
  const std::vector<SizedGraph> built = {{{}, a.get()}, {{}, &other}};
  const Error error = error_of([&] { task_file_text(made_by_hand(), built); });
  EXPECT_EQ(error.code(), ErrorCode::kUnsupported);
  EXPECT_THAT(error.what(), HasSubstr("made/by_hand: its"));
}

/// A layer whose bound follows from its width, and a mean over what a window leaves.
void pooled(Graph& graph) {
  const int64_t height = graph["height"], channels = graph["channels"];
  Value x = graph.input("x", {graph["batch"], channels, height, 9});
  x = conv2d(x, graph.module("conv"),
             {.out_channels = 2 * channels, .kernel = {graph["kernel"]}, .padding = {1}});
  const Shape shape = x.shape();
  x = reshape(x, {shape[0], shape[1], shape[2] * shape[3]});
  x = x * (1 / std::sqrt(static_cast<double>(channels)));
  graph.output(x);
}

TEST(MergedGraphs, SizesBesideThePresetsTellExpressionsApart) {
  Task task = made_by_hand();
  task.variables = {
      {"batch", 2, 3, 3}, {"height", 8, 12, 12}, {"channels", 4, 6, 6}, {"kernel", 3}};
  task.build = pooled;
  const std::string text = task_file_text(task);
  EXPECT_THAT(text, HasSubstr("x: {shape: [batch, channels, height, 9]"));
  EXPECT_THAT(text, HasSubstr("conv.weight: {shape: [2 * channels, channels, kernel, kernel]"));
  EXPECT_THAT(text, HasSubstr("fan_in(channels * kernel * kernel)"));
  EXPECT_THAT(text, HasSubstr("(height - kernel + 3) * (12 - kernel)"));
  EXPECT_THAT(text, HasSubstr("value: 1 / sqrt(channels)"));
  const Task& read = add_task_file(text, "pooled.yaml");
  const Variables set = {{"height", int64_t{23}}, {"channels", int64_t{5}}, {"kernel", int64_t{4}}};
  EXPECT_EQ(meaning_of(*build_graph(read, Preset::v0, set)),
            meaning_of(*build_graph(task, Preset::v0, set)))
      << text;
}

}  // namespace
}  // namespace kbench
