// Everything that is wrong with a file is told at once, each error at its place.
#include <string>
#include <vector>

#include "kbench/graph.h"
#include "kbench/task.h"
#include "libkbench/base/text.h"
#include "tests/candidate/support.h"

namespace kbench {
namespace {

using testing_support::parse;

/// "line:column: message" of each error.
std::vector<std::string> places_of(const Error& error) {
  std::vector<std::string> places;
  for (const Error& each : error.all()) {
    places.push_back(std::to_string(each.location().line) + ":" +
                     std::to_string(each.location().column) + ": " + each.message());
  }
  return places;
}

MATCHER_P2(At, place, message, "") {
  return arg.starts_with(std::string(place) + ": ") && arg.find(message) != std::string::npos;
}

using ::testing::ElementsAre;
using ::testing::UnorderedElementsAre;

TEST(AllErrors, OfTheFormComeTogether) {
  const Error error = error_of([] {
    parse(R"yaml(kbench: 1
task: level1/19
kernelz: {}
name: [1, 2]
kernels:
  good: {source: "void main() {}"}
  bad: {source: "void main() {}", optimise: true}
temps:
  a: {dtype: f99, shape: [3]}
dispatch:
  - {kernel: good, bind: [x, output], group: 1}
  - {kernel: godo, bind: [x, output], groups: 1}
  - {kernel: bad, bind: [x, output], grid: 1}
  - {op: rellu, in: x, out: output}
)yaml");
  });
  EXPECT_THAT(
      places_of(error),
      ElementsAre(At("3:1", "unknown key 'kernelz'"), At("4:7", "expected a text"),
                  At("7:35", "unknown key 'optimise'"), At("9:14", "'f99'"),
                  At("11:39", "unknown key 'group'"), At("11:5", "missing key 'groups'"),
                  At("12:14", "there is no kernel 'godo'"), At("13:38", "'grid' belongs to CUDA"),
                  At("14:10", "did you mean 'relu'")));
  EXPECT_STREQ(error.what(), ("c.yaml:" + places_of(error).front()).c_str())
      << "the message is that of the first";
}

TEST(AllErrors, AKernelThatCannotBeReadIsNotMissedByItsSteps) {
  const Error error = error_of([] {
    parse(R"yaml(kbench: 1
task: level1/19
kernels:
  relu: {language: fortran, source: "end"}
dispatch:
  - {kernel: relu, bind: [x, output], grid: 1, block: 32}
)yaml");
  });
  EXPECT_THAT(places_of(error), ElementsAre(At("4:20", "unknown language 'fortran'")));
}

Error resolving_error(const std::string& text) {
  const Candidate candidate = parse(text);
  const auto graph = build_graph(find_task(candidate.task), Preset::smoke);
  return error_of([&] { resolve(candidate, *graph); });
}

TEST(AllErrors, OfTheMeaningComeTogether) {
  const Error error = resolving_error(R"yaml(kbench: 1
task: level1/19
kernels:
  a: {source: "void main() {}"}
temps:
  t: {dtype: f32, shape: [4]}
dispatch:
  - {kernel: a, bind: [x, t, outputt], groups: [nope, 1, alas]}
  - {kernel: a, bind: [y, output], groups: 1}
  - {op: relu, in: t, out: nowhere}
)yaml");
  EXPECT_THAT(places_of(error),
              ElementsAre(At("8:30", "there is no buffer 'outputt'"), At("8:49", "nope"),
                          At("8:58", "alas"), At("9:24", "there is no buffer 'y'"),
                          At("10:28", "there is no buffer 'nowhere'")));
}

TEST(AllErrors, WhatAWrongStepWouldHaveWrittenIsNotMissed) {
  const Error error = resolving_error(R"yaml(kbench: 1
task: level1/19
temps:
  t: {dtype: f32, shape: [batch_size, dim]}
dispatch:
  - {op: relu, in: y, out: t}
  - {op: relu, in: t, out: output}
)yaml");
  EXPECT_THAT(places_of(error), ElementsAre(At("6:20", "there is no buffer 'y'")));
}

TEST(AllErrors, OfARepeatedStepAreToldOnceWithTheirTurn) {
  const Error error = resolving_error(R"yaml(kbench: 1
task: level1/19
kernels:
  a: {source: "void main() {}"}
dispatch:
  - {kernel: a, bind: [y, output], groups: "i / 0", repeat: {i: 5}}
)yaml");
  EXPECT_THAT(places_of(error),
              ElementsAre(At("6:24", "(where i is 0)"), At("6:45", "(where i is 0)")));
}

TEST(AllErrors, OfMissingUsesComeTogether) {
  const Error error = resolving_error(R"yaml(kbench: 1
task: level1/19
kernels:
  a: {source: "void main() {}"}
  b: {source: "void main() {}"}
temps:
  t: {dtype: f32, shape: [4]}
dispatch:
  - {kernel: a, bind: [x], groups: 1}
)yaml");
  EXPECT_THAT(places_of(error), UnorderedElementsAre(At("5:3", "no step uses the kernel 'b'"),
                                                     At("7:3", "no step uses the temporary 't'"),
                                                     At("8:1", "binds the output 'output'")));
}

TEST(AllErrors, AreCountedWhereTheyAreVeryMany) {
  std::string text = "kbench: 1\ntask: level1/19\ndispatch:\n";
  for (int i = 0; i < 60; ++i) text += "  - {op: nothing, in: x, out: output}\n";
  const Error error = error_of([&] { parse(text); });
  EXPECT_EQ(error.all().size(), 51u);
  EXPECT_EQ(error.all().back().message(), "and 10 errors more");
}

TEST(AllErrors, WhatADeviceLacksIsNoErrorOfTheFile) {
  FileErrors errors;
  const Error lacking(ErrorCode::kUnsupported, {"c.yaml", 3, 1}, "no subgroups");
  EXPECT_THROW(errors.keep([&] { throw lacking; }), Error);
  EXPECT_NO_THROW(errors.throw_all());
}

TEST(CandidatesTask, IsNamedByNumberOrName) {
  const auto task_of = [](const std::string& name) {
    return parse("kbench: 1\ntask: " + name + "\ndispatch: [{op: relu, in: x, out: output}]\n")
        .task;
  };
  for (const char* name : {"level1/19", "1/19", "ReLU", "relu", "level1/relu", "19_ReLU.py"}) {
    EXPECT_EQ(task_of(name), (TaskId{1, 19})) << name;
  }
  EXPECT_EQ(task_of("lenet"), (TaskId{3, 4}));
  EXPECT_EQ(task_of("my/rope"), TaskId{.own = "my/rope"}) << "known once its file is";
  const Error error = error_of([&] { task_of("relo"); });
  EXPECT_EQ(error.location().line, 2);
  EXPECT_THAT(error.message(), ::testing::HasSubstr("relo"));
  EXPECT_THAT(error.message(), ::testing::HasSubstr("did you mean 'relu'?"));
}

}  // namespace
}  // namespace kbench
