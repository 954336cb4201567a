// evaluate() against workers that misbehave: shell scripts that speak the protocol.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "harness/worker/protocol.h"
#include "kbench/error.h"
#include "kbench/evaluate.h"

namespace kbench {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class Worker : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (fs::temp_directory_path() / "kbench_worker_test_XXXXXX").string();
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
  }
  void TearDown() override { fs::remove_all(folder_); }

  /// Evaluates with a worker that reads its job into $job and then runs the script.
  Result evaluate_with(const std::string& script) {
    const fs::path program = folder_ / "worker";
    std::ofstream(program) << "#!/bin/sh\ncd " << folder_.string() << "\nread -r job\n" << script;
    chmod(program.c_str(), 0755);
    options_.worker = program;
    return evaluate("candidate.yaml", options_);
  }

  /// How often the worker was started, by a script that begins with kCount.
  size_t starts() const {
    std::ifstream file(folder_ / "starts");
    return static_cast<size_t>(
        std::count(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>(), '\n'));
  }
  static constexpr const char* kCount = "echo start >>starts\n";

  static std::string answer(const Result& result) {
    return "cat <<'END' >&3\nresult " + to_json(result) + "\nEND\n";
  }

  fs::path folder_;
  EvaluateOptions options_;
};

TEST_F(Worker, AnswersWithItsResult) {
  Result sent;
  sent.task = {1, 19};
  sent.verdict = Verdict::passed;
  sent.speedup = {1.25, 1.5, 1.75};
  std::vector<std::string> stages;
  options_.on_stage = [&](const char* stage) { stages.emplace_back(stage); };
  const Result got =
      evaluate_with("echo 'stage load' >&3\necho 'stage compile' >&3\n" + answer(sent));
  EXPECT_EQ(got.verdict, Verdict::passed);
  EXPECT_EQ(got.task, sent.task);
  EXPECT_EQ(got.speedup.point, 1.5);
  EXPECT_GT(got.wall_s, 0);
  EXPECT_THAT(stages, ElementsAre("load", "compile"));
}

TEST_F(Worker, GetsTheWholeJob) {
  options_.overrides = {{"n", int64_t{65}}, {"p", 0.5}, {"k", std::vector<int64_t>{1, 2}}};
  options_.plan.min_samples = 17;
  options_.limits.device_seconds = 2.5;
  options_.validate = true;
  options_.seed = 0xffffffffffffffffu;
  options_.tolerance = ToleranceRule::kernelbench;
  Result sent;
  sent.verdict = Verdict::passed;
  evaluate_with("printf '%s' \"$job\" >job\n" + answer(sent));
  std::ifstream file(folder_ / "job");
  std::string line;
  ASSERT_TRUE(std::getline(file, line));
  const worker::Job job = worker::job_from_json(line);
  EXPECT_EQ(job.candidate_file, "candidate.yaml");
  EXPECT_EQ(job.parent, getpid());
  EXPECT_EQ(job.options.overrides, options_.overrides);
  EXPECT_EQ(job.options.plan.min_samples, 17);
  EXPECT_EQ(job.options.limits.device_seconds, 2.5);
  EXPECT_EQ(job.options.limits.host_bytes, options_.limits.host_bytes);
  EXPECT_TRUE(job.options.validate);
  EXPECT_EQ(job.options.seed, options_.seed);
  EXPECT_EQ(job.options.tolerance, ToleranceRule::kernelbench);
}

TEST_F(Worker, ACrashInTheCandidateIsAVerdict) {
  const Result result = evaluate_with(std::string(kCount) +
                                      "echo 'stage compile' >&3\n"
                                      "echo 'driver: out of registers' >&2\nkill -SEGV $$\n");
  EXPECT_EQ(result.verdict, Verdict::crashed);
  EXPECT_THAT(result.message, HasSubstr("SIGSEGV"));
  EXPECT_THAT(result.message, HasSubstr("while compiling"));
  EXPECT_THAT(result.message, HasSubstr("driver: out of registers"));
  EXPECT_EQ(starts(), 1u);
}

TEST_F(Worker, ACrashOnTheDeviceNamesTheStage) {
  const Result result = evaluate_with("echo 'stage sample' >&3\nkill -ABRT $$\n");
  EXPECT_EQ(result.verdict, Verdict::crashed);
  EXPECT_THAT(result.message, HasSubstr("while running on the device (sample)"));
}

TEST_F(Worker, AnEndWithoutAnAnswerIsACrash) {
  const Result result = evaluate_with("echo 'stage check' >&3\nexit 7\n");
  EXPECT_EQ(result.verdict, Verdict::crashed);
  EXPECT_THAT(result.message, HasSubstr("exited with status 7"));
}

TEST_F(Worker, AFailureBeforeTheCandidateWasTouchedIsTriedOnceMore) {
  const Result result =
      evaluate_with(std::string(kCount) + "echo 'stage load' >&3\nkill -BUS $$\n");
  EXPECT_EQ(result.verdict, Verdict::harness_error);
  EXPECT_THAT(result.message, HasSubstr("before the candidate was touched"));
  EXPECT_EQ(starts(), 2u);
}

