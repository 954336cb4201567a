#include "kbench/task_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <limits>
#include <memory>

#include "kbench/error.h"
#include "kbench/ops.h"
#include "libkbench/core/graph_facts.h"
#include "libkbench/core/own_tasks.h"
#include "libkbench/task_file/task_file.h"
#include "tests/error_of.h"
#include "tests/task_file/meaning.h"

namespace kbench {
namespace {

constexpr char kMlp[] = R"yaml(kbench_task: 1
name: my/mlp
title: "two layers"
variables:
  batch: {smoke: 3, train: 16, v0: 64, v0.1: 1024}
  width: {smoke: 5, v0.1: 512}
  layers: 2
constants:
  bound: 1.0 / sqrt(width)
inputs:
  x: {shape: [batch, width]}
parameters:
  "layers.{i}.weight": {repeat: {i: layers}, shape: [width, width], distribution: "uniform(-bound, bound)"}
operators:
  - {op: mul_scalar, in: x, out: h, attributes: {value: 0.5}}
  - repeat: {i: layers}
    steps:
      - {op: linear, in: [h, "layers.{i}.weight"], out: h}
      - {op: relu, in: h, out: h}
outputs: h
)yaml";

TEST(TaskFiles, HaveSizesOfEveryPresetAndOverrides) {
  const Task& task = add_task_file(kMlp, "my_mlp.yaml");
  EXPECT_EQ(to_string(task.id), "my/mlp");
  EXPECT_EQ(task.name, "two layers");
  EXPECT_EQ(task.file, kMlp);
  const auto smoke = build_graph(task, Preset::smoke);
  EXPECT_EQ(smoke->nodes().size(), 5u);
  EXPECT_EQ(smoke->value(smoke->outputs()[0]).type.shape, (Shape{3, 5}));
  EXPECT_EQ(build_graph(task, Preset::train)->value(0).type.shape, (Shape{16, 512}));
  EXPECT_EQ(build_graph(task, Preset::v0)->value(0).type.shape, (Shape{64, 512}));
  EXPECT_EQ(build_graph(task, Preset::v0_1)->value(0).type.shape, (Shape{1024, 512}));
  const auto other = build_graph(task, Preset::smoke, {{"layers", int64_t{3}}});
  EXPECT_EQ(other->nodes().size(), 7u);
  EXPECT_EQ(other->values_of(Graph::Kind::parameter).size(), 3u);
  EXPECT_NEAR(smoke->value(smoke->values_of(Graph::Kind::parameter)[0]).distribution.hi,
              1 / std::sqrt(5.0), 1e-12);
}

TEST(TaskFiles, WeightsHaveTheBoundsOfKbenchsOwn) {
  std::string text = kMlp;
  const std::string drawn = "uniform(-bound, bound)";
  text.replace(text.find(drawn), drawn.size(), "fan_in(7 * width / 2)");
  const auto drawn_of = [&] {
    const auto graph = build_graph(add_task_file(text, "my_mlp.yaml"), Preset::smoke);
    return graph->value(graph->values_of(Graph::Kind::parameter)[0]).distribution;
  };
  EXPECT_EQ(drawn_of(), weight_init(17));
  text.replace(text.find("fan_in(7 * width / 2)"), 21, "weights(1.5 / sqrt(width))");
  EXPECT_EQ(drawn_of(), uniform(-0.67082, 0.67082));
}

TEST(TaskFiles, SeveralOperandsRepeatTogether) {
  const Task& task = add_task_file(R"yaml(kbench_task: 1
name: other/parts
inputs:
  "a{i}": {repeat: {i: 2}, shape: [1]}
  "b{i}": {repeat: {i: 2}, shape: [1]}
operators:
  - op: cat
    in: [b1, {names: ["a{i}", "b{1 - i}"], repeat: {i: 2}}, {name: "a{i}", repeat: {i: 2}}]
    out: y
    attributes: {axis: 0}
outputs: y
)yaml",
                                   "parts.yaml");
  const auto graph = build_graph(task, Preset::smoke);
  std::string names;
  for (const int id : graph->node(0).inputs) names += graph->value(id).name;
  EXPECT_EQ(names, "b1a0b1a1b0a0a1");
}

