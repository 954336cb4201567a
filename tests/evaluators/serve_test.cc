// `kbench serve` between a socket and evaluators that are fakes.
#include "harness/evaluate/evaluators/serve.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include <chrono>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <thread>

#include "harness/measure/process/channel.h"
#include "tests/evaluators/fake_evaluator.h"
#include "tests/scratch_folder.h"

namespace kbench::evaluators {
namespace {

using nlohmann::json;
using testing::Asked;
using ::testing::ElementsAre;
using testing::FakeEvaluator;
using testing::Gate;
using ::testing::HasSubstr;

/// The other end of a served socket.
class Client {
 public:
  explicit Client(UniqueFd socket) : socket_(std::move(socket)) {}

  void send(const std::string& text) {
    for (size_t sent = 0; sent < text.size();) {
      const ssize_t n = ::send(socket_.get(), text.data() + sent, text.size() - sent, MSG_NOSIGNAL);
      ASSERT_GT(n, 0);
      sent += static_cast<size_t>(n);
    }
  }
  void send(const json& line) { send(line.dump() + "\n"); }
  void end() { shutdown(socket_.get(), SHUT_WR); }
  void go() { socket_.reset(); }
  /// The next line; null at the end, or after ten seconds.
  json read() {
    for (;;) {
      if (const size_t end = text_.find('\n'); end != text_.npos) {
        const json line = json::parse(text_.substr(0, end));
        text_.erase(0, end + 1);
        return line;
      }
      pollfd ready{socket_.get(), POLLIN, 0};
      if (poll(&ready, 1, 10000) <= 0) return nullptr;
      char buffer[4096];
      const ssize_t n = ::read(socket_.get(), buffer, sizeof buffer);
      if (n <= 0) return nullptr;
      text_.append(buffer, static_cast<size_t>(n));
    }
  }
  bool has_nothing_for(int ms) {
    pollfd ready{socket_.get(), POLLIN, 0};
    return text_.empty() && poll(&ready, 1, ms) == 0;
  }

 private:
  UniqueFd socket_;
  std::string text_;
};

class ServeTest : public ::testing::Test {
 protected:
  void SetUp() override { signal(SIGPIPE, SIG_IGN); }
  void TearDown() override {
    stop_.request_stop();
    server_.reset();
    pool_.reset();
  }

  FakeEvaluator& judge(const std::string& name) {
    judges_.push_back(std::make_unique<FakeEvaluator>(name, asked_));
    vulkan::DeviceSnapshot snapshot;
    snapshot.index = static_cast<int>(devices_.size());
    snapshot.name = name;
    snapshot.device_uuid[0] = static_cast<uint8_t>(devices_.size() + 1);
    devices_.push_back(snapshot);
    return static_cast<FakeEvaluator&>(*judges_.back());
  }
  Pool& pool() {
    if (judges_.empty() && !pool_) judge("a");
    if (!pool_) pool_.emplace(std::move(judges_));
    return *pool_;
  }
  /// Serves one client in a thread.
  Client connect() {
    auto [theirs, ours] = process::make_socket_pair();
    process::make_nonblocking(theirs);
    pool();
    server_.emplace([this, socket = std::move(theirs)] {
      ServeClient client(pool(), devices_, options_, socket.get(), socket.get());
      end_ = client.serve(stop_.get_token(), at_once_.get_token());
    });
    return Client(std::move(ours));
  }
  ServeEnd ended() {
    server_.reset();
    return end_;
  }
  static json experiment(const json& id) {
    return {{"id", id}, {"files", {{"candidate.yaml", "task: level1/19\n"}}}};
  }

