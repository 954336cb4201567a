// The sizes of preset train: what the rule chooses, and that levels/sizes has what it chooses.
#include "libkbench/core/training_sizes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kbench/ops.h"
#include "libkbench/core/size_search.h"
#include "libkbench/scoring/task_sizes.h"
#include "tests/error_of.h"

namespace kbench {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using List = std::vector<int64_t>;

Variables sizes(std::initializer_list<std::pair<const char*, int64_t>> of) {
  Variables variables;
  for (const auto& [name, value] : of) variables[name] = value;
  return variables;
}

/// `kbench task sizes '1/*,2/*,3/*' > levels/sizes/train.json` makes the file again.
TEST(TrainingSizes, OfTheSuiteAreThoseOfTheRule) {
  for (const Task& task : tasks()) {
    EXPECT_EQ(variables_of(task, Preset::train),
              variables_of(task, Preset::v0_1, training_sizes(task)))
        << to_string(task.id);
  }
}

TEST(TrainingSizes, AreOfTheSameComputationInLessMemory) {
  double sum = 0;
  for (const Task& task : tasks()) {
    SCOPED_TRACE(to_string(task.id));
    const auto train = build_graph(task, Preset::train), large = build_graph(task, Preset::v0_1);
    EXPECT_TRUE(same_computation(*large, *train));
    EXPECT_LE(train->flops(), large->flops());
    EXPECT_LE(train->least_bytes(), 1.2e9);
    sum += train->flops() / large->flops();
  }
  EXPECT_LT(sum / static_cast<double>(tasks().size()), 0.25);
}

/// A task whose sizes differ from preset to preset, at v0.1 as given.
Task made(const Variables& at_v0_1, std::function<void(Graph&)> build) {
  Task task;
  task.id.own = "made/here";
  for (const auto& [name, value] : at_v0_1) {
    task.variables.emplace_back(name, int64_t{4}, value, value);
  }
  task.build = std::move(build);
  return task;
}

TEST(TrainingSizes, OfRowsKeepTheirLengthAndOneForEachCore) {
  const auto rows = [](Graph& g) { g.output(softmax(g.input("x", {g["rows"], g["width"]}), 1)); };
  // 8 bytes an element at 4 TB/s: 0.1 ms are 50 million elements.
  EXPECT_EQ(training_sizes(made(sizes({{"rows", 1 << 20}, {"width", 4096}}), rows)),
            sizes({{"rows", 1 << 14}}));
  EXPECT_EQ(training_sizes(made(sizes({{"rows", 1024}, {"width", 1 << 22}}), rows)),
            sizes({{"rows", 256}, {"width", 1 << 18}}));
}

TEST(TrainingSizes, OfAProductShrinkFromTheLargest) {
  const auto product = [](Graph& g) {
    const Value a = g.input("A", {g["M"], g["K"]});
    g.output(matmul(a, g.input("B", {g["K"], g["N"]})));
  };
  EXPECT_EQ(training_sizes(made(sizes({{"M", 2048}, {"K", 16384}, {"N", 2048}}), product)),
            sizes({{"K", 1024}}));
  EXPECT_EQ(training_sizes(made(sizes({{"M", 8205}, {"K", 2949}, {"N", 5921}}), product)),
            sizes({{"M", 2051}, {"K", 1475}, {"N", 1481}}))
      << "odd sizes stay odd";
}

TEST(TrainingSizes, OfALayerShrinkInTheBatchBeforeTheWeights) {
  const auto layer = [](Graph& g) {
    const Value x = g.input("x", {g["batch"], g["in"]});
    g.output(linear(x, g.module("layer"), {.out = g["out"]}));
  };
  EXPECT_EQ(training_sizes(made(sizes({{"batch", 8192}, {"in", 4096}, {"out", 4096}}), layer)),
            sizes({{"batch", 256}}));
  EXPECT_EQ(training_sizes(made(sizes({{"batch", 512}, {"in", 8192}, {"out", 8192}}), layer)),
            sizes({{"batch", 256}, {"in", 4096}, {"out", 4096}}));
}

TEST(TrainingSizes, OfImagesKeepTwoSamplesAndTheWindow) {
  const auto convolution = [](Graph& g) {
    const int64_t channels = g["channels"];
    const Value x = g.input("x", {g["batch"], channels, g["height"], 512});
    g.output(conv2d(x, g.module("conv"), {.out_channels = channels, .kernel = {g["kernel"]}}));
  };
  const auto of = [&](int64_t batch, int64_t channels, int64_t height, int64_t kernel) {
    return training_sizes(
        made({{"batch", batch}, {"channels", channels}, {"height", height}, {"kernel", kernel}},
             convolution));
  };
  EXPECT_EQ(of(16, 64, 512, 3), sizes({{"batch", 2}, {"height", 128}}));
  EXPECT_EQ(of(2, 1, 4096, 65), sizes({{"height", 1024}}));
}

TEST(TrainingSizes, ThatHaveToBeEqualShrinkTogether) {
  const auto squares = [](Graph& g) {
    const Value x = g.input("x", {g["a"], g["b"]});
    g.output(x + transpose(x, 0, 1));
  };
  EXPECT_EQ(training_sizes(made(sizes({{"a", 32768}, {"b", 32768}}), squares)),
            sizes({{"a", 8192}, {"b", 8192}}));
}

TEST(TrainingSizes, OfWhatIsShortAlreadyAreThoseOfV0_1) {
  const auto small = [](Graph& g) { g.output(relu(g.input("x", {g["rows"], 64}))); };
  EXPECT_THAT(training_sizes(made(sizes({{"rows", 4096}}), small)), IsEmpty());
}

/// A hundred launches of a tenth of the time each: smaller ones would be launches alone.
TEST(TrainingSizes, OfManyLaunchesLeaveThemSomethingToDo) {
  const auto chain = [](Graph& g) {
    Value x = g.input("x", {g["rows"], 4096});
    for (int i = 0; i < 100; ++i) x = relu(x);
    g.output(x);
  };
  // 32,768 bytes a row at 4 TB/s: the 10 microseconds of a launch are 1221 rows.
  EXPECT_EQ(training_sizes(made(sizes({{"rows", 1 << 16}}), chain)), sizes({{"rows", 2048}}));
}

TEST(TaskSizesFile, IsReadAsItWasWritten) {
  const TaskSizes written = {
      {{1, 1}, sizes({{"N", 2048}})}, {{1, 12}, {}}, {{3, 1}, {{"layer_sizes", List{64, 32}}}}};
  const std::string text = to_json(written);
  EXPECT_THAT(text, HasSubstr("{\"task\":\"level3/1\",\"sizes\":{\"layer_sizes\":[64,32]}}\n"));
  EXPECT_EQ(parse_task_sizes(text, "train.json"), written);
}

TEST(TaskSizesFile, SaysWhereItIsWrong) {
  const auto message = [](const std::string& tasks) {
    return std::string(
        error_of([&] { parse_task_sizes("{\"tasks\":[" + tasks + "]}", "train.json"); }).what());
  };
  EXPECT_THAT(message(R"({"task":"level1/1","sizes":{"N":"x"}})"),
              AllOf(HasSubstr("train.json"), HasSubstr("tasks[0]"), HasSubstr("N")));
  EXPECT_THAT(message(R"({"task":"one","sizes":{}})"), HasSubstr("tasks[0]"));
  EXPECT_THAT(message(R"({"task":"level1/1","sizes":{}},{"task":"level1/1","sizes":{}})"),
              AllOf(HasSubstr("tasks[1]"), HasSubstr("twice")));
}

}  // namespace
}  // namespace kbench
