// Commands that are right, in every spelling that a person would try: each does what it says,
// writes nothing to standard error, and what it prints for people fits a page.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>
#include <string>
#include <vector>

#include "tests/program/run_program.h"

namespace kbench {
namespace {

using ::testing::HasSubstr;
using namespace kbench::testing;

constexpr size_t kPage = 100;  ///< columns

class RightCommands : public ::testing::Test {
 protected:
  /// Runs it in a folder of its own; its output.
  std::string expect_right(const std::string& command) {
    const Said said = run_in_shell("\"$KBENCH\" " + command, folder_.path());
    EXPECT_EQ(said.code, 0) << command << "\n" << said.out << said.err;
    EXPECT_EQ(said.err, "") << command;
    EXPECT_FALSE(said.out.empty()) << command;
    EXPECT_EQ(said.out.find("nan"), said.out.npos) << command << "\n" << said.out;
    return said.out;
  }
  void expect_page(const std::string& command) {
    std::istringstream lines(expect_right(command));
    for (std::string line; std::getline(lines, line);) {
      EXPECT_LE(line.size(), kPage) << command << "\n" << line;
    }
  }

  ScratchFolder folder_;
};

constexpr const char* kVerbs[] = {
    "list",         "show",          "devices",          "run",         "task",   "new",
    "diagnose",     "baseline",      "generate",         "model",       "report", "serve",
    "model prompt", "model extract", "model transcript", "model check", "help"};

TEST_F(RightCommands, EveryPageOfHelpFits) {
  for (const char* verb : kVerbs) {
    expect_page("help " + std::string(verb));
    expect_page(std::string(verb) + " --help");
    expect_page(std::string(verb) + " -h");
  }
  for (const char* all : {"", "help", "--help", "-h", "--version"}) expect_page(all);
}

TEST_F(RightCommands, ATaskHasItsNamesInEveryVerb) {
  for (const char* name : {"relu", "ReLU", "1/19", "level1/19", "level1/relu", "19_ReLU.py"}) {
    for (const char* verb : {"list ", "list --task ", "list --tasks=", "list --json ", "show ",
                             "show --task ", "show --preset smoke ", "show --json --tasks ",
                             "show --candidate ", "model prompt --json ", "model prompt --task "}) {
      EXPECT_THAT(expect_right(verb + std::string(name)), HasSubstr("level1/19")) << verb << name;
    }
  }
  for (const char* name : {"softmax", "lenet", "alexnet", "gelu", "batchnorm", "resnet18"}) {
    expect_right("show " + std::string(name));
    expect_right("list " + std::string(name));
  }
  EXPECT_THAT(expect_right("show lenet"), HasSubstr("level3/4"));
}

TEST_F(RightCommands, ListsAreThereAtEveryPresetAndType) {
  for (const char* preset : {"smoke", "train", "v0", "v0.1"}) {
    for (const char* dtype : {"f32", "f16", "bf16"}) {
      expect_right("list 1/1-30 --json --preset " + std::string(preset) + " --dtype " + dtype);
    }
    expect_right("list --preset " + std::string(preset));
  }
  for (const char* tasks : {"--level 1,2", "--level 3", "--task '2/*'", "--task 1/1-9,relu",
                            "--task gemm", "gemm", "--task 1/1 --set N=64"}) {
    expect_right("list " + std::string(tasks));
  }
}

TEST_F(RightCommands, OperatorsHavePagesOfTheirOwn) {
  std::istringstream lines(expect_right("list --operators"));
  expect_page("list --operators");
  std::string line;
  std::getline(lines, line);
  EXPECT_TRUE(line.starts_with("operator")) << line;
  int operators = 0;
  while (std::getline(lines, line) && !line.empty()) {
    const std::string name = line.substr(0, line.find(' '));
    expect_page("list --operators " + name);
    ++operators;
  }
  EXPECT_GT(operators, 60);
  const std::string page = expect_right("list --operators slice");
  for (const char* part : {"computes", "shapes", "start: 0", "stop, step: 1", "in PyTorch"}) {
    EXPECT_THAT(page, HasSubstr(part));
  }
  EXPECT_THAT(expect_right("list --operators --json"), HasSubstr("\"formula\""));
}

TEST_F(RightCommands, ShowPrintsEveryForm) {
  for (const char* form : {"--candidate", "--pytorch", "--problem", "--task-file", "--json", ""}) {
    for (const char* task : {"1/1", "2/1", "3/1"}) {
      expect_right("show " + std::string(task) + " --preset smoke " + form);
    }
  }
  for (const char* size : {"--set height=65", "--set height=65 --set width=9", "--dtype f16"}) {
    expect_right("show 2/1 --preset smoke " + std::string(size));
  }
}

}  // namespace
}  // namespace kbench
