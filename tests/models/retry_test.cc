// What is tried again, when, and what is not.
#include <atomic>
#include <nlohmann/json.hpp>
#include <thread>

#include "tests/models/asked.h"

namespace kbench::testing {
namespace {
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using Kind = ModelEvent::Kind;
using Reach = ModelError::Reach;

const Line kGood = {.body = chat_body("x")};

TEST(Retry, WhatMayPass) {
  for (const int status : {408, 409, 425, 429, 500, 502, 503, 504, 529}) {
    ScriptedServer server({{.status = status, .body = error_body("busy")}, kGood});
    Asked asked(server.url());
    EXPECT_EQ(asked.ask().tries, 2) << status;
    EXPECT_THAT(asked.sleeps(), ElementsAre(0.5));  // half of a second
    EXPECT_EQ(asked.events(Kind::retry).at(0).status, status);
  }
}

TEST(Retry, SixTriesThatBackOff) {
  ScriptedServer server({{.status = 500, .body = error_body("one")},
                         {.status = 502, .body = error_body("two")},
                         {.status = 503}});
  Asked asked(server.url());
  asked.uniform = 1;
  const auto error = asked.error();
  ASSERT_TRUE(error);
  EXPECT_EQ(error->reach(), Reach::request);
  EXPECT_THAT(error->what(), HasSubstr("model 'coder' at http://127.0.0.1:"));
  EXPECT_THAT(error->what(), HasSubstr("503"));
  EXPECT_THAT(error->what(), HasSubstr("(after 6 tries)"));
  EXPECT_EQ(server.count(), 6u);
  EXPECT_THAT(asked.sleeps(), ElementsAre(1, 2, 4, 8, 16));
  EXPECT_THAT(asked.events(Kind::retry), SizeIs(4));
  EXPECT_THAT(asked.events(Kind::wait), SizeIs(1));  // the one of 16 s
  EXPECT_THAT(asked.events(Kind::given_up), SizeIs(1));
  // The request is lost, the model is not.
  EXPECT_TRUE(asked.error());
  EXPECT_EQ(server.count(), 12u);
}

TEST(Retry, WaitsAsLongAsTheServerSaysOrLonger) {
  const std::pair<Line, double> cases[] = {
      {{.status = 429, .body = error_body("slow"), .headers = {{"Retry-After", "42"}}}, 42},
      {{.status = 503, .headers = {{"Retry-After", "Sun, 09 Sep 2001 01:47:10 GMT"}}}, 30},
      {{.status = 429, .headers = {{"Retry-After", "0"}}}, 0.5}};  // backing off takes longer
  for (const auto& [line, seconds] : cases) {
    ScriptedServer server({line, kGood});
    Asked asked(server.url());
    asked.ask();
    EXPECT_THAT(asked.sleeps(), ElementsAre(seconds));
    if (seconds < 10) continue;
    ASSERT_THAT(asked.events(Kind::wait), SizeIs(1));
    EXPECT_EQ(asked.events(Kind::wait)[0].seconds, seconds);
    EXPECT_EQ(asked.events(Kind::wait)[0].purpose, "level1/19 s1 a1");
  }
}

TEST(Retry, AWaitBeyondTheLimitIsNotBegun) {
  ScriptedServer server({{.status = 429, .headers = {{"Retry-After", "86400"}}}});
  Asked asked(server.url());
  const auto error = asked.error();
  ASSERT_TRUE(error);
  EXPECT_EQ(error->reach(), Reach::request);
  EXPECT_THAT(error->what(), HasSubstr("later than 900 s after the first"));
  EXPECT_THAT(asked.sleeps(), IsEmpty());
}

TEST(Retry, WhatEndsTheModel) {
  for (const int status : {401, 402, 403, 404}) {
    ScriptedServer server({{.status = status, .body = error_body("no")}, kGood});
    Asked asked(server.url());
    auto error = asked.error();
    ASSERT_TRUE(error) << status;
    EXPECT_EQ(error->reach(), Reach::model);
    // Nothing is sent from then on.
    error = asked.error();
    ASSERT_TRUE(error);
    EXPECT_EQ(error->reach(), Reach::model);
    EXPECT_EQ(server.count(), 1u);
    EXPECT_THAT(asked.events(), SizeIs(1));
  }
}

TEST(Retry, FiveLikeAnswersWhileOthersSucceed) {
  // The request that says "poison" always fails; others are answered.
  ScriptedServer server(ScriptedServer::Answering([](const Seen& seen, size_t) {
    if (seen.body.find("poison") == seen.body.npos) return kGood;
    return Line{.status = 500, .body = error_body("crashed")};
  }));
  Asked asked(server.url(), {.tries = 100});
  ModelHooks hooks = asked.hooks();
  OpenAiModel* model = nullptr;
  bool inside = false;
  hooks.sleep = [&](double, std::stop_token) {
    if (!std::exchange(inside, true)) model->ask({.messages = {{Role::user, "fine"}}}, {});
  };
  OpenAiModel here(asked.model().config(), hooks);
  model = &here;
  try {
    here.ask({.messages = {{Role::user, "poison"}}}, {});
    FAIL() << "it was answered";
  } catch (const ModelError& e) {
    EXPECT_EQ(e.reach(), Reach::request);
    EXPECT_THAT(e.what(), HasSubstr("5 times, while other requests succeed"));
  }
  EXPECT_EQ(server.count(), 6u);  // five, and the one that succeeded
}

TEST(Retry, LikeAnswersCountOnlyWhileOthersSucceed) {
  ScriptedServer server({{.status = 500, .body = error_body("crashed")}});
  Asked asked(server.url(), {.tries = 9});
  EXPECT_TRUE(asked.error());
  EXPECT_EQ(server.count(), 9u);
}

TEST(Retry, ConnectionsHalveAndGrowAgain) {
  std::vector<Line> script(1, {.status = 429});
  script.resize(40, kGood);
  ScriptedServer server(script);
  Asked asked(server.url(), {.connections = 8});
  EXPECT_EQ(asked.model().connections(), 8);
  asked.ask();
  EXPECT_EQ(asked.model().connections(), 4);
  for (int i = 0; i < 3; ++i) asked.ask();  // the fourth of a clean round; the retry was the first
  EXPECT_EQ(asked.model().connections(), 5);
  for (int i = 0; i < 5; ++i) asked.ask();
  EXPECT_EQ(asked.model().connections(), 6);
  EXPECT_THAT(asked.events(Kind::connections), SizeIs(3));
  EXPECT_EQ(asked.events(Kind::connections)[0].text, "at most 4 requests at once");
}

TEST(Retry, NoMoreRequestsAtOnceThanAllowed) {
  std::atomic<int> now = 0, most = 0;
  ScriptedServer server(ScriptedServer::Answering([&](const Seen&, size_t) {
    const int here = ++now;
    for (int seen = most; here > seen && !most.compare_exchange_weak(seen, here);) {
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(3));
    --now;
    return kGood;
  }));
  Asked asked(server.url(), {.connections = 3});
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < 12; ++i) threads.emplace_back([&] { asked.ask(); });
  }
  EXPECT_EQ(server.count(), 12u);
  EXPECT_LE(most, 3);
  EXPECT_GE(most, 2);
}

TEST(Retry, EventsAreLinesOfJson) {
  const ModelEvent event{Kind::wait, "coder", "level1/19 s1 a1", "429: slow \"down\"", 42, 429};
  EXPECT_EQ(to_json(event),
            R"({"event":"wait","model":"coder","purpose":"level1/19 s1 a1","text":"429: slow )"
            R"(\"down\"","seconds":42.0,"status":429})");
}

TEST(Retry, MessagesFromServersAreEscaped) {
  ScriptedServer server({{.status = 400, .body = error_body("\x1b[31mred\nline")}});
  Asked asked(server.url());
  const auto error = asked.error();
  ASSERT_TRUE(error);
  EXPECT_THAT(error->what(), HasSubstr("\\x1b[31mred\\x0aline"));
}

}  // namespace
}  // namespace kbench::testing
