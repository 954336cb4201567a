// The verbs that take candidates one by one: run and new.

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "kbench/result.h"
#include "libkbench/base/files.h"
#include "tests/program/run_program.h"

namespace kbench {
namespace {

using nlohmann::json;
using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::MatchesRegex;
using ::testing::Not;
using ::testing::StartsWith;
using namespace kbench::testing;

constexpr const char* kQuick =
    " --device cpu --preset smoke --measure-seconds 0.02 --min-samples 2 --precision 0.9 "
    "--other-sizes none";

class Candidates : public ::testing::Test {
 protected:
  void SetUp() override { KBENCH_NEED_SOFTWARE_DEVICE(); }

  void add(const std::string& task, const std::string& name) {
    const Said said = run_program({"show", task, "--preset", "smoke", "--candidate"});
    ASSERT_EQ(said.code, 0) << said.err;
    write_file(folder_ / name, said.out);
  }
  void add_empty(const std::string& name) {
    write_file(folder_ / name,
               "kbench: 1\ntask: level1/19\nkernels:\n  empty:\n    source: |\n"
               "      #version 450\n      layout(local_size_x = 1) in;\n"
               "      layout(binding = 0) buffer Y { float y[]; };\n      void main() {}\n"
               "dispatch:\n  - {kernel: empty, bind: [output], groups: [1]}\n");
  }
  Said kbench(const std::string& command) {
    return run_in_shell("\"$KBENCH\" " + command, folder_.path());
  }

