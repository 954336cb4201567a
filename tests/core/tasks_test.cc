#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "kbench/error.h"
#include "kbench/task.h"
#include "tests/error_of.h"

namespace kbench {
namespace {

using ::testing::HasSubstr;

TEST(Tasks, BuildAtEveryPreset) {
  std::set<TaskId> ids;
  for (const Task& task : tasks()) {
    EXPECT_TRUE(ids.insert(task.id).second) << to_string(task.id);
    for (const Preset preset : kAllPresets) {
      const auto graph = build_graph(task, preset);
      EXPECT_FALSE(graph->outputs().empty()) << to_string(task.id);
      EXPECT_GT(graph->flops(), 0) << to_string(task.id);
    }
  }
}

/// Networks whose widths are fixed keep their weights; what goes in and comes out is small.
TEST(Tasks, SmokeSizesAreSmall) {
  for (const Task& task : tasks()) {
    const auto graph = build_graph(task, Preset::smoke);
    for (const int id : graph->values_of(Graph::Kind::input)) {
      EXPECT_LT(graph->values()[id].type.bytes(), 10 << 20) << to_string(task.id);
    }
    for (const int id : graph->outputs()) {
      EXPECT_LT(graph->values()[id].type.bytes(), 10 << 20) << to_string(task.id);
    }
    EXPECT_LT(graph->least_bytes(), 1 << 30) << to_string(task.id);
  }
}

TEST(TaskNames, ShortAndLongFormsNameTheSameTask) {
  EXPECT_EQ(parse_task_id("1/19"), parse_task_id("level1/19"));
  EXPECT_EQ(to_string(parse_task_id("1/19")), "level1/19");
  for (const char* text : {"", "19", "1/", "/19", "1/x", "1/19x", "level/1", "1/*", "1/2-3"}) {
    EXPECT_THROW(parse_task_id(text), Error) << text;
  }
  EXPECT_THAT(error_of([] { find_task({1, 999}); }).what(), HasSubstr("no task level1/999"));
}

TEST(TaskNames, SelectionsAreListsRangesAndLevels) {
  const auto chosen = select_tasks("2/1,level1/1-12,1/1");
  ASSERT_GE(chosen.size(), 4u);
  EXPECT_EQ(chosen.front()->id, (TaskId{1, 1}));
  EXPECT_EQ(chosen.back()->id, (TaskId{2, 1}));
  for (const Task* task : select_tasks("level3/*")) EXPECT_EQ(task->id.level, 3);
  EXPECT_THROW(select_tasks("9/*"), Error);
  EXPECT_THROW(select_tasks("1/1,,2/1"), Error);
}

TEST(TaskNames, NamesAreFoundHoweverTheyAreWritten) {
  for (const Task& task : tasks()) {
    const std::string number = std::to_string(task.id.number);
    const std::string folder = "level" + std::to_string(task.id.level) + "/";
    EXPECT_EQ(&named_task(to_string(task.id)), &task);
    EXPECT_EQ(&named_task(folder + number + "_" + task.name + "_.py"), &task);
    EXPECT_EQ(&named_task("KernelBench/" + folder + number + "_" + task.name), &task);
    std::string loud = number + " " + task.name;
    for (char& c : loud) c = static_cast<char>(c == '_' ? ' ' : std::toupper(c));
    EXPECT_EQ(&named_task(folder + loud), &task) << loud;
  }
  EXPECT_EQ(named_task("relu").id, (TaskId{1, 19})) << "although others hold the word";
  EXPECT_EQ(named_task("mingptnew").id, (TaskId{1, 88})) << "the only one that holds it";
  EXPECT_EQ(named_task("lenet").id, (TaskId{3, 4})) << "the only one that begins with it";
  EXPECT_EQ(select_tasks("gemm", tasks(), Names::of_all).size(), 19u);
  EXPECT_EQ(named_task("Level1/CumSum").id, named_task("1/89").id);
}

TEST(TaskNames, AnAmbiguousNameListsWhatItCanBe) {
  EXPECT_THAT(error_of([] { named_task("gemm_scale_batchnorm"); }).what(),
              HasSubstr("can be 2 tasks: level2/33 Gemm_Scale_BatchNorm, level2/39"));
  EXPECT_THAT(error_of([] { named_task("conv"); }).what(), HasSubstr(" more"));
  EXPECT_THAT(error_of([] { named_task("19"); }).what(),
              HasSubstr("can be 3 tasks: level1/19 ReLU"));
  EXPECT_THAT(error_of([] { named_task("sofmax"); }).what(), HasSubstr("did you mean 'softmax'?"));
  for (const char* text : {"", "/", "level1/", "19x", "1/1-", "level9/relu", "_", "//"}) {
    EXPECT_THROW(named_task(text), Error) << text;
  }
  EXPECT_THROW(parse_task_id("relu"), Error) << "in files a task is its number";
  const auto chosen = select_tasks("softmax,relu,1/20");
  ASSERT_EQ(chosen.size(), 3u);
  EXPECT_EQ(chosen[2]->name, "Softmax");
}

TEST(TaskNames, AreFoundInTheSuiteThatIsGiven) {
  const std::vector<Task> suite = {{{1, 2}, "Second", "sample", {}, nullptr},
                                   {{1, 1}, "First", "sample", {}, nullptr}};
  EXPECT_EQ(find_task({1, 1}, suite).name, "First");
  EXPECT_EQ(lookup_task({1, 19}, suite), nullptr);
  EXPECT_THROW(find_task({1, 19}, suite), Error);
  const auto chosen = select_tasks("1/*", suite);
  ASSERT_EQ(chosen.size(), 2u);
  EXPECT_EQ(chosen.front()->name, "First");
}

TEST(Overrides, ChangeShapesAndAreChecked) {
  const Task& conv = find_task({2, 1});
  const auto graph = build_graph(conv, Preset::smoke, {{"height", int64_t{65}}});
  EXPECT_EQ(graph->values()[graph->outputs()[0]].type.shape, (Shape{2, 16, 63, 16}));
  EXPECT_THAT(error_of([&] {
                build_graph(conv, Preset::smoke, {{"heigth", int64_t{65}}});
              }).what(),
              HasSubstr("did you mean 'height'?"));
  EXPECT_THAT(error_of([&] {
                build_graph(conv, Preset::smoke, {{"height", 6.5}});
              }).what(),
              HasSubstr("another type"));
  EXPECT_THAT(error_of([&] {
                build_graph(conv, Preset::smoke, {{"height", int64_t{2}}});
              }).what(),
              HasSubstr("conv2d"));
  EXPECT_THAT(error_of([&] {
                build_graph(find_task({1, 85}), Preset::smoke, {{"groups", int64_t{4}}});
              }).what(),
              HasSubstr("follows from the other variables"));
}

TEST(TaskAt, BuildsWhatTaskPresetAndOverridesBuild) {
  const Variables taller = {{"height", int64_t{65}}};
  const TaskAt at = task_at({2, 1}, Preset::smoke, taller);
  EXPECT_EQ(at, (TaskAt{{2, 1}, "smoke", taller}));
  const auto own = build_graph(find_task({2, 1}), Preset::smoke, taller);
  EXPECT_EQ(build_graph(at)->variables(), own->variables());
  EXPECT_EQ(variables_of(at), own->variables());

  // With all variables given, no preset is needed; a variable that is not there is missed.
  const TaskAt all = {{2, 1}, "", own->variables()};
  EXPECT_EQ(build_graph(all)->variables(), own->variables());
  EXPECT_THROW(build_graph(TaskAt{{2, 1}, "", taller}), Error);

  EXPECT_THAT(error_of([] {
                build_graph(TaskAt{{9, 9}, "smoke", {}});
              }).what(),
              HasSubstr("level9/9"));
  EXPECT_THAT(error_of([] {
                build_graph(TaskAt{{2, 1}, "smoek", {}});
              }).what(),
              HasSubstr("did you mean 'smoke'?"));
  EXPECT_THAT(error_of([] {
                build_graph(TaskAt{{2, 1}, "smoke", {{"heigth", int64_t{65}}}});
              }).what(),
              HasSubstr("did you mean 'height'?"));
}

TEST(Overrides, ListsFollowUnlessTheyAreGiven) {
  using List = std::vector<int64_t>;
  const Task& conv = find_task({2, 1});
  const auto bias_shape = [&](const Variables& overrides) {
    const auto graph = build_graph(conv, Preset::smoke, overrides);
    for (const auto& value : graph->values()) {
      if (value.name == "bias") return value.type.shape;
    }
    return Shape{};
  };
  EXPECT_EQ(bias_shape({}), (Shape{16, 1, 1}));
  EXPECT_EQ(bias_shape({{"out_channels", int64_t{37}}}), (Shape{37, 1, 1}));
  EXPECT_EQ(bias_shape({{"out_channels", int64_t{37}}, {"bias_shape", List{1, 1, 1}}}),
            (Shape{1, 1, 1}));
  EXPECT_EQ(std::get<List>(
                variables_of(conv, Preset::v0_1, {{"out_channels", int64_t{5}}}).at("bias_shape")),
            (List{5, 1, 1}));
  EXPECT_THAT(error_of([&] {
                build_graph(conv, Preset::smoke, {{"bias_shape", List{4, 1, 1}}});
              }).what(),
              HasSubstr("add(f32 [2, 16, 12, 16], f32 [4, 1, 1])"));
}

}  // namespace
}  // namespace kbench
