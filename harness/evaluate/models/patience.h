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

/// Seconds in "30", "1.5", "500ms", "1m30s", "2h", "1d"; nothing for any other text.
std::optional<double> duration(std::string_view text);

/// The seconds a server asks to wait: Retry-After in seconds or as a date, retry-after-ms, else the
/// longest x-ratelimit-reset-* whose limit is used up. `now`: seconds since 1970.
std::optional<double> requested_wait(const Headers& headers, int64_t now);

/// Seconds to wait before try number `next` (from 2 on): a random share of 2^(next - 2) s, at most
/// 60 s.
double backoff(int next, double uniform);

}  // namespace kbench::models
