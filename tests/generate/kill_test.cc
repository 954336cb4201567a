// Kill -9 at random instants of a run: nothing is paid for twice, nothing is lost, nothing is
// counted twice. KBENCH_KILLS: how often; ctest's `soak` takes a hundred.

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <random>
#include <set>

#include "harness/evaluate/generate/ledger.h"
#include "harness/evaluate/generate/line_file.h"
#include "tests/generate/support.h"

namespace kbench::testing {
namespace {

class KilledRun : public RunTest {
 protected:
  static constexpr int kSamples = 12;
  static constexpr int kAttempts = 3;
  static constexpr const char* kTasks = "1/19-20";

  /// Attempts that a sample takes: every third never comes right.
  static int attempts_of(int sample) { return sample % 3 == 0 ? kAttempts : sample % 3; }

  /// One process of the run, from here to its end; requests are noted in a file before they are
  /// answered.
  [[noreturn]] void be_the_run() {
    const std::string counts = scratch_.path("requests");
    const auto script = [counts](const Asked& asked) {
      const int fd = open(counts.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0644);
      const std::string line = asked.task + " " + std::to_string(asked.sample) + " " +
                               std::to_string(asked.attempt) + "\n";
      if (write(fd, line.data(), line.size()) != ssize_t(line.size())) _exit(3);
      close(fd);
      usleep(static_cast<useconds_t>(500 * (asked.sample % 4)));
      const bool right = asked.sample % 3 != 0 && asked.attempt == asked.sample % 3;
      return answer_with(right ? "right 1.5" : "wrong " + std::to_string(asked.attempt),
                         std::to_string(asked.sample), asked.task);
    };
    try {
      generate::RunOptions options =
          this->options(plan({"m"}, kSamples, kTasks),
                        {std::make_shared<ScriptedModel>("m", script)}, kAttempts, 0.001);
      options.members[0].connections = 3;
      options.episode.shown = Shown::history;
      const generate::RunOutcome outcome = run(std::move(options));
      _exit(outcome.complete() ? 0 : 1);
    } catch (const std::exception& error) {
      std::fprintf(stderr, "%s\n", error.what());
      _exit(2);
    }
  }

  /// How often each attempt was asked for.
  std::map<std::string, int> requests() const {
    std::map<std::string, int> counts;
    std::ifstream file(scratch_.path("requests"));
    for (std::string line; std::getline(file, line);) ++counts[line];
    return counts;
  }
  /// The attempts whose answers are on disk.
  std::set<std::string> answered() const {
    std::set<std::string> all;
    for (const Task* task : select_tasks(kTasks)) {
      generate::each_line(generate::RunFolder(folder()).transcript("m", task->id),
                          [&](std::string_view line, int64_t) {
                            const auto [sample, attempt] = ids_of(line);
                            const bool is_new =
                                all.insert(to_string(task->id) + " " + std::to_string(sample) +
                                           " " + std::to_string(attempt))
                                    .second;
                            EXPECT_TRUE(is_new) << "answered twice: " << line.substr(0, 100);
                          });
    }
    return all;
  }
};

TEST_F(KilledRun, PaysForNothingTwiceAndLosesNothing) {
  const char* const wanted = std::getenv("KBENCH_KILLS");
  const int kills = wanted != nullptr ? std::atoi(wanted) : 10;
  std::mt19937 random(20260901);
  int killed = 0, ended = 0;
  while (killed < kills) {
    // A run that has come to its end is begun again elsewhere.
    const std::map<std::string, int> before = requests();
    const std::set<std::string> paid = answered();
    const pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) be_the_run();
    usleep(static_cast<useconds_t>(2000 + random() % 60'000));
    kill(child, SIGKILL);
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    const std::map<std::string, int> after = requests();
    for (const std::string& key : paid) {
      ASSERT_EQ(after.at(key), before.at(key)) << key << " was asked for again";
    }
    if (WIFSIGNALED(status)) {
      ++killed;
      continue;
    }
    ASSERT_EQ(WEXITSTATUS(status), 0);
    ++ended;
    if (killed < kills) {
      std::filesystem::remove_all(folder());
      std::filesystem::remove(scratch_.path("requests"));
    }
  }
  const pid_t child = fork();
  if (child == 0) be_the_run();
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFEXITED(status));
  ASSERT_EQ(WEXITSTATUS(status), 0);
  RecordProperty("ended_before_the_kill", ended);

  std::set<std::string> expected;
  for (const Task* task : select_tasks(kTasks)) {
    for (int sample = 1; sample <= kSamples; ++sample) {
      for (int attempt = 1; attempt <= attempts_of(sample); ++attempt) {
        expected.insert(to_string(task->id) + " " + std::to_string(sample) + " " +
                        std::to_string(attempt));
      }
    }
  }
  EXPECT_EQ(answered(), expected);
  std::set<std::string> counted;
  for (const Attempt& attempt : attempts()) {
    EXPECT_TRUE(counted
                    .insert(to_string(attempt.task) + " " + std::to_string(attempt.sample) + " " +
                            std::to_string(attempt.attempt))
                    .second);
    EXPECT_EQ(attempt.correct(),
              attempt.sample % 3 != 0 && attempt.attempt == attempts_of(attempt.sample));
    EXPECT_EQ(load_candidate(folder() + "/" + attempt.candidate).hash, attempt.candidate_hash);
  }
  EXPECT_EQ(counted, expected);
  std::set<std::string> places;
  for (const Result& result : results()) {
    EXPECT_TRUE(places.insert(result.candidate).second)
        << result.candidate << " stands there twice";
  }
  EXPECT_EQ(places.size(), expected.size());
}

}  // namespace
}  // namespace kbench::testing
