#include "harness/frontends/http/remote_judge.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "kbench/error.h"
#include "kbench/evaluate.h"
#include "tests/error_of.h"
#include "tests/http/running_service.h"

namespace kbench::http {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::RunningService;

judge::EvaluateRequest wanted() {
  judge::EvaluateRequest request;
  request.question.candidate = CandidateSource(
      {{"candidate.yaml", "kbench: 1\ntask: level1/19\n"}, {"k.spv", std::string("\0\xff", 2)}});
  request.question.candidate.author = "me";
  request.question.preset = "smoke";
  request.question.overrides = {{"dim", int64_t{65}}};
  request.question.plan = {.precision = 0.5,
                           .max_seconds = 0.25,
                           .min_samples = 3,
                           .max_samples = 70,
                           .thresholds = {1, 2}};
  request.question.limits.compile_seconds = 12;
  request.question.limits.total_seconds = 130;
  request.question.limits.host_bytes = int64_t{1} << 31;
  request.question.rule.other_sizes = OtherSizes::none;
  request.question.plan.seed = 99;
  return request;
}

std::unique_ptr<queue::QueueJudge> judge_of(const RunningService& service) {
  const RemoteServer server{service.url(), ""};
  return remote_judge(server, "auto", devices_of(server).front());
}

TEST(RemoteJudge, AsksForThatWhichItWasAskedFor) {
  RunningService service;
  service.gate.open();
  const auto judge = judge_of(service);
  EXPECT_EQ(judge->snapshot().name, "Fake");
  std::vector<std::string> stages;
  const judge::EvaluateRequest request = wanted();
  const Result result =
      judge->run(request, [&](const char* stage) { stages.emplace_back(stage); }, {});
  EXPECT_EQ(result.verdict, Verdict::passed);
  ASSERT_EQ(service.asked.list().size(), 1u);
  judge::EvaluateRequest seen = service.asked.list().front().second;
  seen.more = request.more;
  EXPECT_EQ(to_json(seen), to_json(request));
}

/// A client that names no limits is judged by the server's own, also where those are lower.
TEST(RemoteJudge, LeavesUsualLimitsToTheServer) {
  ServiceOptions options;
  options.defaults.limits = options.most = {.compile_seconds = 2,
                                            .device_seconds = 1,
                                            .total_seconds = 20,
                                            .host_bytes = int64_t{1} << 30};
  RunningService service(std::move(options));
  service.gate.open();
  judge::EvaluateRequest request = wanted();
  request.question.limits = {};
  request.question.limits.total_seconds += 4 * request.question.plan.max_seconds;
  judge_of(service)->run(request, {}, {});
  ASSERT_EQ(service.asked.list().size(), 1u);
  const Limits seen = service.asked.list().front().second.question.limits;
  EXPECT_EQ(seen.compile_seconds, 2);
  EXPECT_EQ(seen.device_seconds, 1);
  EXPECT_EQ(seen.total_seconds, 20);
  EXPECT_EQ(seen.host_bytes, int64_t{1} << 30);
}

TEST(RemoteJudge, SendsTheFilesOfACandidateOnDisk) {
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
  judge::EvaluateRequest request;
  request.question.candidate = (folder / "relu.yaml").string();
  judge_of(service)->run(request, {}, {});
  ASSERT_EQ(service.asked.list().size(), 1u);
  const CandidateSource seen = service.asked.list().front().second.question.candidate;
  EXPECT_EQ(seen.manifest, "relu.yaml");
  std::vector<std::string> names;
  for (const auto& [name, text] : seen.files.value()) names.push_back(name);
  EXPECT_THAT(names, ElementsAre("k.comp", "other.glsl", "relu.yaml"));
}

TEST(RemoteJudge, CancelsThereWhatIsCancelledHere) {
  RunningService service;
  const auto judge = judge_of(service);
  std::stop_source stop;
  std::jthread stopper([&] {
    service.gate.wait_for(1);
    stop.request_stop();
  });
  EXPECT_THROW(judge->run(wanted(), {}, stop.get_token()), Cancelled);
  const auto metrics = [&] { return service.client().Get("/metrics")->body; };
  while (metrics().find("\nkbench_experiments_running 1\n") != std::string::npos) {
  }
  EXPECT_THAT(metrics(), HasSubstr("{outcome=\"cancelled\"} 1"));
}

TEST(RemoteJudge, SaysWhatTheServerFindsWrong) {
  RunningService service;
  judge::EvaluateRequest request = wanted();
  request.question.limits.total_seconds = 1e5;
  const Error e = error_of([&] { judge_of(service)->run(request, {}, {}); });
  EXPECT_EQ(e.code(), ErrorCode::kInvalidArgument);
  EXPECT_THAT(e.what(), HasSubstr("limits.total_seconds must be a number from 0.001 to 3600"));
  request.question.rule.validate = true;
  EXPECT_THROW(judge_of(service)->run(request, {}, {}), Error);
}

TEST(RemoteJudge, IsLostWithItsServer) {
  std::unique_ptr<queue::QueueJudge> judge;
  {
    RunningService service;
    judge = judge_of(service);
    EXPECT_EQ(judge->trouble(), "");
  }
  EXPECT_THAT(judge->trouble(), HasSubstr("cannot reach http://127.0.0.1:"));
}

TEST(RemoteServer, IsNamedByItsUrl) {
  for (const char* url : {"", "gpu:8000", "ftp://gpu", "http://me:secret@gpu"}) {
    EXPECT_THROW(devices_of({url, ""}), Error) << url;
  }
  const Error e = error_of([&] { devices_of({"http://127.0.0.1:1", ""}); });
  EXPECT_EQ(e.code(), ErrorCode::kIo);
  EXPECT_THAT(e.what(), HasSubstr("cannot reach http://127.0.0.1:1"));
}

}  // namespace
}  // namespace kbench::http
