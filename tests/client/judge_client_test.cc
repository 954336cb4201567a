// evaluate() against judges that misbehave: shell scripts that speak the protocol.

#include "harness/evaluate/client/judge_client.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <future>
#include <map>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "harness/evaluate/client/device_list.h"
#include "harness/measure/judge_protocol/protocol.h"
#include "kbench/error.h"
#include "kbench/evaluate.h"
#include "tests/error_of.h"
#include "tests/scratch_folder.h"

namespace kbench {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;

class FakeJudge : public ::testing::Test {
 protected:
  FakeJudge() { where_.program = folder_ / "judge"; }

  /// A file that is there; what is in it only a judge would look at.
  std::string a_file(const std::string& name) const {
    std::ofstream(folder_ / name) << "kbench: 1\n";
    return folder_ / name;
  }

  /// From now on the judge is this script, in the test's folder; it notes each start.
  void be(const std::string& script) {
    fs::remove(where_.program);  // Not written over: the last one may still run.
    std::ofstream(where_.program) << "#!/bin/sh\ncd " << folder_.path()
                                  << "\necho \"$*\" >>starts\n"
                                  << script;
    chmod(where_.program.c_str(), 0755);
  }
  /// A judge that opens a device, and does this for each $job.
  void judge(const std::string& script) {
    vulkan::DeviceSnapshot snapshot;
    snapshot.name = "a fake device";
    be(say("hello", judge::to_json(snapshot)) + "while read -r job; do\n" + script + "\ndone\n");
  }
  Result evaluate_with(const std::string& script) {
    judge(script);
    return evaluate(about(a_file("candidate.yaml")), where_, observer_);
  }

  Question about(const CandidateSource& candidate, bool check = false) const {
    Question question = asked_;
    question.candidate = candidate;
    question.check = check;
    return question;
  }
  static std::string say(const std::string& kind, const std::string& text) {
    return "cat <<'END' >&3\n" + kind + " " + text + "\nEND\n";
  }
  static std::string answer(const Result& result) { return say("result", to_json(result)); }
  static Result passed() {
    Result result;
    result.task = {1, 19};
    result.verdict = Verdict::passed;
    result.samples = 12;
    result.speedup = {1.25, 1.5, 1.75};
    result.candidate_ms = 2;
    result.baseline_ms = 3;
    return result;
  }

  std::vector<std::string> lines_of(const char* name) const {
    std::ifstream file(folder_ / name);
    std::vector<std::string> lines;
    for (std::string line; std::getline(file, line);) lines.push_back(line);
    return lines;
  }
  size_t starts() const { return lines_of("starts").size(); }

  /// The Error that evaluating throws.
  Error error_with(const std::string& script) {
    be(script);
    return error_of([&] { evaluate(about(a_file("candidate.yaml")), where_, observer_); });
  }

