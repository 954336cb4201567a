// Kill -9 at random instants: of the program, its judge, its runners. No finished result is lost or
// doubled, nobody is blamed, no process and no file stays behind.

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <spawn.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <random>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "kbench/result.h"
#include "tests/judge/processes.h"
#include "tests/program/run_program.h"

namespace kbench {
namespace {

using Clock = std::chrono::steady_clock;
using namespace kbench::testing;

/// Right candidates of built-in operators, each evaluated in a fraction of a second.
const std::vector<std::string> kTasks = {"1/19", "1/20", "1/26", "1/47", "1/51"};

class KilledJob : public ::testing::Test {
 protected:
  void SetUp() override {
    KBENCH_NEED_SOFTWARE_DEVICE();
    for (const std::string& task : kTasks) {
      const Said said = run_program({"show", task, modules_ ? "--pytorch" : "--candidate"});
      ASSERT_EQ(said.code, 0) << said.err;
      write_file(folder_ / ("mine/" + task.substr(2) + (modules_ ? ".py" : ".yaml")), said.out);
    }
    std::filesystem::create_directory(folder_ / "temporary");
    // Whoever loses its parent becomes this process's child, and can be counted.
    ASSERT_EQ(prctl(PR_SET_CHILD_SUBREAPER, 1), 0);
  }
  void TearDown() override { prctl(PR_SET_CHILD_SUBREAPER, 0); }

  /// Starts the main job on the set; resumes it where there is an output.
  void start() {
    std::string tasks;
    for (const std::string& task : kTasks) tasks += (tasks.empty() ? "" : ",") + task;
    start({"--candidates", folder_ / "mine", "--task", tasks, "--output", results_},
          "--device cpu --preset smoke --measure-seconds 0.02 --min-samples 2 --precision 0.9");
  }
  void start(std::vector<std::string> arguments, const std::string& further) {
    arguments.insert(arguments.begin(), "kbench");
    std::istringstream options(further);
    for (std::string word; options >> word;) arguments.push_back(word);
    std::vector<char*> argv;
    for (std::string& argument : arguments) argv.push_back(argument.data());
    argv.push_back(nullptr);
    std::vector<std::string> variables = {"TMPDIR=" + (folder_ / "temporary").string()};
    for (char** each = environ; *each != nullptr; ++each) {
      if (!std::string(*each).starts_with("TMPDIR=")) variables.emplace_back(*each);
    }
    std::vector<char*> environment;
    for (std::string& variable : variables) environment.push_back(variable.data());
    environment.push_back(nullptr);
    posix_spawn_file_actions_t files;
    posix_spawn_file_actions_init(&files);
    for (const int stream : {STDOUT_FILENO, STDERR_FILENO}) {
      posix_spawn_file_actions_addopen(&files, stream, (folder_ / said_name(stream)).c_str(),
                                       O_WRONLY | O_CREAT | O_TRUNC | O_APPEND, 0600);
    }
    before_ = testing::read_file(results_);
    ASSERT_EQ(
        posix_spawn(&program_, KBENCH_PROGRAM, &files, nullptr, argv.data(), environment.data()),
        0);
    posix_spawn_file_actions_destroy(&files);
  }
  static std::string said_name(int stream) { return stream == STDOUT_FILENO ? "out" : "err"; }

