// Child processes have only what they are given, and end with all that they started.
#include "harness/measure/process/child_process.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <thread>

#include "kbench/error.h"
#include "tests/error_of.h"
#include "tests/judge/processes.h"
#include "tests/process/no_threads.h"
#include "tests/scratch_folder.h"

namespace kbench::process {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::alive;
using testing::dies;
using ::testing::HasSubstr;

Spawn shell(const std::string& script) {
  Spawn spawn;
  spawn.program = "/bin/sh";
  spawn.arguments = {"-c", script};
  return spawn;
}

/// All output of a child that ends by itself.
std::string said_by(const Spawn& spawn) {
  ChildProcess child(spawn);
  EXPECT_TRUE(child.finish(seconds(120)).ended);
  return child.output();
}

/// Waits for the first line of a child's output.
std::string first_line(ChildProcess& child) {
  for (int i = 0; i < 12000; ++i) {
    const std::string& text = child.output();
    if (const size_t end = text.find('\n'); end != text.npos) return text.substr(0, end);
    std::this_thread::sleep_for(milliseconds(5));
  }
  ADD_FAILURE() << "it says nothing";
  return "";
}

TEST(Exit, IsDescribedForPeople) {
  EXPECT_EQ(describe(Exit{true, 3, 0}), "exited with status 3");
  EXPECT_EQ(describe(Exit{true, 0, SIGSEGV}), "killed by SIGSEGV (Segmentation fault)");
  EXPECT_EQ(describe(Exit{true, 0, SIGKILL}), "killed by SIGKILL (Killed)");
  EXPECT_THAT(describe(Exit{true, 0, SIGRTMIN + 3}), HasSubstr(std::to_string(SIGRTMIN + 3)));
}

TEST(Exit, FromOutsideAreSigkillAndSigterm) {
  EXPECT_TRUE(ended_from_outside(Exit{true, 0, SIGKILL}));
  EXPECT_TRUE(ended_from_outside(Exit{true, 0, SIGTERM}));
  for (const int own : {SIGSEGV, SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGSYS, SIGXCPU}) {
    EXPECT_FALSE(ended_from_outside(Exit{true, 0, own})) << own;
  }
  EXPECT_FALSE(ended_from_outside(Exit{true, 9, 0}));
}

TEST(ChildProcess, ReportsHowItEnded) {
  ChildProcess exits(shell("exit 7"));
  EXPECT_EQ(exits.finish(seconds(120)).status, 7);
  EXPECT_TRUE(exits.poll().ended);
  ChildProcess crashes(shell("kill -SEGV $$"));
  EXPECT_EQ(crashes.finish(seconds(120)).signal, SIGSEGV);
}

TEST(ChildProcess, OutlivesAForkOfItsOwnerThatLetsItGo) {
  auto child = std::make_unique<ChildProcess>(shell("echo ready; sleep 1000"));
  EXPECT_EQ(first_line(*child), "ready");
  const pid_t fork_of_this = fork();
  if (fork_of_this == 0) {
    const bool ended = child->poll().ended;
    child->finish(milliseconds(0));
    end_in_background(std::move(child));
    _exit(ended ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(waitpid(fork_of_this, &status, 0), fork_of_this);
  EXPECT_EQ(WEXITSTATUS(status), 0);
  std::this_thread::sleep_for(milliseconds(120));
  EXPECT_FALSE(child->poll().ended);
}

TEST(ChildProcess, EndsInTheForegroundWhereThereIsNoThread) {
  auto child = std::make_unique<ChildProcess>(shell("sleep 1000"));
  const pid_t pid = child->id();
  const testing_support::NoThreads none;
  end_in_background(std::move(child));
  EXPECT_FALSE(alive(pid));
}

TEST(ChildProcess, ThatCannotBeRunIsNamed) {
  Spawn spawn;
  spawn.program = "/nonexistent/program";
  const Error e = error_of([&] { ChildProcess child(spawn); });
  EXPECT_EQ(e.code(), ErrorCode::kNotFound);
  EXPECT_THAT(e.what(), HasSubstr("/nonexistent/program"));
}

TEST(ChildProcess, HasOnlyTheDescriptorsItIsGiven) {
  // Inheritable ones of this process, low and high.
  const UniqueFd stray(open("/dev/null", O_RDONLY));
  const UniqueFd high(fcntl(stray.get(), F_DUPFD, 200));
  auto [given, other] = make_socket_pair();
  Spawn spawn = shell("ls /proc/$$/fd");
  EXPECT_EQ(said_by(spawn), "0\n1\n2\n");
  spawn.descriptors = {{given.get(), 3}};
  EXPECT_EQ(said_by(spawn), "0\n1\n2\n3\n");
  spawn.descriptors = {{given.get(), 6}, {other.get(), 3}};
  EXPECT_EQ(said_by(spawn), "0\n1\n2\n3\n6\n");
  EXPECT_THAT(said_by(shell("readlink /proc/$$/fd/0")), HasSubstr("/dev/null"));
}

/// The child's descriptors have numbers that are in use here by other descriptors given to it.
TEST(ChildProcess, HasItsDescriptorsByWhateverNumbers) {
  const std::filesystem::path root =
      std::filesystem::path(::testing::TempDir()) / ("kbench_numbers_" + std::to_string(getpid()));
  std::ofstream(root) << "one";
  std::ofstream(root.string() + "_2") << "two";
  const UniqueFd one(open(root.c_str(), O_RDONLY | O_CLOEXEC));
  const UniqueFd two(open((root.string() + "_2").c_str(), O_RDONLY | O_CLOEXEC));
  const std::string a = std::to_string(one.get()), b = std::to_string(two.get());
  const std::string in = "/proc/$$/fd/";
  Spawn exchanged = shell("cat " + in + a + "; cat " + in + b);
  exchanged.descriptors = {{one.get(), two.get()}, {two.get(), one.get()}};
  EXPECT_EQ(said_by(exchanged), "twoone");

  Spawn in_a_folder = shell("test -d . && echo there");
  in_a_folder.empty_folder = true;
  const int next = two.get() + 1;
  for (int theirs = next; theirs < next + 8; ++theirs) {
    in_a_folder.descriptors.emplace_back(one.get(), theirs);
  }
  EXPECT_THAT(said_by(in_a_folder), HasSubstr("there\n"));
  std::filesystem::remove(root);
  std::filesystem::remove(root.string() + "_2");
}

TEST(ChildProcess, HasTheEnvironmentItIsGiven) {
  setenv("KBENCH_PROCESS_TEST_SECRET", "value", 1);
  Spawn spawn;
  spawn.program = "/usr/bin/env";
  EXPECT_THAT(said_by(spawn), HasSubstr("KBENCH_PROCESS_TEST_SECRET=value\n"));
  spawn.environment = {"A=1", "B=two words"};
  EXPECT_EQ(said_by(spawn), "A=1\nB=two words\n");
  spawn.environment.emplace();
  EXPECT_EQ(said_by(spawn), "");
}

TEST(ChildProcess, StartsWithDefaultSignalsInAGroupOfItsOwn) {
  sigset_t blocked, before;
  sigemptyset(&blocked);
  sigaddset(&blocked, SIGTERM);
  pthread_sigmask(SIG_BLOCK, &blocked, &before);
  const auto ignored = signal(SIGUSR1, SIG_IGN);
  ChildProcess child(shell("kill -TERM $$; sleep 100"));
  ChildProcess other(shell("kill -USR1 $$; sleep 100"));
  EXPECT_EQ(getpgid(child.id()), child.id());
  EXPECT_EQ(child.finish(seconds(120)).signal, SIGTERM);
  EXPECT_EQ(other.finish(seconds(120)).signal, SIGUSR1);
  signal(SIGUSR1, ignored);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

TEST(ChildProcess, CannotMakeFilesInItsEmptyFolder) {
  const testing::ScratchFolder folder;
  setenv("TMPDIR", folder.path().c_str(), 1);
  Spawn spawn = shell("echo \"[$(ls -A)]\"; touch file || echo no; mkdir folder || echo no");
  spawn.empty_folder = true;
  const std::string said = said_by(spawn);
  unsetenv("TMPDIR");
  EXPECT_THAT(said, HasSubstr("[]\n"));
  EXPECT_NE(said.find("no\n"), said.rfind("no\n")) << said;
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

TEST(ChildProcess, KeepsTheEndOfItsOutput) {
  ChildProcess flood(shell("while :; do echo line of a flood; done"));
  for (int i = 0; i < 300; ++i) {
    EXPECT_LE(flood.output().size(), 4096u);  // and returns, though there is always more
  }
  flood.kill();
  ChildProcess talks(
      shell("i=0; while [ $i -lt 400 ]; do echo 12345678901234567890; "
            "i=$((i+1)); done; echo last; echo words >&2"));
  EXPECT_EQ(talks.finish(seconds(120)).status, 0);
  EXPECT_LE(talks.output().size(), 4096u);
  EXPECT_TRUE(talks.output().ends_with("last\nwords\n")) << talks.output();
}

TEST(ChildProcess, TakesItsGrandchildrenAlong) {
  const std::string leaves_one = "sleep 100 & echo $!; ";
  pid_t grandchild = 0;
  {
    ChildProcess child(shell(leaves_one + "wait"));
    grandchild = std::stoi(first_line(child));
    EXPECT_TRUE(alive(grandchild));
  }
  EXPECT_TRUE(dies(grandchild)) << "destruction";

  ChildProcess exits(shell(leaves_one + "exit 0"));
  EXPECT_TRUE(exits.finish(seconds(120)).ended);
  EXPECT_TRUE(dies(std::stoi(first_line(exits)))) << "its own end";

  ChildProcess hangs(shell(leaves_one + "trap '' TERM INT HUP; wait; wait"));
  grandchild = std::stoi(first_line(hangs));
  EXPECT_EQ(hangs.finish(milliseconds(1)).signal, SIGKILL);
  EXPECT_TRUE(dies(grandchild)) << "the end of patience";
}

constexpr const char* kInChild = "KBENCH_PROCESS_TEST_CHILD";
constexpr size_t kThreads = 4;
using Counters = std::array<std::atomic<uint64_t>, kThreads>;

Counters& map_counters(int fd) {
  void* at = mmap(nullptr, sizeof(Counters), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  return *static_cast<Counters*>(at);
}

/// This test starts itself again as a child whose threads count in shared memory without end.
TEST(ChildProcess, ThatIsStoppedRunsNoThreadUntilItIsResumed) {
  if (std::getenv(kInChild) != nullptr) {
    Counters& counters = map_counters(3);
    std::vector<std::thread> threads;
    for (auto& counter : counters) {
      threads.emplace_back([&counter] {
        for (;;) ++counter;
      });
    }
    for (auto& thread : threads) thread.join();
  }
  const UniqueFd memory(memfd_create("counters", MFD_CLOEXEC));
  ASSERT_EQ(ftruncate(memory.get(), sizeof(Counters)), 0);
  Counters& counters = map_counters(memory.get());
  const auto values = [&] {
    std::vector<uint64_t> list;
    for (const auto& counter : counters) list.push_back(counter.load());
    return list;
  };
  const auto all_move = [&] {
    const auto before = values();
    for (int i = 0; i < 12000; ++i) {
      const auto now = values();
      size_t moved = 0;
      for (size_t k = 0; k < kThreads; ++k) moved += now[k] != before[k];
      if (moved == kThreads) return true;
      std::this_thread::sleep_for(milliseconds(5));
    }
    return false;
  };
  Spawn spawn;
  spawn.program = "/proc/self/exe";
  spawn.arguments = {"--gtest_filter=*ThatIsStoppedRunsNoThread*"};
  spawn.environment = {std::string(kInChild) + "=1"};
  spawn.descriptors = {{memory.get(), 3}};
  ChildProcess child(spawn);
  ASSERT_TRUE(all_move());
  for (int round = 0; round < 5; ++round) {
    ASSERT_TRUE(child.stop());
    ASSERT_TRUE(child.stop());  // It does already.
    const auto before = values();
    std::this_thread::sleep_for(milliseconds(5));
    EXPECT_EQ(values(), before);
    EXPECT_FALSE(child.poll().ended);
    child.resume();
    ASSERT_TRUE(all_move());
  }
  ASSERT_TRUE(child.stop());
  child.kill();  // Also one that is stopped.
  EXPECT_EQ(child.poll().signal, SIGKILL);
  munmap(&counters, sizeof counters);
}

TEST(ChildProcess, ThatHasEndedCannotBeStopped) {
  ChildProcess child(shell("exit 0"));
  child.finish(seconds(120));
  EXPECT_FALSE(child.stop());
  child.resume();
  EXPECT_EQ(child.poll().status, 0);
}

TEST(ChildProcess, TellsItsOwnMemory) {
  ChildProcess child(
      shell("x=$(head -c 8000000 /dev/zero | tr '\\0' a); echo ready; sleep 100 & wait"));
  EXPECT_EQ(first_line(child), "ready");
  EXPECT_GE(child.own_bytes(), 8000000);
  EXPECT_LT(child.own_bytes(), 200000000);
  child.kill();
  EXPECT_EQ(child.own_bytes(), 0);
}

}  // namespace
}  // namespace kbench::process