  testing::ScratchFolder folder_;
  JudgeOptions where_;
  Question asked_;
  Observer observer_;
};

bool alive(pid_t pid) {
  std::ifstream stat("/proc/" + std::to_string(pid) + "/stat");
  std::string id, name, state;
  return (stat >> id >> name >> state) && state != "Z";
}

TEST_F(FakeJudge, AnswersWithItsResultAndStagesInOrder) {
  std::vector<std::string> stages;
  observer_.on_stage = [&](const char* stage) { stages.emplace_back(stage); };
  const Result got = evaluate_with(
      "echo 'stage load' >&3\necho 'stage compile' >&3\n"
      "echo 'stage warm-up' >&3\necho 'stage sample' >&3\n" +
      answer(passed()));
  EXPECT_EQ(got.verdict, Verdict::passed);
  EXPECT_EQ(got.task, passed().task);
  EXPECT_EQ(got.speedup.point, 1.5);
  EXPECT_GT(got.wall_s, 0);
  EXPECT_THAT(stages, ElementsAre("load", "compile", "warm-up", "sample"));
}

TEST_F(FakeJudge, ThatPassesEverythingFailsItsSelfTestAndNoVerdictOfTheLaneCounts) {
  Result result = passed();
  result.lane = "vulkan";
  std::vector<std::string> stages;
  observer_.on_stage = [&](const char* stage) { stages.emplace_back(stage); };
  const Result got = evaluate_with(answer(result));
  EXPECT_EQ(got.verdict, Verdict::harness_error);
  EXPECT_THAT(got.message, HasSubstr("no verdict of lane vulkan counts here: planted candidate"));
  EXPECT_THAT(got.message, HasSubstr("and is passed; kbench devices --check shows all of it"));
  EXPECT_THAT(stages, ElementsAre("self_test"));
  EXPECT_GT(got.stage_s.at("self_test"), 0);
}

TEST_F(FakeJudge, IsNotTestedForWhatIsCheckedAlone) {
  Result result = passed();
  result.lane = "vulkan";
  result.verdict = Verdict::compiles;
  judge(answer(result));
  EXPECT_EQ(evaluate(about(a_file("candidate.yaml"), /*check=*/true), where_).verdict,
            Verdict::compiles);
}

TEST_F(FakeJudge, IsStartedForTheDeviceAndGetsTheWholeRequest) {
  where_.device = "a fake";
  asked_.overrides = {{"n", int64_t{65}}, {"p", 0.5}};
  asked_.plan.min_samples = 17;
  asked_.plan.seed = 0xffffffffffffffffu;
  asked_.rule.validate = true;
  evaluate_with("printf '%s\\n' \"$job\" >>jobs\n" + answer(passed()));
  EXPECT_THAT(lines_of("starts"), ElementsAre("judge-process a fake validate"));
  ASSERT_THAT(lines_of("jobs"), SizeIs(1));
  const judge::EvaluateRequest request = judge::request_from_json(lines_of("jobs")[0]);
  EXPECT_EQ(request.question.candidate.path, a_file("candidate.yaml"));
  EXPECT_FALSE(request.question.check);
  EXPECT_FALSE(request.more);
  EXPECT_EQ(request.question.overrides, asked_.overrides);
  EXPECT_EQ(request.question.plan.min_samples, 17);
  EXPECT_EQ(request.question.plan.seed, asked_.plan.seed);
}

TEST_F(FakeJudge, StaysFromOneEvaluationToTheNext) {
  judge("printf '%s\\n' \"$job\" >>jobs\n" + answer(passed()));
  {
    JudgeProcess process(where_);
    EXPECT_EQ(starts(), 0u);
    EXPECT_EQ(process.evaluate(about(a_file("first.yaml")), observer_, {}).verdict,
              Verdict::passed);
    EXPECT_EQ(process.evaluate(about(a_file("second.yaml"), /*check=*/true), observer_, {}).verdict,
              Verdict::passed);
  }
  EXPECT_EQ(starts(), 1u);
  ASSERT_THAT(lines_of("jobs"), SizeIs(2));
  const judge::EvaluateRequest first = judge::request_from_json(lines_of("jobs")[0]);
  const judge::EvaluateRequest second = judge::request_from_json(lines_of("jobs")[1]);
  EXPECT_FALSE(first.question.check);
  EXPECT_TRUE(first.more);
  EXPECT_EQ(second.question.candidate.path, a_file("second.yaml"));
  EXPECT_TRUE(second.question.check);
}

TEST_F(FakeJudge, ThatLeavesAfterAResultIsStartedForTheNext) {
  judge(answer(passed()) + "exit 4\n");
  JudgeProcess process(where_);
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(process.evaluate(about(a_file("candidate.yaml")), observer_, {}).verdict,
              Verdict::passed)
        << i;
  }
  EXPECT_EQ(starts(), 3u);
}

TEST_F(FakeJudge, ThatCrashesInATrialIsAHarnessError) {
  const Result result = evaluate_with(
      "echo 'stage sample' >&3\n"
      "echo 'driver: out of registers' >&2\nkill -SEGV $$\n");
  EXPECT_EQ(result.verdict, Verdict::harness_error);
  EXPECT_EQ(result.candidate, a_file("candidate.yaml"));
  EXPECT_EQ(result.device, "a fake device");
  EXPECT_THAT(result.message, HasSubstr("SIGSEGV"));
  EXPECT_THAT(result.message, HasSubstr("(sample)"));
  EXPECT_THAT(result.message, HasSubstr("driver: out of registers"));
  EXPECT_EQ(starts(), 1u);
}

