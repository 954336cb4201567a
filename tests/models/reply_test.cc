// Bodies of replies, one document or a stream, in pieces of any size.
#include "harness/evaluate/models/reply.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>

#include "tests/models/scripted_server.h"

namespace kbench::models {
namespace {

using testing::chat_body;
using testing::delta;
using ::testing::ElementsAre;
using testing::event;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

/// The events of a stream that comes in pieces of this size.
std::vector<std::string> events_of(std::string_view stream, size_t piece, bool finish = true) {
  std::vector<std::string> events;
  ServerEvents reader(1 << 20, [&](std::string_view data) { events.emplace_back(data); });
  for (size_t at = 0; at < stream.size(); at += piece) {
    EXPECT_TRUE(reader.feed(stream.substr(at, piece)));
  }
  if (finish) reader.finish();
  return events;
}

TEST(ServerEvents, AreTheSameHoweverTheStreamIsCut) {
  const std::string stream =
      "\xef\xbb\xbf: a comment\n\ndata: one\n\nevent: x\ndata:two\nid: 3\n\n"
      "data: a\r\ndata: b\r\n\r\n:\rdata: gr\xc3\xbc\xc3\x9f\r\rretry: 5\ndata\n\n";
  for (size_t piece = 1; piece <= stream.size(); ++piece) {
    EXPECT_THAT(events_of(stream, piece),
                ElementsAre("one", "two", "a\nb", "gr\xc3\xbc\xc3\x9f", ""))
        << piece;
  }
}

TEST(ServerEvents, TheLastMayLackItsBlankLine) {
  EXPECT_THAT(events_of("data: a\n\ndata: b", 3), ElementsAre("a", "b"));
  EXPECT_THAT(events_of("data: a\n\ndata: b", 3, /*finish=*/false), ElementsAre("a"));
}

TEST(ServerEvents, CommentsKeepAStreamAlive) {
  EXPECT_THAT(events_of(": ping\n\n: ping\n\n\n\n", 4), IsEmpty());
}

TEST(ServerEvents, AreOfLimitedLength) {
  size_t events = 0;
  ServerEvents reader(100, [&](std::string_view) { ++events; });
  EXPECT_TRUE(reader.feed("data: " + std::string(90, 'x')));
  EXPECT_FALSE(reader.feed(std::string(90, 'x')));
  ServerEvents lines(100, [&](std::string_view) { ++events; });
  bool within = true;
  for (int i = 0; i < 10 && within; ++i)
    within = lines.feed("data: " + std::string(50, 'x') + "\n");
  EXPECT_FALSE(within);
  EXPECT_EQ(events, 0u);
}

std::unique_ptr<Reply> read(const std::string& body, size_t piece = 1 << 20, bool cut = false,
                            int status = 200) {
  auto reply = std::make_unique<Reply>(status);
  for (size_t at = 0; at < body.size(); at += piece) {
    if (!reply->feed(std::string_view(body).substr(at, piece))) break;
  }
  reply->finish(cut);
  return reply;
}

TEST(Reply, OneDocument) {
  const auto reply = read(R"({"id":"x","model":"served-1","system_fingerprint":"fp","choices":[
      {"index":0,"message":{"role":"assistant","content":"text","reasoning_content":"why"},
       "finish_reason":"stop","logprobs":null}],
      "usage":{"prompt_tokens":10,"completion_tokens":20,"total_tokens":30,
               "prompt_tokens_details":{"cached_tokens":4},
               "completion_tokens_details":{"reasoning_tokens":5}}})");
  ASSERT_TRUE(reply->choice);
  EXPECT_EQ(reply->choice->text, "text");
  EXPECT_EQ(reply->choice->reasoning, "why");
  EXPECT_EQ(reply->choice->finish, "stop");
  EXPECT_EQ(reply->served_by, "served-1");
  EXPECT_EQ(reply->fingerprint, "fp");
  EXPECT_EQ(reply->usage.input, 10);
  EXPECT_EQ(reply->usage.cached, 4);
  EXPECT_EQ(reply->usage.output, 20);
  EXPECT_EQ(reply->usage.reasoning, 5);
  EXPECT_THAT(reply->broken, IsEmpty());
}

TEST(Reply, UsageThatIsMissingOrNoCountIsUnset) {
  EXPECT_FALSE(read(chat_body("x"))->usage.input);
  const auto reply = read(R"({"choices":[{"message":{"content":"x"}}],"usage":{"prompt_tokens":-3,
      "completion_tokens":2.5,"prompt_tokens_details":null}})");
  EXPECT_FALSE(reply->usage.input);
  EXPECT_FALSE(reply->usage.output);
  EXPECT_FALSE(reply->usage.cached);
  EXPECT_FALSE(reply->usage.reasoning);
  EXPECT_FALSE(read(R"({"choices":[{"text":"x"}],"usage":null})")->usage.input);
}

