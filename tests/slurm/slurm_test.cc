// The job array of docs/cluster.md on a Slurm of one machine: tasks are killed in the middle and
// requeued, and nothing is lost or done twice.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>
#include <vector>

#include "kbench/result.h"
#include "tests/judge/processes.h"
#include "tests/program/run_program.h"
#include "tests/slurm/cluster.h"

namespace kbench {
namespace {

using ::testing::HasSubstr;
using namespace kbench::testing;

constexpr int kShards = 3;

/// Right candidates of built-in operators, each measured for a while: a task of the array takes
/// long enough to be killed in its middle.
const std::vector<std::string> kTasks = {"1/19", "1/20", "1/21", "1/22", "1/25",
                                         "1/26", "1/27", "1/28", "1/29", "1/30",
                                         "1/31", "1/32", "1/47", "1/48", "1/51"};

template <class Condition>
bool comes_true(Condition condition, std::chrono::seconds limit = std::chrono::seconds(240)) {
  const auto end = std::chrono::steady_clock::now() + limit;
  while (!condition()) {
    if (std::chrono::steady_clock::now() > end) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  return true;
}

/// The page's script for sbatch: what users save as kbench.sbatch.
std::string script_of_the_page() {
  const std::string page = read_file(KBENCH_DOCS "/cluster.md");
  const size_t begin = page.find("#!/bin/bash\n");
  return page.substr(begin, page.find("```\n", begin) - begin);
}

class JobArray : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!cluster_.missing().empty()) GTEST_SKIP() << cluster_.missing();
    KBENCH_NEED_SOFTWARE_DEVICE();
    for (const std::string& task : kTasks) {
      const Said said = run_program({"show", task, "--candidate", "--preset", "smoke"});
      ASSERT_EQ(said.code, 0) << said.err;
      write_file(folder() + "/mine/" + task.substr(2) + ".yaml", said.out);
      arguments_ += (arguments_.empty() ? "" : ",") + task;
    }
    write_file(folder() + "/kbench.sbatch", script_of_the_page());
    arguments_ = "--candidates " + folder() + "/mine --task " + arguments_ +
                 " --device cpu --preset smoke --measure-seconds 0.4 --min-samples 2 --precision 0"
                 " --compile-seconds 300 --device-seconds 60 --total-seconds 600";
  }

  std::string folder() const { return cluster_.path(); }
  std::string file(int shard) const {
    return folder() + "/results/shard-" + std::to_string(shard) + "-of-" + std::to_string(kShards) +
           ".jsonl";
  }

  /// Names of the experiments of the whole job, or of a shard, in order of the alphabet.
  std::vector<std::string> planned(const std::string& shard = "1/1") const {
    const Said said =
        cluster_.run("\"$KBENCH\" " + arguments_ + " --benchmark_list_tests --shard " + shard);
    EXPECT_EQ(said.code, 0) << said.err;
    std::vector<std::string> names = listed_experiments(said.out);
    std::ranges::sort(names);
    return names;
  }

  /// Where the jobs stand and what they said, for messages.
  std::string jobs() const { return cluster_.run("squeue -t all; tail -n 20 slurm-*.out").out; }

  std::string state(int task) const {
    std::string said =
        cluster_.run("squeue -h -t all -j " + job_ + "_" + std::to_string(task) + " -o %T").out;
    return said.substr(0, said.find('\n'));
  }

  /// Waits until a shard other than `not_this` is in its middle: some results, and more to come.
  int in_the_middle(int not_this = 0) {
    int found = 0;
    comes_true([&] {
      for (int shard = 1; shard <= kShards; ++shard) {
        const size_t done = count_lines(read_file(file(shard)));
        const bool middle = done > 0 && done + 1 < size_of_.at(shard);
        if (shard != not_this && middle && process_of(shard) > 0) found = shard;
      }
      return found != 0;
    });
    return found;
  }

