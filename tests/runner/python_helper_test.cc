// Triton's Python process: its lock-in, its end, and its errors.
#include "harness/measure/runner/python_helper.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "harness/measure/runner/lock_in.h"
#include "kbench/error.h"
#include "tests/candidate/support.h"
#include "tests/error_of.h"
#include "tests/judge/processes.h"
#include "tests/support/needs_torch.h"

namespace kbench::runner {
namespace {

using ::testing::HasSubstr;
using testing_support::ScratchFolder;

constexpr const char* kAnswer = "import os, sys\ndef answer(x): os.write(3, str(x).encode())\n";

class PythonHelperTest : public ::testing::Test {
 protected:
  /// Skips if the system has no python3 or cannot lock it in.
  void SetUp() override {
    try {
      helper_.run({.script = std::string(kAnswer) + "answer(1)", .files = {}, .input = ""});
    } catch (const Error& e) {
      if (e.code() == ErrorCode::kUnsupported) GTEST_SKIP() << e.message();
      throw;
    }
  }
  std::string run(const std::string& script, double seconds = 120) {
    return helper_.run({.script = kAnswer + script,
                        .files = {{"kernel.py", "x = 5\n"}},
                        .input = "given",
                        .seconds = seconds});
  }
  PythonHelper helper_;
};

TEST_F(PythonHelperTest, HasItsInputItsFilesAndAScratchFolder) {
  EXPECT_EQ(
      run("open('made', 'w').write('a')\n"
          "print('not an answer')\n"
          "answer(sys.stdin.read() + open('kernel.py').read().strip() + open('made').read())"),
      "givenx = 5a");
  // A job sees nothing of the previous one.
  EXPECT_EQ(run("answer(os.path.exists('made'))"), "False");
}

TEST_F(PythonHelperTest, ReachesNeitherFilesNorNetworkNorProcesses) {
  const ScratchFolder folder;
  folder.write("secret", "s");
  const std::string path = folder.path("secret");
  const auto refused = [&](const std::string& what) {
    return run("import socket, signal, subprocess\ntry:\n  " + what +
               "\n  answer('done')\nexcept OSError as e:\n  answer('refused')\n");
  };
  EXPECT_EQ(refused("open('" + path + "').read()"), "refused");
  EXPECT_EQ(refused("open('" + path + "', 'w')"), "refused");
  EXPECT_EQ(refused("os.unlink('" + path + "')"), "refused");
  EXPECT_EQ(refused("os.mkdir('" + folder.path("new") + "')"), "refused");
  EXPECT_EQ(refused("open('/etc/passwd')"), "refused");
  EXPECT_EQ(refused("os.listdir('/dev')"), "refused");
  EXPECT_EQ(refused("open('/proc/" + std::to_string(getpid()) + "/environ').read()"), "refused");
  EXPECT_EQ(refused("socket.socket(socket.AF_INET)"), "refused");
  EXPECT_EQ(refused("socket.socket(socket.AF_UNIX)"), "refused");
  EXPECT_EQ(refused("os.kill(" + std::to_string(getpid()) + ", 0)"), "refused");
  EXPECT_EQ(refused("os.setsid()"), "refused");
  EXPECT_TRUE(std::filesystem::exists(path));
  // It has four descriptors: not the sockets to the runner and the judge.
  EXPECT_EQ(run("answer([i for i in range(256) if os.path.exists(f'/proc/self/fd/{i}') and "
                "not os.readlink(f'/proc/self/fd/{i}').startswith('/proc')])"),
            "[0, 1, 2, 3]");
  EXPECT_EQ(run("answer(sorted(os.environ))").find("VK_"), std::string::npos);
  EXPECT_EQ(run("import subprocess\n"
                "answer(subprocess.run(['/bin/echo', 'it runs'], capture_output=True).stdout)"),
            "b'it runs\\n'");
}

TEST_F(PythonHelperTest, LeavesNoProcessBehind) {
  const auto left = static_cast<pid_t>(
      std::stoi(run("read, write = os.pipe()\n"
                    "if os.fork() == 0:\n"
                    "  if os.fork() == 0:\n"
                    "    os.close(3)\n    os.write(write, str(os.getpid()).encode())\n"
                    "    import time\n    time.sleep(100)\n"
                    "  os._exit(0)\n"
                    "os.wait()\n"
                    "answer(os.read(read, 20).decode())\n")));
  const auto begin = std::chrono::steady_clock::now();
  helper_.end();
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(60));
  EXPECT_TRUE(testing::dies(left));
}

/// The runner's place is taken by a fork that is locked in as a runner is: on Linux 6.12 and later
/// no signal of it reaches its helper, the parent-death signal included.
TEST_F(PythonHelperTest, EndsWithAKilledRunner) {
  const pid_t runner = fork();
  if (runner == 0) {
    PythonHelper helper;
    LockIn().before_open();
    helper.run({.script = "import os, time\nos.fork()\nwhile True: time.sleep(1)", .seconds = 100});
    _exit(0);
  }
  std::vector<pid_t> scripts;  // The job and its child.
  const auto both_run = [&] {
    scripts.clear();
    for (const pid_t helper : testing::children_of(runner)) {
      for (const pid_t job : testing::children_of(helper)) {
        if (testing::command_of(job).find("script.py") == std::string::npos) continue;
        scripts.push_back(job);
        for (const pid_t child : testing::children_of(job)) scripts.push_back(child);
      }
    }
    return scripts.size() == 2;
  };
  const auto limit = std::chrono::steady_clock::now() + std::chrono::minutes(1);
  while (!both_run() && std::chrono::steady_clock::now() < limit) usleep(10'000);
  ASSERT_EQ(scripts.size(), 2u);
  kill(runner, SIGKILL);
  ASSERT_EQ(waitpid(runner, nullptr, 0), runner);
  for (const pid_t each : scripts) EXPECT_TRUE(testing::dies(each));
}

/// A ModelNew whose module makes the extensions' folder, or one in it, a link to a folder of the
/// host.
TEST_F(PythonHelperTest, KeepsNothingThatLiesBehindALink) {
  const ScratchFolder cache, host;
  host.write("made/made.so", "secret");
  setenv("KBENCH_CACHE", cache.path("kbench").c_str(), 1);
  const std::string all = "os.symlink('" + host.path() + "', os.environ['TORCH_EXTENSIONS_DIR'])\n";
  const std::string one =
      "folder = os.environ['TORCH_EXTENSIONS_DIR']\nos.mkdir(folder)\n"
      "os.symlink('" +
      host.path("made") + "', folder + '/made')\n";
  const std::string pieces =
      "folder = os.environ['TORCH_EXTENSIONS_DIR'] + '/made'\n"
      "os.makedirs(folder)\n"
      "os.symlink('" +
      host.path("made/made.so") + "', folder + '/made.so')\n";
  for (const std::string& links : {all, one, pieces}) {
    const std::string remade = "import shutil\nshutil.rmtree(os.environ['TORCH_EXTENSIONS_DIR'])\n";
    const PythonJob job{
        .script = kAnswer + ("os.path.isdir(os.environ['TORCH_EXTENSIONS_DIR']) and "
                             "os.rmdir(os.environ['TORCH_EXTENSIONS_DIR'])\n" +
                             links + "answer('{\"error\": \"\"}')"),
        .for_torch = true};
    for (int run = 0; run < 2; ++run) {
      PythonHelper helper;
      EXPECT_EQ(helper.run(job), R"({"error": ""})");
    }
    for (const auto& each : std::filesystem::directory_iterator(cache.path("kbench"))) {
      std::ifstream file(each.path(), std::ios::binary);
      const std::string kept{std::istreambuf_iterator<char>(file), {}};
      EXPECT_EQ(kept.find("secret"), std::string::npos) << links;
    }
  }
  unsetenv("KBENCH_CACHE");
}

TEST_F(PythonHelperTest, WaitsForNothingThatItsProcessLeftRunning) {
  const std::string leaves = "import time\nif os.fork() == 0:\n  while True: time.sleep(1)\n";
  EXPECT_EQ(run(leaves + "answer(3)"), "3");
  const Error e = error_of([&] { run(leaves + "raise ValueError('its last words')"); });
  EXPECT_EQ(e.code(), ErrorCode::kCompile) << e.message();
  EXPECT_THAT(e.message(), HasSubstr("its last words"));
}

TEST_F(PythonHelperTest, IsEndedWhenItsTimeIsUp) {
  const Error e = error_of([&] { run("import time\nwhile True: time.sleep(1)", 0.5); });
  EXPECT_EQ(e.code(), ErrorCode::kTimeout);
  EXPECT_EQ(run("answer(2)"), "2");
}

TEST_F(PythonHelperTest, LeavesNothingOfItsScratchFolder) {
  const std::string path =
      run("for i in range(90):\n  os.mkdir('folder')\n  open('folder/f', 'w').close()\n"
          "  os.chdir('folder')\n"
          "os.chdir(os.environ['HOME'])\nos.mkdir('closed')\nopen('closed/f', 'w').close()\n"
          "os.chmod('closed', 0)\nanswer(os.getcwd())");
  EXPECT_THAT(path, HasSubstr("kbench-triton-"));
  EXPECT_FALSE(std::filesystem::exists(path));
}

/// Each process starts the next and ends, so that listing them always misses one.
TEST_F(PythonHelperTest, EndsAChainOfProcesses) {
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_EQ(run("if os.fork() == 0:\n  os.close(3)\n  while True:\n    if os.fork(): os._exit(0)\n"
                "answer(4)"),
            "4");
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(60));
  EXPECT_EQ(run("answer(5)"), "5");
}

TEST_F(PythonHelperTest, IsRefusedTooManyProcessesAndFolders) {
  const std::pair<const char*, const char*> kTooMuch[] = {
      {"import time\nfor i in range(64 + 4 * os.cpu_count() + 20):\n"
       "  if os.fork() == 0: time.sleep(100)\ntime.sleep(100)",
       "processes"},
      {"for i in range(120):\n  os.mkdir('folder')\n  os.chdir('folder')\nanswer(6)",
       "nested deeper"}};
  for (const auto& [script, reason] : kTooMuch) {
    const Error e = error_of([&] { run(script); });
    EXPECT_EQ(e.code(), ErrorCode::kUnsupported) << e.message();
    EXPECT_THAT(e.message(), HasSubstr(reason));
    EXPECT_THAT(e.message(), HasSubstr("its Python file"));
  }
  EXPECT_EQ(run("answer(7)"), "7");
}

TEST_F(PythonHelperTest, ThatEndsWithoutAnAnswerIsQuoted) {
  const Error e = error_of([&] { run("raise ValueError('its last words')"); });
  EXPECT_EQ(e.code(), ErrorCode::kCompile);
  EXPECT_THAT(e.message(), HasSubstr("exited with status 1 without an answer; its last words: "
                                     "ValueError: its last words"));
}

TEST_F(PythonHelperTest, ThatIsKilledFromOutsideIsNotTheCandidatesFault) {
  // A job is a child of the helper, which is one of this process.
  std::jthread killer([](const std::stop_token& stop) {
    while (!stop.stop_requested()) {
      for (const pid_t helper : testing::children_of(getpid())) {
        for (const pid_t job : testing::children_of(helper)) {
          const bool runs = testing::command_of(job).find("script.py") != std::string::npos;
          if (runs && kill(job, SIGKILL) == 0) return;
        }
      }
      usleep(1000);
    }
  });
  const Error e = error_of([&] { run("import time\ntime.sleep(60)", 60); });
  EXPECT_EQ(e.code(), ErrorCode::kInternal);
  EXPECT_THAT(e.message(), HasSubstr("process was killed by SIGKILL (Killed), not by kbench"));
}

TEST_F(PythonHelperTest, CannotLookKilledFromOutside) {
  const std::string cpu =
      "import resource, signal\ntry:\n  resource.setrlimit(resource.RLIMIT_CPU, (1, 1))\n"
      "  answer('set')\nexcept (OSError, ValueError):\n  answer('refused')\n";
  EXPECT_EQ(run(cpu), "refused");
  EXPECT_EQ(run("import resource\nresource.setrlimit(resource.RLIMIT_CORE, (0, 0))\n"
                "answer(resource.getrlimit(resource.RLIMIT_CPU))"),
            "(-1, -1)");
  EXPECT_THAT([&] { run("import os\nos.abort()"); },
              ::testing::Throws<Error>(::testing::Property(&Error::code, ErrorCode::kCompile)));
}

/// Answers each message with the bytes that it had.
constexpr const char* kCounts = R"(
import os, struct
def exactly(size):
  data = b""
  while len(data) < size: data += os.read(3, size - len(data))
  return data
while True:
  _, size, _ = struct.unpack("=III", exactly(12))
  said = str(len(exactly(size))).encode()
  os.write(3, struct.pack("=III", 1, len(said), 0) + said)
)";

/// All tensors of a thousand calls are one question, longer than what a socket holds while the
/// process stands still and does not read.
TEST_F(PythonHelperTest, AsksAProcessThatStandsStillLongQuestions) {
  KBENCH_NEED_TORCH();
  PythonHelper helper;
  helper.start_torch({.script = kCounts, .host_bytes = uint64_t{1} << 30, .question = "first"});
  EXPECT_EQ(helper.ask_torch({.seconds = 120}).text, "5");
  for (const size_t bytes : {size_t{10}, size_t{3} << 20, size_t{10}}) {
    const TorchAnswer answer =
        helper.ask_torch({.text = std::string(bytes, 'x'), .seconds = 120, .held = true});
    EXPECT_EQ(answer.text, std::to_string(bytes));
  }
}

}  // namespace
}  // namespace kbench::runner
