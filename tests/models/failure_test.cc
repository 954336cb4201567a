// The table of what is done about which error.
#include <gtest/gtest.h>

#include <ostream>

#include "harness/evaluate/models/reply.h"

namespace kbench::models {

void PrintTo(Remedy remedy, std::ostream* out) {
  const char* names[] = {"retry", "parameter", "too_long", "filtered", "request", "model"};
  *out << names[static_cast<int>(remedy)];
}

namespace {

const std::vector<std::string> kSent = {"temperature", "top_p", "max_tokens", "seed",
                                        "stream_options"};

Failure failure(int status, const std::string& body) {
  return understood(read_error(status, body), kSent);
}

TEST(Failure, ByStatus) {
  for (const int status : {408, 409, 425, 429, 500, 502, 503, 504, 529}) {
    EXPECT_EQ(failure(status, "").remedy, Remedy::retry) << status;
    EXPECT_EQ(failure(status, "").limited, status == 429 || status == 503 || status == 529);
  }
  for (const int status : {401, 402, 403, 404, 301, 302, 307, 308}) {
    EXPECT_EQ(failure(status, "").remedy, Remedy::model) << status;
  }
  for (const int status : {400, 405, 413, 415, 422, 501, 505}) {
    EXPECT_EQ(failure(status, "").remedy, Remedy::request) << status;
  }
}

TEST(Failure, ASpentQuotaNeverHeals) {
  EXPECT_EQ(failure(429, R"({"error":{"message":"You exceeded your current quota","type":
            "insufficient_quota","param":null,"code":"insufficient_quota"}})")
                .remedy,
            Remedy::model);
  EXPECT_EQ(failure(429, R"({"error":{"message":"Rate limit reached","type":"requests",
            "code":"rate_limit_exceeded"}})")
                .remedy,
            Remedy::retry);
}

TEST(Failure, PromptsThatAreTooLong) {
  for (const char* body :
       {R"({"error":{"message":"x","code":"context_length_exceeded"}})",
        R"({"error":{"code":400,"message":"the request exceeds the available context size",
            "type":"exceed_context_size_error"}})",
        R"({"object":"error","message":"This model's maximum context length is 4096 tokens.",
            "type":"BadRequestError","code":400})",
        R"({"error":{"message":"prompt is too long: 9 tokens > 8 maximum"}})"}) {
    EXPECT_EQ(failure(400, body).remedy, Remedy::too_long) << body;
  }
}

TEST(Failure, ContentFilters) {
  EXPECT_EQ(failure(400, R"({"error":{"message":"filtered","code":"content_filter",
            "innererror":{"code":"ResponsibleAIPolicyViolation"}}})")
                .remedy,
            Remedy::filtered);
}

TEST(Failure, RefusedParameters) {
  const std::pair<const char*, const char*> cases[] = {
      {R"({"error":{"message":"Unsupported parameter: 'max_tokens' is not supported with this model.
           Use 'max_completion_tokens' instead.","type":"invalid_request_error",
           "param":"max_tokens","code":"unsupported_parameter"}})",
       "max_tokens"},
      {R"({"error":{"message":"Unsupported value: 'temperature' does not support 0.2 with this
           model.","param":"temperature","code":"unsupported_value"}})",
       "temperature"},
      {R"({"detail":[{"loc":["body","seed"],"msg":"extra fields not permitted",
           "type":"value_error.extra"}]})",
       "seed"},
      {R"({"detail":[{"type":"extra_forbidden","loc":["body","stream_options"],
           "msg":"Extra inputs are not permitted","input":{}}]})",
       "stream_options"},
      {R"({"error":"unknown field top_p"})", "top_p"},
      {R"({"error":{"message":"`top_p` is deprecated for this model."}})", "top_p"}};
  for (const auto& [body, parameter] : cases) {
    for (const int status : {400, 422}) {
      const Failure found = failure(status, body);
      EXPECT_EQ(found.remedy, Remedy::parameter) << body;
      EXPECT_EQ(found.parameter, parameter);
    }
  }
}

TEST(Failure, OtherComplaintsOfParametersAreNotRefusals) {
  for (const char* body :
       {R"({"error":{"message":"max_tokens is too large: 99999","param":"max_tokens"}})",
        R"({"error":{"message":"unknown field max_tokens_x"}})",
        R"({"error":{"message":"unsupported image"}})"}) {
    EXPECT_EQ(failure(400, body).remedy, Remedy::request) << body;
  }
  // What was not sent cannot be left out.
  EXPECT_EQ(failure(400, R"({"error":{"message":"unknown field logit_bias"}})").remedy,
            Remedy::request);
}

TEST(Failure, InsideAReplyThatSeemedFine) {
  EXPECT_EQ(failure(0, R"({"error":{"message":"overloaded","code":502}})").remedy, Remedy::retry);
  EXPECT_EQ(failure(0, R"({"error":{"message":"no key","code":401}})").remedy, Remedy::model);
  EXPECT_EQ(failure(0, R"({"error":{"message":"broke","code":"server_error"}})").remedy,
            Remedy::retry);
  EXPECT_EQ(failure(0, R"({"error":"broke"})").remedy, Remedy::retry);
}

TEST(Failure, AnyBodyIsAnError) {
  for (const char* body :
       {"", "<html>502</html>", "[]", "null", "\"x\"", "{\"error\":[]}",
        "{\"error\":null,\"detail\":{}}", "\xff", "{\"error\":{\"code\":1e99}}"}) {
    const ServerError error = read_error(500, body);
    EXPECT_EQ(error.status, 500);
    EXPECT_EQ(understood(error, kSent).remedy, Remedy::retry) << body;
  }
}

TEST(Patience, IsWhatTheServerAsksForInAnyForm) {
  constexpr int64_t kNow = 1000000000;  // 2001-09-09 01:46:40 UTC
  const std::pair<Headers, std::optional<double>> cases[] = {
      {{{"retry-after", "7"}}, 7},
      {{{"retry-after", "1.5"}}, 1.5},
      {{{"retry-after", "Sun, 09 Sep 2001 01:48:10 GMT"}}, 90},
      {{{"retry-after", "Sun, 09 Sep 2001 01:40:00 GMT"}}, 0},
      {{{"retry-after-ms", "250"}, {"retry-after", "7"}}, 0.25},
      {{{"retry-after-ms", "soon"}, {"retry-after", "7"}}, 7},
      {{{"retry-after", "inf"}}, 1e9},
      {{{"retry-after", "soon"}}, std::nullopt},
      {{{"retry-after", "-1"}}, std::nullopt},
      {{{"retry-after", "nan"}}, std::nullopt},
      {{{"retry-after", ""}}, std::nullopt},
      {{}, std::nullopt}};
  for (const auto& [headers, wait] : cases) {
    EXPECT_EQ(requested_wait(headers, kNow), wait)
        << (headers.empty() ? "" : headers.begin()->second);
  }
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