  /// True once the program has ended, which it has been waited for then.
  bool ended() {
    if (program_ > 0 && waitpid(program_, &status_, WNOHANG) == program_) program_ = 0;
    return program_ == 0;
  }
  void wait_for_end() {
    const auto limit = Clock::now() + std::chrono::seconds(60);
    while (!ended() && Clock::now() < limit) {
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
    ASSERT_TRUE(ended()) << "it hangs; so far it said " << testing::read_file(folder_ / "out");
  }

  /// Kills it at once, and it alone.
  void kill_program() {
    if (program_ > 0) ::kill(program_, SIGKILL);
    wait_for_end();
  }

  /// Kills one process of a random kind; false when there is none of it yet.
  bool kill_one() {
    std::vector<pid_t> judges, runners;
    for (const pid_t child : children_of(program_)) {
      if (command_of(child).find(" judge-process ") != std::string::npos) judges.push_back(child);
    }
    for (const pid_t judge : judges) {
      for (const pid_t child : children_of(judge)) {
        if (command_of(child).find(" runner-process ") != std::string::npos)
          runners.push_back(child);
      }
    }
    const char* const names[] = {"program", "judge", "runner", "server"};
    const std::vector<pid_t> kinds[] = {{program_}, judges, runners};
    const size_t kind = random_() % std::size(kinds);
    if (kinds[kind].empty()) return false;
    const pid_t victim = kinds[kind][random_() % kinds[kind].size()];
    if (::kill(victim, SIGKILL) != 0) return false;
    ++killed_[names[kind]];
    return true;
  }

  /// What must hold once the program has ended, however it did.
  void expect_all_in_order() {
    // No orphan: this process gets what loses its parent, and all of it ends by itself.
    const auto limit = Clock::now() + std::chrono::seconds(20);
    int left = 0;
    while ((left = waitpid(-1, nullptr, WNOHANG)) >= 0 && Clock::now() < limit) {
      if (left == 0) std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
    EXPECT_LT(left, 0) << "a process stays behind: " << command_of(children_of(getpid()).at(0));
    const bool killed = WIFSIGNALED(status_) && WTERMSIG(status_) == SIGKILL;
    EXPECT_TRUE(killed || (WIFEXITED(status_) && WEXITSTATUS(status_) <= 2)) << status_;
    // No file.
    EXPECT_TRUE(std::filesystem::is_empty(folder_ / "temporary"));
    size_t files = 0;
    for (const auto& each : std::filesystem::directory_iterator(folder_.path())) {
      const std::string name = each.path().filename();
      files += name != "mine" && name != "temporary" && name != "out" && name != "err";
    }
    EXPECT_LE(files, 1u);
    // No finished result lost: what was whole still is, and what was reported is there.
    const std::string now = testing::read_file(results_);
    EXPECT_TRUE(now.starts_with(before_.substr(0, before_.rfind('\n') + 1)));
    const size_t reported = lines_starting_with('[', testing::read_file(folder_ / "out"));
    EXPECT_GE(count_lines(now), count_lines(before_) + reported);
    // None doubled, and nobody blamed: the candidates are right.
    std::map<std::string, int> finished;
    faults_ = 0;
    for (const Result& result : read_results(results_)) {
      if (result.verdict == Verdict::harness_error) {
        ++faults_;
        EXPECT_EQ(finished[result.key()], 0) << "evaluated again: " << result.key();
        continue;
      }
      EXPECT_EQ(name_of(result.verdict), "passed") << result.message;
      EXPECT_EQ(++finished[result.key()], 1) << result.key();
    }
    EXPECT_LE(finished.size(), kTasks.size());
    complete_ = finished.size() == kTasks.size();
  }

  static size_t lines_starting_with(char first, const std::string& text) {
    size_t count = 0;
    for (size_t at = 0; at < text.size(); at = std::min(text.find('\n', at), text.size() - 1) + 1) {
      count += text[at] == first;
    }
    return count;
  }

  void kill_and_check(int kills, int longest_us);

  bool modules_ = false;  ///< the candidates are ModelNew files
  ScratchFolder folder_;
  const std::string results_ = folder_ / "results.jsonl";
  std::string before_;  ///< the output when the program was last started
  pid_t program_ = 0;
  int status_ = 0;
  bool complete_ = false;
  int faults_ = 0;  ///< evaluations in the output that ended as nobody's fault
  std::map<std::string, int> killed_;
  std::mt19937 random_;
};

/// Kills so many processes, up to so many microseconds apart, and checks after each end.
void KilledJob::kill_and_check(int kills, int longest_us) {
  const unsigned seed = std::random_device()();
  random_.seed(seed);
  SCOPED_TRACE("seed " + std::to_string(seed));
  // From before the first process is there until the job is nearly done.
  std::uniform_int_distribution<int> wait_us(0, longest_us);
  int done = 0, starts = 0, jobs = 0, faults = 0;
  while (done < kills && !HasFailure()) {
    ASSERT_NO_FATAL_FAILURE(start());
    ++starts;
    while (done < kills && !ended()) {
      const auto instant = Clock::now() + std::chrono::microseconds(wait_us(random_));
      while (Clock::now() < instant && !ended()) {
        std::this_thread::sleep_for(std::chrono::microseconds(500));
      }
      if (!ended()) done += kill_one();
    }
    ASSERT_NO_FATAL_FAILURE(wait_for_end());
    expect_all_in_order();
    if (!complete_) continue;
    std::filesystem::remove(results_);  // Another job from the start.
    ++jobs;
    faults += faults_;
  }
  // What is left to do is done in the end, by the same command.
  for (int i = 0; i < 3 && !complete_; ++i) {
    ASSERT_NO_FATAL_FAILURE(start());
    ASSERT_NO_FATAL_FAILURE(wait_for_end());
    expect_all_in_order();
  }
  EXPECT_TRUE(complete_) << testing::read_file(folder_ / "out")
                         << testing::read_file(folder_ / "err");
  std::string counts;
  for (const auto& [name, count] : killed_) counts += " " + std::to_string(count) + " " + name;
  std::printf("killed%s; %d starts, %d whole jobs, %d evaluations tried again, seed %u\n",
              counts.c_str(), starts, jobs, faults, seed);
  EXPECT_EQ(done, kills);
}

TEST_F(KilledJob, LosesAndDoublesNothingAndLeavesNothingBehind) {
  const char* given = std::getenv("KBENCH_KILLS");
  kill_and_check(given != nullptr ? std::atoi(given) : 12, 1200000);
}

/// The same of ModelNew files, each of which takes seconds.
class KilledModuleJob : public KilledJob {
 protected:
  KilledModuleJob() { modules_ = true; }
};

TEST_F(KilledModuleJob, LosesAndDoublesNothingAndLeavesNothingBehind) {
  const char* given = std::getenv("KBENCH_KILLS");
  if (given == nullptr) GTEST_SKIP() << "takes minutes: ctest -L soak";
  kill_and_check(std::atoi(given), 12000000);
}

/// A ModelNew whose forward() does not end, nor do the processes that it has started.
constexpr const char* kLoops = R"(
import os
import torch

class ModelNew(torch.nn.Module):
    def forward(self, x):
        open("in_forward", "w").close()
        if os.fork() == 0:
            os.fork()
        while True:
            pass
)";

/// A process and when it started: its number may be taken again.
using Known = std::pair<pid_t, std::string>;

std::string started(pid_t process) {
  std::ifstream file("/proc/" + std::to_string(process) + "/stat");
  std::string line, word;
  std::getline(file, line);
  const size_t name = line.rfind(')');
  if (name == std::string::npos) return "";
  std::istringstream words(line.substr(name + 1));
  constexpr int kStarted = 20;  // behind the name, the state first
  for (int i = 0; i < kStarted; ++i) words >> word;
  return word;
}

/// A process and all below it.
void add_with_descendants(pid_t process, std::vector<Known>& all) {
  all.emplace_back(process, started(process));
  for (const pid_t child : children_of(process)) add_with_descendants(child, all);
}

class KilledLoop : public KilledJob {
 protected:
  /// The processes of the run, from the program to what runs the module, as far as there are any.
  std::map<std::string, pid_t> chain() const {
    std::map<std::string, pid_t> found = {{"program", program_}};
    const auto child = [](pid_t parent, const std::string& said) {
      for (const pid_t each : children_of(parent)) {
        if (command_of(each).find(said) != std::string::npos) return each;
      }
      return pid_t{-1};
    };
    const pid_t judge = child(program_, " judge-process ");
    if (judge < 0) return found;
    found["judge"] = judge;
    const pid_t runner = child(judge, " runner-process candidate ");
    if (runner > 0) found["runner"] = runner;
    for (const pid_t server : children_of(judge)) {
      const pid_t python = child(server, "driver.py");
      if (python < 0) continue;
      found["server"] = server;
      found["python"] = python;
      for (const pid_t each : children_of(server)) {
        const bool prototype = command_of(each).find(" -I -B -c ") != std::string::npos;
        found[prototype ? "prototype" : each == python ? "python" : "guard"] = each;
      }
    }
    return found;
  }