  kbench::testing::ScratchFolder folder_;
  Asked asked_;
  std::vector<vulkan::DeviceSnapshot> devices_;
  std::vector<std::unique_ptr<Evaluator>> judges_;
  ServeOptions options_;
  std::optional<Pool> pool_;
  std::stop_source stop_, at_once_;
  std::optional<std::jthread> server_;
  ServeEnd end_ = ServeEnd::gone;
};

TEST_F(ServeTest, AnswersEachWithItsIdAndEndsWithItsInput) {
  Client client = connect();
  const std::vector<json> ids = {"one", 2, 2.5, true, nullptr, "\"quoted\"\n"};
  for (const json& id : ids) client.send(experiment(id));
  client.end();
  std::set<json> answered;
  for (size_t i = 0; i < ids.size(); ++i) {
    const json line = client.read();
    ASSERT_TRUE(line.is_object()) << i;
    EXPECT_EQ(line.at("result").at("verdict"), "passed");
    answered.insert(line.at("id"));
  }
  EXPECT_EQ(answered, std::set<json>(ids.begin(), ids.end()));
  EXPECT_EQ(client.read(), nullptr);
  EXPECT_EQ(ended(), ServeEnd::finished);
}

TEST_F(ServeTest, PassesOnWhatALineSays) {
  judge("GPU one");
  judge("GPU two");
  options_.defaults.preset = "v0";
  options_.defaults.plan.max_seconds = 0.25;
  std::ofstream(folder_ / "relu.yaml") << "kbench: 1\ntask: level1/19\n";
  Client client = connect();
  client.send({{"id", 1},
               {"candidate", folder_ / "relu.yaml"},
               {"preset", "smoke"},
               {"overrides", {{"dim", 65}}},
               {"dtype", "bf16"},
               {"rule", {{"tolerance", "kernelbench"}}},
               {"plan",
                {{"max_seconds", 0.5},
                 {"min_samples", 20},
                 {"precision", 0.1},
                 {"seed", 18446744073709551615u}}},
               {"limits", {{"compile_seconds", 3}}},
               {"device", "GPU two"}});
  EXPECT_EQ(client.read().at("result").at("device"), "GPU two");
  client.send({{"id", 2},
               {"files", {{"main.yaml", "task: level1/19"}, {"a.comp", {{"base64", "AAE="}}}}},
               {"manifest", "main.yaml"},
               {"name", "mine/relu.yaml"},
               {"check", true},
               {"device", 0}});
  EXPECT_EQ(client.read().at("result").at("device"), "GPU one");
  const auto asked = asked_.list();
  ASSERT_EQ(asked.size(), 2u);
  const testing::Request &first = asked[0].second, &second = asked[1].second;
  EXPECT_EQ(first.question.candidate.path, folder_ / "relu.yaml");
  EXPECT_EQ(first.question.preset, "smoke");
  EXPECT_EQ(first.question.overrides, (Variables{{"dim", int64_t{65}}}));
  EXPECT_EQ(first.question.dtype, DType::bf16);
  EXPECT_EQ(first.question.rule.tolerance, ToleranceRule::kernelbench);
  EXPECT_EQ(first.question.plan.max_seconds, 0.5);
  EXPECT_EQ(first.question.plan.min_samples, 20);
  EXPECT_EQ(first.question.plan.precision, 0.1);
  EXPECT_EQ(first.question.plan.seed, 18446744073709551615u);
  EXPECT_EQ(first.question.limits.compile_seconds, 3);
  EXPECT_FALSE(first.question.check);
  EXPECT_EQ(second.question.preset, "v0");
  EXPECT_EQ(second.question.dtype, DType::f32);
  EXPECT_EQ(second.question.plan.max_seconds, 0.25);
  EXPECT_EQ(second.question.plan.seed, std::nullopt);
  EXPECT_TRUE(second.question.check);
  EXPECT_EQ(second.question.candidate.manifest, "main.yaml");
  EXPECT_EQ(second.question.candidate.path, "mine/relu.yaml");
  EXPECT_EQ(second.question.candidate.files->at("a.comp"), std::string("\0\1", 2));
}

TEST_F(ServeTest, TakesNoLimitsBeyondItsOwners) {
  judge("GPU");
  options_.most = {.compile_seconds = 2,
                   .device_seconds = 3,
                   .total_seconds = 140,
                   .host_bytes = int64_t{1} << 30};
  Client client = connect();
  const auto line = [](int id, const json& more) {
    json all = {{"id", id}, {"files", {{"candidate.yaml", "kbench: 1\ntask: level1/19\n"}}}};
    all.update(more);
    return all;
  };
  const json beyond[] = {{{"compile_seconds", 2.5}},
                         {{"device_seconds", 4}},
                         {{"total_seconds", 141}},
                         {{"max_seconds", 150}},
                         {{"host_bytes", 2000000000}}};
  for (const json& more : beyond) {
    client.send(line(1, more));
    const std::string name = more.items().begin().key();
    EXPECT_THAT(client.read().at("error").get<std::string>(), HasSubstr("." + name + " must be"));
  }
  client.send(line(2, {{"compile_seconds", 2}, {"max_seconds", 50}}));
  EXPECT_TRUE(client.read().contains("result"));
  const Limits seen = asked_.list().at(0).second.question.limits;
  EXPECT_EQ(seen.compile_seconds, 2);
  EXPECT_EQ(seen.total_seconds, 140);  // not 120 + 4 * 50
}

TEST_F(ServeTest, AnswersABadLineWithItsNumberAndGoesOn) {
  options_.most_line_bytes = 1000;
  Client client = connect();
  const std::pair<std::string, std::string> bad[] = {
      {"nonsense", "not JSON"},
      {"[1]", "not a JSON object"},
      {"{\"id\": 1", "not JSON"},
      {"{\"id\": 1} x", "not JSON"},
      {"{}", "no 'id'"},
      {"{\"id\": [1], \"candidate\": \"x\"}", "an id is"},
      {"{\"id\": 1}", "'candidate'"},
      {"{\"id\": 1, \"candidate\": \"x\", \"files\": {}}", "one of 'candidate'"},
      {"{\"id\": 1, \"candidate\": 5}", "must be a path"},
      {"{\"id\": 1, \"candidate\": \"/nowhere/at/all.yaml\"}", "nowhere"},
      {"{\"id\": 1, \"files\": {\"a.yaml\": \"x\"}}", "candidate.yaml"},
      {"{\"id\": 1, \"files\": {\"candidate.yaml\": 7}}", "must be a string"},
      {"{\"id\": 1, \"files\": {\"candidate.yaml\": \"\"}, \"prset\": \"v0\"}", "'preset'"},
      {"{\"id\": 1, \"files\": {\"candidate.yaml\": \"\"}, \"preset\": \"v7\"}", "v7"},
      {"{\"id\": 1, \"files\": {\"candidate.yaml\": \"\"}, \"seed\": -1}", "seed must be"},
      {"{\"id\": 1, \"files\": {\"candidate.yaml\": \"\"}, \"dtype\": \"f8\"}", "f32, f16, bf16"},
      {"{\"id\": 1, \"files\": {\"candidate.yaml\": \"\"}, \"max_seconds\": \"2\"}", "max_seconds"},
      {"{\"id\": 1, \"files\": {\"candidate.yaml\": \"\"}, \"device\": 9}", "no device '9'"},
      {"{\"id\": 1, \"files\": {\"candidate.yaml\": \"\"}, \"set\": {\"dim\": \"x\"}}", "dim"},
      {"{\"cancel\": {}}", "an id is"},
      {"{\"cancel\": 1, \"id\": 2}", "stands alone"},
      {std::string(100, '['), "nested"},
      {"\"\xff\"", "not JSON"},
      {std::string("{\"id\": \0}", 9), "not JSON"},
      {std::string(5000, 'x'), "longer than 1000"},
      {"{\"id\": \"" + std::string(200000, 'x') + "\"}", "longer than 1000"}};
  int number = 0;
  for (const auto& [text, why] : bad) {
    client.send(text + "\n");
    const json line = client.read();
    ASSERT_TRUE(line.is_object()) << why;
    EXPECT_EQ(line.at("line"), ++number) << line;
    EXPECT_THAT(line.at("error").get<std::string>(), HasSubstr(why)) << text.substr(0, 100);
    EXPECT_FALSE(line.contains("result"));
  }
  client.send(std::string("\n  \n"));  // Lines, and nothing to say about them.
  client.send(experiment("good"));
  EXPECT_EQ(client.read().at("id"), "good");
  client.send(std::string("x\n"));
  EXPECT_EQ(client.read().at("line"), number + 4);
}

TEST_F(ServeTest, NamesTheIdOfABadLineThatHasOne) {
  Client client = connect();
  client.send(std::string("{\"id\": \"mine\", \"candidate\": \"/nowhere.yaml\"}\n"));
  const json line = client.read();
  EXPECT_EQ(line.at("id"), "mine");
  EXPECT_EQ(line.at("line"), 1);
}

TEST_F(ServeTest, TellsStagesToWhoAsks) {
  Client client = connect();
  json asks = experiment(1);
  asks["stages"] = true;
  client.send(asks);
  EXPECT_EQ(client.read(), (json{{"id", 1}, {"stage", "load"}}));
  EXPECT_TRUE(client.read().contains("result"));
}

TEST_F(ServeTest, CancelsRunningAndWaitingAndReportsUnknownIds) {
  Gate gate;
  judge("a").on_run = [&](const auto&, const auto& stop) { gate.pass(stop); };
  Client client = connect();
  client.send(experiment("runs"));
  gate.wait_for(1);
  client.send(experiment("waits"));
  client.send({{"cancel", "waits"}});
  EXPECT_EQ(client.read(), (json{{"id", "waits"}, {"cancelled", true}}));
  client.send({{"cancel", "runs"}});
  EXPECT_EQ(client.read(), (json{{"id", "runs"}, {"cancelled", true}}));
  client.send({{"cancel", "runs"}});
  EXPECT_EQ(client.read(), (json{{"id", "runs"}, {"cancelled", false}}));
  client.send(experiment("runs"));  // The id is free again.
  gate.wait_for(2);
  client.send(experiment("runs"));
  EXPECT_THAT(client.read().at("error").get<std::string>(), HasSubstr("in flight"));
  gate.open();
  EXPECT_TRUE(client.read().contains("result"));
}

TEST_F(ServeTest, OfAClientThatGoesCancelsAll) {
  Gate gate;
  judge("a").on_run = [&](const auto&, const auto& stop) { gate.pass(stop); };
  Client client = connect();
  for (int i = 0; i < 20; ++i) client.send(experiment(i));
  gate.wait_for(1);
  client.go();
  EXPECT_EQ(ended(), ServeEnd::gone);
  pool().wait();  // The gate stays closed.
  EXPECT_LE(asked_.list().size(), 2u);
}

TEST_F(ServeTest, ThatIsStoppedAnswersWhatIsLeft) {
  Gate gate;
  judge("a").on_run = [&](const auto&, const auto& stop) { gate.pass(stop); };
  Client client = connect();
  client.send(experiment(1));
  gate.wait_for(1);
  client.send(experiment(2));
  client.send(json{{"cancel", 99}});  // Both are known once that is answered.
  EXPECT_EQ(client.read().at("id"), 99);
  stop_.request_stop();
  std::set<json> ids;
  for (int i = 0; i < 2; ++i) {
    const json line = client.read();
    EXPECT_EQ(line.at("cancelled"), true);
    ids.insert(line.at("id"));
  }
  EXPECT_EQ(ids.size(), 2u);
  EXPECT_EQ(ended(), ServeEnd::stopped);
}

TEST_F(ServeTest, ReadsNoMoreThanItCanAnswer) {
  Gate gate;
  judge("a").on_run = [&](const auto&, const auto& stop) { gate.pass(stop); };
  options_.most_experiments = 5;
  Client client = connect();
  for (int i = 0; i < 8; ++i) client.send(experiment(i));
  client.send(std::string("a bad line\n"));
  gate.wait_for(1);
  EXPECT_TRUE(client.has_nothing_for(100));  // The bad line is not read yet.
  gate.open();
  client.end();
  int results = 0, errors = 0;
  for (json line; !(line = client.read()).is_null();) {
    results += line.contains("result");
    errors += line.contains("error");
  }
  EXPECT_EQ(results, 8);
  EXPECT_EQ(errors, 1);
  EXPECT_EQ(ended(), ServeEnd::finished);
}

TEST_F(ServeTest, TakesALastLineWithoutANewline) {
  Client client = connect();
  client.send(experiment(1).dump());
  client.end();
  EXPECT_EQ(client.read().at("id"), 1);
  EXPECT_EQ(client.read(), nullptr);
}

TEST_F(ServeTest, DoesNotWaitForAClientThatTakesNoAnswers) {
  Client slow = connect();
  std::jthread slow_server(std::move(*server_));
  Client quick = connect();
  for (int i = 0; i < 2000; ++i) slow.send(experiment(std::string(400, 'x') + std::to_string(i)));
  quick.send(experiment(1));
  EXPECT_TRUE(quick.read().contains("result"));
  slow.go();
}

TEST_F(ServeTest, KeepsTheCandidatesOfATaskTogether) {
  Gate gate;
  judge("a").on_run = [&](const auto&, const auto& stop) { gate.pass(stop); };
  Client client = connect();
  int id = 0;
  for (const char* task : {"1/1", "1/2", "1/1", "1/2", "1/1"}) {
    const std::string manifest = std::string("kbench: 1\ntask: ") + task +
                                 "\ndispatch:\n  - {op: relu, in: [A], out: output}\n";
    client.send({{"id", ++id}, {"files", {{"candidate.yaml", manifest}}}});
    if (id == 1) gate.wait_for(1);
  }
  client.send(json{{"cancel", 99}});
  client.read();
  gate.open();
  std::vector<int> order;
  for (int i = 0; i < id; ++i) order.push_back(client.read().at("id"));
  EXPECT_THAT(order, ElementsAre(1, 3, 5, 2, 4));
}

/// Sends more than a socket holds the answers of, and reads none.
void send_and_read_nothing(Client& client, Asked& asked) {
  constexpr size_t kMany = 2000;
  const size_t before = asked.list().size();
  for (size_t i = 0; i < kMany; ++i) {
    client.send({{"id", i}, {"files", {{"candidate.yaml", "task: level1/19\n"}}}});
  }
  while (asked.list().size() < before + kMany) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
}

TEST_F(ServeTest, AClientThatTakesNoAnswersIsNotWaitedForLong) {
  options_.stop_seconds = 0.2;
  Client client = connect();
  send_and_read_nothing(client, asked_);
  stop_.request_stop();
  EXPECT_EQ(ended(), ServeEnd::gone);
}

TEST_F(ServeTest, AClientThatTakesNoAnswersIsLeftAtTheSecondRequest) {
  options_.stop_seconds = 1e6;
  Client client = connect();
  send_and_read_nothing(client, asked_);
  stop_.request_stop();
  at_once_.request_stop();
  EXPECT_EQ(ended(), ServeEnd::gone);
}

}  // namespace
}  // namespace kbench::evaluators
