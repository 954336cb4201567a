// The queue's threads, with judges that are none.
#include "harness/evaluate/queue/queue.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <map>
#include <set>
#include <thread>

#include "kbench/error.h"
#include "tests/process/no_threads.h"
#include "tests/queue/fake_judge.h"

namespace kbench::queue {
namespace {

using testing::Asked;
using ::testing::ElementsAre;
using testing::FakeJudge;
using testing::Gate;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class QueueTest : public ::testing::Test {
 protected:
  /// The judge of a device, until the queue is started.
  FakeJudge& judge(const std::string& name) {
    judges_.push_back(std::make_unique<FakeJudge>(name, asked_));
    return static_cast<FakeJudge&>(*judges_.back());
  }
  Queue& queue() {
    if (!queue_) queue_.emplace(std::move(judges_));
    return *queue_;
  }
  uint64_t add(const std::string& file, const std::string& group = "",
               std::optional<size_t> device = {}) {
    Job job;
    job.request.question.candidate = file;
    job.group = group;
    job.device = device;
    job.on_outcome = [this, file](Outcome outcome) {
      const std::lock_guard lock(mutex_);
      EXPECT_TRUE(outcomes_.emplace(file, std::move(outcome)).second) << file << " came twice";
    };
    return queue().add(std::move(job));
  }
  const Outcome& outcome(const std::string& file) {
    const std::lock_guard lock(mutex_);
    static const Outcome kNone;
    EXPECT_TRUE(outcomes_.contains(file)) << file;
    return outcomes_.contains(file) ? outcomes_.at(file) : kNone;
  }
  size_t outcomes() {
    const std::lock_guard lock(mutex_);
    return outcomes_.size();
  }
  std::string device_of(const std::string& file) {
    const Outcome& found = outcome(file);
    return found.result ? found.result->device : "";
  }

  Asked asked_;
  std::mutex mutex_;
  std::map<std::string, Outcome> outcomes_;
  std::vector<std::unique_ptr<QueueJudge>> judges_;
  std::optional<Queue> queue_;
};

TEST_F(QueueTest, GivesEachOneOutcomeAndWaitsForAll) {
  judge("a");
  judge("b");
  for (int i = 0; i < 300; ++i) add(std::to_string(i), std::to_string(i % 7));
  queue().wait();
  EXPECT_EQ(outcomes(), 300u);
  for (int i = 0; i < 300; ++i) {
    ASSERT_TRUE(outcome(std::to_string(i)).result);
    EXPECT_EQ(outcome(std::to_string(i)).result->candidate, std::to_string(i));
  }
}

TEST_F(QueueTest, SaysWhatComesNextWithTheSameOptions) {
  Gate gate;
  judge("a").on_run = [&](const auto&, const auto& stop) { gate.pass(stop); };
  add("first");
  gate.wait_for(1);
  for (const char* file : {"1", "2", "3", "4", "5", "6"}) add(file);
  Job other;
  other.request.question.candidate = "7";
  other.request.question.preset = "v0";
  other.on_outcome = [](const Outcome&) {};
  queue().add(std::move(other));
  queue().close();
  gate.open();
  queue().wait();
  std::map<std::string, std::vector<std::string>> next;
  std::map<std::string, bool> more;
  for (const auto& [device, request] : asked_.list()) {
    for (const auto& each : request.next_files)
      next[request.question.candidate.path].push_back(each.path);
    more[request.question.candidate.path] = request.more;
  }
  EXPECT_THAT(next["1"], ElementsAre("2", "3", "4", "5", "6"));
  EXPECT_THAT(next["5"], ElementsAre("6"));  // 7 is asked otherwise.
  EXPECT_THAT(next["7"], IsEmpty());
  EXPECT_TRUE(more["first"]);
  EXPECT_TRUE(more["6"]);
  EXPECT_FALSE(more["7"]);
}

/// A device of which "slow" candidates compile for ever while others wait.
class SlowCompiler : public QueueTest {
 protected:
  void start(bool begun) {
    judge("a").on_run = [this, begun](const auto& request, const auto& stop) {
      if (stop.stop_requested()) throw Cancelled();
      const bool slow = request.question.candidate.path.starts_with("slow");
      if (slow && !ready && request.others && request.others()) {
        throw judge::StillCompiling{begun};
      }
      if (hold) gate.pass(stop);
    };
  }
  /// (path, author), all at once.
  std::vector<uint64_t> add_all(const std::vector<std::pair<std::string, std::string>>& candidates,
                                bool yields = true) {
    std::vector<Job> jobs;
    for (const auto& [path, author] : candidates) {
      Job& job = jobs.emplace_back();
      job.request.question.candidate = path;
      job.request.question.candidate.author = author;
      job.yields = yields;
      job.on_outcome = [this, path = path](Outcome outcome) {
        const std::lock_guard lock(mutex_);
        EXPECT_TRUE(outcomes_.emplace(path, std::move(outcome)).second) << path << " came twice";
      };
    }
    return queue().add_all(std::move(jobs));
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
  queue().wait();
  EXPECT_THAT(asked(), ElementsAre("slow", "1", "slow", "2", "slow"));
  for (const char* path : {"slow", "1", "2"}) EXPECT_TRUE(outcome(path).result) << path;
}

TEST_F(SlowCompiler, ThatIsNotBegunGoesBehindTheOthers) {
  start(/*begun=*/false);
  add_all({{"slow", "eve"}, {"1", "bob"}, {"2", "bob"}});
  queue().wait();
  EXPECT_THAT(asked(), ElementsAre("slow", "1", "2", "slow"));
}

TEST_F(SlowCompiler, IsWaitedForOnACpuDeviceWhereNoOtherAuthorWaits) {
  start(/*begun=*/true);
  static_cast<FakeJudge&>(*judges_.front()).be_software();
  add_all({{"slow", "eve"}, {"1", "eve"}});
  queue().wait();
  EXPECT_THAT(asked(), ElementsAre("slow", "1"));
}

TEST_F(SlowCompiler, IsWaitedForOnACpuDeviceWhereItDoesNotYield) {
  start(/*begun=*/true);
  static_cast<FakeJudge&>(*judges_.front()).be_software();
  add_all({{"slow", "eve"}, {"1", "bob"}}, /*yields=*/false);
  queue().wait();
  EXPECT_THAT(asked(), ElementsAre("slow", "1"));
}

TEST_F(SlowCompiler, LetsItsOwnAuthorsOthersGoFirstOnAGpu) {
  start(/*begun=*/true);
  add_all({{"slow", "eve"}, {"1", "eve"}, {"2", "eve"}}, /*yields=*/false);
  queue().wait();
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
  queue().wait();
  EXPECT_TRUE(outcome("one more").result);
}

TEST_F(SlowCompiler, IsCancelledAtOnceWhileAnotherRuns) {
  hold = true;
  start(/*begun=*/true);
  const std::vector<uint64_t> ids = add_all({{"slow", "eve"}, {"1", "bob"}});
  gate.wait_for(1);
  EXPECT_EQ(queue().load().waiting, 1u);
  EXPECT_TRUE(queue().cancel(ids[0]));
  EXPECT_TRUE(outcome("slow").cancelled());
  gate.open();
  queue().wait();
  EXPECT_THAT(asked(), ElementsAre("slow", "1"));
}

TEST_F(SlowCompiler, IsTriedElsewhereWhereItsDeviceIsLost) {
  hold = true;
  start(/*begun=*/true);
  std::atomic<bool> lost = false;
  auto& first = static_cast<FakeJudge&>(*judges_.front());
  first.verdict = [](const auto&) { return Verdict::device_lost; };
  first.trouble_now = [&] { return std::string(lost ? "it is gone" : ""); };
  const std::vector<uint64_t> ids = add_all({{"slow", "eve"}, {"1", "bob"}});
  gate.wait_for(1);
  lost = true;
  gate.open();
  queue().wait();
  ASSERT_TRUE(outcome("slow").result);  // There is no other device.
  EXPECT_EQ(outcome("slow").result->verdict, Verdict::harness_error);
  EXPECT_THAT(outcome("slow").result->message, HasSubstr("it is gone"));
}

TEST_F(QueueTest, TheFirstOfManyKnowsWhatFollowsToo) {
  judge("a");
  std::vector<Job> jobs(4);
  for (size_t i = 0; i < jobs.size(); ++i) {
    jobs[i].request.question.candidate = std::to_string(i);
    jobs[i].on_outcome = [](const Outcome&) {};
  }
  const std::vector<uint64_t> ids = queue().add_all(std::move(jobs));
  EXPECT_EQ(std::set(ids.begin(), ids.end()).size(), 4u);
  queue().wait();
  const auto asked = asked_.list();
  ASSERT_EQ(asked.size(), 4u);
  EXPECT_EQ(asked[0].second.question.candidate.path, "0");
  EXPECT_EQ(asked[0].second.next_files.size(), 3u);
}

TEST_F(QueueTest, UsesEveryDeviceAndHeedsWhichIsAskedFor) {
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
  queue().wait();
  EXPECT_NE(device_of("x"), device_of("y"));
  for (int i = 0; i < 20; ++i) EXPECT_EQ(device_of("on b " + std::to_string(i)), "b");
}

TEST_F(QueueTest, CancelsWhatWaitsAtOnceAndWhatRunsSoon) {
  Gate gate;
  judge("a").on_run = [&](const auto& request, const auto& stop) {
    if (request.question.candidate.path == "running") gate.pass(stop);
  };
  const uint64_t running = add("running"), waiting = add("waiting");
  add("other");
  gate.wait_for(1);
  EXPECT_TRUE(queue().cancel(waiting));
  EXPECT_TRUE(outcome("waiting").cancelled());
  EXPECT_FALSE(queue().cancel(waiting));
  EXPECT_TRUE(queue().cancel(running));
  queue().wait();
  EXPECT_TRUE(outcome("running").cancelled());
  EXPECT_EQ(device_of("other"), "a");
  EXPECT_FALSE(queue().cancel(running));
  EXPECT_FALSE(queue().cancel(12345));
  for (const auto& [device, request] : asked_.list())
    EXPECT_NE(request.question.candidate.path, "waiting");
}

TEST_F(QueueTest, CancelsOnlyWhatWaitsIfAskedTo) {
  Gate gate;
  judge("a").on_run = [&](const auto&, const auto& stop) { gate.pass(stop); };
  add("running"), add("one"), add("two");
  gate.wait_for(1);
  queue().cancel_waiting();
  EXPECT_TRUE(outcome("one").cancelled());
  EXPECT_TRUE(outcome("two").cancelled());
  gate.open();
  queue().wait();
  EXPECT_EQ(device_of("running"), "a");
}

TEST_F(QueueTest, WorkReplacesAnEvaluationAndKnowsWhatFollows) {
  judge("a");
  std::vector<Job> jobs(3);
  std::vector<size_t> next;
  std::vector<Outcome> outcomes(3);
  for (size_t i = 0; i < jobs.size(); ++i) {
    jobs[i].request.question.candidate = std::to_string(i);
    jobs[i].on_outcome = [&outcomes, i](Outcome outcome) { outcomes[i] = std::move(outcome); };
    jobs[i].work = [&next, i](QueueJudge& judge, const judge::EvaluateRequest& request) {
      EXPECT_EQ(judge.snapshot().name, "a");
      EXPECT_EQ(request.question.candidate.path, std::to_string(i));
      next.push_back(request.next_files.size());
      if (i == 1) throw Cancelled();
      if (i == 2) throw Error(ErrorCode::kInvalidArgument, "of no use");
      Result result;
      result.message = "worked";
      return result;
    };
  }
  queue().add_all(std::move(jobs));
  queue().wait();
  EXPECT_THAT(next, ElementsAre(2, 1, 0));
  EXPECT_EQ(outcomes[0].result->message, "worked");
  EXPECT_TRUE(outcomes[1].cancelled());
  EXPECT_EQ(outcomes[2].error->message(), "of no use");
  EXPECT_THAT(asked_.list(), IsEmpty());
}

TEST_F(QueueTest, WorkOfALostDeviceIsDoneOnceMoreOnAnother) {
  std::atomic<bool> dead = false;
  judge("a").trouble_now = [&] { return dead ? "gone" : ""; };
  judge("b");
  Gate gate;  // keeps b busy until a is lost
  Job held;
  held.device = 1;
  held.on_outcome = [](const Outcome&) {};
  held.work = [&](QueueJudge&, const auto&) {
    gate.pass();
    return Result();
  };
  queue().add(std::move(held));
  gate.wait_for(1);
  std::vector<std::string> devices;
  Outcome came;
  Job job;
  job.on_outcome = [&](Outcome outcome) { came = std::move(outcome); };
  job.work = [&](QueueJudge& judge, const auto&) {
    devices.push_back(judge.snapshot().name);
    Result result;
    result.verdict = devices.size() == 1 ? Verdict::harness_error : Verdict::passed;
    dead = true;
    return result;
  };
  queue().add(std::move(job));
  while (queue().devices_left() == 2) std::this_thread::yield();
  gate.open();
  queue().wait();
  EXPECT_THAT(devices, ElementsAre("a", "b"));
  EXPECT_EQ(came.result->verdict, Verdict::passed);
}

TEST_F(QueueTest, HandsOnWhatIsWrongWithTheOptionsAndGoesOn) {
  judge("a").on_run = [](const auto& request, const auto&) {
    if (request.question.candidate.path == "bad")
      throw Error(ErrorCode::kInvalidArgument, "no such preset");
    if (request.question.candidate.path == "worse") throw std::runtime_error("out of something");
  };
  add("bad"), add("worse"), add("good");
  queue().wait();
  EXPECT_THAT(outcome("bad").error->what(), HasSubstr("no such preset"));
  EXPECT_THAT(outcome("worse").error->what(), HasSubstr("out of something"));
  EXPECT_EQ(device_of("good"), "a");
  EXPECT_EQ(queue().devices_left(), 1u);
}

/// A device that is gone for good once it has run this candidate.
void die_of(FakeJudge& judge, const std::string& file, std::atomic<bool>& dead) {
  judge.verdict = [&dead, file](const judge::EvaluateRequest& request) {
    if (request.question.candidate.path == file) dead = true;
    return dead ? Verdict::device_lost : Verdict::passed;
  };
  judge.trouble_now = [&dead] { return dead ? "the device fell off the bus" : ""; };
}

TEST_F(QueueTest, ALostDevicesCandidateIsTriedOnAnother) {
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
  queue().wait();
  EXPECT_EQ(name_of(outcome("innocent").result->verdict), "passed");
  EXPECT_EQ(device_of("innocent"), "b");
  for (int i = 0; i < 10; ++i) EXPECT_EQ(device_of(std::to_string(i)), "b");
  EXPECT_EQ(outcome("for a").result->verdict, Verdict::harness_error);
  EXPECT_THAT(outcome("for a").result->message, HasSubstr("fell off the bus"));
  EXPECT_EQ(queue().devices_left(), 1u);
  EXPECT_THAT(queue().trouble_of(0), HasSubstr("fell off the bus"));
  EXPECT_EQ(queue().trouble_of(1), "");
}

TEST_F(QueueTest, ThatLosesAllDevicesEndsTheRestAsNobodysFault) {
  std::atomic<bool> a_dead = false, b_dead = false;
  die_of(judge("a"), "killer", a_dead);
  die_of(judge("b"), "killer", b_dead);
  add("killer");
  for (int i = 0; i < 10; ++i) add(std::to_string(i), "", 1);
  queue().wait();
  EXPECT_EQ(outcome("killer").result->verdict, Verdict::device_lost);
  size_t tries = 0;
  for (const auto& [device, request] : asked_.list())
    tries += request.question.candidate.path == "killer";
  EXPECT_EQ(tries, 2u);
  EXPECT_EQ(queue().devices_left(), 0u);
  add("late");
  EXPECT_EQ(outcome("late").result->verdict, Verdict::harness_error);
  EXPECT_THAT(outcome("late").result->message, HasSubstr("no device is left"));
  EXPECT_EQ(outcomes(), 12u);
}

TEST_F(QueueTest, KeepsADeviceThatACandidateLostAndThatIsBack) {
  judge("a").verdict = [](const judge::EvaluateRequest& request) {
    return request.question.candidate.path == "bad" ? Verdict::device_lost : Verdict::passed;
  };
  add("bad"), add("good");
  queue().wait();
  EXPECT_EQ(outcome("bad").result->verdict, Verdict::device_lost);
  EXPECT_EQ(device_of("good"), "a");
  EXPECT_EQ(queue().devices_left(), 1u);
}

TEST_F(QueueTest, WithoutADeviceThatOpensEndsAsNobodysFault) {
  judge("a").trouble_now = [] { return "no driver"; };
  add("first");
  queue().wait();
  EXPECT_EQ(outcome("first").result->verdict, Verdict::harness_error);
  EXPECT_THAT(outcome("first").result->message, HasSubstr("no driver"));
  EXPECT_THAT(asked_.list(), IsEmpty());
}

TEST_F(QueueTest, ThatGoesCancelsWhatIsLeft) {
  Gate gate;
  judge("a").on_run = [&](const auto&, const auto& stop) { gate.pass(stop); };
  add("running"), add("waiting");
  gate.wait_for(1);
  queue_.reset();
  EXPECT_TRUE(outcome("running").cancelled());
  EXPECT_TRUE(outcome("waiting").cancelled());
}

TEST_F(QueueTest, MayBeUsedFromItsOwnCallbacks) {
  judge("a");
  std::atomic<int> left = 50;
  std::function<void(Outcome)> again = [&](const Outcome&) {
    if (--left <= 0) return;
    Job job;
    job.on_outcome = again;
    queue().cancel(queue().add(std::move(job)));
  };
  again({});
  while (left > 0) std::this_thread::yield();
  queue().wait();
}

TEST_F(QueueTest, WithoutAThreadForEachDeviceIsAnError) {
  judge("a");
  judge("b");
  const testing_support::NoThreads none(/*allowed=*/1);
  EXPECT_THROW(queue(), Error);
}

}  // namespace
}  // namespace kbench::queue