  void start_loop() {
    write_file(folder_ / "loops.py", "# task: level1/19\n" + std::string(kLoops));
    start({"run", folder_ / "loops.py"},
          "--device cpu --preset smoke --compile-seconds 300 --device-seconds 300 "
          "--total-seconds 300");
  }
  /// The scratch folder of the Python that runs the module; empty while there is none.
  static std::string scratch_of(const std::map<std::string, pid_t>& processes) {
    const auto python = processes.find("python");
    if (python == processes.end()) return "";
    std::error_code ignored;
    return std::filesystem::read_symlink("/proc/" + std::to_string(python->second) + "/cwd",
                                         ignored);
  }
  /// Its module says so there.
  bool in_forward() const {
    const std::string folder = scratch_of(chain());
    return !folder.empty() && std::filesystem::exists(folder + "/in_forward");
  }

  /// Kills a process of those in chain(). All that was below it must end, in seconds, and its
  /// scratch folder with it: the module's own limit is minutes. Then kills the program, after which
  /// there must be nothing at all.
  void kill_and_look(const std::string& name, const std::map<std::string, pid_t>& processes,
                     double within) {
    SCOPED_TRACE("killed " + name);
    const pid_t victim = processes.at(name);
    const std::string scratch = scratch_of(processes);
    std::vector<Known> below;
    add_with_descendants(victim, below);
    // A runner's is a child of the server.
    if (name == "runner" && processes.contains("python")) {
      add_with_descendants(processes.at("python"), below);
    }
    ASSERT_EQ(::kill(victim, SIGKILL), 0);
    expect_gone("what was below it", within, [&] {
      ended();
      std::erase_if(below, [](const Known& each) {
        return !alive(each.first) || started(each.first) != each.second;
      });
      return below.empty();
    });
    for (const Known& each : below) ADD_FAILURE() << command_of(each.first).substr(0, 100);
    // Nothing ends with these: there is another one soon, or when it is needed.
    if (name == "guard" || name == "prototype")
      std::this_thread::sleep_for(std::chrono::seconds(1));
    kill_program();
    expect_gone("what is left", within, [&] {
      while (waitpid(-1, nullptr, WNOHANG) > 0) {
      }
      return children_of(getpid()).empty() &&
             (scratch.empty() || !std::filesystem::exists(scratch));
    });
    for (const pid_t each : children_of(getpid())) ADD_FAILURE() << command_of(each).substr(0, 100);
    ++killed_[name];
  }
  template <class Gone>
  void expect_gone(const char* what, double within, const Gone& gone) {
    const auto start = Clock::now();
    const auto taken = [&] { return std::chrono::duration<double>(Clock::now() - start).count(); };
    while (!gone() && taken() < within) std::this_thread::sleep_for(std::chrono::milliseconds(2));
    longest_ = std::max(longest_, taken());
    EXPECT_LT(taken(), within) << what;
  }
  void TearDown() override {
    kill_program();
    KilledJob::TearDown();
    std::string counts;
    for (const auto& [name, count] : killed_) counts += " " + std::to_string(count) + " " + name;
    std::printf("killed%s; all gone within %.2f s\n", counts.c_str(), longest_);
  }

