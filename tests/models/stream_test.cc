// Answers, streamed and whole.
#include <nlohmann/json.hpp>

#include "tests/models/asked.h"

namespace kbench::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

using Json = nlohmann::json;

TEST(Stream, IsTheDefault) {
  ScriptedServer good(
      {stream({": ping\n\n", "data: {\"model\":\"m-1\",\"system_fingerprint\":\"f\",",
               "\"choices\":[{\"delta\":{\"content\":\"gr\xc3",
               "\xbc\xc3\x9f\",\"reasoning_content\":\"why\"}}]}\r", "\n\r\n", delta("!", "stop"),
               event(R"({"choices":[],"usage":{"prompt_tokens":3,
                                     "completion_tokens":4}})"),
               event("[DONE]")})});
  Asked asked(good.url());
  const Answer answer = asked.ask();
  EXPECT_EQ(answer.text, "gr\xc3\xbc\xc3\x9f!");
  EXPECT_EQ(answer.reasoning, "why");
  EXPECT_EQ(answer.finish, "stop");
  EXPECT_EQ(answer.served_by, "served");  // the last word on it
  EXPECT_EQ(answer.fingerprint, "f");
  EXPECT_EQ(answer.usage.input, 3);
  EXPECT_EQ(answer.usage.output, 4);
  EXPECT_FALSE(answer.usage.cached);
  EXPECT_EQ(answer.tries, 1);

  const Json sent = Json::parse(good.seen().at(0).body);
  EXPECT_EQ(sent["stream"], true);
  EXPECT_EQ(sent["stream_options"]["include_usage"], true);
  EXPECT_EQ(good.seen().at(0).path, "/v1/chat/completions");
  EXPECT_EQ(good.seen().at(0).method, "POST");
  EXPECT_THAT(asked.events(), IsEmpty());
}

TEST(Stream, MayBeAnsweredInOnePieceAndSwitchedOff) {
  ScriptedServer server({{.body = chat_body("whole", "length")}});
  EXPECT_EQ(Asked(server.url()).ask().text, "whole") << "asked for, and answered in one piece";
  Asked asked(server.url(), {.stream = false});
  const Answer answer = asked.ask();
  EXPECT_EQ(answer.text, "whole");
  EXPECT_EQ(answer.finish, "length");
  EXPECT_FALSE(answer.usage.input);
  const Json sent = Json::parse(server.seen().at(1).body);
  EXPECT_FALSE(sent.contains("stream"));
  EXPECT_FALSE(sent.contains("stream_options"));
}

TEST(Stream, ThatIsNotWholeIsAskedForAgain) {
  const std::pair<Line, const char*> broken[] = {
      {stream({delta("half an ans")}), "without a finish_reason"},
      {stream({delta("half"), event("[DONE]")}), "without a finish_reason"},
      {{.type = "text/event-stream", .pieces = {delta("half")}, .end = Line::End::abrupt},
       "broke off"},
      {stream({delta("half"), event(error_body("slot lost", "server_error"))}), "slot lost"},
      {stream({delta("half"), event("{\"choices\": [")}), "not JSON"}};
  std::vector<Line> script;
  for (const auto& [line, message] : broken) script.push_back(line);
  script.push_back(stream({delta("whole", "stop")}));
  ScriptedServer server(script);
  Asked asked(server.url());
  const Answer answer = asked.ask();
  EXPECT_EQ(answer.text, "whole");
  EXPECT_EQ(answer.tries, 6);
  const std::vector<ModelEvent> events = asked.events();
  ASSERT_THAT(events, SizeIs(5));
  for (size_t i = 0; i < 5; ++i) EXPECT_THAT(events[i].text, HasSubstr(broken[i].second));
  EXPECT_EQ(events[3].status, 500);
}

TEST(Stream, ThatBreaksOffBehindItsEndIsWhole) {
  ScriptedServer server({{.type = "text/event-stream",
                          .pieces = {delta("whole", "stop")},
                          .end = Line::End::abrupt}});
  Asked asked(server.url());
  EXPECT_EQ(asked.ask().text, "whole");
  EXPECT_EQ(server.count(), 1u);
}

TEST(Stream, AServerThatStaysOnTheLineIsLeft) {
  ScriptedServer server({{.type = "text/event-stream",
                          .pieces = {delta("whole", "stop"), event("[DONE]")},
                          .end = Line::End::hold}});
  EXPECT_EQ(Asked(server.url()).ask().text, "whole");
}

TEST(Stream, ARefusalHasAFieldOfItsOwn) {
  ScriptedServer server({{.body = R"({"choices":[{"message":{"content":null,
      "refusal":"I can't help with that."},"finish_reason":"stop"}]})"}});
  const Answer answer = Asked(server.url()).ask();
  EXPECT_EQ(answer.finish, "refusal");
  EXPECT_EQ(answer.text, "I can't help with that.");
}

TEST(Stream, AContentFilterIsAnAnswer) {
  ScriptedServer server({stream({delta("half", "content_filter"), event("[DONE]")})});
  EXPECT_EQ(Asked(server.url()).ask().finish, "content_filter");
  ScriptedServer before({{.status = 400, .body = error_body("filtered", "content_filter")}});
  const Answer answer = Asked(before.url()).ask();
  EXPECT_EQ(answer.finish, "content_filter");
  EXPECT_EQ(answer.text, "");
  EXPECT_EQ(before.count(), 1u);
}

TEST(Stream, APromptThatIsTooLongIsAnAnswer) {
  ScriptedServer server({{.status = 400, .body = error_body("long", "context_length_exceeded")}});
  const Answer answer = Asked(server.url()).ask();
  EXPECT_EQ(answer.finish, "context_length");
  EXPECT_EQ(server.count(), 1u);
}

TEST(Stream, PlainCompletions) {
  ScriptedServer server(
      {stream({event(R"({"choices":[{"text":"a","finish_reason":null}]})"),
               event(R"({"choices":[{"text":"b","finish_reason":"stop"}]})"), event("[DONE]")})});
  Asked asked(server.url(), {.api = ModelApi::completions});
  const Answer answer =
      asked.ask({.messages = {{Role::system, "You write."}, {Role::user, "Write."}}});
  EXPECT_EQ(answer.text, "ab");
  EXPECT_EQ(server.seen().at(0).path, "/v1/completions");
  const Json sent = Json::parse(server.seen().at(0).body);
  EXPECT_EQ(sent["prompt"], "You write.\n\nWrite.");
  EXPECT_FALSE(sent.contains("messages"));
}

TEST(Stream, WhatAServerServes) {
  ScriptedServer server({{.body = R"({"object":"list","data":[{"id":"a/b"},{"id":"c"},{"x":1}]})"},
                         {.status = 404, .body = "nothing here"},
                         {.body = "[]"}});
  Asked asked(server.url());
  EXPECT_THAT(asked.model().served({}), ::testing::ElementsAre("a/b", "c"));
  EXPECT_EQ(server.seen().at(0).path, "/v1/models");
  EXPECT_EQ(server.seen().at(0).method, "GET");
  EXPECT_THROW(asked.model().served({}), ModelError);
  EXPECT_THROW(asked.model().served({}), ModelError);
}

}  // namespace
}  // namespace kbench::testing