TEST_F(FakeJudge, HasNamedTheTaskOfAHarnessErrorWhereItKnewIt) {
  Result known;
  known.task = {1, 94};
  known.task_name = "MSELoss";
  known.candidate = "set/of_a_task.py";
  const std::string named = say("named", to_json(known));
  const std::string lacking =
      say("error", judge::to_json(Error(ErrorCode::kOutOfMemory, "cannot allocate 8194 MiB")));
  for (const std::string& end : {lacking, std::string("kill -SEGV $$\n")}) {
    const Result result = evaluate_with(named + "echo 'stage compile' >&3\n" + end);
    EXPECT_EQ(result.verdict, Verdict::harness_error);
    EXPECT_EQ(result.task, known.task);
    EXPECT_EQ(result.task_name, "MSELoss");
    EXPECT_EQ(result.candidate, "set/of_a_task.py");
    EXPECT_EQ(result.device, "a fake device");
  }
}

TEST_F(FakeJudge, ThatIsKilledIsTriedOnceMore) {
  const Result result = evaluate_with("echo 'stage warm-up' >&3\nkill -KILL $$\n");
  EXPECT_EQ(result.verdict, Verdict::harness_error);
  EXPECT_THAT(result.message, HasSubstr("SIGKILL"));
  EXPECT_EQ(starts(), 2u);
}

TEST_F(FakeJudge, CanSucceedTheSecondTime) {
  const Result result = evaluate_with(
      "test -e tried || { touch tried; echo 'stage sample' >&3; "
      "kill -TERM $$; sleep 9; }\n" +
      answer(passed()));
  EXPECT_EQ(result.verdict, Verdict::passed);
  EXPECT_EQ(starts(), 2u);
}

TEST_F(FakeJudge, ThatEndsBeforeTheCandidateIsTriedOnceMore) {
  const Result result = evaluate_with("exit 7\n");
  EXPECT_EQ(result.verdict, Verdict::harness_error);
  EXPECT_THAT(result.message, HasSubstr("exited with status 7 (start)"));
  EXPECT_EQ(starts(), 2u);
}

TEST_F(FakeJudge, ThatIsKilledBeforeTheDeviceIsOpenIsTriedOnceMore) {
  judge(answer(passed()));
  std::ifstream file(where_.program);
  const std::string good(std::istreambuf_iterator<char>(file), {});
  be("test -e tried || { touch tried; kill -KILL $$; }\n" + good);
  EXPECT_EQ(evaluate(about(a_file("candidate.yaml")), where_, observer_).verdict, Verdict::passed);
}

TEST_F(FakeJudge, ThatDoesNotStartAgainIsAResult) {
  judge(answer(passed()) + "exit 4\n");
  JudgeProcess process(where_);
  EXPECT_EQ(process.evaluate(about(a_file("candidate.yaml")), observer_, {}).verdict,
            Verdict::passed);
  be("exit 5\n");
  const Result result = process.evaluate(about(a_file("candidate.yaml")), observer_, {});
  EXPECT_EQ(result.verdict, Verdict::harness_error);
  EXPECT_EQ(result.device, "a fake device");
  EXPECT_THAT(result.message, HasSubstr("exited with status 5 before the device was open"));
}

TEST_F(FakeJudge, ThatHangsIsEndedWithAllItStarted) {
  // Beside its trial's limits a judge has a quarter of an hour of its own: three seconds are left.
  asked_.limits.total_seconds = -448.5;
  asked_.limits.compile_seconds = 0;
  const auto start = std::chrono::steady_clock::now();
  const Result result = evaluate_with("sleep 100 &\necho $! >child\nwait\n");
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(100));
  EXPECT_EQ(result.verdict, Verdict::harness_error);
  EXPECT_THAT(result.message, HasSubstr("longer than any limit (start)"));
  const pid_t child = std::stoi(lines_of("child").at(0));
  for (int i = 0; i < 6000 && alive(child); ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  EXPECT_FALSE(alive(child));
}

TEST_F(FakeJudge, ThatSaysTheSameForEverIsEnded) {
  asked_.limits.total_seconds = -448.5;
  asked_.limits.compile_seconds = 0;
  const auto start = std::chrono::steady_clock::now();
  const Result result = evaluate_with("while :; do echo 'stage sample'; done >&3\n");
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(100));
  EXPECT_EQ(result.verdict, Verdict::timeout);
}

