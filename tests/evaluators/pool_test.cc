// The queue's threads, with judges that are none.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <map>
#include <set>
#include <thread>

#include "harness/measure/judge_protocol/protocol.h"
#include "kbench/error.h"
#include "tests/evaluators/fake_evaluator.h"
#include "tests/process/no_threads.h"

namespace kbench::evaluators {
namespace {

using testing::Asked;
using ::testing::ElementsAre;
using testing::FakeEvaluator;
using testing::Gate;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::Request;

class PoolTest : public ::testing::Test {
 protected:
  /// The judge of a device, until the pool is started.
  FakeEvaluator& judge(const std::string& name) {
    judges_.push_back(std::make_unique<FakeEvaluator>(name, asked_));
    return static_cast<FakeEvaluator&>(*judges_.back());
  }
  Pool& pool() {
    if (!pool_) pool_.emplace(std::move(judges_));
    return *pool_;
  }
  uint64_t add(const std::string& file, const std::string& group = "",
               std::optional<size_t> device = {}) {
    Pool::Job job;
    job.question.candidate = file;
    job.group = group;
    job.member = device;
    job.on_outcome = [this, file](Pool::Outcome outcome) {
      const std::lock_guard lock(mutex_);
      EXPECT_TRUE(outcomes_.emplace(file, std::move(outcome)).second) << file << " came twice";
    };
    return pool().add(std::move(job));
  }
  const Pool::Outcome& outcome(const std::string& file) {
    const std::lock_guard lock(mutex_);
    static const Pool::Outcome kNone;
    EXPECT_TRUE(outcomes_.contains(file)) << file;
    return outcomes_.contains(file) ? outcomes_.at(file) : kNone;
  }
  size_t outcomes() {
    const std::lock_guard lock(mutex_);
    return outcomes_.size();
  }
  std::string device_of(const std::string& file) {
    const Pool::Outcome& found = outcome(file);
    return found.result ? found.result->device : "";
  }

