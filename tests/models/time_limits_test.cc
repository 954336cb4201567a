// Servers that take too long, and requests that are cancelled.
#include <chrono>
#include <thread>

#include "tests/models/asked.h"

namespace kbench::testing {
namespace {

using ::testing::HasSubstr;

const Line kAnswer = {.body = chat_body("x")};
const Line kSilent = {.hold_head = true};
const Line kStalled = {
    .type = "text/event-stream", .pieces = {delta("half")}, .end = Line::End::hold};

constexpr double kSoon = 30;  // On a busy machine; without an end it would be minutes.

TEST(TimeLimits, FirstByte) {
  ScriptedServer server({kSilent, kAnswer});
  Asked asked(server.url(), {.first_timeout = 1});
  EXPECT_EQ(asked.ask().tries, 2);
  EXPECT_THAT(asked.events().at(0).text, HasSubstr("more than 1 s to the first byte"));
}

TEST(TimeLimits, Silence) {
  ScriptedServer server({kStalled, kAnswer});
  Asked asked(server.url(), {.silence_timeout = 1});
  EXPECT_EQ(asked.ask().tries, 2);
  EXPECT_THAT(asked.events().at(0).text, HasSubstr("more than 1 s of silence"));
}

TEST(TimeLimits, Total) {
  ScriptedServer server({kStalled, kAnswer});
  Asked asked(server.url(), {.total_timeout = 1});
  EXPECT_EQ(asked.ask().tries, 2);
  EXPECT_THAT(asked.events().at(0).text, HasSubstr("Timeout was reached"));
}

TEST(TimeLimits, WithoutAStreamOnlyTheTotal) {
  ScriptedServer server(ScriptedServer::Answering([](const Seen&, size_t) {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    return kAnswer;
  }));
  Asked asked(server.url(), {.stream = false, .first_timeout = 0.001, .silence_timeout = 0.001});
  EXPECT_EQ(asked.ask().tries, 1);
}

TEST(TimeLimits, NobodyThere) {
  std::string url;
  {
    ScriptedServer server({kAnswer});
    url = server.url();
  }
  Asked asked(url, {.tries = 2});
  const auto error = asked.error();
  ASSERT_TRUE(error);
  EXPECT_EQ(error->reach(), ModelError::Reach::request);
  EXPECT_THAT(error->what(), HasSubstr("connect"));
}

/// Cancels a request that the server has received; returns how many seconds it still takes.
double seconds_to_stop(OpenAiModel& model, const ScriptedServer& server) {
  std::chrono::steady_clock::time_point asked;
  std::jthread request([&](std::stop_token stop) {
    EXPECT_THROW(model.ask({.messages = {{Role::user, "u"}}}, stop), ModelError);
  });
  constexpr std::chrono::milliseconds kMoment(20);
  while (server.count() == 0) std::this_thread::sleep_for(kMoment);
  std::this_thread::sleep_for(kMoment);
  asked = std::chrono::steady_clock::now();
  request.request_stop();
  request.join();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - asked).count();
}

TEST(TimeLimits, ACancelledRequestEndsAtOnce) {
  for (const Line& line : {kSilent, kStalled}) {
    ScriptedServer server({line});
    Asked asked(server.url());
    EXPECT_LT(seconds_to_stop(asked.model(), server), kSoon);
  }
}

TEST(TimeLimits, ACancelledWaitEndsAtOnce) {
  ScriptedServer server({{.status = 429, .headers = {{"Retry-After", "600"}}}});
  ModelConfig config;
  config.name = "coder";
  config.model = "m";
  config.url = server.url();
  OpenAiModel model(config);  // with real clocks
  EXPECT_LT(seconds_to_stop(model, server), kSoon);
  EXPECT_EQ(server.count(), 1u);
}

TEST(TimeLimits, ARequestInTheQueueIsCancelledToo) {
  ScriptedServer server({kSilent});
  Asked asked(server.url(), {.connections = 1});
  std::jthread first([&](std::stop_token stop) {
    EXPECT_THROW(asked.model().ask({.messages = {{Role::user, "u"}}}, stop), ModelError);
  });
  while (server.count() == 0) std::this_thread::yield();
  EXPECT_LT(seconds_to_stop(asked.model(), server), kSoon);
  EXPECT_EQ(server.count(), 1u);
}

}  // namespace
}  // namespace kbench::testing