TEST_F(FakeJudge, ThatFloodsAnUnreadStreamIsHeard) {
  const Result result = evaluate_with("head -c 3000000 /dev/zero\nhead -c 3000000 /dev/zero >&2\n" +
                                      answer(passed()));
  EXPECT_EQ(result.verdict, Verdict::passed) << result.message;
}

TEST_F(FakeJudge, WithALineWithoutEndIsTheHarnesss) {
  const Result result = evaluate_with("echo 'stage sample' >&3\ncat /dev/zero >&3\n");
  EXPECT_EQ(result.verdict, Verdict::harness_error);
  EXPECT_THAT(result.message, HasSubstr("a line without end"));
}

TEST_F(FakeJudge, ThatAnswersNonsenseIsTheHarnesss) {
  for (const char* said : {"nonsense there", "result {", "result", "error {}", "stage\nresult 1"}) {
    const Result result = evaluate_with("cat <<'END' >&3\n" + std::string(said) + "\nEND\n");
    EXPECT_EQ(result.verdict, Verdict::harness_error) << said;
    EXPECT_NE(result.message, "") << said;
  }
}

TEST_F(FakeJudge, IsStartedAnewAfterNonsense) {
  judge("test -e tried || { touch tried; echo nonsense >&3; }\n" + answer(passed()));
  JudgeProcess process(where_);
  EXPECT_EQ(process.evaluate(about(a_file("candidate.yaml")), observer_, {}).verdict,
            Verdict::harness_error);
  EXPECT_EQ(process.evaluate(about(a_file("candidate.yaml")), observer_, {}).verdict,
            Verdict::passed);
  EXPECT_EQ(starts(), 2u);
}

TEST_F(FakeJudge, WhatIsWrongWithTheOptionsIsThrown) {
  const Error sent(ErrorCode::kInvalidArgument, Location{"file.yaml", 3, 7}, "no such variable");
  judge("echo 'stage load' >&3\n" + say("error", judge::to_json(sent)) + answer(passed()));
  JudgeProcess process(where_);
  const Error e =
      error_of([&] { process.evaluate(about(a_file("candidate.yaml")), observer_, {}); });
  EXPECT_EQ(e.code(), ErrorCode::kInvalidArgument);
  EXPECT_STREQ(e.what(), sent.what());
  EXPECT_EQ(starts(), 1u);
}

TEST_F(FakeJudge, WhatElseItThrowsIsTheHarnesss) {
  const Result result =
      evaluate_with(say("error", judge::to_json(Error(ErrorCode::kInternal, "said so"))));
  EXPECT_EQ(result.verdict, Verdict::harness_error);
  EXPECT_EQ(result.message, "said so");
}

TEST_F(FakeJudge, WithoutTheDeviceSaysWhatIsWrongWithIt) {
  const Error error =
      error_with(say("error", judge::to_json(Error(ErrorCode::kNotFound, "no such device"))));
  EXPECT_EQ(error.code(), ErrorCode::kNotFound);
  EXPECT_STREQ(error.what(), "no such device");
}

TEST_F(FakeJudge, OfAnotherVersionIsNamedSo) {
  EXPECT_THAT(error_with("echo welcome >&3\nsleep 9\n").what(), HasSubstr("another version"));
  EXPECT_THAT(error_with("echo 'hello {}' >&3\nsleep 9\n").what(), HasSubstr("malformed device"));
}

TEST_F(FakeJudge, ThatEndsBeforeTheDeviceIsOpenSaysHow) {
  const Error error = error_with("echo 'driver: no memory' >&2\nkill -SEGV $$\n");
  EXPECT_THAT(error.what(), HasSubstr("SIGSEGV"));
  EXPECT_THAT(error.what(), HasSubstr("before the device was open"));
  EXPECT_THAT(error.what(), HasSubstr("driver: no memory"));
}

TEST_F(FakeJudge, ThatIsNotThereIsNamed) {
  where_.program = folder_ / "nothing";
  const Error e = error_of([&] { evaluate(about(a_file("candidate.yaml")), where_, observer_); });
  EXPECT_EQ(e.code(), ErrorCode::kNotFound);
  EXPECT_THAT(e.what(), HasSubstr("nothing"));
}