TEST(Reply, AStreamInPiecesOfAnySize) {
  const std::string body =
      ": keep-alive\n\n" + event(R"({"choices":[{"index":0,"delta":{"role":"assistant"}}]})") +
      event(R"({"choices":[{"index":0,"delta":{"reasoning":"hm"}}]})") + delta("gr\xc3\xbc") +
      ": keep-alive\n\n" + delta("\xc3\x9f \xf0\x9f\x98\x80") + delta("", "stop") +
      event(R"({"choices":[],"usage":{"prompt_tokens":3,"completion_tokens":4}})") +
      event("[DONE]");
  for (size_t piece = 1; piece <= body.size(); ++piece) {
    const auto reply = read(body, piece);
    ASSERT_TRUE(reply->choice) << piece;
    EXPECT_EQ(reply->choice->text, "gr\xc3\xbc\xc3\x9f \xf0\x9f\x98\x80");
    EXPECT_EQ(reply->choice->reasoning, "hm");
    EXPECT_EQ(reply->choice->finish, "stop");
    EXPECT_EQ(reply->usage.input, 3);
    EXPECT_EQ(reply->usage.output, 4);
    EXPECT_THAT(reply->broken, IsEmpty());
  }
}

TEST(Reply, BothNamesOfThoughts) {
  for (const std::string name : {"reasoning", "reasoning_content"}) {
    const auto reply = read(R"({"choices":[{"message":{"content":null,")" + name +
                            R"(":"why"},"finish_reason":"length"}]})");
    EXPECT_EQ(reply->choice->reasoning, "why");
    EXPECT_EQ(reply->choice->text, "");
  }
  // Servers that send both mean one.
  EXPECT_EQ(read(R"({"choices":[{"message":{"reasoning":"why","reasoning_content":"why"}}]})")
                ->choice->reasoning,
            "why");
}

TEST(Reply, ContentInParts) {
  const auto reply = read(R"({"choices":[{"message":{"content":[
      {"type":"thinking","thinking":[{"type":"text","text":"hm"}]},
      {"type":"text","text":"a"},{"type":"text","text":"b"}]}}]})");
  EXPECT_EQ(reply->choice->text, "ab");
  EXPECT_EQ(reply->choice->reasoning, "hm");
}

TEST(Reply, OnlyTheAnswerAskedForCounts) {
  const auto reply =
      read(event(R"({"choices":[{"index":1,"delta":{"content":"b"}}]})") + delta("a", "stop"));
  EXPECT_EQ(reply->choice->text, "a");
}

TEST(Reply, AStreamThatEndsEarlyIsBroken) {
  EXPECT_THAT(read(delta("a"))->broken, HasSubstr("without a finish_reason"));
  EXPECT_THAT(read(delta("a") + event("[DONE]"))->broken, HasSubstr("without a finish_reason"));
  EXPECT_THAT(read(delta("a"), 9, /*cut=*/true)->broken, HasSubstr("broke off"));
  EXPECT_THAT(read(": ping\n\n")->broken, HasSubstr("holds no answer"));
  EXPECT_THAT(read("")->broken, HasSubstr("empty"));
  // All there; only the token counts are lost.
  EXPECT_THAT(read(delta("a", "stop"), 9, /*cut=*/true)->broken, IsEmpty());
}

TEST(Reply, AnErrorInAStream) {
  const auto reply = read(delta("a") + event(R"({"error":{"message":"slot lost","code":503}})") +
                          delta("b", "stop"));
  ASSERT_TRUE(reply->error);
  EXPECT_EQ(reply->error->status, 503);
  EXPECT_EQ(reply->error->message, "slot lost");
}

TEST(Reply, MalformedBodies) {
  EXPECT_THAT(read("{\"choices\": [")->broken, HasSubstr("not JSON"));
  EXPECT_THAT(read(delta("a") + event("{\"choices\":") + delta("", "stop"))->broken,
              HasSubstr("not JSON"));
  EXPECT_THAT(read("{}")->broken, HasSubstr("no answer"));
  EXPECT_THAT(read("{\"choices\":{}}")->broken, HasSubstr("no answer"));
  EXPECT_THAT(read("<html>\x1b[1m")->broken, HasSubstr("'<html>\\x1b[1m'"));
  for (const char* odd : {"{\"choices\":[null]}", "{\"choices\":[{\"index\":-1,\"message\":[]}]}",
                          "{\"choices\":[{\"message\":{\"content\":{\"a\":1}}}],\"model\":5}"}) {
    EXPECT_TRUE(read(odd)->choice) << odd;
  }
}

TEST(Reply, IsOfLimitedSize) {
  EXPECT_TRUE(read("{\"a\":\"" + std::string(kReplyBytes, 'x'))->too_large);
  EXPECT_TRUE(read(std::string(kReplyBytes + 1, ' '))->too_large);
  EXPECT_TRUE(read("data: " + std::string(kReplyBytes + 1, 'x'))->too_large);
  std::string stream;
  const std::string piece = delta(std::string(1 << 20, 'x'));
  for (int i = 0; i < 17; ++i) stream += piece;
  EXPECT_TRUE(read(stream + delta("", "stop"))->too_large);
  // An error's body is cut, not refused.
  const auto error = read(std::string(1 << 20, 'x'), 4096, false, 500);
  EXPECT_FALSE(error->too_large);
  EXPECT_EQ(error->error->status, 500);
}

}  // namespace
}  // namespace kbench::models