TEST(TaskFiles, AreKnownByNameAndTheLastOfANameCounts) {
  const Task& first = add_task_file(kMlp, "my_mlp.yaml");
  EXPECT_EQ(&named_task("my/mlp"), &first);
  EXPECT_EQ(parse_task_id("my/mlp"), first.id);
  EXPECT_EQ(select_tasks("my/*").size(), 1u);
  // A comment and a description mean nothing.
  const Task& same = add_task_file("# other words\n" + std::string(kMlp) + "description: x\n", "f");
  EXPECT_EQ(&same, &first);
  std::string text = kMlp;
  text.replace(text.find("0.5"), 3, "0.25");
  const Task& second = add_task_file(text, "my_mlp.yaml");
  EXPECT_NE(second.id, first.id);
  EXPECT_EQ(second.id.draw_word(), first.id.draw_word());
  EXPECT_EQ(&named_task("my/mlp"), &second);
  EXPECT_EQ(&find_task(first.id), &first);
  add_task_file(kMlp, "my_mlp.yaml");
  EXPECT_EQ(&named_task("my/mlp"), &first);
}

TEST(TaskFiles, ThatAreSetAreTheOnlyOnesKnown) {
  const TaskId mlp = add_task_file(kMlp, "my_mlp.yaml").id;
  std::string text = kMlp;
  text.replace(text.find("my/mlp"), 6, "my/two");
  set_task_files({text});
  EXPECT_EQ(own_task_files(), std::vector{text});
  EXPECT_THROW(find_task(mlp), Error);
  set_task_files({kMlp, text});
  EXPECT_EQ(find_task(mlp).id, mlp);
  set_task_files({});
  EXPECT_TRUE(own_task_files().empty());
  EXPECT_THROW(set_task_files({"kbench_task: 1\n"}), Error);
}

TEST(TaskFiles, ThatAreSetLeaveNoOtherMeaningOfTheirName) {
  const TaskId first = add_task_file(kMlp, "my_mlp.yaml").id;
  std::string text = kMlp;
  text.replace(text.find("0.5"), 3, "0.25");
  set_task_files({text});
  EXPECT_EQ(find_task({.own = "my/mlp"}).file, text);
  const Error e = error_of([&] { find_task(first); });
  EXPECT_EQ(e.code(), ErrorCode::kNotFound);
  EXPECT_NE(e.message().find(meaning_text(first.meaning)), std::string::npos) << e.message();
}

TEST(TaskFiles, ThatAreSetNoMoreAreKeptOnlyByThoseWhoHoldThem) {
  set_task_files({kMlp});
  std::weak_ptr<const Task> known;
  {
    const std::shared_ptr<const Task> held = hold_task({.own = "my/mlp"});
    known = held;
    set_task_files({});
    EXPECT_EQ(build_graph(*held, Preset::smoke)->outputs().size(), 1u);
  }
  EXPECT_TRUE(known.expired());
  EXPECT_EQ(hold_task({1, 19}).get(), &find_task({1, 19}));
}

/// A server reads files, and builds no graph of them.
TEST(TaskFiles, DataIsNotMadeBeforeTheGraphIs) {
  std::string text = kMlp;
  text.insert(text.find("inputs:"),
              "data:\n  m: {shape: [4096, 4096], values: \"16777215*0.5 -inf\"}\n");
  const auto read = read_task_file(text, "f.yaml");
  ASSERT_EQ(read->data.size(), 1u);
  EXPECT_EQ(read->data[0].values.size(), 2u);
  const auto graph = build_graph(add_task_file(text, "f.yaml"), Preset::smoke);
  const int made = graph->values_of(Graph::Kind::constant).at(0);
  const auto values = graph->value(made).data.data<float>();
  ASSERT_EQ(values.size(), size_t{1} << 24);
  EXPECT_EQ(values[0], 0.5f);
  EXPECT_EQ(values[values.size() - 2], 0.5f);
  EXPECT_EQ(values.back(), -std::numeric_limits<float>::infinity());
}