TEST_F(FakeJudge, ListsDevicesInAProcessOfItsOwn) {
  vulkan::DeviceSnapshot snapshot;
  snapshot.name = "a fake device";
  be(say("devices", judge::to_json(std::vector{snapshot})));
  const auto list = client::list_snapshots(where_.program);
  ASSERT_THAT(list, SizeIs(1));
  EXPECT_EQ(list[0].name, "a fake device");
  EXPECT_THAT(lines_of("starts"), ElementsAre("list-devices-process"));
  ASSERT_THAT(list_devices(where_.program), SizeIs(1));
  EXPECT_FALSE(list_devices(where_.program)[0].usable);
  EXPECT_NE(list_devices(where_.program)[0].reason, "");

  be("kill -SEGV $$\n");
  const Error e = error_of([&] { client::list_snapshots(where_.program); });
  EXPECT_EQ(e.code(), ErrorCode::kInternal);
  EXPECT_THAT(e.what(), HasSubstr("SIGSEGV"));
}

TEST_F(FakeJudge, IsNotAskedForWhatIsNotThere) {
  judge(answer(passed()));
  JudgeProcess process(where_);
  const std::string absent = folder_ / "absent.yaml";
  EXPECT_EQ(code_of([&] { process.evaluate(about(absent), observer_, {}); }), ErrorCode::kNotFound);
  EXPECT_EQ(code_of([&] { process.evaluate(about(absent, /*check=*/true), observer_, {}); }),
            ErrorCode::kNotFound);
  EXPECT_EQ(code_of([&] { evaluate(about(absent), where_); }), ErrorCode::kNotFound);
  EXPECT_EQ(code_of([&] {
              evaluate(about((folder_ / "no/folder.yaml").string(), /*check=*/true), where_);
            }),
            ErrorCode::kNotFound);
  EXPECT_EQ(code_of([&] { process.evaluate(about(folder_.path()), observer_, {}); }),
            ErrorCode::kNotFound)
      << "a folder without candidate.yaml";
  const std::map<std::string, std::string> files = {{"relu.yaml", "kbench: 1\n"}};
  EXPECT_EQ(code_of([&] { process.evaluate(about(files), observer_, {}); }), ErrorCode::kNotFound);
  EXPECT_EQ(starts(), 0u);
  // What is there and no file is for the judge to refuse: a candidate may come from anywhere.
  ASSERT_EQ(mkfifo((folder_ / "fifo.yaml").c_str(), 0600), 0);
  EXPECT_TRUE(process.evaluate(about((folder_ / "fifo.yaml").string()), observer_, {}).correct());
  EXPECT_EQ(starts(), 1u);
}

TEST_F(FakeJudge, GetsACandidateFromMemory) {
  CandidateSource source{{{"relu.yaml", "kbench: 1\n"}, {"k.spv", std::string("\3\2#\7\0\xff", 6)}},
                         "set/mine.yaml"};
  source.manifest = "relu.yaml";
  judge("printf '%s\\n' \"$job\" >>jobs\n" + answer(passed()));
  EXPECT_EQ(evaluate(about(source), where_).verdict, Verdict::passed);
  EXPECT_EQ(evaluate(about(source, /*check=*/true), where_).verdict, Verdict::passed);
  ASSERT_THAT(lines_of("jobs"), SizeIs(2));
  EXPECT_EQ(judge::request_from_json(lines_of("jobs")[0]).question.candidate, source);
  EXPECT_FALSE(judge::request_from_json(lines_of("jobs")[0]).question.check);
  EXPECT_TRUE(judge::request_from_json(lines_of("jobs")[1]).question.check);
}

TEST_F(FakeJudge, IsKilledWhenTheCallerHasHadEnough) {
  judge("echo $$ >pid\necho 'stage sample' >&3\n[ -e calm ] || sleep 60\n" + answer(passed()));
  std::stop_source enough;
  observer_.on_stage = [&](const char*) { enough.request_stop(); };
  JudgeProcess process(where_);
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_THROW(process.evaluate(about(a_file("candidate.yaml")), observer_, enough.get_token()),
               Cancelled);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(100));
  const pid_t pid = std::stoi(lines_of("pid").at(0));
  for (int i = 0; alive(pid) && i < 6000; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  EXPECT_FALSE(alive(pid));
  EXPECT_THROW(process.evaluate(about(a_file("candidate.yaml")), observer_, enough.get_token()),
               Cancelled);
  EXPECT_EQ(starts(), 1u) << "what is cancelled already starts nothing";
  std::ofstream(folder_ / "calm") << "";
  EXPECT_EQ(process.evaluate(about(a_file("candidate.yaml")), observer_, {}).verdict,
            Verdict::passed);
  EXPECT_EQ(starts(), 2u);
}

