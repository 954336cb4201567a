// `kbench serve` as other programs use it, on the software device.

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "tests/judge/processes.h"
#include "tests/program/run_program.h"

namespace kbench {
namespace {

namespace fs = std::filesystem;
using namespace kbench::testing;
using nlohmann::json;
using ::testing::HasSubstr;
using Clock = std::chrono::steady_clock;

/// A program whose standard input and output are pipes.
class Server {
 public:
  explicit Server(const std::vector<std::string>& more) {
    std::vector<std::string> arguments = {"kbench",        "serve", "--device",          "cpu",
                                          "--preset",      "smoke", "--measure-seconds", "0.02",
                                          "--min-samples", "2",     "--precision",       "0.9"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    std::vector<char*> argv;
    for (std::string& argument : arguments) argv.push_back(argument.data());
    argv.push_back(nullptr);
    int in[2], out[2];
    if (pipe2(in, O_CLOEXEC) != 0 || pipe2(out, O_CLOEXEC) != 0) std::abort();
    posix_spawn_file_actions_t files;
    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_adddup2(&files, in[0], STDIN_FILENO);
    posix_spawn_file_actions_adddup2(&files, out[1], STDOUT_FILENO);
    EXPECT_EQ(posix_spawn(&process_, KBENCH_PROGRAM, &files, nullptr, argv.data(), environ), 0);
    posix_spawn_file_actions_destroy(&files);
    close(in[0]), close(out[1]);
    in_ = in[1];
    out_ = out[0];
  }
  ~Server() {
    end_input();
    close(out_);
    if (process_ > 0) {
      ::kill(process_, SIGKILL);
      waitpid(process_, nullptr, 0);
    }
  }
  Server(const Server&) = delete;

  void send(const json& line) { send_text(line.dump() + "\n"); }
  void send_text(const std::string& text) {
    ASSERT_EQ(write(in_, text.data(), text.size()), static_cast<ssize_t>(text.size()));
  }
  void end_input() {
    if (in_ >= 0) close(in_);
    in_ = -1;
  }
  /// Null at the end, or after a minute.
  json read_line() {
    for (;;) {
      if (const size_t end = text_.find('\n'); end != text_.npos) {
        const json line = json::parse(text_.substr(0, end));
        text_.erase(0, end + 1);
        return line;
      }
      pollfd ready{out_, POLLIN, 0};
      if (poll(&ready, 1, 60000) <= 0) return nullptr;
      char buffer[65536];
      const ssize_t n = read(out_, buffer, sizeof buffer);
      if (n <= 0) return nullptr;
      text_.append(buffer, static_cast<size_t>(n));
    }
  }
  /// The next that tells no stage.
  json read_answer() {
    for (;;) {
      const json line = read_line();
      if (!line.is_object() || !line.contains("stage")) return line;
    }
  }
  int wait_for_end() {
    int status = -1;
    waitpid(process_, &status, 0);
    process_ = 0;
    return status;
  }
  pid_t process() const { return process_; }
  size_t descriptors() const {
    return static_cast<size_t>(
        std::distance(fs::directory_iterator("/proc/" + std::to_string(process_) + "/fd"), {}));
  }
  /// Resident, of the server and of its judge.
  long kilobytes(pid_t process) const {
    std::ifstream status("/proc/" + std::to_string(process) + "/status");
    for (std::string word; status >> word;) {
      if (word == "VmRSS:" && status >> word) return std::stol(word);
    }
    return 0;
  }

 private:
  pid_t process_ = 0;
  int in_ = -1, out_ = -1;
  std::string text_;
};

class Serve : public ::testing::Test {
 protected:
  void SetUp() override {
    KBENCH_NEED_SOFTWARE_DEVICE();
    signal(SIGPIPE, SIG_IGN);
  }
  static std::string candidate(const std::string& task) {
    const Said said = run_program({"show", task, "--candidate"});
    EXPECT_EQ(said.code, 0) << said.err;
    return said.out;
  }
  /// Compiles for so long that it can be seen running: the limit ends it.
  static std::string slow() {
    return "kbench: 1\ntask: level1/19\nkernels:\n  k:\n    source: |\n      #version 450\n"
           "      layout(local_size_x = 64) in;\n"
           "      layout(binding = 0) buffer X { float x[]; };\n"
           "      layout(binding = 1) buffer Y { float y[]; };\n"
           "      const uint n = KB_batch_size * KB_dim;\n"
           "      void main() { const uint i = gl_GlobalInvocationID.x;\n"
           "        float v = x[i % n]; for (int r = 0; r < 20000; ++r) v = sin(v) + 1.0;\n"
           "        y[i % n] = v; }\n"
           "dispatch:\n  - {kernel: k, bind: [x, output], groups: [65535, 65535]}\n";
  }
};

class QuickServe : public Serve {};

TEST_F(QuickServe, EvaluatesFromMemoryAndFromDiskAndGoesOnAfterBadLines) {
  ScratchFolder folder;
  const std::string relu = candidate("1/19");
  write_file(folder / "mine/relu.yaml", relu);
  Server server({});
  server.send({{"id", "memory"}, {"files", {{"candidate.yaml", relu}}}, {"name", "set/a.yaml"}});
  server.send_text("this is no JSON\n");
  server.send({{"id", "disk"}, {"candidate", folder / "mine/relu.yaml"}, {"stages", true}});
  server.send({{"id", "wrong"}, {"files", {{"candidate.yaml", "kbench: ["}}}});
  server.send({{"id", "sizes"}, {"files", {{"candidate.yaml", relu}}}, {"set", {{"nothing", 3}}}});
  server.end_input();
  std::map<std::string, json> answers;
  std::set<std::string> stages;
  for (json line; !(line = server.read_line()).is_null();) {
    if (line.contains("stage")) {
      stages.insert(line["stage"].get<std::string>());
    } else {
      answers[line.contains("id") ? line["id"].get<std::string>() : "line " + line["line"].dump()] =
          line;
    }
  }
  EXPECT_EQ(server.wait_for_end(), 0);
  EXPECT_EQ(answers["memory"]["result"]["verdict"], "passed") << answers["memory"];
  EXPECT_EQ(answers["disk"]["result"]["verdict"], "passed") << answers["disk"];
  EXPECT_EQ(answers["disk"]["result"]["set"], "mine");
  EXPECT_EQ(answers["disk"]["result"]["device_uuid"].get<std::string>().size(), 36u);
  EXPECT_EQ(answers["wrong"]["result"]["verdict"], "invalid_candidate");
  EXPECT_THAT(answers["sizes"]["error"].get<std::string>(), HasSubstr("nothing"));
  EXPECT_TRUE(answers["line 2"].contains("error"));
  EXPECT_EQ(answers.size(), 5u);
  EXPECT_TRUE(stages.contains("load") && stages.contains("sample"));
}

TEST_F(Serve, TakesNoLimitsBeyondItsFlags) {
  Server server({"--compile-seconds", "20", "--host-memory", "1"});
  const json files = {{"candidate.yaml", candidate("1/19")}};
  server.send({{"id", 1}, {"files", files}, {"compile_seconds", 20.5}});
  EXPECT_THAT(server.read_answer().value("error", ""), HasSubstr("from 0.001 to 20"));
  server.send({{"id", 2}, {"files", files}, {"host_bytes", int64_t{1} << 40}});
  EXPECT_THAT(server.read_answer().value("error", ""), HasSubstr("from 1048576 to 1073741824"));
  server.send({{"id", 3}, {"files", files}, {"device_seconds", 1e6}});
  EXPECT_THAT(server.read_answer().value("error", ""), HasSubstr("from 0.001 to 600"));
  server.send({{"id", 4}, {"files", files}, {"compile_seconds", 20}, {"device_seconds", 30}});
  EXPECT_EQ(server.read_answer().at("result").at("verdict"), "passed");
}

TEST_F(Serve, CancelsWhatRunsAndGoesOn) {
  const std::string relu = candidate("1/19");
  Server server({"--device-seconds", "60"});
  server.send({{"id", 1}, {"files", {{"candidate.yaml", slow()}}}, {"stages", true}});
  server.send({{"id", 2}, {"files", {{"candidate.yaml", relu}}}});
  server.send({{"id", 3}, {"files", {{"candidate.yaml", relu}}}});
  for (json line; !(line = server.read_line()).is_null() && line.value("stage", "") != "warm-up";) {
    ASSERT_FALSE(line.contains("result")) << line;
  }
  server.send({{"cancel", 2}});
  EXPECT_EQ(server.read_answer(), (json{{"id", 2}, {"cancelled", true}}));
  const auto start = Clock::now();
  server.send({{"cancel", 1}});
  EXPECT_EQ(server.read_answer(), (json{{"id", 1}, {"cancelled", true}}));
  EXPECT_LT(Clock::now() - start, std::chrono::seconds(50));
  const json last = server.read_answer();
  EXPECT_EQ(last["id"], 3);
  EXPECT_EQ(last["result"]["verdict"], "passed") << last;
}

TEST_F(Serve, OnSigtermAnswersWhatIsLeftAndEnds) {
  Server server({"--device-seconds", "60"});
  server.send({{"id", 1}, {"files", {{"candidate.yaml", slow()}}}, {"stages", true}});
  EXPECT_EQ(server.read_line()["stage"], "load");
  ::kill(server.process(), SIGTERM);
  json last;
  for (json line; !(line = server.read_line()).is_null();) last = line;
  EXPECT_EQ(last, (json{{"id", 1}, {"cancelled", true}}));
  EXPECT_EQ(server.wait_for_end(), 0);
}

/// 200 experiments, or KBENCH_EXPERIMENTS of them: neither memory nor descriptors grow.
TEST_F(Serve, ServesManyExperimentsWithoutGrowth) {
  const char* given = std::getenv("KBENCH_EXPERIMENTS");
  const int count = given != nullptr ? std::atoi(given) : 40;
  std::vector<std::string> candidates;
  for (const char* task : {"1/19", "1/20"}) candidates.push_back(candidate(task));
  Server server({});
  std::jthread sender([&] {
    for (int i = 0; i < count; ++i) {
      // Ten of a task after ten of the other; every tenth is wrong.
      const std::string& text = candidates[static_cast<size_t>(i / 10 % 2)];
      server.send({{"id", i}, {"files", {{"candidate.yaml", i % 10 == 9 ? "no: yaml" : text}}}});
    }
    server.end_input();
  });
#ifdef __SANITIZE_ADDRESS__
  constexpr long kQuarantine = 256 << 10;  // freed memory that the sanitizer holds back, kB
#else
  constexpr long kQuarantine = 0;
#endif
  std::set<int> answered;
  size_t descriptors = 0;
  long kilobytes = 0, judge_kilobytes = 0;
  int faults = 0, judge_descriptors = 0;
  const auto judge_of = [&] {
    for (const pid_t child : children_of(server.process())) {
      if (command_of(child).find(" judge-process ") != std::string::npos) return child;
    }
    return pid_t{0};
  };
  const auto descriptors_of = [](pid_t process) {
    std::error_code ignored;
    return static_cast<int>(std::distance(
        fs::directory_iterator("/proc/" + std::to_string(process) + "/fd", ignored), {}));
  };
  for (int done = 1; done <= count; ++done) {
    const json line = server.read_line();
    ASSERT_TRUE(line.is_object()) << "after " << done - 1;
    EXPECT_TRUE(answered.insert(line["id"].get<int>()).second);
    faults += line["result"]["verdict"] == "harness_error";
    if (done == count / 4) {
      descriptors = server.descriptors();
      kilobytes = server.kilobytes(server.process());
      judge_kilobytes = server.kilobytes(judge_of());
      judge_descriptors = descriptors_of(judge_of());
    }
    if (done != count - 5) continue;
    std::printf(
        "from a quarter to the end: descriptors %zu to %zu, judge's %d to %d; kB %ld to "
        "%ld, judge's %ld to %ld\n",
        descriptors, server.descriptors(), judge_descriptors, descriptors_of(judge_of()), kilobytes,
        server.kilobytes(server.process()), judge_kilobytes, server.kilobytes(judge_of()));
    EXPECT_LE(server.descriptors(), descriptors + 4);
    EXPECT_LE(descriptors_of(judge_of()), judge_descriptors + 16);
    EXPECT_LE(server.kilobytes(server.process()), kilobytes + 16384);
    EXPECT_LE(server.kilobytes(judge_of()), judge_kilobytes + 65536 + kQuarantine);
  }
  EXPECT_EQ(answered.size(), static_cast<size_t>(count));
  EXPECT_EQ(faults, 0);
  EXPECT_EQ(server.wait_for_end(), 0);
}

}  // namespace
}  // namespace kbench