  double longest_ = 0;
};

/// On a busy machine seconds pass; what is not ended would stay for minutes.
constexpr double kPatience = 30;

TEST_F(KilledLoop, IsGoneWithWhateverProcessIsKilled) {
  for (const char* name : {"program", "judge", "runner", "server"}) {
    start_loop();
    const auto limit = Clock::now() + std::chrono::seconds(120);
    while (!in_forward() && !ended() && Clock::now() < limit) {
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    if (ended()) {
      const std::string said =
          testing::read_file(folder_ / "out") + testing::read_file(folder_ / "err");
      if (said.find("takes a python3 with the package torch") != std::string::npos) {
        GTEST_SKIP() << said;
      }
      FAIL() << said;
    }
    ASSERT_TRUE(in_forward());
    const auto processes = chain();
    ASSERT_TRUE(processes.contains(name)) << name;
    ASSERT_NO_FATAL_FAILURE(kill_and_look(name, processes, kPatience));
  }
}

/// At instants from before the first process is there until forward() has looped for a while.
TEST_F(KilledLoop, IsGoneAtEveryInstant) {
  const char* given = std::getenv("KBENCH_KILLS");
  if (given == nullptr) GTEST_SKIP() << "takes minutes: ctest -L soak";
  constexpr double kWithin = 2;
  const unsigned seed = std::random_device()();
  random_.seed(seed);
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::uniform_int_distribution<int> wait_ms(0, 6000);
  for (int kill = 0; kill < std::atoi(given) && !HasFailure(); ++kill) {
    start_loop();
    std::this_thread::sleep_for(std::chrono::milliseconds(wait_ms(random_)));
    const auto processes = chain();
    auto victim = processes.begin();
    std::advance(victim, random_() % processes.size());
    kill_and_look(victim->first, processes, kWithin);
  }
}

}  // namespace
}  // namespace kbench