TEST_F(FakeJudge, GoesOnAfterCancelling) {
  // Once it says so, and once its answer is on its way already.
  judge("echo 'stage sample' >&3\nread -r told\necho \"$told\" >>told\nif [ -e once ]; then\n" +
        answer(passed()) + "else : >once; echo 'cancelled ' >&3; fi");
  std::stop_source enough;
  observer_.on_stage = [&](const char*) { enough.request_stop(); };
  JudgeProcess process(where_);
  for (int i = 0; i < 2; ++i) {
    enough = std::stop_source();
    EXPECT_THROW(process.evaluate(about(a_file("candidate.yaml")), observer_, enough.get_token()),
                 Cancelled);
  }
  EXPECT_THAT(lines_of("told"), ElementsAre("cancel", "cancel"));
  EXPECT_EQ(starts(), 1u);
}

TEST_F(FakeJudge, ThatCompilesIsLeftOnceOthersWait) {
  judge("echo 'stage compile' >&3\nread -r told\necho \"$told\" >>told\necho 'later begun' >&3");
  client::JudgeClient client(where_.program, "", false);
  judge::EvaluateRequest request;
  request.question.candidate = a_file("candidate.yaml");
  std::atomic<bool> compiling = false;
  request.others = [&] { return compiling.load(); };
  const auto on_stage = [&](const char*) { compiling = true; };
  for (int i = 0; i < 2; ++i) {
    try {
      client.run(request, {.on_stage = on_stage});
      FAIL() << "it was waited for";
    } catch (const judge::StillCompiling& still) {
      EXPECT_TRUE(still.begun);
    }
  }
  EXPECT_THAT(lines_of("told"), ElementsAre("others", "others"));
  EXPECT_EQ(starts(), 1u);
}

TEST_F(FakeJudge, IsNotWaitedForWhileItStarts) {
  be("sleep 60\n");
  std::stop_source enough;
  std::jthread caller([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    enough.request_stop();
  });
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_THROW(evaluate(about(a_file("candidate.yaml")), where_, {}, enough.get_token()),
               Cancelled);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(100));
}

/// One that opens its device and reads nothing.
constexpr const char* kSilent = "exec sleep 60\n";
std::map<std::string, std::string> large_candidate(size_t bytes = size_t{8} << 20) {
  return {{"candidate.yaml", "kbench: 1\n"}, {"k.comp", std::string(bytes, ' ')}};
}

TEST_F(FakeJudge, ThatTakesNoRequestIsNotWaitedForOnceCancelled) {
  be(say("hello", judge::to_json(vulkan::DeviceSnapshot())) + kSilent);
  std::stop_source enough;
  std::jthread caller([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
    enough.request_stop();
  });
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_THROW(evaluate(about(large_candidate()), where_, {}, enough.get_token()), Cancelled);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(100));
}

TEST_F(FakeJudge, ThatTakesNoRequestHasTheLimitsOfAllOthers) {
  be(say("hello", judge::to_json(vulkan::DeviceSnapshot())) + kSilent);
  asked_.limits.total_seconds = -448.5;
  asked_.limits.compile_seconds = 0;
  const auto begin = std::chrono::steady_clock::now();
  const Result result = evaluate(about(large_candidate()), where_);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(100));
  EXPECT_THAT(result.message, HasSubstr("longer than any limit (start)"));
}

TEST_F(FakeJudge, ThatReadsSlowlyGetsTheWholeRequest) {
  judge("sleep 0.1\nprintf '%s\\n' \"$job\" >>jobs\n" + answer(passed()));
  const CandidateSource source{large_candidate(/*bytes=*/600000)};  // A socket holds less.
  EXPECT_EQ(evaluate(about(source), where_).verdict, Verdict::passed);
  ASSERT_THAT(lines_of("jobs"), SizeIs(1));
  EXPECT_EQ(judge::request_from_json(lines_of("jobs")[0]).question.candidate, source);
}

