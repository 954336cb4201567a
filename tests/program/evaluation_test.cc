// The main job and the verbs that need a device, on the software device.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "kbench/result.h"
#include "tests/judge/processes.h"
#include "tests/program/run_program.h"

namespace kbench {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;
using ::testing::Not;
using namespace kbench::testing;

constexpr const char* kEmptyKernel = R"(kbench: 1
task: level1/19
kernels:
  empty:
    source: |
      #version 450
      layout(local_size_x = 1) in;
      layout(std430, binding = 0) buffer Output { float y[]; };
      void main() {}
dispatch:
  - {kernel: empty, bind: [output], groups: [1]}
)";

constexpr const char* kBrokenShader = R"(kbench: 1
task: level1/19
kernels:
  broken:
    source: |
      #version 450
      layout(local_size_x = 1) in;
      layout(std430, binding = 0) buffer Output { float y[]; };
      void main() { y[0] = nonsense; }
dispatch:
  - {kernel: broken, bind: [output], groups: [1]}
)";

class Evaluation : public ::testing::Test {
 protected:
  void SetUp() override { KBENCH_NEED_SOFTWARE_DEVICE(); }

  /// Makes the set "mine": a candidate of built-in operators for each task.
  void add_candidates(const std::vector<std::string>& tasks) {
    for (const std::string& task : tasks) {
      const Said said = run_program({"show", task, "--candidate"});
      ASSERT_EQ(said.code, 0) << said.err;
      std::string name = task;
      name.replace(name.find('/'), 1, "_");
      write_file(folder_ / ("mine/" + name + ".yaml"), said.out);
    }
  }

