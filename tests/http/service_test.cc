#include "harness/frontends/http/service.h"

#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <malloc.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <chrono>
#include <fstream>
#include <set>
#include <thread>

#include "kbench/error.h"
#include "libkbench/base/files.h"
#include "tests/error_of.h"
#include "tests/http/running_service.h"

namespace kbench::http {
namespace {

using testing::body_of;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::json;
using testing::request;
using testing::RunningService;

constexpr const char* kJsonType = "application/json";
constexpr const char* kLinesType = "application/x-ndjson";
constexpr const char* kAlice = "alice-alice-alice";
constexpr const char* kBob = "bob-bob-bob-bob-bob";
const httplib::Headers kAsync = {{"Prefer", "respond-async"}};

ServiceOptions with_tokens() {
  const std::string path = ::testing::TempDir() + "service_tokens";
  FILE* file = fopen(path.c_str(), "w");
  fprintf(file, "alice %s\nbob %s\n", kAlice, kBob);
  fclose(file);
  ServiceOptions options;
  options.tokens = Tokens::from_file(path);
  return options;
}

/// A connection whose bytes are the test's own.
UniqueFd connected(const RunningService& service) {
  UniqueFd socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<uint16_t>(service.port()));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  EXPECT_EQ(connect(socket.get(), reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  return socket;
}

void send_text(const UniqueFd& socket, const std::string& text) {
  EXPECT_EQ(::send(socket.get(), text.data(), text.size(), MSG_NOSIGNAL),
            static_cast<ssize_t>(text.size()));
}

std::string read_all(const UniqueFd& socket) {
  std::string all;
  char buffer[4096];
  for (ssize_t n; (n = recv(socket.get(), buffer, sizeof buffer, 0)) > 0;) {
    all.append(buffer, static_cast<size_t>(n));
  }
  return all;
}

std::string head(const std::string& path, size_t length, const std::string& more = {}) {
  return "POST " + path + " HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: " +
         (path.ends_with("batch") ? "application/x-ndjson" : "application/json") +
         "\r\nContent-Length: " + std::to_string(length) + "\r\n" + more + "\r\n";
}

TEST(Address, IsAPortOrAHostAndAPort) {
  EXPECT_EQ(address_from_text("8000").host, "127.0.0.1");
  EXPECT_EQ(address_from_text("[::1]:80").host, "::1");
  EXPECT_EQ(address_from_text("0.0.0.0:80").port, 80);
  EXPECT_FALSE(address_from_text("0.0.0.0:80").loopback());
  EXPECT_TRUE(address_from_text("127.0.0.2:80").loopback());
  EXPECT_TRUE(address_from_text("[::1]:80").loopback());
  EXPECT_FALSE(address_from_text("localhost.example:80").loopback());
  for (const char* text : {"", "x", "80x", "1:2:3", "host:", ":80", "host:65536", "host:-1"}) {
    EXPECT_THROW(address_from_text(text), Error) << text;
  }
}

TEST(HttpService, AnswersWithTheResult) {
  RunningService service;
  service.gate.open();
  const auto answer = service.client().Post("/v1/evaluate", request("a", {{"id", 7}}), kJsonType);
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->status, 200);
  const json body = body_of(answer);
  EXPECT_EQ(body["id"], 7);
  EXPECT_EQ(body["state"], "done");
  EXPECT_EQ(body["result"]["verdict"], "passed");
  EXPECT_EQ(answer->get_header_value("Location"),
            "/v1/experiments/" + body["experiment"].get<std::string>());
}

TEST(HttpService, AnswersAtOnceWhereThatIsPreferred) {
  RunningService service;
  auto client = service.client();
  const auto first = client.Post("/v1/evaluate", kAsync, request("a"), kJsonType);
  ASSERT_TRUE(first);
  EXPECT_EQ(first->status, 202);
  const std::string place = first->get_header_value("Location");
  service.gate.wait_for(1);
  EXPECT_EQ(body_of(client.Get(place))["state"], "running");
  EXPECT_EQ(body_of(client.Get(place))["stage"], "load");
  service.gate.open();
  EXPECT_EQ(body_of(client.Get(place + "?wait=10"))["state"], "done");
  EXPECT_EQ(body_of(client.Delete(place))["state"], "done");
}

TEST(HttpService, CancelsWhatIsDeleted) {
  RunningService service;
  auto client = service.client();
  std::vector<std::string> places;
  for (const char* name : {"runs", "waits"}) {
    places.push_back(client.Post("/v1/evaluate", kAsync, request(name), kJsonType)
                         ->get_header_value("Location"));
  }
  service.gate.wait_for(1);
  for (const std::string& place : places) {
    EXPECT_EQ(client.Delete(place)->status, 200);
    EXPECT_EQ(body_of(client.Get(place + "?wait=10"))["state"], "cancelled");
  }
}

TEST(HttpService, EvaluatesOnceUnderOneKey) {
  RunningService service;
  service.gate.open();
  auto client = service.client();
  const httplib::Headers key = {{"Idempotency-Key", "k1"}};
  const json first = body_of(client.Post("/v1/evaluate", key, request("a"), kJsonType));
  const json again = body_of(client.Post("/v1/evaluate", key, request("a"), kJsonType));
  EXPECT_EQ(first["experiment"], again["experiment"]);
  EXPECT_EQ(service.asked.list().size(), 1u);
  const auto other = client.Post("/v1/evaluate", key, request("b"), kJsonType);
  EXPECT_EQ(other->status, 422);
  EXPECT_THAT(other->body, HasSubstr("belongs to another experiment"));
  const auto odd = client.Post("/v1/evaluate", {{"Idempotency-Key", std::string(201, 'k')}},
                               request("a"), kJsonType);
  EXPECT_EQ(odd->status, 400);
}

TEST(HttpService, AnswersABatchLineByLine) {
  RunningService service;
  service.gate.open();
  const std::string lines = request("a", {{"id", "one"}}) + "\nno json\n\n" +
                            request("b", {{"id", 2}}) + "\n" +
                            R"({"id": 3, "candidate": "/etc/passwd"})";
  const auto answer = service.client().Post("/v1/evaluate/batch", lines, kLinesType);
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->status, 200);
  EXPECT_EQ(answer->get_header_value("Content-Type"), kLinesType);
  std::multiset<std::string> seen;
  std::istringstream text(answer->body);
  for (std::string line; std::getline(text, line);) {
    const json each = json::parse(line);
    seen.insert(each.contains("line") ? "bad " + each["line"].dump()
                                      : each["id"].dump() + " " + each["state"].dump());
  }
  EXPECT_THAT(seen, ElementsAre("\"one\" \"done\"", "2 \"done\"", "bad 2", "bad 5"));
}

TEST(HttpService, CancelsTheBatchOfAClientThatGoesAway) {
  RunningService service;
  const std::string body = request("a") + "\n" + request("b") + "\n";
  {
    const UniqueFd socket = connected(service);
    send_text(socket, head("/v1/evaluate/batch", body.size()) + body);
    service.gate.wait_for(1);
  }
  auto client = service.client();
  const auto cancelled = [&] {
    return client.Get("/metrics")->body.find("{outcome=\"cancelled\"} 2") != std::string::npos;
  };
  for (int i = 0; i < 1200 && !cancelled(); ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  EXPECT_TRUE(cancelled());
}

TEST(HttpService, KeepsABatchThatHasAKey) {
  RunningService service;
  const std::string body = request("a") + "\n" + request("b") + "\n";
  {
    const UniqueFd socket = connected(service);
    send_text(socket, head("/v1/evaluate/batch", body.size(), "Idempotency-Key: batch\r\n") + body);
    service.gate.wait_for(1);
  }
  service.gate.open();
  const auto again =
      service.client().Post("/v1/evaluate/batch", {{"Idempotency-Key", "batch"}}, body, kLinesType);
  ASSERT_TRUE(again);
  EXPECT_EQ(std::ranges::count(again->body, '\n'), 2);
  EXPECT_EQ(again->body.find("cancelled"), std::string::npos);
  EXPECT_EQ(service.asked.list().size(), 2u);
}

std::string get(const std::string& path, const std::string& more = {}) {
  return "GET " + path + " HTTP/1.1\r\nHost: 127.0.0.1\r\n" + more + "\r\n";
}

TEST(HttpService, AnswersAClientThatHasEndedItsSide) {
  RunningService service;
  const std::string body = request("a") + "\n" + request("b") + "\n";
  const UniqueFd one = connected(service), batch = connected(service), part = connected(service);
  send_text(one, head("/v1/evaluate", request("a").size()) + request("a"));
  send_text(batch, head("/v1/evaluate/batch", body.size()) + body);
  send_text(part, head("/v1/evaluate", 1000) + "{");
  for (const UniqueFd* each : {&one, &batch, &part}) shutdown(each->get(), SHUT_WR);
  EXPECT_THAT(read_all(part), HasSubstr("the body ends after 1 bytes"));
  // The batch is looked after while it waits: an empty line tells that its client is there.
  char first[1024];
  std::string begun;
  while (begun.find("\r\n\r\n1\r\n\n") == begun.npos) {
    const ssize_t size = recv(batch.get(), first, sizeof first, 0);
    ASSERT_GT(size, 0) << begun;
    begun.append(first, static_cast<size_t>(size));
  }
  service.gate.open();
  EXPECT_THAT(read_all(one), HasSubstr("\"state\": \"done\""));
  const std::string lines = read_all(batch);
  for (const size_t at : {lines.find("\"done\""), lines.rfind("\"done\"")}) {
    EXPECT_NE(at, lines.npos) << lines;
  }
  EXPECT_NE(lines.find("\"done\""), lines.rfind("\"done\"")) << lines;
  EXPECT_THAT(lines, ::testing::EndsWith("0\r\n\r\n"));
}

TEST(HttpService, ServesNoRanges) {
  RunningService service;
  const std::string whole = service.client().Get("/openapi.json")->body;
  std::string ranges = "bytes=0-";
  while (ranges.size() < 8000) ranges += ",0-";
  for (const std::string& asked : {std::string("bytes=0-9"), ranges}) {
    const UniqueFd socket = connected(service);
    send_text(socket, get("/openapi.json", "Range: " + asked + "\r\n"));
    const std::string answer = read_all(socket);
    EXPECT_THAT(answer, ::testing::StartsWith("HTTP/1.1 200 ")) << asked.substr(0, 20);
    EXPECT_THAT(answer, ::testing::EndsWith("\r\n\r\n" + whole));
  }
}

TEST(HttpService, HasNoRoomForMoreThanItsLimit) {
  ServiceOptions options;
  options.experiments.most_experiments = 2;
  RunningService service(std::move(options));
  auto client = service.client();
  for (const char* name : {"a", "b"}) {
    EXPECT_EQ(client.Post("/v1/evaluate", kAsync, request(name), kJsonType)->status, 202);
  }
  const auto full = client.Post("/v1/evaluate", kAsync, request("c"), kJsonType);
  EXPECT_EQ(full->status, 429);
  EXPECT_GE(std::stoi(full->get_header_value("Retry-After")), 1);
  const std::string three = request("a") + "\n" + request("b") + "\n" + request("c") + "\n";
  EXPECT_EQ(client.Post("/v1/evaluate/batch", three, kLinesType)->status, 413);
}

TEST(HttpService, TakesNoPathsAndNoLimitsBeyondItsOwn) {
  RunningService service;
  auto client = service.client();
  const auto refused = [&](const json& body) {
    const auto answer = client.Post("/v1/evaluate", body.dump(), kJsonType);
    EXPECT_EQ(answer->status, 400);
    return body_of(answer)["error"].get<std::string>();
  };
  EXPECT_THAT(refused({{"candidate", "/etc/passwd"}}), HasSubstr("send 'files'"));
  EXPECT_THAT(refused(json::parse(request("a", {{"stages", true}}))), HasSubstr("'stages'"));
  EXPECT_THAT(refused(json::parse(request("a", {{"compile_seconds", 601}}))),
              HasSubstr("limits.compile_seconds"));
  EXPECT_THAT(refused(json::parse(request("a", {{"presett", "smoke"}}))), HasSubstr("'presett'"));
  EXPECT_THAT(refused(json::parse(request("a", {{"task_file", "kbench_task: 1\n"}}))),
              HasSubstr("task_file"));
  EXPECT_THAT(refused(json::array()), HasSubstr("not a JSON object"));
}

TEST(HttpService, KnowsAuthorsByTheirTokens) {
  RunningService service(with_tokens());
  service.gate.open();
  auto stranger = service.client(), guesser = service.client("not-a-token-of-anybody");
  for (auto* client : {&stranger, &guesser}) {
    const auto answer = client->Post("/v1/evaluate", request("a"), kJsonType);
    EXPECT_EQ(answer->status, 401);
    EXPECT_EQ(answer->get_header_value("WWW-Authenticate"), "Bearer");
    EXPECT_EQ(client->Get("/metrics")->status, 401);
    EXPECT_EQ(client->Get("/healthz")->status, 200);
  }
  auto alice = service.client(kAlice), bob = service.client(kBob);
  const auto answer = alice.Post("/v1/evaluate", request("a"), kJsonType);
  EXPECT_EQ(answer->status, 200);
  const std::string place = answer->get_header_value("Location");
  EXPECT_EQ(alice.Get(place)->status, 200);
  EXPECT_EQ(bob.Get(place)->status, 404);
  EXPECT_EQ(bob.Delete(place)->status, 404);
  bob.Post("/v1/evaluate", request("b", {{"author", "model-1"}}), kJsonType);
  const auto asked = service.asked.list();
  ASSERT_EQ(asked.size(), 2u);
  EXPECT_EQ(asked[0].second.question.candidate.author, "alice");
  EXPECT_EQ(asked[1].second.question.candidate.author, "bob/model-1");
}

TEST(HttpService, SeparatesTheKeysOfAuthors) {
  RunningService service(with_tokens());
  service.gate.open();
  auto alice = service.client(kAlice), bob = service.client(kBob);
  const httplib::Headers key = {{"Idempotency-Key", "1"}};
  EXPECT_EQ(alice.Post("/v1/evaluate", key, request("a"), kJsonType)->status, 200);
  EXPECT_EQ(bob.Post("/v1/evaluate", key, request("b"), kJsonType)->status, 200);
  EXPECT_EQ(service.asked.list().size(), 2u);
}

TEST(HttpService, ListensBeyondThisMachineWithTokensAlone) {
  ServiceOptions open;
  open.address = address_from_text("0.0.0.0:0");
  EXPECT_THROW(RunningService{std::move(open)}, Error);
  ServiceOptions guarded = with_tokens();
  guarded.address = address_from_text("0.0.0.0:0");
  RunningService service(std::move(guarded));
  EXPECT_EQ(service.client(kAlice).Get("/v1/tasks")->status, 200);
}

TEST(HttpService, SharesItsPortWithNoOther) {
  RunningService service;
  ServiceOptions options;
  options.address.port = service.port();
  const Error e = error_of([&] { RunningService other(std::move(options)); });
  EXPECT_EQ(e.code(), ErrorCode::kIo);
  EXPECT_THAT(e.what(), HasSubstr("cannot listen at 127.0.0.1:"));
}

TEST(HttpService, IsNotForPagesInABrowser) {
  RunningService service;
  auto client = service.client();
  EXPECT_EQ(client.Get("/v1/tasks", {{"Host", "example.org"}})->status, 403);
  EXPECT_EQ(client.Get("/v1/tasks", {{"Host", "localhost:8000"}})->status, 200);
  EXPECT_EQ(client.Post("/v1/evaluate", request("a"), "text/plain")->status, 415);
}

TEST(HttpService, RefusesLongAndSlowBodies) {
  ServiceOptions options;
  options.most_body_bytes = 10000;
  options.body_seconds = 3;
  RunningService service(std::move(options));
  auto client = service.client();
  EXPECT_EQ(client.Post("/v1/evaluate", std::string(20000, ' '), kJsonType)->status, 413);
  const auto chunked = client.Post(
      "/v1/evaluate",
      [](size_t offset, httplib::DataSink& sink) {
        if (offset > 20000) sink.done();
        return offset > 20000 || sink.write(std::string(1000, ' ').data(), 1000);
      },
      kJsonType);
  ASSERT_TRUE(chunked);
  EXPECT_EQ(chunked->status, 413);

  const UniqueFd slow = connected(service);
  send_text(slow, head("/v1/evaluate", 1000));
  std::jthread drip([&](const std::stop_token& stop) {
    while (!stop.stop_requested()) {
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
      if (::send(slow.get(), " ", 1, MSG_NOSIGNAL) != 1) return;
    }
  });
  EXPECT_THAT(read_all(slow), HasSubstr("408"));
}

TEST(HttpService, AnswersWhatIsNoRequestWithAnError) {
  RunningService service;
  auto client = service.client();
  for (const auto& answer : {client.Get("/v1/nothing"), client.Post("/v1/nothing", "{}", kJsonType),
                             client.Delete("/v1/experiments/0"),
                             client.Get("/v1/experiments/" + std::string(32, '0'))}) {
    EXPECT_EQ(answer->status, 404);
    EXPECT_TRUE(body_of(answer).contains("error"));
  }
  const UniqueFd socket = connected(service);
  send_text(socket, "no http at all\r\n\r\n");
  EXPECT_THAT(read_all(socket), HasSubstr("400"));
}

TEST(HttpService, EndsOnceItsExperimentsHave) {
  RunningService service;
  auto client = service.client();
  const std::string place =
      client.Post("/v1/evaluate", kAsync, request("a"), kJsonType)->get_header_value("Location");
  service.gate.wait_for(1);
  service.stop();
  while (client.Get("/healthz")->status != 503) {
  }
  const auto refused = client.Post("/v1/evaluate", request("b"), kJsonType);
  EXPECT_EQ(refused->status, 503);
  EXPECT_NE(refused->get_header_value("Retry-After"), "");
  service.gate.open();
  EXPECT_EQ(body_of(client.Get(place + "?wait=10"))["state"], "done");
  service.join();
}

TEST(HttpService, CancelsTheRestWhenItHasToEndAtOnce) {
  RunningService service;
  auto client = service.client();
  client.Post("/v1/evaluate", kAsync, request("a"), kJsonType);
  service.gate.wait_for(1);
  const std::string body = request("c") + "\n" + request("d") + "\n";
  const UniqueFd one = connected(service), batch = connected(service);
  send_text(one, head("/v1/evaluate", request("b").size()) + request("b"));
  send_text(batch, head("/v1/evaluate/batch", body.size()) + body);
  while (client.Get("/metrics")->body.find("kbench_experiments_waiting 3\n") == std::string::npos) {
  }
  service.stop();
  service.stop_at_once();
  EXPECT_THAT(read_all(one), HasSubstr("\"state\": \"cancelled\""));
  const std::string lines = read_all(batch);
  EXPECT_NE(lines.find("\"cancelled\""), lines.rfind("\"cancelled\"")) << lines;
  EXPECT_THAT(lines, ::testing::EndsWith("0\r\n\r\n"));
  service.join();
}

TEST(HttpService, EndsAtAnyMomentFromItsStartOn) {
  Pool pool({});
  for (int i = 0; i < 120; ++i) {
    ServiceOptions options;
    options.most_connections = 2;
    Service service(pool, {}, std::move(options));
    std::stop_source stop;
    if (i % 3 == 0) stop.request_stop();
    std::jthread running([&] { service.run(stop.get_token()); });
    if (i % 3 == 1) std::this_thread::sleep_for(std::chrono::microseconds(20 * i));
    stop.request_stop();
  }
}

TEST(HttpService, EndsWhateverItsClientsDo) {
  ServiceOptions options;
  options.most_connections = 3;
  RunningService service(std::move(options));
  // One says nothing, one stops in its head, one in its body, and more wait to be accepted.
  const UniqueFd nothing = connected(service), in_head = connected(service),
                 in_body = connected(service), waits = connected(service);
  send_text(in_head, "POST /v1/evaluate HTT");
  send_text(in_body, head("/v1/evaluate", 1000) + "{");
  service.stop();
  service.join();
  for (const UniqueFd* each : {&nothing, &in_head, &waits}) EXPECT_EQ(read_all(*each), "");
}

TEST(HttpService, KeepsOutcomesForAWhile) {
  ServiceOptions options;
  options.experiments.keep_bytes = 3000;  // of which an outcome has about 900
  RunningService service(std::move(options));
  service.gate.open();
  auto client = service.client();
  std::vector<std::string> places;
  for (int i = 0; i < 10; ++i) {
    places.push_back(
        client.Post("/v1/evaluate", request("a"), kJsonType)->get_header_value("Location"));
  }
  EXPECT_EQ(client.Get(places.front())->status, 404);
  EXPECT_EQ(client.Get(places.back())->status, 200);
}

size_t resident_bytes() {
  std::ifstream file("/proc/self/statm");
  size_t all = 0, resident = 0;
  file >> all >> resident;
  return resident * static_cast<size_t>(sysconf(_SC_PAGESIZE));
}

TEST(HttpService, GrowsByNothingButTheOutcomesThatItKeeps) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "a sanitizer keeps memory of its own";
#endif
  ServiceOptions options;
  options.experiments.keep_bytes = size_t{1} << 20;
  RunningService service(std::move(options));
  service.gate.open();
  mallopt(M_ARENA_MAX, 2);  // as kbench serve does
  const auto send = [&service](int count) {
    std::vector<std::jthread> clients;
    for (int i = 0; i < 16; ++i) {
      clients.emplace_back([&service, count] {
        auto client = service.client();
        for (int k = 0; k < count; ++k) {
          client.Post("/v1/evaluate", request("a"), kJsonType);
          client.Post("/v1/evaluate", std::string(size_t{1} << 20, 'x'), kJsonType);
        }
      });
    }
  };
  send(100);
  const size_t before = resident_bytes();
  send(100);
  // 1,600 of each. What its judges were asked the test keeps itself, with 2 KiB each.
  EXPECT_LT(resident_bytes(), before + (size_t{32} << 20));
}

TEST(HttpService, CountsForPrometheus) {
  RunningService service;
  auto client = service.client();
  client.Post("/v1/evaluate", kAsync, request("a"), kJsonType);
  client.Post("/v1/evaluate", kAsync, request("b"), kJsonType);
  service.gate.wait_for(1);
  EXPECT_THAT(client.Get("/metrics")->body, HasSubstr("\nkbench_experiments_waiting 1\n"));
  EXPECT_THAT(client.Get("/metrics")->body, HasSubstr("\nkbench_experiments_running 1\n"));
  service.gate.open();
  client.Post("/v1/evaluate", request("c"), kJsonType);
  const std::string text = client.Get("/metrics")->body;
  EXPECT_THAT(text, HasSubstr("\nkbench_experiments_total{outcome=\"passed\"} 3\n"));
  EXPECT_THAT(text, HasSubstr("\nkbench_http_responses_total{status=\"202\"} 2\n"));
  EXPECT_THAT(text, HasSubstr("# TYPE kbench_judges_restarted_total counter\n"));
}

TEST(HttpService, ListsTasksAndDevices) {
  RunningService service;
  auto client = service.client();
  EXPECT_EQ(body_of(client.Get("/v1/tasks"))["tasks"].size(), 250u);
  EXPECT_EQ(body_of(client.Get("/v1/devices"))["devices"][0]["name"], "Fake");
  EXPECT_EQ(body_of(client.Get("/openapi.json"))["openapi"], "3.1.0");
}

}  // namespace
}  // namespace kbench::http