  /// kbench at work on a shard; 0 where there is none.
  pid_t process_of(int shard) const {
    for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
      const pid_t process = std::atoi(entry.path().filename().c_str());
      if (process > 0 && command_of(process).find("--output " + file(shard)) != std::string::npos) {
        return process;
      }
    }
    return 0;
  }

  void requeue(int shard) const {
    const std::string name = job_ + "_" + std::to_string(shard);
    const Said said = cluster_.run("scontrol requeue " + name);
    ASSERT_EQ(said.code, 0) << said.err;
    // Slurm would wait two minutes, and refuses a job that starts in the second in which it was
    // killed.
    const auto runs = [&] { return state(shard) == "RUNNING" || state(shard) == "COMPLETED"; };
    ASSERT_TRUE(comes_true([&] {
      if (runs()) return true;
      cluster_.run("scontrol update jobid=" + name + " StartTime=now+2");
      return comes_true(runs, std::chrono::seconds(4));
    })) << jobs();
  }

  Cluster cluster_;
  std::string arguments_, job_;
  std::map<int, size_t> size_of_;  ///< experiments in each shard
};

TEST_F(JobArray, KilledAndRequeuedLosesNothingAndDoesNothingTwice) {
  for (int shard = 1; shard <= kShards; ++shard) {
    size_of_[shard] = planned(std::to_string(shard) + "/" + std::to_string(kShards)).size();
  }
  Said said = cluster_.run("export KBENCH KBENCH_RESULTS=" + folder() +
                           "/results; sbatch --parsable --array=1-" + std::to_string(kShards) +
                           " kbench.sbatch " + arguments_);
  ASSERT_EQ(said.code, 0) << said.err;
  job_ = said.out.substr(0, said.out.find_first_of(";\n"));

  // One is killed as by a crash.
  const int killed = in_the_middle();
  ASSERT_NE(killed, 0) << "no shard was seen in its middle; " << jobs();
  ASSERT_EQ(kill(process_of(killed), SIGKILL), 0);
  const std::string before_kill = read_file(file(killed));
  EXPECT_LT(count_lines(before_kill), size_of_[killed]);
  // Another is requeued while it runs: Slurm ends it.
  const int preempted = in_the_middle(killed);
  ASSERT_NE(preempted, 0) << "no other shard was seen in its middle; " << jobs();
  const std::string before_requeue = read_file(file(preempted));
  requeue(preempted);
  ASSERT_TRUE(comes_true([&] { return state(killed) == "FAILED"; })) << jobs();
  requeue(killed);

  ASSERT_TRUE(comes_true([&] {
    int done = 0;
    for (int shard = 1; shard <= kShards; ++shard) done += state(shard) == "COMPLETED";
    return done == kShards;
  })) << jobs();
  for (const int shard : {killed, preempted}) {
    const std::string log = folder() + "/slurm-" + job_ + "_" + std::to_string(shard) + ".out";
    EXPECT_THAT(read_file(log), HasSubstr(" already done in ")) << "it went on";
  }
  const auto whole_lines = [](const std::string& text) {
    return text.substr(0, text.rfind('\n') + 1);
  };
  EXPECT_TRUE(read_file(file(killed)).starts_with(whole_lines(before_kill)));
  EXPECT_TRUE(read_file(file(preempted)).starts_with(whole_lines(before_requeue)));

  // Nothing lost, nothing twice: what one run would do is what the files hold, each once.
  std::vector<std::string> done;
  for (int shard = 1; shard <= kShards; ++shard) {
    for (const Result& result : read_results(file(shard))) {
      EXPECT_EQ(name_of(result.verdict), "passed") << result.message;
      done.push_back(to_string(result.task) + "_" + result.task_name + "/" + result.set);
    }
  }
  std::ranges::sort(done);
  EXPECT_EQ(done, planned());
  said = cluster_.run("\"$KBENCH\" report --json results/*.jsonl");
  ASSERT_EQ(said.code, 0) << said.err;
  const auto score = nlohmann::json::parse(said.out);
  EXPECT_EQ(score["results"].size(), kTasks.size());
  EXPECT_EQ(score["leaderboard"][0]["tasks"], kTasks.size());
  EXPECT_EQ(score["leaderboard"][0]["correct"], kTasks.size());
}

}  // namespace
}  // namespace kbench