  /// The main job on the set, as quick as it gets.
  Said evaluate(const std::vector<std::string>& more) {
    std::vector<std::string> arguments = {"--candidates",      folder_ / "mine",
                                          "--device",          "cpu",
                                          "--measure-seconds", "0.02",
                                          "--preset",          "smoke",
                                          "--min-samples",     "2",
                                          "--precision",       "0.9",
                                          "--other-sizes",     "none"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return run_program(arguments);
  }

  ScratchFolder folder_;
};

class QuickEvaluation : public Evaluation {};

TEST_F(QuickEvaluation, PrintsALeaderboardAndWarnsOfASoftwareDevice) {
  add_candidates({"1/19", "1/1"});
  const Said said = evaluate({"--task", "1/1,1/19", "--fast-p", "0,0.5,1"});
  EXPECT_EQ(said.code, 0) << said.err;
  EXPECT_EQ(said.err, "");
  EXPECT_THAT(said.out, HasSubstr("[1/2] level1/1_"));
  EXPECT_THAT(said.out, HasSubstr("[2/2] level1/19_ReLU/mine  passed  "));
  EXPECT_THAT(said.out, HasSubstr("fast_0.5"));
  EXPECT_THAT(said.out, HasSubstr("2/2"));
  EXPECT_THAT(said.out, HasSubstr("times were taken on a software device"));
  EXPECT_THAT(said.out, Not(HasSubstr("Not passed")));
}

TEST_F(Evaluation, SaysWhatFailedAndWhyAndGoesOn) {
  add_candidates({"1/1"});
  write_file(folder_ / "mine/broken.yaml", kBrokenShader);
  write_file(folder_ / "mine/malformed.yaml", "kbench: [1\n");
  write_file(folder_ / "mine/unknown.yaml",
             "kbench: 1\ntask: level1/999\ndispatch: [{op: relu, in: [x], out: output}]\n");
  const Said said = evaluate({"--task", "1/1,1/19,1/26"});
  EXPECT_EQ(said.code, 0) << said.err;
  EXPECT_THAT(said.out, HasSubstr("level1/19_ReLU/mine  compile_error"));
  EXPECT_THAT(said.out, HasSubstr("broken.yaml:9:"));
  EXPECT_THAT(said.out, HasSubstr("  missing: no candidate for 1 task: level1/26\n"));
  EXPECT_THAT(said.out, HasSubstr("malformed.yaml:"));
  EXPECT_THAT(said.out, HasSubstr("unknown.yaml:2:"));
  EXPECT_THAT(said.out, HasSubstr("Not passed: 4"));
  EXPECT_THAT(said.out, HasSubstr("\ncompile_error: The candidate's code does not compile, or "));
}

TEST_F(Evaluation, SaysOnATerminalAloneWhatIsWaitedFor) {
  add_candidates({"1/19"});
  const std::string measure = " --device cpu --preset smoke --other-sizes none";
  for (const std::string verb : {"diagnose", "run", "run --compare mine/1_19.yaml"}) {
    const std::string command = "\"$KBENCH\" " + verb + " mine/1_19.yaml" + measure;
    write_file(folder_ / "waits.sh", command + " --min-samples 300\n");
    const Said said =
        run_in_shell("export KBENCH; script -qec 'sh waits.sh' /dev/null", folder_.path());
    EXPECT_THAT(said.out, ::testing::ContainsRegex("[1-9]s  mine/1_19.yaml  measures and checks"));
    EXPECT_THAT(run_in_shell(command + " --min-samples 4 --precision 0.9", folder_.path()).err,
                Not(HasSubstr("measures and checks")));
  }
}

TEST_F(Evaluation, TasksWithoutCandidatesAreOneLineASet) {
  add_candidates({"1/19"});
  const Said said = evaluate({"--task", "1/15-30,2/*"});
  EXPECT_EQ(said.code, 0) << said.err;
  EXPECT_THAT(said.out, HasSubstr("Not passed: 115\n"));
  EXPECT_THAT(said.out, HasSubstr("  mine  missing: no candidate for 115 tasks: "
                                  "level1/15-18, 20-30, level2/1-100\n"));
  EXPECT_THAT(said.out, ::testing::ContainsRegex(
                            "\n1 evaluation in ([0-9]+m)?[0-9]+s; device busy [0-9]+% of the time; "
                            "115 without a candidate\n"));
  EXPECT_LT(count_lines(said.out), 20u) << said.out;
}

TEST_F(Evaluation, ASecondRunDoesOnlyWhatIsMissing) {
  add_candidates({"1/19"});
  const std::string output = folder_ / "results.jsonl";
  const Said first = evaluate({"--task", "1/19", "--output", output});
  EXPECT_EQ(first.code, 0) << first.err;
  ASSERT_EQ(read_results(output).size(), 1u);
  EXPECT_EQ(read_results(output)[0].verdict, Verdict::passed) << read_results(output)[0].message;

  add_candidates({"1/1"});
  const Said second = evaluate({"--task", "1/1,1/19", "--output", output});
  EXPECT_EQ(second.code, 0) << second.err;
  EXPECT_THAT(second.out, HasSubstr("1 already done"));
  EXPECT_THAT(second.out, HasSubstr("[1/1] level1/1_"));
  EXPECT_THAT(second.out, HasSubstr("2/2"));
  EXPECT_EQ(read_results(output).size(), 2u);

  const Said third = evaluate({"--task", "1/1,1/19", "--output", output});
  EXPECT_THAT(third.out, HasSubstr("2 already done"));
  EXPECT_EQ(read_results(output).size(), 2u);
}

TEST_F(Evaluation, AnotherToleranceIsAnotherExperiment) {
  add_candidates({"1/19"});
  const std::string output = folder_ / "results.jsonl";
  evaluate({"--task", "1/19", "--output", output});
  evaluate({"--task", "1/19", "--output", output, "--tolerance", "kernelbench"});
  EXPECT_EQ(read_results(output).size(), 2u);
}

TEST_F(Evaluation, AnUnwritableOutputIsFoundBeforeAnyWork) {
  add_candidates({"1/19"});
  const Said said = evaluate({"--task", "1/19", "--output", "/nowhere/results.jsonl"});
  EXPECT_EQ(said.code, 2);
  EXPECT_EQ(said.out, "");
  EXPECT_EQ(count_lines(said.err), 1u) << said.err;
  EXPECT_THAT(said.err, HasSubstr("/nowhere/results.jsonl"));
}

TEST_F(Evaluation, APresetThatDoesNotFitTheDeviceIsAMistake) {
  add_candidates({"1/19"});
  const Said said = evaluate({"--task", "1/19", "--set", "dim=2000000000"});
  EXPECT_EQ(said.code, 2);
  EXPECT_EQ(count_lines(said.err), 1u) << said.err;
  EXPECT_THAT(said.err, HasSubstr("device memory"));
}

TEST_F(Evaluation, TwoCandidatesForOneTaskFailItAndNothingElse) {
  add_candidates({"1/19", "1/20"});
  write_file(folder_ / "mine/other.yaml", kEmptyKernel);
  const Said said = evaluate({"--task", "1/19,1/20", "--json"});
  ASSERT_EQ(said.code, 0) << said.err;
  const json results = json::parse(said.out)["results"];
  ASSERT_EQ(results.size(), 2u);
  EXPECT_EQ(results[0]["verdict"], "invalid_candidate");
  EXPECT_THAT(std::string(results[0]["message"]),
              HasSubstr("set 'mine' has two candidates for level1/19, "));
  EXPECT_THAT(std::string(results[0]["message"]), HasSubstr(" and other.yaml; keep one"));
  EXPECT_EQ(std::string(results[0]["candidate_hash"]).size(), 129u);
  EXPECT_EQ(results[1]["verdict"], "passed") << results[1];
}

TEST_F(Evaluation, JsonStandsAloneOnStandardOutput) {
  add_candidates({"1/19"});
  const Said said = evaluate({"--task", "1/19", "--json"});
  ASSERT_EQ(said.code, 0) << said.err;
  const json document = json::parse(said.out);
  EXPECT_EQ(document["preset"], "smoke");
  EXPECT_EQ(document["device"]["software"], true);
  ASSERT_EQ(document["results"].size(), 1u);
  EXPECT_EQ(document["results"][0]["verdict"], "passed") << document["results"][0];
  EXPECT_EQ(document["leaderboard"][0]["set"], "mine");
  EXPECT_THAT(said.err, HasSubstr("[1/1] level1/19_ReLU/mine"));
}

TEST_F(Evaluation, GoogleBenchmarksFilterAndOutputFileWork) {
  add_candidates({"1/19", "1/1"});
  const std::string out = folder_ / "benchmarks.json";
  const Said said =
      evaluate({"--task", "1/1,1/19", "--benchmark_filter=ReLU/mine$", "--benchmark_out=" + out});
  ASSERT_EQ(said.code, 0) << said.err;
  EXPECT_THAT(said.out, HasSubstr("[1/1] level1/19_ReLU/mine"));
  EXPECT_THAT(said.out, HasSubstr("1/1"));
  const json document = json::parse(read_file(out));
  ASSERT_EQ(document["benchmarks"].size(), 1u);
  const json& benchmark = document["benchmarks"][0];
  EXPECT_EQ(benchmark["name"].get<std::string>().rfind("level1/19_ReLU/mine", 0), 0u);
  EXPECT_GT(benchmark["real_time"], 0);
  EXPECT_GT(benchmark["speedup"], 0);
  EXPECT_GE(benchmark["samples"], 2);
  EXPECT_TRUE(benchmark.contains("GB/s"));
}

TEST_F(Evaluation, GoogleBenchmarksOwnReportTakesStandardOutput) {
  add_candidates({"1/19"});
  const Said said = evaluate({"--task", "1/19", "--benchmark_format=json"});
  ASSERT_EQ(said.code, 0) << said.err;
  EXPECT_EQ(json::parse(said.out)["benchmarks"].size(), 1u);
  EXPECT_THAT(said.err, HasSubstr("fast_1"));
}

TEST_F(Evaluation, BenchmarkListTestsRunsNothing) {
  add_candidates({"1/19"});
  const Said said = evaluate({"--task", "1/19", "--benchmark_list_tests"});
  EXPECT_EQ(said.code, 0) << said.err;
  EXPECT_EQ(count_lines(said.out), 1u);
  EXPECT_EQ(said.out.rfind("level1/19_ReLU/mine", 0), 0u);
}

TEST_F(Evaluation, AFilterThatTakesNothingIsAMistake) {
  add_candidates({"1/19"});
  const Said said = evaluate({"--task", "1/19", "--benchmark_filter=nothing"});
  EXPECT_EQ(said.code, 2);
  EXPECT_EQ(count_lines(said.err), 1u) << said.err;
}

TEST_F(Evaluation, ATimelineHasARowForEachProcess) {
  add_candidates({"1/19"});
  const Said said = evaluate({"--task", "1/19", "--trace", folder_ / "trace.json"});
  ASSERT_EQ(said.code, 0) << said.err;
  EXPECT_THAT(said.out, ::testing::ContainsRegex("device busy [0-9]+% of the time"));
  std::string text = read_file(folder_ / "trace.json");
  ASSERT_TRUE(text.ends_with(",\n")) << "the list stays open, as the format permits";
  text.replace(text.size() - 2, 2, "]");
  std::set<std::string> rows, done;
  double first = 1e300, last = 0, candidate = 0;
  for (const json& event : json::parse(text)) {
    const std::string name = event["name"];
    if (event["ph"] == "M") {
      const std::string row = event["args"]["name"];
      rows.insert(row.substr(0, row.find(' ')));
      continue;
    }
    done.insert(name);
    const double start = event["ts"], took = event["dur"];
    EXPECT_GE(took, 0) << name;
    first = std::min(first, start);
    last = std::max(last, start + took);
    if (name.ends_with("1_19.yaml")) candidate = std::max(candidate, took);
  }
  for (const char* row : {"kbench", "judge", "runner", "baseline", "the"}) {
    EXPECT_TRUE(rows.contains(row)) << row;
  }
  for (const char* what : {"open the device", "load", "compile", "import memory", "run", "sample",
                           "warm_up", "work"}) {
    EXPECT_TRUE(done.contains(what)) << what;
  }
  EXPECT_GT(candidate, 0);
  EXPECT_LT(candidate, last - first) << "the device is opened before";
}

TEST_F(Evaluation, RunReportsACandidateInFull) {
  add_candidates({"1/19"});
  const Said said = run_program({"run", folder_ / "mine/1_19.yaml", "--device", "cpu",
                                 "--measure-seconds", "0.02", "--min-samples", "6"});
  EXPECT_EQ(said.code, 0) << said.out << said.err;
  EXPECT_THAT(said.out, HasSubstr("passed"));
  EXPECT_THAT(said.out, HasSubstr("speedup"));
  EXPECT_THAT(said.out, HasSubstr("samples"));
}

TEST_F(Evaluation, APassAtSizesOfOnesOwnIsSaidToBeUntried) {
  add_candidates({"1/19"});
  const std::vector<std::string> sizes = {"--task", "1/19", "--set", "batch_size=3"};
  const Said job = evaluate(sizes);
  EXPECT_EQ(job.code, 0) << job.err;
  EXPECT_THAT(job.out, ::testing::ContainsRegex("passed .*  certificate untried\n"));
  EXPECT_THAT(job.out, HasSubstr("\n1 of 1 that passed did so at sizes without a certificate"));
  EXPECT_THAT(job.out, Not(HasSubstr("certified")));
  const Said run = run_program({"run", folder_ / "mine/1_19.yaml", "--device", "cpu",
                                "--measure-seconds", "0.02", "--set", "batch_size=3"});
  EXPECT_EQ(run.code, 0) << run.err;
  EXPECT_THAT(run.out, HasSubstr("  check       untried: at these sizes no shortcut was held "));
  std::vector<std::string> as_json = sizes;
  as_json.emplace_back("--json");
  const json document = json::parse(evaluate(as_json).out);
  EXPECT_EQ(document["results"][0]["certificate"], "untried");
  EXPECT_EQ(document["leaderboard"][0]["untried"], 1);
  EXPECT_EQ(document["leaderboard"][0]["certified"]["tasks"], 0);
}

TEST_F(QuickEvaluation, RunWithCheckCompilesAndMapsDiagnosticsToTheFile) {
  write_file(folder_ / "good.yaml", kEmptyKernel);
  const Said good = run_program({"run", "--check", folder_ / "good.yaml", "--device", "cpu"});
  EXPECT_EQ(good.code, 0) << good.out << good.err;
  EXPECT_THAT(good.out, HasSubstr("good.yaml: compiles: fits level1/19_ReLU at preset smoke on "));
  EXPECT_THAT(good.out, Not(HasSubstr("passed"))) << "nothing was run";
  write_file(folder_ / "bad.yaml", kBrokenShader);
  const Said bad = run_program({"run", "--check", folder_ / "bad.yaml", "--device", "cpu"});
  EXPECT_EQ(bad.code, 1) << bad.err;
  EXPECT_THAT(bad.out, HasSubstr("bad.yaml:9:"));
  EXPECT_THAT(bad.out, HasSubstr("\n    | void main() { y[0] = nonsense; }\n    | " +
                                 std::string(21, ' ') + "^\n"));
  const std::string said = "undeclared identifier";
  EXPECT_EQ(bad.out.find(said), bad.out.rfind(said)) << "once: " << bad.out;
  write_file(folder_ / "malformed.yaml", "kbench: 1\ntask: level1/19\nkernel: {}\n");
  const Said malformed =
      run_program({"run", "--check", folder_ / "malformed.yaml", "--device", "cpu"});
  EXPECT_EQ(malformed.code, 1) << malformed.err;
  EXPECT_THAT(malformed.out, HasSubstr("malformed.yaml:3:"));
}

TEST_F(Evaluation, RunWithCheckTakesAFolderAndNeverSaysPassed) {
  write_file(folder_ / "mine/a.yaml", kEmptyKernel);
  write_file(folder_ / "mine/deeper/b.yaml", kEmptyKernel);
  const Said good = run_program({"run", "--check", folder_ / "mine", "--device", "cpu"});
  EXPECT_EQ(good.code, 0) << good.out << good.err;
  EXPECT_THAT(good.out, HasSubstr("a.yaml: compiles: "));
  EXPECT_THAT(good.out, HasSubstr("deeper/b.yaml: compiles: "));
  EXPECT_THAT(good.out, HasSubstr("2 candidates: 2 compiles\n"));
  write_file(folder_ / "mine/c.yaml", kBrokenShader);
  const Said bad = run_program({"run", "--check", folder_ / "mine", "--device", "cpu", "--json"});
  EXPECT_EQ(bad.code, 1) << bad.err;
  const json results = json::parse(bad.out);
  ASSERT_EQ(results.size(), 3u);
  EXPECT_EQ(results[0]["verdict"], "compiles");
  EXPECT_EQ(results[1]["verdict"], "compile_error");
  EXPECT_EQ(results[1]["candidate"], (folder_ / "mine/c.yaml").string());
  EXPECT_EQ(results[2]["verdict"], "compiles");
  EXPECT_EQ(bad.out.find("passed"), bad.out.npos);
  std::filesystem::create_directory(folder_ / "empty");
  EXPECT_EQ(run_program({"run", "--check", folder_ / "empty", "--device", "cpu"}).code, 2);
}

TEST_F(Evaluation, JudgeAndRunnersDieWithTheProgram) {
  add_candidates({"1/19"});
  const std::string candidate = folder_ / "mine/1_19.yaml";
  std::vector<const char*> argv = {
      KBENCH_PROGRAM, "run",           candidate.c_str(), "--device",    "cpu", "--measure-seconds",
      "100",          "--min-samples", "1000000",         "--precision", "0",   nullptr};
  pid_t parent = 0;
  ASSERT_EQ(posix_spawn(&parent, KBENCH_PROGRAM, nullptr, nullptr,
                        const_cast<char* const*>(argv.data()), environ),
            0);
  // A judge, what its runners are copied from, the baseline's runner and the candidate's.
  constexpr size_t kOthers = 4;
  std::vector<pid_t> others;
  for (int i = 0; i < 6000 && others.size() < kOthers; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
    others.clear();
    for (const pid_t judge : children_of(parent)) {
      others.push_back(judge);
      for (const pid_t runner : children_of(judge)) others.push_back(runner);
    }
  }
  kill(parent, SIGKILL);
  waitpid(parent, nullptr, 0);
  EXPECT_GE(others.size(), kOthers);
  for (const pid_t process : others) EXPECT_TRUE(dies(process)) << command_of(process);
}

}  // namespace
}  // namespace kbench
