#include "harness/evaluate/models/failure.h"

#include <curl/curl.h>

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <string_view>

#include "libkbench/base/text.h"

namespace kbench::models {
namespace {

bool holds_any(const std::string& text, std::initializer_list<std::string_view> phrases) {
  return std::any_of(phrases.begin(), phrases.end(),
                     [&](std::string_view phrase) { return text.find(phrase) != text.npos; });
}

bool is_one_of(int status, std::initializer_list<int> known) {
  return std::find(known.begin(), known.end(), status) != known.end();
}

/// Whether a message says that a parameter, or its value, is not supported. (A value out of range
/// is another error: the request is wrong.)
bool refuses(const std::string& words) {
  return holds_any(
      words, {"unsupported", "not support", "n't support", "unrecognized", "unknown", "unexpected",
              "extra_forbidden", "extra field", "extra input", "not permitted", "not allowed",
              "forbidden", "deprecated", "no longer", "additional properties"});
}

}  // namespace

Failure understood(const ServerError& error, const std::vector<std::string>& sent) {
  const std::string code = lowered(error.code), type = lowered(error.type);
  const std::string message = lowered(error.message);
  const std::string kind = code + " " + type;
  const bool wrong_request = is_one_of(error.status, {400, 413, 422});

  if (holds_any(kind, {"context_length_exceeded", "exceed_context_size"}) ||
      (wrong_request &&
       holds_any(message, {"maximum context length", "context length", "context window",
                           "context size", "prompt is too long", "maximum prompt length"}))) {
    return {Remedy::too_long};
  }
  if (holds_any(kind, {"content_filter", "content_policy", "responsibleaipolicyviolation"})) {
    return {Remedy::filtered};
  }
  if (holds_any(kind, {"insufficient_quota", "billing_hard_limit_reached", "billing_not_active",
                       "insufficient_balance"})) {
    return {Remedy::model};
  }
  if (is_one_of(error.status, {400, 422})) {
    for (const std::string& name : sent) {
      if ((error.parameter == name || find_word(message, name) != message.npos) &&
          refuses(kind + " " + message)) {
        return {Remedy::parameter, name};
      }
    }
  }
  if (is_one_of(error.status, {401, 402, 403, 404}) ||
      (error.status >= 300 && error.status < 400)) {
    return {Remedy::model};
  }
  if (is_one_of(error.status, {408, 409, 425, 429, 500, 502, 503, 504, 529})) {
    return {Remedy::retry, "", is_one_of(error.status, {429, 503, 529})};
  }
  return {Remedy::request};
}

std::optional<double> requested_wait(const Headers& headers, int64_t now) {
  static constexpr double kMost = 1e9;
  const auto seconds = [](const std::string& text) -> std::optional<double> {
    double value = 0;
    if (!read_number(text, value) || !(value >= 0)) return std::nullopt;
    return std::min(value, kMost);
  };
  if (const auto ms = headers.find("retry-after-ms"); ms != headers.end()) {
    if (const auto wait = seconds(ms->second)) return *wait / 1000;
  }
  const auto after = headers.find("retry-after");
  if (after == headers.end()) return std::nullopt;
  if (const auto wait = seconds(after->second)) return wait;
  const time_t date = curl_getdate(after->second.c_str(), nullptr);
  if (date == -1) return std::nullopt;
  return std::clamp(static_cast<double>(date - now), 0.0, kMost);
}

double backoff(int next, double uniform) {
  return uniform * std::min(60.0, std::ldexp(1.0, std::clamp(next - 2, 0, 30)));
}

}  // namespace kbench::models