TEST(TaskFiles, AreNamedWithTheirMeaning) {
  const TaskId mlp = add_task_file(kMlp, "my_mlp.yaml").id;
  EXPECT_EQ(exact_name(mlp), "my/mlp@" + meaning_text(mlp.meaning));
  EXPECT_EQ(task_id_of_exact(exact_name(mlp)), mlp);
  EXPECT_EQ(task_id_of_exact("my/mlp"), (TaskId{.own = "my/mlp"}));
  EXPECT_EQ(task_id_of_exact("level1/19"), (TaskId{1, 19}));
  for (const char* text :
       {"my/mlp@", "my/mlp@12", "my/mlp@x123456789abcdef", "my/mlp@@", "mlp@1"}) {
    EXPECT_THROW(task_id_of_exact(text), Error) << text;
  }
}

std::string with_honest_error(const std::string& lines) {
  return "kbench_task: 1\nname: honest/relu\ninputs: {x: {shape: [4, 8]}}\n"
         "operators: [{op: relu, in: x, out: y}]\noutputs: y\nhonest_error:\n" +
         lines;
}

TEST(TaskFiles, SayWhatHonestHalvesAreOffBy) {
  const Task& task =
      add_task_file(with_honest_error("  f16: {relative: 3e-3, rms: 2e-4, elements: 32}\n"
                                      "  bf16: {undefined: \"its result is beyond the type\"}\n"),
                    "my.yaml");
  EXPECT_EQ(task.honest.at(DType::f16).relative, 3e-3);
  EXPECT_EQ(task.honest.at(DType::f16).rms, 2e-4);
  EXPECT_EQ(task.honest.at(DType::f16).elements, 32);
  EXPECT_FALSE(is_defined(task, DType::bf16));
  EXPECT_DOUBLE_EQ(bounds_of(task, DType::f16).relative, 6e-3) << "twice of it";
  const std::string text = task_file_text(task, *build_graph(task, Preset::smoke), Preset::smoke);
  const Task& again = add_task_file(text, "again.yaml");
  EXPECT_EQ(again.honest.at(DType::f16).relative, 3e-3);
  EXPECT_EQ(again.honest.at(DType::bf16).undefined, "its result is beyond the type");
  const auto fails = [](const std::string& lines, const std::string& with) {
    const Error e = error_of([&] { add_task_file(with_honest_error(lines), "my.yaml"); });
    EXPECT_THAT(e.what(), ::testing::HasSubstr(with));
  };
  fails("  f32: {relative: 3e-3, rms: 2e-4}\n", "my.yaml:7:3: honest_error is of f16 or bf16");
  fails("  f16: {relative: 3e-3}\n", "honest_error of f16 needs 'rms'");
  fails("  f16: {relative: -3, rms: 2e-4}\n", "relative is 0 or more, got '-3'");
  fails("  f16: {relative: 3e-3, rms: 2e-4, elements: 0}\n", "elements is 1 at least");
}

TEST(TaskFiles, NamesOfTheSuiteAreNotOnesOwn) {
  for (const char* own : {"my/mlp", "a-b/c.d", "levels/1", "level1s/x"}) {
    EXPECT_TRUE(is_own_name(own)) << own;
  }
  for (const char* other : {"level1/19", "level1/ReLU", "level/x", "1/19", "relu", "my/", "/mlp",
                            "a/b/c", "my/m lp", "level3/34_x"}) {
    EXPECT_FALSE(is_own_name(other)) << other;
  }
}