TEST_F(Worker, ASecondAttemptCanSucceed) {
  Result sent;
  sent.verdict = Verdict::passed;
  const Result result =
      evaluate_with("test -e tried || { touch tried; kill -KILL $$; }\n" + answer(sent));
  EXPECT_EQ(result.verdict, Verdict::passed);
}

TEST_F(Worker, EndlessCompilingIsATimeoutAndTheWholeGroupDies) {
  options_.limits.compile_seconds = 0.3;
  const auto start = std::chrono::steady_clock::now();
  const Result result =
      evaluate_with("echo 'stage compile' >&3\nsleep 100 &\necho $! >child\nwait\n");
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(20));
  EXPECT_EQ(result.verdict, Verdict::timeout);
  EXPECT_THAT(result.message, HasSubstr("0.3 s while compiling"));
  pid_t child = 0;
  ASSERT_TRUE(std::ifstream(folder_ / "child") >> child);
  const auto running = [&] {
    std::ifstream stat("/proc/" + std::to_string(child) + "/stat");
    std::string pid, name, state;
    return (stat >> pid >> name >> state) && state != "Z";
  };
  for (int i = 0; i < 200 && running(); ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  EXPECT_FALSE(running());
}

TEST_F(Worker, AHangOnTheDeviceEndsWithTheTotalTime) {
  options_.limits.total_seconds = 0.4;
  const Result result = evaluate_with("echo 'stage warm-up' >&3\nexec sleep 100\n");
  EXPECT_EQ(result.verdict, Verdict::timeout);
  EXPECT_THAT(result.message, HasSubstr("warm-up"));
}

TEST_F(Worker, AHangBeforeTheCandidateIsTheHarnesss) {
  options_.limits.total_seconds = 0.2;
  EXPECT_EQ(evaluate_with("exec sleep 100\n").verdict, Verdict::harness_error);
}

TEST_F(Worker, AMemoryGluttonIsStopped) {
  options_.limits.host_bytes = int64_t{20} << 20;
  const Result result = evaluate_with(
      "sleep 0.1\necho 'stage compile' >&3\n"
      "x=$(head -c 60000000 /dev/zero | tr '\\0' a)\nsleep 100\n");
  EXPECT_EQ(result.verdict, Verdict::out_of_memory);
  EXPECT_THAT(result.message, HasSubstr("GB of host memory"));
}

TEST_F(Worker, WhatItThrowsOverTheCandidateBecomesAVerdict) {
  const auto thrown = [&](ErrorCode code) {
    return evaluate_with("echo 'stage sample' >&3\ncat <<'END' >&3\nerror " +
                         worker::to_json(Error(code, "said so")) + "\nEND\n");
  };
  EXPECT_EQ(thrown(ErrorCode::kDeviceLost).verdict, Verdict::device_lost);
  EXPECT_EQ(thrown(ErrorCode::kTimeout).verdict, Verdict::timeout);
  EXPECT_EQ(thrown(ErrorCode::kOutOfMemory).verdict, Verdict::out_of_memory);
  EXPECT_EQ(thrown(ErrorCode::kInternal).verdict, Verdict::harness_error);
  EXPECT_THAT(thrown(ErrorCode::kInternal).message, HasSubstr("said so"));
}

TEST_F(Worker, WhatIsWrongWithTheOptionsIsThrown) {
  const Error sent(ErrorCode::kNotFound, Location{"file.yaml", 3, 7}, "no such device");
  try {
    evaluate_with("echo 'stage load' >&3\ncat <<'END' >&3\nerror " + worker::to_json(sent) +
                  "\nEND\n");
    FAIL() << "no exception";
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), ErrorCode::kNotFound);
    EXPECT_STREQ(e.what(), sent.what());
  }
}

TEST_F(Worker, AnAnswerThatIsNoneIsTheHarnesss) {
  EXPECT_EQ(evaluate_with("echo 'hello there' >&3\n").verdict, Verdict::harness_error);
  EXPECT_EQ(evaluate_with("echo 'result {' >&3\n").verdict, Verdict::harness_error);
}

TEST_F(Worker, AResultStandsWhenTheWorkerHangsAfterwards) {
  Result sent;
  sent.verdict = Verdict::wrong_values;
  const auto start = std::chrono::steady_clock::now();
  EXPECT_EQ(evaluate_with(answer(sent) + "exec sleep 100\n").verdict, Verdict::wrong_values);
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(20));
}

TEST_F(Worker, AProgramThatIsNotThereIsNamed) {
  options_.worker = folder_ / "nothing";
  try {
    evaluate("candidate.yaml", options_);
    FAIL() << "no exception";
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), ErrorCode::kNotFound);
    EXPECT_THAT(e.what(), HasSubstr("nothing"));
  }
}

}  // namespace
}  // namespace kbench