  Asked asked_;
  std::mutex mutex_;
  std::map<std::string, Pool::Outcome> outcomes_;
  std::vector<std::unique_ptr<Evaluator>> judges_;
  std::optional<Pool> pool_;
};

TEST_F(PoolTest, GivesEachOneOutcomeAndWaitsForAll) {
  judge("a");
  judge("b");
  for (int i = 0; i < 300; ++i) add(std::to_string(i), std::to_string(i % 7));
  pool().wait();
  EXPECT_EQ(outcomes(), 300u);
  for (int i = 0; i < 300; ++i) {
    ASSERT_TRUE(outcome(std::to_string(i)).result);
    EXPECT_EQ(outcome(std::to_string(i)).result->candidate, std::to_string(i));
  }
}

TEST_F(PoolTest, SaysWhatComesNextWithTheSameOptions) {
  Gate gate;
  judge("a").on_run = [&](const auto&, const auto& stop) { gate.pass(stop); };
  add("first");
  gate.wait_for(1);
  for (const char* file : {"1", "2", "3", "4", "5", "6"}) add(file);
  Pool::Job other;
  other.question.candidate = "7";
  other.question.preset = "v0";
  other.on_outcome = [](const Pool::Outcome&) {};
  pool().add(std::move(other));
  pool().close();
  gate.open();
  pool().wait();
  std::map<std::string, std::vector<std::string>> next;
  std::map<std::string, bool> more;
  for (const auto& [device, request] : asked_.list()) {
    for (const auto& each : request.turn.next)
      next[request.question.candidate.path].push_back(each.path);
    more[request.question.candidate.path] = request.turn.more;
  }
  EXPECT_THAT(next["1"], ElementsAre("2", "3", "4", "5", "6"));
  EXPECT_THAT(next["5"], ElementsAre("6"));  // 7 is asked otherwise.
  EXPECT_THAT(next["7"], IsEmpty());
  EXPECT_TRUE(more["first"]);
  EXPECT_TRUE(more["6"]);
  EXPECT_FALSE(more["7"]);
}

/// A device of which "slow" candidates compile for ever while others wait.
class SlowCompiler : public PoolTest {
 protected:
  void start(bool begun) {
    judge("a").on_run = [this, begun](const auto& request, const auto& stop) {
      if (stop.stop_requested()) throw Cancelled();
      const bool slow = request.question.candidate.path.starts_with("slow");
      if (slow && !ready && request.turn.others && request.turn.others()) {
        throw judge::StillCompiling{begun};
      }
      if (hold) gate.pass(stop);
    };
  }
  /// (path, author), all at once.
  std::vector<uint64_t> add_all(const std::vector<std::pair<std::string, std::string>>& candidates,
                                bool yields = true) {
    std::vector<Pool::Job> jobs;
    for (const auto& [path, author] : candidates) {
      Pool::Job& job = jobs.emplace_back();
      job.question.candidate = path;
      job.question.candidate.author = author;
      job.yields = yields;
      job.on_outcome = [this, path = path](Pool::Outcome outcome) {
        const std::lock_guard lock(mutex_);
        EXPECT_TRUE(outcomes_.emplace(path, std::move(outcome)).second) << path << " came twice";
      };
    }
    return pool().add_all(std::move(jobs));
  }
  std::vector<std::string> asked() {
    std::vector<std::string> paths;
    for (const auto& each : asked_.list()) paths.push_back(each.second.question.candidate.path);
    return paths;
  }
  bool hold = false;
  std::atomic<bool> ready = false;
  Gate gate;
};

TEST_F(SlowCompiler, LetsOthersGoFirstAndIsAskedAgainAfterEach) {
  start(/*begun=*/true);
  add_all({{"slow", "eve"}, {"1", "bob"}, {"2", "bob"}});
  pool().wait();
  EXPECT_THAT(asked(), ElementsAre("slow", "1", "slow", "2", "slow"));
  for (const char* path : {"slow", "1", "2"}) EXPECT_TRUE(outcome(path).result) << path;
}

TEST_F(SlowCompiler, ThatIsNotBegunGoesBehindTheOthers) {
  start(/*begun=*/false);
  add_all({{"slow", "eve"}, {"1", "bob"}, {"2", "bob"}});
  pool().wait();
  EXPECT_THAT(asked(), ElementsAre("slow", "1", "2", "slow"));
}

TEST_F(SlowCompiler, IsWaitedForOnACpuDeviceWhereNoOtherAuthorWaits) {
  start(/*begun=*/true);
  static_cast<FakeEvaluator&>(*judges_.front()).be_software();
  add_all({{"slow", "eve"}, {"1", "eve"}});
  pool().wait();
  EXPECT_THAT(asked(), ElementsAre("slow", "1"));
}

TEST_F(SlowCompiler, IsWaitedForOnACpuDeviceWhereItDoesNotYield) {
  start(/*begun=*/true);
  static_cast<FakeEvaluator&>(*judges_.front()).be_software();
  add_all({{"slow", "eve"}, {"1", "bob"}}, /*yields=*/false);
  pool().wait();
  EXPECT_THAT(asked(), ElementsAre("slow", "1"));
}

TEST_F(SlowCompiler, LetsItsOwnAuthorsOthersGoFirstOnAGpu) {
  start(/*begun=*/true);
  add_all({{"slow", "eve"}, {"1", "eve"}, {"2", "eve"}}, /*yields=*/false);
  pool().wait();
  EXPECT_THAT(asked(), ElementsAre("slow", "1", "slow", "2", "slow"));
}

TEST_F(SlowCompiler, NoMoreAreBegunBesideAsManyAsAJudgeTakes) {
  start(/*begun=*/true);
  std::vector<std::pair<std::string, std::string>> candidates;
  for (size_t i = 0; i < judge::kMostLeft; ++i) {
    candidates.emplace_back("slow " + std::to_string(i), "");
  }
  candidates.emplace_back("one more", "");
  add_all(candidates);
  while (asked().size() < 5 * judge::kMostLeft) std::this_thread::yield();  // In turn.
  EXPECT_THAT(asked(), ::testing::Not(::testing::Contains("one more")));
  ready = true;
  pool().wait();
  EXPECT_TRUE(outcome("one more").result);
}

TEST_F(SlowCompiler, IsCancelledAtOnceWhileAnotherRuns) {
  hold = true;
  start(/*begun=*/true);
  const std::vector<uint64_t> ids = add_all({{"slow", "eve"}, {"1", "bob"}});
  gate.wait_for(1);
  EXPECT_EQ(pool().load().waiting, 1u);
  EXPECT_TRUE(pool().cancel(ids[0]));
  EXPECT_TRUE(outcome("slow").cancelled());
  gate.open();
  pool().wait();
  EXPECT_THAT(asked(), ElementsAre("slow", "1"));
}

TEST_F(SlowCompiler, IsTriedElsewhereWhereItsDeviceIsLost) {
  hold = true;
  start(/*begun=*/true);
  std::atomic<bool> lost = false;
  auto& first = static_cast<FakeEvaluator&>(*judges_.front());
  first.verdict = [](const auto&) { return Verdict::device_lost; };
  first.trouble_now = [&] { return std::string(lost ? "it is gone" : ""); };
  const std::vector<uint64_t> ids = add_all({{"slow", "eve"}, {"1", "bob"}});
  gate.wait_for(1);
  lost = true;
  gate.open();
  pool().wait();
  ASSERT_TRUE(outcome("slow").result);  // There is no other device.
  EXPECT_EQ(outcome("slow").result->verdict, Verdict::harness_error);
  EXPECT_THAT(outcome("slow").result->message, HasSubstr("it is gone"));
}

TEST_F(PoolTest, TheFirstOfManyKnowsWhatFollowsToo) {
  judge("a");
  std::vector<Pool::Job> jobs(4);
  for (size_t i = 0; i < jobs.size(); ++i) {
    jobs[i].question.candidate = std::to_string(i);
    jobs[i].on_outcome = [](const Pool::Outcome&) {};
  }
  const std::vector<uint64_t> ids = pool().add_all(std::move(jobs));
  EXPECT_EQ(std::set(ids.begin(), ids.end()).size(), 4u);
  pool().wait();
  const auto asked = asked_.list();
  ASSERT_EQ(asked.size(), 4u);
  EXPECT_EQ(asked[0].second.question.candidate.path, "0");
  EXPECT_EQ(asked[0].second.turn.next.size(), 3u);
}

TEST_F(PoolTest, UsesEveryDeviceAndHeedsWhichIsAskedFor) {
  Gate both;
  for (const char* name : {"a", "b"}) {
    judge(name).on_run = [&](const auto& request, const auto& stop) {
      if (request.question.candidate.path == "x" || request.question.candidate.path == "y")
        both.pass(stop);
    };
  }
  add("x"), add("y");
  both.wait_for(2);
  both.open();
  for (int i = 0; i < 20; ++i) add("on b " + std::to_string(i), "", 1);
  pool().wait();
  EXPECT_NE(device_of("x"), device_of("y"));
  for (int i = 0; i < 20; ++i) EXPECT_EQ(device_of("on b " + std::to_string(i)), "b");
}

TEST_F(PoolTest, CancelsWhatWaitsAtOnceAndWhatRunsSoon) {
  Gate gate;
  judge("a").on_run = [&](const auto& request, const auto& stop) {
    if (request.question.candidate.path == "running") gate.pass(stop);
  };
  const uint64_t running = add("running"), waiting = add("waiting");
  add("other");
  gate.wait_for(1);
  EXPECT_TRUE(pool().cancel(waiting));
  EXPECT_TRUE(outcome("waiting").cancelled());
  EXPECT_FALSE(pool().cancel(waiting));
  EXPECT_TRUE(pool().cancel(running));
  pool().wait();
  EXPECT_TRUE(outcome("running").cancelled());
  EXPECT_EQ(device_of("other"), "a");
  EXPECT_FALSE(pool().cancel(running));
  EXPECT_FALSE(pool().cancel(12345));
  for (const auto& [device, request] : asked_.list())
    EXPECT_NE(request.question.candidate.path, "waiting");
}

TEST_F(PoolTest, CancelsOnlyWhatWaitsIfAskedTo) {
  Gate gate;
  judge("a").on_run = [&](const auto&, const auto& stop) { gate.pass(stop); };
  add("running"), add("one"), add("two");
  gate.wait_for(1);
  pool().cancel_waiting();
  EXPECT_TRUE(outcome("one").cancelled());
  EXPECT_TRUE(outcome("two").cancelled());
  gate.open();
  pool().wait();
  EXPECT_EQ(device_of("running"), "a");
}

TEST_F(PoolTest, WorkReplacesAnEvaluationAndKnowsWhatFollows) {
  judge("a");
  std::vector<Pool::Job> jobs(3);
  std::vector<size_t> next;
  std::vector<Pool::Outcome> outcomes(3);
  for (size_t i = 0; i < jobs.size(); ++i) {
    jobs[i].question.candidate = std::to_string(i);
    jobs[i].on_outcome = [&outcomes, i](Pool::Outcome outcome) {
      outcomes[i] = std::move(outcome);
    };
    jobs[i].work = [&next, i](Evaluator& evaluator, const Turn& turn) {
      EXPECT_EQ(evaluator.devices().front().name, "a");
      next.push_back(turn.next.size());
      if (i == 1) throw Cancelled();
      if (i == 2) throw Error(ErrorCode::kInvalidArgument, "of no use");
      Result result;
      result.message = "worked";
      return result;
    };
  }
  pool().add_all(std::move(jobs));
  pool().wait();
  EXPECT_THAT(next, ElementsAre(2, 1, 0));
  EXPECT_EQ(outcomes[0].result->message, "worked");
  EXPECT_TRUE(outcomes[1].cancelled());
  EXPECT_EQ(outcomes[2].error->message(), "of no use");
  EXPECT_THAT(asked_.list(), IsEmpty());
}

TEST_F(PoolTest, WorkOfALostDeviceIsDoneOnceMoreOnAnother) {
  std::atomic<bool> dead = false;
  judge("a").trouble_now = [&] { return dead ? "gone" : ""; };
  judge("b");
  Gate gate;  // keeps b busy until a is lost
  Pool::Job held;
  held.member = 1;
  held.on_outcome = [](const Pool::Outcome&) {};
  held.work = [&](Evaluator&, const auto&) {
    gate.pass();
    return Result();
  };
  pool().add(std::move(held));
  gate.wait_for(1);
  std::vector<std::string> devices;
  Pool::Outcome came;
  Pool::Job job;
  job.on_outcome = [&](Pool::Outcome outcome) { came = std::move(outcome); };
  job.work = [&](Evaluator& evaluator, const auto&) {
    devices.push_back(evaluator.devices().front().name);
    Result result;
    result.verdict = devices.size() == 1 ? Verdict::harness_error : Verdict::passed;
    dead = true;
    return result;
  };
  pool().add(std::move(job));
  while (pool().members_left() == 2) std::this_thread::yield();
  gate.open();
  pool().wait();
  EXPECT_THAT(devices, ElementsAre("a", "b"));
  EXPECT_EQ(came.result->verdict, Verdict::passed);
}

TEST_F(PoolTest, HandsOnWhatIsWrongWithTheOptionsAndGoesOn) {
  judge("a").on_run = [](const auto& request, const auto&) {
    if (request.question.candidate.path == "bad")
      throw Error(ErrorCode::kInvalidArgument, "no such preset");
    if (request.question.candidate.path == "worse") throw std::runtime_error("out of something");
  };
  add("bad"), add("worse"), add("good");
  pool().wait();
  EXPECT_THAT(outcome("bad").error->what(), HasSubstr("no such preset"));
  EXPECT_THAT(outcome("worse").error->what(), HasSubstr("out of something"));
  EXPECT_EQ(device_of("good"), "a");
  EXPECT_EQ(pool().members_left(), 1u);
}

/// A device that is gone for good once it has run this candidate.
void die_of(FakeEvaluator& judge, const std::string& file, std::atomic<bool>& dead) {
  judge.verdict = [&dead, file](const Request& request) {
    if (request.question.candidate.path == file) dead = true;
    return dead ? Verdict::device_lost : Verdict::passed;
  };
  judge.trouble_now = [&dead] { return dead ? "the device fell off the bus" : ""; };
}

TEST_F(PoolTest, ALostDevicesCandidateIsTriedOnAnother) {
  std::atomic<bool> a_dead = false;
  die_of(judge("a"), "innocent", a_dead);
  Gate gate;
  judge("b").on_run = [&](const auto& request, const auto& stop) {
    if (request.question.candidate.path == "held") gate.pass(stop);
  };
  add("held", "", 1);
  gate.wait_for(1);
  add("innocent", "", {});
  for (int i = 0; i < 10; ++i) add(std::to_string(i));
  add("for a", "", 0);
  while (!a_dead) std::this_thread::yield();
  gate.open();
  pool().wait();
  EXPECT_EQ(name_of(outcome("innocent").result->verdict), "passed");
  EXPECT_EQ(device_of("innocent"), "b");
  for (int i = 0; i < 10; ++i) EXPECT_EQ(device_of(std::to_string(i)), "b");
  EXPECT_EQ(outcome("for a").result->verdict, Verdict::harness_error);
  EXPECT_THAT(outcome("for a").result->message, HasSubstr("fell off the bus"));
  EXPECT_EQ(pool().members_left(), 1u);
  EXPECT_THAT(pool().trouble_of(0), HasSubstr("fell off the bus"));
  EXPECT_EQ(pool().trouble_of(1), "");
}

TEST_F(PoolTest, ThatLosesAllDevicesEndsTheRestAsNobodysFault) {
  std::atomic<bool> a_dead = false, b_dead = false;
  die_of(judge("a"), "killer", a_dead);
  die_of(judge("b"), "killer", b_dead);
  add("killer");
  for (int i = 0; i < 10; ++i) add(std::to_string(i), "", 1);
  pool().wait();
  EXPECT_EQ(outcome("killer").result->verdict, Verdict::device_lost);
  size_t tries = 0;
  for (const auto& [device, request] : asked_.list())
    tries += request.question.candidate.path == "killer";
  EXPECT_EQ(tries, 2u);
  EXPECT_EQ(pool().members_left(), 0u);
  add("late");
  EXPECT_EQ(outcome("late").result->verdict, Verdict::harness_error);
  EXPECT_THAT(outcome("late").result->message, HasSubstr("no device is left"));
  EXPECT_EQ(outcomes(), 12u);
}

TEST_F(PoolTest, KeepsADeviceThatACandidateLostAndThatIsBack) {
  judge("a").verdict = [](const Request& request) {
    return request.question.candidate.path == "bad" ? Verdict::device_lost : Verdict::passed;
  };
  add("bad"), add("good");
  pool().wait();
  EXPECT_EQ(outcome("bad").result->verdict, Verdict::device_lost);
  EXPECT_EQ(device_of("good"), "a");
  EXPECT_EQ(pool().members_left(), 1u);
}

TEST_F(PoolTest, WithoutADeviceThatOpensEndsAsNobodysFault) {
  judge("a").trouble_now = [] { return "no driver"; };
  add("first");
  pool().wait();
  EXPECT_EQ(outcome("first").result->verdict, Verdict::harness_error);
  EXPECT_THAT(outcome("first").result->message, HasSubstr("no driver"));
  EXPECT_THAT(asked_.list(), IsEmpty());
}

TEST_F(PoolTest, ThatGoesCancelsWhatIsLeft) {
  Gate gate;
  judge("a").on_run = [&](const auto&, const auto& stop) { gate.pass(stop); };
  add("running"), add("waiting");
  gate.wait_for(1);
  pool_.reset();
  EXPECT_TRUE(outcome("running").cancelled());
  EXPECT_TRUE(outcome("waiting").cancelled());
}

TEST_F(PoolTest, MayBeUsedFromItsOwnCallbacks) {
  judge("a");
  std::atomic<int> left = 50;
  std::function<void(Pool::Outcome)> again = [&](const Pool::Outcome&) {
    if (--left <= 0) return;
    Pool::Job job;
    job.on_outcome = again;
    pool().cancel(pool().add(std::move(job)));
  };
  again({});
  while (left > 0) std::this_thread::yield();
  pool().wait();
}

TEST_F(PoolTest, WithoutAThreadForEachDeviceIsAnError) {
  judge("a");
  judge("b");
  const testing_support::NoThreads none(/*allowed=*/1);
  EXPECT_THROW(pool(), Error);
}

TEST_F(PoolTest, IsAnEvaluatorForAnyThread) {
  judge("a");
  judge("b").on_run = [](const auto& request, const auto&) {
    if (request.question.candidate.path == "bad")
      throw Error(ErrorCode::kInvalidArgument, "no such preset");
  };
  judges_.erase(judges_.begin());
  Evaluator& evaluator = pool();
  EXPECT_EQ(evaluator.devices().front().name, "b");
  std::atomic<int> passed = 0, stages = 0;
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < 4; ++i) {
      threads.emplace_back([&] {
        Question question;
        question.candidate = "one";
        const Observer observer{.on_stage = [&](const char*) { ++stages; }};
        passed += evaluator.evaluate(question, observer, {}).correct();
      });
    }
  }
  EXPECT_EQ(passed, 4);
  EXPECT_EQ(stages, 4);
  Question bad;
  bad.candidate = "bad";
  EXPECT_THROW(evaluator.evaluate(bad), Error);
}

TEST_F(PoolTest, EndsACallThatIsStopped) {
  Gate gate;
  judge("a").on_run = [&](const auto&, const auto& stop) { gate.pass(stop); };
  std::stop_source stop;
  const std::jthread stopper([&] {
    gate.wait_for(1);
    stop.request_stop();
  });
  EXPECT_THROW(pool().evaluate({}, stop.get_token()), Cancelled);
  EXPECT_THROW(pool().evaluate({}, stop.get_token()), Cancelled) << "before it was asked";
}

}  // namespace
}  // namespace kbench::evaluators