/// The files that the documentation has to read: every tensor is used, at every preset and type.
TEST(TaskFiles, ExamplesMeanAGraphAtEveryPresetAndType) {
  const TaskSet set = TaskSet::from_path(KBENCH_EXAMPLE_TASKS);
  ASSERT_GE(set.tasks().size(), 4u);
  for (const Task* task : set.tasks()) {
    SCOPED_TRACE(to_string(task->id));
    EXPECT_TRUE(task->id.own.starts_with("example/"));
    double flops = 0;
    for (const Preset preset : {Preset::smoke, Preset::v0, Preset::v0_1}) {
      for (const DType dtype : kTaskDTypes) {
        const auto graph = build_graph(*task, preset, {}, dtype);
        const std::vector<bool> needed = needed_values(*graph);
        for (size_t id = 0; id < needed.size(); ++id) {
          EXPECT_TRUE(needed[id]) << graph->values()[id].name;
        }
        EXPECT_GE(graph->flops(), flops) << "a preset is larger than the one before it";
        flops = graph->flops();
      }
    }
    // A file of the graph at one size means the same.
    const auto smoke = build_graph(*task, Preset::smoke);
    std::string text = task_file_text(*task, *smoke, Preset::smoke);
    text.replace(text.find("\nname: ") + 7, task->id.own.size(), "written/again");
    const auto again = build_graph(add_task_file(text, "again.yaml"), Preset::smoke);
    EXPECT_EQ(meaning_of(*again), meaning_of(*smoke)) << text;
  }
}

struct Mistake {
  const char* from;
  const char* to;
  const char* error;
};

