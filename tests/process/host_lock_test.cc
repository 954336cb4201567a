// A lock that all processes of a host share.
#include "harness/measure/process/host_lock.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "kbench/error.h"
#include "tests/error_of.h"
#include "tests/scratch_folder.h"

namespace kbench::process {
namespace {

namespace fs = std::filesystem;
using std::chrono::milliseconds;

class HostLockTest : public ::testing::Test {
 protected:
  void SetUp() override { setenv("KBENCH_LOCK_FOLDER", folder_.path().c_str(), 1); }
  void TearDown() override { unsetenv("KBENCH_LOCK_FOLDER"); }
  static std::string refusal(const std::string& name) {
    const Error e = error_of([&] { HostLock(name).take(); });
    EXPECT_EQ(e.code(), ErrorCode::kIo);
    return e.what();
  }
  testing::ScratchFolder folder_;
};

/// Two bytes protected by the lock only: each round writes, waits and reads.
TEST_F(HostLockTest, IsHeldByOneAtATimeAmongThreadsAndProcesses) {
  const fs::path scratch = folder_ / "scratch";
  const auto rounds = [&](int writer, int count) {
    int disturbed = 0;
    for (int i = 0; i < count; ++i) {
      HostLock lock("one");
      lock.take();
      std::ofstream(scratch, std::ios::trunc) << writer;
      std::this_thread::sleep_for(milliseconds(2));
      int found = -1;
      std::ifstream(scratch) >> found;
      disturbed += found != writer;
      lock.release();
    }
    return disturbed;
  };
  std::vector<pid_t> children;
  for (int writer = 1; writer <= 2; ++writer) {
    const pid_t child = fork();
    if (child == 0) _exit(rounds(writer, 20));
    children.push_back(child);
  }
  int in_threads[2] = {};
  {
    std::jthread first([&] { in_threads[0] = rounds(3, 20); });
    std::jthread second([&] { in_threads[1] = rounds(4, 20); });
  }
  EXPECT_EQ(in_threads[0] + in_threads[1], 0);
  for (const pid_t child : children) {
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
  }
}

TEST_F(HostLockTest, WaitsWhileItIsAnothersSaysSoOnceAndForHowLong) {
  HostLock mine("one"), theirs("one"), other("two");
  int said = 0;
  EXPECT_EQ(theirs.take([&] { ++said; }), 0);
  EXPECT_EQ(other.take([&] { ++said; }), 0);
  EXPECT_EQ(said, 0);
  std::atomic<bool> waits = false;
  double waited = 0;
  std::jthread waiter([&] { waited = mine.take([&] { waits = ++said > 0; }); });
  while (!waits) std::this_thread::sleep_for(milliseconds(1));
  std::this_thread::sleep_for(milliseconds(100));
  theirs.release();
  waiter.join();
  EXPECT_TRUE(mine.held());
  EXPECT_EQ(said, 1);
  EXPECT_GT(waited, 0.09);
  EXPECT_EQ(mine.take([&] { ++said; }), 0);  // It has it.
  EXPECT_EQ(said, 1);
}

TEST_F(HostLockTest, IsWaitedForNoLongerOnceThatIsCancelled) {
  HostLock held("cancelled"), waits("cancelled"), third("cancelled");
  held.take();
  std::stop_source enough;
  waits.take([&] { enough.request_stop(); }, enough.get_token());
  EXPECT_FALSE(waits.held());
  held.release();
  third.take();  // The released lock can be taken.
  EXPECT_TRUE(third.held());
  third.release();
  waits.take({}, std::stop_source().get_token());
  EXPECT_TRUE(waits.held());
}

size_t entries_of(const char* folder) {
  return static_cast<size_t>(std::distance(fs::directory_iterator(folder), {}));
}

TEST_F(HostLockTest, WaitsThatWereCancelledLeaveNothingBehind) {
  HostLock held("left"), waits("left");
  held.take();
  const size_t threads = entries_of("/proc/self/task"), files = entries_of("/proc/self/fd");
  for (int i = 0; i < 10; ++i) {
    std::stop_source enough;
    waits.take([&] { enough.request_stop(); }, enough.get_token());
  }
  EXPECT_FALSE(waits.held());
  EXPECT_EQ(entries_of("/proc/self/task"), threads);
  EXPECT_EQ(entries_of("/proc/self/fd"), files);
}

TEST_F(HostLockTest, IsFreeOnceItsHolderIsKilled) {
  int ready[2];
  ASSERT_EQ(pipe(ready), 0);
  const pid_t child = fork();
  if (child == 0) {
    HostLock lock("one");
    lock.take();
    [[maybe_unused]] const ssize_t ignored = write(ready[1], "x", 1);
    for (;;) pause();
  }
  char byte = 0;
  ASSERT_EQ(read(ready[0], &byte, 1), 1);
  HostLock mine("one");
  double waited = 0;
  std::jthread waiter([&] {
    waited = mine.take([&] {
      std::thread([child] {
        std::this_thread::sleep_for(milliseconds(50));
        ::kill(child, SIGKILL);
      }).detach();
    });
  });
  waiter.join();
  EXPECT_GT(waited, 0.03);
  waitpid(child, nullptr, 0);
  close(ready[0]);
  close(ready[1]);
}

TEST_F(HostLockTest, CanBeUsedByEveryUserWhateverTheUmask) {
  const mode_t before = umask(077);
  const HostLock lock("one");
  umask(before);
  struct stat status {};
  ASSERT_EQ(stat(lock.path().c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0666u);
  EXPECT_EQ(lock.path(), folder_ / "kbench-one");
}

TEST_F(HostLockTest, FollowsNoLinkAndWaitsForNoPipe) {
  std::ofstream(folder_ / "victim") << "as it was";
  fs::create_symlink(folder_ / "victim", folder_ / "kbench-link");
  EXPECT_NE(refusal("link").find("kbench-link"), std::string::npos);
  fs::create_symlink(folder_ / "made", folder_ / "kbench-dangling");
  EXPECT_NE(refusal("dangling").find("kbench-dangling"), std::string::npos);
  EXPECT_FALSE(fs::exists(folder_ / "made"));
  ASSERT_EQ(mkfifo((folder_ / "kbench-pipe").c_str(), 0666), 0);
  EXPECT_NE(refusal("pipe").find("not a regular file"), std::string::npos);
  EXPECT_EQ(fs::file_size(folder_ / "victim"), 9u);
}

TEST_F(HostLockTest, IsTakenOnANewFileIfTheOldWasRemoved) {
  HostLock first("one"), second("one"), third("one");
  first.take();
  std::atomic<bool> waits = false;
  std::jthread waiter([&] { second.take([&] { waits = true; }); });
  while (!waits) std::this_thread::sleep_for(milliseconds(1));
  fs::remove(first.path());
  first.release();
  waiter.join();
  ASSERT_TRUE(fs::exists(second.path()));
  std::atomic<int> said = 0;
  std::atomic<bool> taken = false;
  std::jthread last([&] {
    third.take([&] { ++said; });
    taken = true;
  });
  while (said == 0) std::this_thread::sleep_for(milliseconds(1));
  std::this_thread::sleep_for(milliseconds(50));
  EXPECT_FALSE(taken);
  second.release();
  last.join();
  EXPECT_EQ(said, 1);
}

TEST_F(HostLockTest, WithoutAFolderSaysWhich) {
  setenv("KBENCH_LOCK_FOLDER", (folder_ / "nowhere").c_str(), 1);
  EXPECT_NE(refusal("one").find("nowhere/kbench-one"), std::string::npos) << refusal("one");
  unsetenv("KBENCH_LOCK_FOLDER");
  const std::string path = HostLock("test-of-the-default-folder").path();
  fs::remove(path);
  EXPECT_TRUE(path.starts_with("/run/lock/") || path.starts_with("/tmp/")) << path;
}

}  // namespace
}  // namespace kbench::process
