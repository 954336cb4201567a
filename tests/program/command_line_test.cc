#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "kbench/version.h"
#include "tests/program/run_program.h"

namespace kbench {
namespace {

using nlohmann::json;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using namespace kbench::testing;

TEST(CommandLine, VersionIsTheLibrarys) {
  const Said said = run_program({"--version"});
  EXPECT_EQ(said.code, 0);
  EXPECT_EQ(said.out, "kbench " + std::string(version()) + "\n");
}

TEST(CommandLine, EveryVerbHasAHelpPageWithExamples) {
  for (const char* verb :
       {"list", "show", "devices", "run", "new", "task", "baseline", "report", "help"}) {
    const Said said = run_program({verb, "--help"});
    EXPECT_EQ(said.code, 0) << verb;
    EXPECT_THAT(said.out, HasSubstr("Examples:\n  kbench " + std::string(verb))) << verb;
    EXPECT_EQ(said.err, "") << verb;
  }
  const Said said = run_program({"--help"});
  EXPECT_EQ(said.code, 0);
  EXPECT_THAT(said.out, HasSubstr("--fast-p"));
  EXPECT_THAT(said.out, ::testing::Not(HasSubstr("\n  worker")));
}

TEST(CommandLine, AloneItSaysWhatItWouldDoAndHowToStartIt) {
  const Said said = run_program({});
  EXPECT_EQ(said.code, 0) << said.err;
  EXPECT_THAT(said.out, HasSubstr("48 evaluations of 24 tasks"));
  EXPECT_THAT(said.out, HasSubstr("\nfused   24 "));
  EXPECT_THAT(said.out, HasSubstr("\n  kbench --fast-p 1.0 "));
  const Said nothing = run_in_shell("VK_ICD_FILENAMES=/no VK_DRIVER_FILES=/no \"$KBENCH\"");
  EXPECT_EQ(nothing.code, 0) << nothing.err;
  EXPECT_THAT(nothing.out, HasSubstr("on no device yet: "));
}

TEST(CommandLine, HelpShowsAPage) {
  EXPECT_EQ(run_program({"help"}).out, run_program({"--help"}).out);
  EXPECT_EQ(run_program({"help", "show"}).out, run_program({"show", "--help"}).out);
  EXPECT_EQ(run_program({"help", "help"}).out, run_program({"help", "--help"}).out);
}

TEST(CommandLine, ListGivesEveryTaskItsCosts) {
  const Said said = run_program({"list", "--json", "--task", "level1/19"});
  ASSERT_EQ(said.code, 0) << said.err;
  const json list = json::parse(said.out);
  ASSERT_EQ(list.size(), 1u);
  EXPECT_EQ(list[0]["task"], "level1/19");
  EXPECT_EQ(list[0]["name"], "ReLU");
  EXPECT_EQ(list[0]["preset"], "v0.1");
  EXPECT_GT(list[0]["least_bytes"], 4e9);
  EXPECT_NEAR(list[0]["intensity"], 0.125, 1e-3);
}

TEST(CommandLine, ListHasALineForEveryTask) {
  const Said json_said = run_program({"list", "--json", "--preset", "smoke"});
  ASSERT_EQ(json_said.code, 0) << json_said.err;
  const json list = json::parse(json_said.out);
  const Said said = run_program({"list", "--preset", "smoke"});
  ASSERT_EQ(said.code, 0) << said.err;
  EXPECT_EQ(said.out.rfind("task ", 0), 0u);
  for (const char* column : {"name", "FLOPs", "bytes", "FLOP/byte", "certified"}) {
    EXPECT_THAT(said.out.substr(0, said.out.find('\n')), HasSubstr(column));
  }
  EXPECT_EQ(list.size(), 250u);
  EXPECT_EQ(count_lines(said.out), 250u + 4u);
  EXPECT_THAT(said.out, HasSubstr("\n250 tasks at preset smoke\n"));
  for (const json& task : list) {
    const std::string id = task["task"], name = task["name"];
    EXPECT_EQ(id, "level" + std::to_string(task["level"].get<int>()) + "/" +
                      std::to_string(task["number"].get<int>()));
    EXPECT_EQ(task["preset"], "smoke");
    EXPECT_GT(task["flops"], 0) << id;
    EXPECT_GT(task["least_bytes"], 0) << id;
    EXPECT_DOUBLE_EQ(task["intensity"],
                     task["flops"].get<double>() / task["least_bytes"].get<double>());
    EXPECT_FALSE(task["variables"].empty()) << id;
    const size_t at = said.out.find("\n" + id + " ");
    ASSERT_NE(at, std::string::npos) << id;
    const std::string line = said.out.substr(at + 1, said.out.find('\n', at + 1) - at - 1);
    EXPECT_THAT(line, HasSubstr(" " + name + " "));
    EXPECT_FALSE(task["family"].empty()) << id;
    EXPECT_THAT(line, ::testing::Not(HasSubstr("e+"))) << "a number for people";
  }
}

TEST(CommandLine, ListHasAllTasksOfAName) {
  EXPECT_THAT(run_program({"list", "--task", "gemm"}).out,
              HasSubstr("\n19 tasks at preset v0.1\n"));
  EXPECT_THAT(run_program({"list", "--task", "lenet"}).out, HasSubstr("level3/4  LeNet5"));
}

TEST(CommandLine, ListSaysWhatItsSizesAre) {
  const Said said =
      run_program({"list", "--task", "1/19", "--preset", "smoke", "--set", "batch_size=3"});
  ASSERT_EQ(said.code, 0) << said.err;
  EXPECT_THAT(said.out, HasSubstr("\n1 task at preset smoke with batch_size=3\n"));
}

TEST(CommandLine, ATaskThatIsNotCertifiedIsSaidToProveNothing) {
  for (const char* verb : {"list", "show"}) {
    EXPECT_THAT(run_program({verb, "3/24", "--preset", "smoke"}).out,
                HasSubstr("not certified: a pass proves nothing"));
    EXPECT_THAT(run_program({verb, "1/19", "--preset", "smoke"}).out,
                ::testing::Not(HasSubstr("proves nothing")));
  }
  ScratchFolder folder;
  folder.write("broken.yaml",
               "kbench: 1\ntask: level3/24\nkernels:\n  k: {source: no GLSL}\n"
               "dispatch:\n  - {kernel: k, bind: [output], groups: 1}\n");
  EXPECT_THAT(run_program({"run", "broken.yaml", "--preset", "smoke"}, folder.path()).out,
              HasSubstr("check       not certified: a pass proves nothing"));
}

TEST(CommandLine, LevelsAndTasksNarrowEachOther) {
  const Said said = run_program({"list", "--json", "--level", "1,3", "--task", "1/1,2/1,3/1"});
  ASSERT_EQ(said.code, 0) << said.err;
  std::vector<std::string> names;
  for (const json& task : json::parse(said.out)) names.push_back(task["task"]);
  EXPECT_THAT(names, ElementsAre("level1/1", "level3/1"));
}

TEST(CommandLine, ATaskHasAName) {
  const Said said = run_program({"show", "level1/19"});
  EXPECT_EQ(said.code, 0) << said.err;
  EXPECT_THAT(said.out, HasSubstr("relu"));
  for (const char* name :
       {"1/19", "relu", "RELU", "19_ReLU.py", "19_relu", "level1/19_ReLU", "1/ReLU"}) {
    EXPECT_EQ(run_program({"show", name}).out, said.out) << name;
  }
  const auto listed = [](const std::string& selection) {
    return run_program({"list", "--preset", "smoke", "--tasks", selection}).out;
  };
  EXPECT_EQ(listed("relu,softmax,2/1-3"), listed("1/19,1/23,2/1-3"));
}

TEST(CommandLine, OverridesReachTheShapes) {
  const Said said =
      run_program({"show", "2/1", "--preset", "smoke", "--set", "height=65", "--set", "width=33"});
  EXPECT_EQ(said.code, 0) << said.err;
  EXPECT_THAT(said.out, HasSubstr("65, 33"));
}

}  // namespace
}  // namespace kbench