TEST(TaskFiles, MistakesAreNamedWithTheirPlace) {
  for (const Mistake& mistake : {
           Mistake{"kbench_task: 1", "kbench_task: 2", "f.yaml:1:14: this build reads version 1"},
           Mistake{"my/mlp", "mlp", "'mlp' cannot name a task; write a set and a name"},
           Mistake{"my/mlp", "level1/19", "'level1/19' cannot name a task"},
           Mistake{"width: {smoke: 5, ", "width: {", "missing key 'smoke'"},
           Mistake{"smoke: 3", "smoke: three", "'three' is no integer, real number or list"},
           Mistake{"uniform(-bound, bound)", "uniform(-1)", "takes two numbers"},
           Mistake{"uniform(-bound, bound)", "uniform(1, -1)",
                   "uniform(1, -1) has its larger end first"},
           Mistake{"uniform(-bound, bound)", "normal(0, -1)", "has a negative deviation"},
           Mistake{"uniform(-bound, bound)", "weights(-bound, bound)", "takes one number"},
           Mistake{"uniform(-bound, bound)", "fan_in(-width)", "a fan_in must be 0 to"},
           Mistake{"in: h, out: h}", "in: {repeat: {j: 1}}, out: h}", "either 'name' or 'names'"},
           Mistake{"in: h, out: h}", "in: {names: [], repeat: {j: 1}}, out: h}",
                   "no name to repeat"},
           Mistake{"uniform(-bound, bound)", "gauss(0, 1)", "there is no distribution 'gauss'"},
           Mistake{"uniform(-bound, bound)", "normal(0, 1), tril_", "follows a drawing"},
           Mistake{"[h, \"layers", "[g, \"layers", "there is no tensor 'g'"},
           Mistake{"op: relu", "op: relou", "relou"},
           Mistake{"op: linear, in: [h, \"layers.{i}.weight\"]", "op: linear, in: [h, x]",
                   "linear"},
           Mistake{"shape: [width, width]", "shape: [batch, width + 1]", "[3, 6]"},
           Mistake{"shape: [batch, width]", "shape: [batch, wide]", "unknown name 'wide'"},
           Mistake{"inputs:\n",
                   "data:\n  m: {shape: [width * 1000, 100000], causal: true}\ninputs:\n",
                   "with 'm', f32 [5000, 100000], the file's data has more than 2^24 values"},
           Mistake{"inputs:\n",
                   "data:\n  a: {shape: [1048576, 16], values: \"16777216*0\"}\n"
                   "  b: {shape: [1], values: \"1\"}\ninputs:\n",
                   "the file's data has more than 2^24 values"},
           Mistake{"inputs:\n",
                   "data:\n  a: {shape: [4096, 4096], causal: true}\n"
                   "  b: {shape: [2, 2], causal: true}\ninputs:\n",
                   "with 'b', f32 [2, 2], the file's data has more than 2^24 values"},
           Mistake{"inputs:\n",
                   "data:\n  a: {shape: [2], values: \"0 9223372036854775807*1\"}\ninputs:\n",
                   "the file's data has more than 2^24 values"},
           Mistake{"x: {shape: [batch, width]}", "x: {shape: [width * 1000000000000000, 9000000]}",
                   "has more than 9007199254740991 elements"},
           Mistake{"outputs: h", "outputs: y", "there is no tensor 'y'"},
           Mistake{"out: h, attributes", "out: x, attributes", "there are two tensors 'x'"},
           Mistake{"{op: relu, in: h, out: h}", "{copy: h, to: h}", "a task's step needs 'op'"},
           Mistake{"outputs: h\n", "outputs: h\nextra: 1\n", "extra"},
           Mistake{"x: {shape: [batch, width]}", "x: {shape: [batch, width], dtype: i32}",
                   "an input is of f32, i64, u8 or bool, not i32"},
           Mistake{"x: {shape: [batch, width]}", "x: {shape: [batch, width], dtype: u8}",
                   "an input of u8 is drawn by randint(lo, hi) within 0 and 256, not by normal"},
           Mistake{"x: {shape: [batch, width]}",
                   "x: {shape: [batch, width], dtype: u8, distribution: \"randint(0, 257)\"}",
                   "within 0 and 256, not by randint(0, 257)"},
           Mistake{"x: {shape: [batch, width]}",
                   "x: {shape: [batch, width], dtype: bool, distribution: \"randint(0, 3)\"}",
                   "an input of bool is drawn by randint(0, 2), not by randint(0, 3)"},
           Mistake{"value: 0.5", "valu: 0.5", "has no attribute 'valu'"},
       }) {
    std::string text = kMlp;
    const size_t at = text.find(mistake.from);
    ASSERT_NE(at, std::string::npos) << mistake.from;
    text.replace(at, std::string(mistake.from).size(), mistake.to);
    const Error error = error_of([&] { add_task_file(text, "f.yaml"); });
    EXPECT_NE(std::string(error.what()).find(mistake.error), std::string::npos)
        << mistake.to << ": " << error.what();
    EXPECT_TRUE(std::string(error.what()).starts_with("f.yaml:")) << error.what();
    EXPECT_GT(error.location().line, 0) << error.what();
  }
}

TEST(TaskFiles, AFolderIsAllOfItsFiles) {
  const std::filesystem::path folder =
      std::filesystem::path(::testing::TempDir()) / "task_files_of_a_folder";
  std::filesystem::create_directories(folder);
  std::string other = kMlp;
  other.replace(other.find("my/mlp"), 6, "my/abc");
  std::ofstream(folder / "b.yaml") << kMlp;
  std::ofstream(folder / "z.yaml") << other;
  const TaskSet set = TaskSet::from_path(folder);
  ASSERT_EQ(set.tasks().size(), 2u);
  EXPECT_EQ(set.tasks()[0]->id.own, "my/abc");
  std::ofstream(folder / "z.yaml") << kMlp;
  EXPECT_EQ(error_of([&] { TaskSet::from_path(folder); }).code(), ErrorCode::kInvalidArgument);
  std::filesystem::remove_all(folder);
  EXPECT_EQ(error_of([&] { TaskSet::from_path(folder); }).code(), ErrorCode::kIo);
}

}  // namespace
}  // namespace kbench
