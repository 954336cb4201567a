// How long to wait before a request is sent again.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace kbench::models {

/// Names in lower case.
using Headers = std::map<std::string, std::string>;

/// Seconds in "30", "1.5", "500ms", "1m30s", "2h", "1d"; nothing for another text.
std::optional<double> duration(std::string_view text);

/// What a server asks for: Retry-After in seconds or as a date, retry-after-ms, else the longest of
/// the x-ratelimit-reset-* whose limit is used up. `now`: seconds since 1970.
std::optional<double> requested_wait(const Headers& headers, int64_t now);

/// Before try number `next`, counted from 2: a random share of 1 s * 2^(next - 2), at most 60 s.
double backoff(int next, double uniform);

}  // namespace kbench::models
