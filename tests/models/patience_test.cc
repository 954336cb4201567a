#include "harness/evaluate/models/patience.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kbench::models {
namespace {

using ::testing::DoubleNear;
using ::testing::Optional;

constexpr int64_t kNow = 1000000000;  // 2001-09-09 01:46:40 UTC

TEST(Patience, Durations) {
  const std::pair<const char*, double> cases[] = {
      {"30", 30},    {"0", 0},     {"1.5", 1.5},  {"500ms", 0.5}, {"1m30s", 90},  {" 12 ", 12},
      {"6m0s", 360}, {"2h", 7200}, {"1d", 86400}, {"1.2s", 1.2},  {"20ms", 0.02}, {"1h2m3s", 3723}};
  for (const auto& [text, seconds] : cases) {
    EXPECT_THAT(duration(text), Optional(DoubleNear(seconds, 1e-9))) << text;
  }
  for (const char* text : {"", " ", "-1", "1x", "s", "1 s", "inf", "nan", "1e3", "30 60", "Wed"}) {
    EXPECT_FALSE(duration(text)) << text;
  }
}

TEST(Patience, RetryAfterInBothForms) {
  EXPECT_THAT(requested_wait({{"retry-after", "7"}}, kNow), Optional(7));
  EXPECT_THAT(requested_wait({{"retry-after", "Sun, 09 Sep 2001 01:48:10 GMT"}}, kNow),
              Optional(90));
  EXPECT_THAT(requested_wait({{"retry-after", "Sun, 09 Sep 2001 01:40:00 GMT"}}, kNow),
              Optional(0));
  EXPECT_THAT(requested_wait({{"retry-after-ms", "250"}, {"retry-after", "7"}}, kNow),
              Optional(0.25));
  EXPECT_FALSE(requested_wait({{"retry-after", "soon"}}, kNow));
  EXPECT_FALSE(requested_wait({}, kNow));
}

TEST(Patience, RateLimits) {
  EXPECT_THAT(
      requested_wait(
          {{"x-ratelimit-reset-requests", "500ms"}, {"x-ratelimit-reset-tokens", "1m30s"}}, kNow),
      Optional(90));
  // A limit with room left is not what was run into.
  EXPECT_THAT(requested_wait({{"x-ratelimit-remaining-requests", "0"},
                              {"x-ratelimit-remaining-tokens", "9000"},
                              {"x-ratelimit-reset-requests", "500ms"},
                              {"x-ratelimit-reset-tokens", "6m0s"}},
                             kNow),
              Optional(0.5));
  EXPECT_THAT(requested_wait({{"retry-after", "3"}, {"x-ratelimit-reset-tokens", "6m"}}, kNow),
              Optional(3));
  // Instants, in seconds and milliseconds.
  EXPECT_THAT(requested_wait({{"x-ratelimit-reset", "1000000012"}}, kNow), Optional(12));
  EXPECT_THAT(requested_wait({{"x-ratelimit-reset", "1000000012500"}}, kNow), Optional(12.5));
}

TEST(Patience, BackoffDoublesUpToAMinute) {
  EXPECT_EQ(backoff(2, 1), 1);
  EXPECT_EQ(backoff(3, 1), 2);
  EXPECT_EQ(backoff(7, 1), 32);
  EXPECT_EQ(backoff(8, 1), 60);
  EXPECT_EQ(backoff(100000, 1), 60);
  EXPECT_EQ(backoff(5, 0.25), 2);
  EXPECT_EQ(backoff(5, 0), 0);  // full jitter
}

}  // namespace
}  // namespace kbench::models
