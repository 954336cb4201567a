#include "harness/evaluate/models/patience.h"

#include <curl/curl.h>

#include <algorithm>
#include <charconv>
#include <cmath>

namespace kbench::models {
namespace {

constexpr double kMost = 1e9;

/// Takes a number off the front of the text.
std::optional<double> number(std::string_view& text) {
  double value = 0;
  const auto read =
      std::from_chars(text.data(), text.data() + text.size(), value, std::chars_format::fixed);
  if (read.ec != std::errc() || !std::isfinite(value) || value < 0) return std::nullopt;
  text.remove_prefix(static_cast<size_t>(read.ptr - text.data()));
  return value;
}

/// Seconds until a reset, given as a duration or, by some servers, as seconds or milliseconds since
/// 1970.
std::optional<double> reset(std::string_view text, int64_t now) {
  const std::optional<double> value = duration(text);
  if (!value || *value < 1e9) return value;
  const double instant = *value >= 1e12 ? *value / 1000 : *value;
  return std::max(0.0, instant - static_cast<double>(now));
}

}  // namespace

std::optional<double> duration(std::string_view text) {
  const size_t begin = text.find_first_not_of(" \t");
  if (begin == text.npos) return std::nullopt;
  text = text.substr(begin, text.find_last_not_of(" \t") + 1 - begin);
  double seconds = 0;
  while (!text.empty()) {
    const std::optional<double> value = number(text);
    if (!value) return std::nullopt;
    const size_t length = std::min(text.find_first_of("0123456789. "), text.size());
    const std::string_view unit = text.substr(0, length);
    text.remove_prefix(length);
    if (unit == "ms") {
      seconds += *value / 1000;
    } else if (unit == "s" || (unit.empty() && text.empty())) {
      seconds += *value;
    } else if (unit == "m") {
      seconds += *value * 60;
    } else if (unit == "h") {
      seconds += *value * 3600;
    } else if (unit == "d") {
      seconds += *value * 86400;
    } else {
      return std::nullopt;
    }
  }
  return seconds;
}

std::optional<double> requested_wait(const Headers& headers, int64_t now) {
  const auto value = [&](const std::string& name) -> const std::string* {
    const auto found = headers.find(name);
    return found == headers.end() ? nullptr : &found->second;
  };
  if (const std::string* ms = value("retry-after-ms")) {
    if (const auto wait = duration(*ms)) return std::min(*wait / 1000, kMost);
  }
  if (const std::string* after = value("retry-after")) {
    if (const auto wait = duration(*after)) return std::min(*wait, kMost);
    const time_t date = curl_getdate(after->c_str(), nullptr);
    if (date != -1) return std::clamp(static_cast<double>(date - now), 0.0, kMost);
  }
  std::optional<double> longest;
  const std::string kReset = "x-ratelimit-reset";
  for (auto it = headers.lower_bound(kReset); it != headers.end() && it->first.starts_with(kReset);
       ++it) {
    const std::string* left = value("x-ratelimit-remaining" + it->first.substr(kReset.size()));
    if (left != nullptr && *left != "0") continue;
    if (const auto wait = reset(it->second, now)) {
      longest = std::max(longest.value_or(0), std::min(*wait, kMost));
    }
  }
  return longest;
}

double backoff(int next, double uniform) {
  return uniform * std::min(60.0, std::ldexp(1.0, std::clamp(next - 2, 0, 30)));
}

}  // namespace kbench::models
