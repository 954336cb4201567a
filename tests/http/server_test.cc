#include "kbench/server.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "harness/measure/judge_protocol/protocol.h"
#include "kbench/error.h"
#include "tests/error_of.h"
#include "tests/http/running_service.h"

namespace kbench::http {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::RunningService;

Question wanted() {
  Question question;
  question.candidate = CandidateSource(
      {{"candidate.yaml", "kbench: 1\ntask: level1/19\n"}, {"k.spv", std::string("\0\xff", 2)}});
  question.candidate.author = "me";
  question.preset = "smoke";
  question.overrides = {{"dim", int64_t{65}}};
  question.plan = {.precision = 0.5,
                   .max_seconds = 0.25,
                   .min_samples = 3,
                   .max_samples = 70,
                   .thresholds = {1, 2}};
  question.limits.compile_seconds = 12;
  question.limits.total_seconds = 130;
  question.limits.host_bytes = int64_t{1} << 31;
  question.rule.other_sizes = OtherSizes::none;
  question.plan.seed = 99;
  return question;
}

std::unique_ptr<Server> server_of(const RunningService& service) {
  return std::make_unique<Server>(ServerOptions{.url = service.url()});
}

TEST(ServerTest, AsksForThatWhichItWasAskedFor) {
  RunningService service;
  service.gate.open();
  const auto judge = server_of(service);
  EXPECT_EQ(judge->devices().front().name, "Fake");
  const Question question = wanted();
  EXPECT_EQ(judge->evaluate(question).verdict, Verdict::passed);
  ASSERT_EQ(service.asked.list().size(), 1u);
  const Question seen = service.asked.list().front().second.question;
  EXPECT_EQ(to_json(judge::EvaluateRequest{.question = seen}),
            to_json(judge::EvaluateRequest{.question = question}));
}

/// A client that names no limits is judged by the server's own, also where those are lower.
TEST(ServerTest, LeavesUsualLimitsToTheServer) {
  ServiceOptions options;
  options.defaults.limits = options.most = {.compile_seconds = 2,
                                            .device_seconds = 1,
                                            .total_seconds = 20,
                                            .host_bytes = int64_t{1} << 30};
  RunningService service(std::move(options));
  service.gate.open();
  Question question = wanted();
  question.limits = {};
  question.limits.total_seconds += 4 * question.plan.max_seconds;
  server_of(service)->evaluate(question);
  ASSERT_EQ(service.asked.list().size(), 1u);
  const Limits seen = service.asked.list().front().second.question.limits;
  EXPECT_EQ(seen.compile_seconds, 2);
  EXPECT_EQ(seen.device_seconds, 1);
  EXPECT_EQ(seen.total_seconds, 20);
  EXPECT_EQ(seen.host_bytes, int64_t{1} << 30);
}

TEST(ServerTest, SendsTheFilesOfACandidateOnDisk) {
  namespace fs = std::filesystem;
  const fs::path folder = fs::path(::testing::TempDir()) / "remote_candidate";
  fs::create_directories(folder);
  std::ofstream(folder / "relu.yaml")
      << "kbench: 1\ntask: level1/19\nkernels:\n  k: {file: k.comp}\n"
         "dispatch:\n  - kernel: k\n    groups: [1]\n";
  std::ofstream(folder / "k.comp") << "#version 450\n#include \"other.glsl\"\nvoid main() {}\n";
  std::ofstream(folder / "other.glsl") << "// included\n";
  std::ofstream(folder / "secret.txt") << "not of this candidate\n";
  RunningService service;
  service.gate.open();
  Question question;
  question.candidate = (folder / "relu.yaml").string();
  server_of(service)->evaluate(question);
  ASSERT_EQ(service.asked.list().size(), 1u);
  const CandidateSource seen = service.asked.list().front().second.question.candidate;
  EXPECT_EQ(seen.manifest, "relu.yaml");
  std::vector<std::string> names;
  for (const auto& [name, text] : seen.files.value()) names.push_back(name);
  EXPECT_THAT(names, ElementsAre("k.comp", "other.glsl", "relu.yaml"));
}

TEST(ServerTest, CancelsThereWhatIsCancelledHere) {
  RunningService service;
  const auto judge = server_of(service);
  std::stop_source stop;
  std::jthread stopper([&] {
    service.gate.wait_for(1);
    stop.request_stop();
  });
  EXPECT_THROW(judge->evaluate(wanted(), stop.get_token()), Cancelled);
  const auto metrics = [&] { return service.client().Get("/metrics")->body; };
  while (metrics().find("\nkbench_experiments_running 1\n") != std::string::npos) {
  }
  EXPECT_THAT(metrics(), HasSubstr("{outcome=\"cancelled\"} 1"));
}

TEST(ServerTest, SaysWhatTheServerFindsWrong) {
  RunningService service;
  Question question = wanted();
  question.limits.total_seconds = 1e5;
  const Error e = error_of([&] { server_of(service)->evaluate(question); });
  EXPECT_EQ(e.code(), ErrorCode::kInvalidArgument);
  EXPECT_THAT(e.what(), HasSubstr("limits.total_seconds must be a number from 0.001 to 3600"));
  question.rule.validate = true;
  EXPECT_THROW(server_of(service)->evaluate(question), Error);
}

TEST(ServerTest, IsLostWithItsServer) {
  std::unique_ptr<Server> judge;
  {
    RunningService service;
    judge = server_of(service);
    EXPECT_EQ(judge->trouble(), "");
  }
  EXPECT_THAT(judge->trouble(), HasSubstr("cannot reach http://127.0.0.1:"));
}

TEST(ServerTest, IsNamedByItsUrl) {
  for (const char* url : {"", "gpu:8000", "ftp://gpu", "http://me:secret@gpu"}) {
    EXPECT_THROW(Server({.url = url}), Error) << url;
  }
  const Error e = error_of([&] { Server({.url = "http://127.0.0.1:1"}).devices(); });
  EXPECT_EQ(e.code(), ErrorCode::kIo);
  EXPECT_THAT(e.what(), HasSubstr("cannot reach http://127.0.0.1:1"));
}

}  // namespace
}  // namespace kbench::http
