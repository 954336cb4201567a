// What to do about a failed request, and how long to wait before it is sent again.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "harness/evaluate/models/reply.h"

namespace kbench::models {

enum class Remedy {
  retry,      ///< the error may be temporary
  parameter,  ///< send it again without, or with another name for, Failure::parameter
  too_long,   ///< the answer's outcome: the prompt does not fit
  filtered,   ///< the answer's outcome: a content filter
  request,    ///< this request cannot succeed
  model,      ///< no request to this model can succeed
};

struct Failure {
  Remedy remedy = Remedy::retry;
  std::string parameter = {};
  bool limited = false;  ///< the server asks for fewer requests
};

/// Interprets an error. `sent`: the optional parameters of the request.
Failure understood(const ServerError& error, const std::vector<std::string>& sent);

/// Names in lower case.
using Headers = std::map<std::string, std::string>;

/// The seconds a server asks to wait: retry-after-ms, or Retry-After in seconds or as a date.
/// `now`: seconds since 1970.
std::optional<double> requested_wait(const Headers& headers, int64_t now);
/// Seconds to wait before try number `next` (from 2 on): a random share of 2^(next - 2) s, at most
/// 60 s.
double backoff(int next, double uniform);

}  // namespace kbench::models
