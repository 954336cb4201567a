#include "harness/evaluate/models/server_events.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kbench::models {
namespace {

using ::testing::ElementsAre;
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

}  // namespace
}  // namespace kbench::models