  ScratchFolder folder_;
};

class QuickCandidates : public Candidates {};

TEST_F(QuickCandidates, RunTakesSeveralCountsAndSums) {
  add("1/19", "a.yaml");
  add("1/1", "more/b.yaml");
  add_empty("c.yaml");
  const Said said = kbench("run a.yaml more c.yaml --output r.jsonl" + std::string(kQuick));
  EXPECT_EQ(said.code, 1) << said.err;
  EXPECT_THAT(said.out, HasSubstr("3 candidates: 2 passed, 1 not_written; speedups "));
  EXPECT_THAT(said.out,
              ContainsRegex("passed +[0-9.]+x \\[.*\\] +[0-9.]+ ms +level1/19 +a.yaml\n"));
  EXPECT_THAT(said.out, ContainsRegex("passed .* level1/1 +more/b.yaml\nnot_written .* c.yaml\n\n"
                                      "level1/[0-9]+_.* c.yaml\n  verdict     not_written: "));
  EXPECT_EQ(said.err, "");
  const Said quiet = kbench("run a.yaml c.yaml --quiet" + std::string(kQuick));
  EXPECT_THAT(quiet.out, StartsWith("2 candidates: 1 passed, 1 not_written; "));
  EXPECT_EQ(read_results(folder_ / "r.jsonl").size(), 3u);
}

TEST_F(QuickCandidates, AFoldersOneCandidateNeedsNoName) {
  add("1/19", "one/mine.yaml");
  EXPECT_EQ(kbench("diagnose one" + std::string(kQuick)).code, 0);
  add("1/20", "one/other.yaml");
  const Said two = kbench("diagnose one");
  EXPECT_EQ(two.code, 2);
  EXPECT_EQ(two.err,
            "kbench: 'one' holds 2 candidates; name one of one/mine.yaml, one/other.yaml\n");
}

TEST_F(QuickCandidates, TaskMustBeWhatACandidateSays) {
  add("1/19", "a.yaml");
  for (const char* verb : {"run", "diagnose"}) {
    const Said said = kbench(std::string(verb) + " a.yaml --task 1/20");
    EXPECT_EQ(said.code, 2) << verb;
    EXPECT_EQ(said.err, "kbench: a.yaml is for level1/19, which --task 1/20 does not name\n");
  }
}

TEST_F(QuickCandidates, AModelOfNoTaskDoesNotStopAFolder) {
  add("1/19", "all/a.yaml");
  write_file(folder_ / "all/mine.py", "class ModelNew: pass\n");
  const Said folder = kbench("run all --check" + std::string(kQuick));
  EXPECT_EQ(folder.code, 1);
  EXPECT_THAT(folder.out, HasSubstr("2 candidates: "));
  EXPECT_THAT(folder.out, HasSubstr("all/a.yaml: compiles"));
  const Said alone = kbench("run all/mine.py");
  EXPECT_EQ(alone.code, 2);
  EXPECT_THAT(alone.err, HasSubstr("'all/mine.py' does not say which task it is for: write"));
}

TEST_F(Candidates, RunTakesOneFromStandardInput) {
  add("1/19", "a.yaml");
  const Said said = kbench("run -" + std::string(kQuick) + " < a.yaml");
  EXPECT_EQ(said.code, 0) << said.err;
  EXPECT_THAT(said.out, HasSubstr("level1/19_ReLU  stdin.yaml"));
  const Said bad = run_in_shell("echo 'kbench: [1' | \"$KBENCH\" run -" + std::string(kQuick));
  EXPECT_EQ(bad.code, 1);
  EXPECT_THAT(bad.out, HasSubstr("stdin.yaml:"));
}

TEST_F(Candidates, RunFailsUnderASpeedup) {
  add("1/19", "a.yaml");
  EXPECT_EQ(kbench("run a.yaml --fail-under 0.0001" + std::string(kQuick)).code, 0);
  const Said said = kbench("run a.yaml --fail-under 1000" + std::string(kQuick));
  EXPECT_EQ(said.code, 1);
  EXPECT_THAT(said.err, MatchesRegex("kbench: slower than --fail-under 1000: a.yaml \\(.*x .*\n"));
}

TEST_F(Candidates, RunThatIsInterruptedKeepsWhatWasJudged) {
  add("1/19", "a.yaml");
  add("1/20", "b.yaml");
  // The second measures until it is told to end, which it is once the first is in the file.
  const Said said = kbench(
      "run a.yaml b.yaml --output r.jsonl --device cpu --preset smoke --measure-seconds 0.02 "
      "--min-samples 200 --precision 0.0001 & pid=$!; "
      "until [ -s r.jsonl ]; do sleep 0.05; done; kill -INT $pid; wait $pid");
  EXPECT_EQ(said.code, 130) << said.err;
  EXPECT_THAT(said.err, HasSubstr("kbench: interrupted: 1 of 2 judged; results are in r.jsonl\n"));
  EXPECT_THAT(said.out, StartsWith("passed"));
  EXPECT_EQ(read_results(folder_ / "r.jsonl").size(), 1u);
}

TEST_F(Candidates, RunOfWhatDoesNotFitIsAVerdict) {
  add("1/19", "a.yaml");
  const Said said =
      kbench("run a.yaml --device cpu --preset smoke --set batch_size=131072 --set dim=126976");
  EXPECT_EQ(said.code, 1) << said.err;
  EXPECT_THAT(said.out, HasSubstr("does_not_fit"));
  EXPECT_EQ(said.err, "");
}

TEST_F(QuickCandidates, RunComparesOneWithTheOther) {
  add("1/1", "a.yaml");
  add("1/1", "b.yaml");
  // Fewer samples have no interval.
  const Said said = kbench(
      "run a.yaml b.yaml --compare --json --device cpu --preset smoke --measure-seconds 0.02 "
      "--min-samples 8 --precision 0.9");
  EXPECT_EQ(said.code, 0) << said.err;
  const json document = json::parse(said.out);
  EXPECT_EQ(document["a"]["candidate"], "a.yaml");
  EXPECT_EQ(document["b"]["verdict"], "passed");
  const double a = document["a"]["speedup"]["point"], b = document["b"]["speedup"]["point"];
  EXPECT_NEAR(document["speedup"]["point"].get<double>(), b / a, 1e-6);
  EXPECT_LE(document["speedup"]["low"].get<double>(), b / a);
  EXPECT_GE(document["speedup"]["high"].get<double>(), b / a);
  EXPECT_THAT(kbench("run a.yaml b.yaml --compare" + std::string(kQuick)).out,
              HasSubstr(" of b.yaml over a.yaml: "));
}

TEST_F(Candidates, RunThatComparesSaysWhichIsWrong) {
  add("1/19", "a.yaml");
  add_empty("b.yaml");
  const Said said = kbench("run a.yaml b.yaml --compare" + std::string(kQuick));
  EXPECT_EQ(said.code, 1) << said.err;
  EXPECT_THAT(said.out, HasSubstr("  b.yaml\n  verdict     not_written"));
  EXPECT_THAT(said.out, Not(HasSubstr(" over a.yaml")));
  add("1/20", "c.yaml");
  const Said other = kbench("run a.yaml c.yaml --compare" + std::string(kQuick));
  EXPECT_EQ(other.code, 2);
  EXPECT_THAT(other.err, HasSubstr("a.yaml is for level1/19 and c.yaml for level1/20"));
}

TEST_F(Candidates, RunThatWatchesJudgesAgainAfterEachSave) {
  add("1/19", "a.yaml");
  add("1/19", "my/a.yaml");
  // Each save comes when what is before it has been judged.
  const Said said = kbench(
      "run my/a.yaml --watch" + std::string(kQuick) +
      " >out 2>err & pid=$!; saw() { until [ \"$(grep -c \"$1\" out)\" = $2 ]; do sleep 0.05; "
      "done; }; "
      "saw 'waits for a save' 1; "
      "sed 's/op: relu/op: tanh/' my/a.yaml >my/.next && mv my/.next my/a.yaml; "
      "saw 'waits for a save' 2; echo 'kbench: [1' >my/a.yaml; "
      "saw 'waits for a save' 3; cp a.yaml my/; "
      "saw 'waits for a save' 4; kill $pid; wait $pid; echo code $?; grep verdict out; cat err");
  EXPECT_THAT(said.out,
              MatchesRegex("code 143\n  verdict +passed: [^\n]+\n  verdict +wrong_values: [^\n]+\n"
                           "  verdict +invalid_candidate: [^\n]+\n"
                           "  verdict +passed: [^\n]+\n"))
      << said.err;
}

TEST_F(Candidates, NewWritesBuiltInStepsThatPass) {
  for (const char* task : {"1/19", "1/42", "2/76", "3/4"}) {
    const std::string folder = std::string("steps/") + task;
    const Said said = kbench("new " + std::string(task) + " " + folder + " --device cpu");
    ASSERT_EQ(said.code, 0) << task << said.err;
    EXPECT_THAT(said.out, HasSubstr("kbench run " + folder + "/candidate.yaml --preset smoke"));
  }
  const Said said = kbench("run steps" + std::string(kQuick));
  EXPECT_EQ(said.code, 0) << said.out << said.err;
  EXPECT_THAT(said.out, HasSubstr("4 candidates: 4 passed"));
}

TEST_F(Candidates, NewCopiesKernelsThatPass) {
  for (const char* command : {"new relu a/1 --language glsl", "new 3/4 a/2 --language glsl",
                              "new 1/95 a/3 --language glsl", "new 2/12 a/4 --language hlsl"}) {
    ASSERT_EQ(kbench(command).code, 0) << command;
  }
  EXPECT_THAT(read_file(folder_ / "a/1/candidate.yaml"), HasSubstr("ReLU, one element a thread"));
  const Said said = kbench("run a" + std::string(kQuick));
  EXPECT_EQ(said.code, 0) << said.out << said.err;
  EXPECT_THAT(said.out, HasSubstr("4 candidates: 4 passed"));
  // What is simplest is for float32 alone.
  const Said half = kbench("new relu half --language glsl --dtype f16 --preset smoke");
  EXPECT_THAT(half.out, HasSubstr("fused/level1_019_relu.yaml"));
  EXPECT_THAT(half.out, HasSubstr("kbench run half/candidate.yaml --preset smoke --dtype f16"));
  EXPECT_EQ(kbench("run half --dtype f16" + std::string(kQuick)).code, 0);
}

TEST_F(Candidates, NewAddsTheLikestKernelWhereNoneOfTheTaskShips) {
  const Said said = kbench("new 2/63 my --language glsl --device cpu");
  ASSERT_EQ(said.code, 0) << said.err;
  EXPECT_THAT(said.out, HasSubstr("the kernel of level2/76 that ships in glsl"));
  EXPECT_THAT(said.out, HasSubstr("my/candidate.yaml: the built-in steps of level2/63"));
  EXPECT_THAT(read_file(folder_ / "my/candidate.yaml"), HasSubstr("task: level2/63\n"));
  EXPECT_THAT(kbench("run my" + std::string(kQuick)).out, HasSubstr("2 candidates: 2 passed"));
}

TEST_F(Candidates, NewOverwritesNothing) {
  ASSERT_EQ(kbench("new relu mine --preset smoke").code, 0);
  const std::string before = read_file(folder_ / "mine/candidate.yaml");
  const Said again = kbench("new relu mine --language glsl");
  EXPECT_EQ(again.code, 2);
  EXPECT_THAT(again.err, HasSubstr("mine/candidate.yaml is there already"));
  EXPECT_EQ(read_file(folder_ / "mine/candidate.yaml"), before);
  EXPECT_FALSE(std::filesystem::exists(folder_ / "mine/relu.comp"));
}

TEST(NewCandidate, IsCopiedInCudaAndTritonToo) {
  const ScratchFolder folder;
  const Said cuda = run_program({"new", "softmax", folder / "c", "--language", "cuda"});
  EXPECT_EQ(cuda.code, 0) << cuda.err;
  EXPECT_THAT(read_file(folder / "c/softmax.cu"), HasSubstr("__global__"));
  EXPECT_TRUE(std::filesystem::exists(folder / "c/softmax_row.cuh"));
  const Said triton = run_program({"new", "softmax", folder / "t", "--language", "triton"});
  EXPECT_EQ(triton.code, 0) << triton.err;
  EXPECT_THAT(read_file(folder / "t/softmax.py"), HasSubstr("@triton.jit"));
}

TEST(Terminal, HasTablesThatFitAndColoursUnlessNoColor) {
  const UniqueFd terminal(posix_openpt(O_RDWR | O_NOCTTY));
  if (!terminal.open()) GTEST_SKIP() << "needs pseudo-terminals (a devpts below /dev)";
  const Said said =
      run_in_shell("export KBENCH; script -qec 'stty cols 80; \"$KBENCH\" list' /dev/null");
  ASSERT_EQ(said.code, 0) << said.err;
  std::istringstream lines(said.out);
  for (std::string line; std::getline(lines, line);) {
    EXPECT_LE(line.size(), 81u) << line;  // with a carriage return
    EXPECT_THAT(line, Not(HasSubstr("...")));
  }
  EXPECT_THAT(said.out, ContainsRegex("level2/100 +ConvTranspose3d_Clamp_.*\r\n +Min_Divide"));
  KBENCH_NEED_SOFTWARE_DEVICE();
  const ScratchFolder folder;
  write_file(folder / "empty.yaml", "");
  const std::string run = "script -qec '\"$KBENCH\" run empty.yaml --device cpu' /dev/null; exit 0";
  const std::string red = "\033[31minvalid_candidate";
  EXPECT_THAT(run_in_shell("export KBENCH TERM=xterm; " + run, folder.path()).out, HasSubstr(red));
  EXPECT_THAT(run_in_shell("export KBENCH TERM=xterm NO_COLOR=1; " + run, folder.path()).out,
              Not(HasSubstr(red)));
}

}  // namespace
}  // namespace kbench
