// Child processes that are stopped while something is timed.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <thread>

#include "harness/measure/process/child_process.h"

namespace kbench::process {
namespace {

using std::chrono::milliseconds;

/// A child that counts as long as it runs.
class Counter {
 public:
  Counter()
      : count_(new (mmap(nullptr, sizeof(std::atomic<uint64_t>), PROT_READ | PROT_WRITE,
                         MAP_SHARED | MAP_ANONYMOUS, -1, 0)) std::atomic<uint64_t>) {
    pid_ = fork();
    if (pid_ != 0) return;
    for (;;) ++*count_;
  }
  ~Counter() {
    end();
    munmap(count_, sizeof *count_);
  }
  void end() {
    if (pid_ < 0) return;
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
    pid_ = -1;
  }
  pid_t id() const { return pid_; }
  uint64_t count() const { return *count_; }
  bool stands_still() const {
    const uint64_t before = count();
    std::this_thread::sleep_for(milliseconds(30));
    return count() == before;
  }
  bool moves() const {
    const uint64_t before = count();
    for (int i = 0; i < 2000 && count() == before; ++i) {
      std::this_thread::sleep_for(milliseconds(5));
    }
    return count() != before;
  }

 private:
  std::atomic<uint64_t>* count_;
  pid_t pid_ = -1;
};

TEST(PausableProcesses, StandStillFromPauseToResume) {
  Counter one, two, none_of_them;
  PausableProcesses pausable;
  const auto first = pausable.add(one.id()), second = pausable.add(two.id());
  EXPECT_TRUE(one.moves() && two.moves());
  for (int round = 0; round < 3; ++round) {
    {
      const PausedScope held(pausable);
      EXPECT_TRUE(one.stands_still() && two.stands_still()) << round;
      EXPECT_TRUE(none_of_them.moves());
    }
    EXPECT_TRUE(one.moves() && two.moves()) << round;
  }
}

TEST(PausableProcesses, StandStillUntilTheOuterOfTwoScopesEnds) {
  Counter one;
  PausableProcesses pausable;
  const auto entry = pausable.add(one.id());
  {
    const PausedScope outer(pausable);
    { const PausedScope inner(pausable); }
    EXPECT_TRUE(one.stands_still());
  }
  EXPECT_TRUE(one.moves());
}

TEST(PausableProcesses, OneAddedWhilePausedStopsAndOneRemovedRuns) {
  Counter early, late;
  PausableProcesses pausable;
  auto first = pausable.add(early.id());
  pausable.pause();
  auto second = pausable.add(late.id());
  std::this_thread::sleep_for(milliseconds(10));  // It is not waited for.
  EXPECT_TRUE(late.stands_still());
  first.remove();
  EXPECT_TRUE(early.moves());
  { const PausableProcesses::Entry moved = std::move(second); }
  EXPECT_TRUE(late.moves());
  pausable.resume();
  pausable.pause();  // There are none.
  EXPECT_TRUE(early.moves() && late.moves());
  pausable.resume();
}

TEST(PausableProcesses, OneThatHasEndedDelaysNothing) {
  Counter ended, waited_for, other;
  PausableProcesses pausable;
  const auto first = pausable.add(ended.id()), second = pausable.add(waited_for.id()),
             third = pausable.add(other.id());
  kill(ended.id(), SIGKILL);
  waited_for.end();
  std::this_thread::sleep_for(milliseconds(20));
  const auto start = std::chrono::steady_clock::now();
  pausable.pause();
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(30));
  EXPECT_TRUE(other.stands_still());
  pausable.resume();
}

}  // namespace
}  // namespace kbench::process