TEST_F(FakeJudge, IsNotSharedWithAForkOfTheCaller) {
  judge(answer(passed()));
  const std::string candidate = a_file("candidate.yaml");
  std::optional<JudgeProcess> process(where_);
  EXPECT_EQ(process->evaluate(about(candidate), observer_, {}).verdict, Verdict::passed);
  const pid_t fork_of_this = fork();
  if (fork_of_this == 0) {
    const bool passes =
        process->evaluate(about(candidate), observer_, {}).verdict == Verdict::passed;
    process.reset();
    _exit(passes ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(waitpid(fork_of_this, &status, 0), fork_of_this);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(starts(), 2u);
  EXPECT_EQ(process->evaluate(about(candidate), observer_, {}).verdict, Verdict::passed);
  EXPECT_EQ(starts(), 2u) << "it ended with the fork";
}

TEST_F(FakeJudge, TellsHowFarItIs) {
  const Progress sent{14, {0.5, 1.5, 2.5}, 0.25};
  std::vector<Progress> told;
  observer_.on_progress = [&](const Progress& p) { told.push_back(p); };
  evaluate_with("printf '%s\\n' \"$job\" >>jobs\n" + say("progress", judge::to_json(sent)) +
                answer(passed()));
  EXPECT_TRUE(judge::request_from_json(lines_of("jobs").at(0)).progress);
  ASSERT_THAT(told, SizeIs(1));
  EXPECT_EQ(told[0].samples, 14);
  EXPECT_EQ(told[0].speedup.high, 2.5);
  EXPECT_EQ(told[0].seconds, 0.25);
}

TEST_F(FakeJudge, EndsWithACallbackThatThrows) {
  judge("echo 'stage load' >&3\n" + answer(passed()));
  bool angry = true;
  observer_.on_stage = [&](const char*) {
    if (angry) throw Error(ErrorCode::kIo, "my disk is full");
  };
  JudgeProcess process(where_);
  EXPECT_EQ(code_of([&] { process.evaluate(about(a_file("candidate.yaml")), observer_, {}); }),
            ErrorCode::kIo);
  angry = false;
  EXPECT_EQ(process.evaluate(about(a_file("candidate.yaml")), observer_, {}).verdict,
            Verdict::passed);
  EXPECT_EQ(starts(), 2u) << "the first was in the middle of its answer";
}

TEST_F(FakeJudge, ServesThreadsOneAfterAnother) {
  // Two answers at once would be two lines for one reader.
  judge("case $job in *first*) sleep 0.05 ;; esac\nprintf '%s\\n' \"$job\" >>jobs\n" +
        answer(passed()));
  JudgeProcess process(where_);
  const std::string first = a_file("first.yaml"), second = a_file("second.yaml");
  std::atomic<int> right = 0;
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < 8; ++i) {
      threads.emplace_back([&, i] {
        const Result result = i % 2
                                  ? process.evaluate(about(first))
                                  : process.evaluate(about(second, /*check=*/true), observer_, {});
        right += result.verdict == Verdict::passed;
      });
    }
  }
  EXPECT_EQ(right, 8);
  EXPECT_EQ(starts(), 1u);
  EXPECT_THAT(lines_of("jobs"), SizeIs(8));
}

TEST_F(FakeJudge, WhoWaitsForAnotherThreadCanBeCancelled) {
  judge("echo 'stage sample' >&3\nsleep 0.5\n" + answer(passed()));
  std::promise<void> under_way;
  observer_.on_stage = [&](const char*) { under_way.set_value(); };
  JudgeProcess process(where_);
  auto first = std::async(std::launch::async, [&] {
    return process.evaluate(about(a_file("candidate.yaml")), observer_, {});
  });
  under_way.get_future().wait();
  std::stop_source enough;
  enough.request_stop();
  EXPECT_THROW(process.evaluate(about(a_file("second.yaml")), observer_, enough.get_token()),
               Cancelled);
  EXPECT_EQ(first.get().verdict, Verdict::passed) << "the other's evaluation goes on";
}

}  // namespace
}  // namespace kbench
