// What to do about a failed request.
#pragma once

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

}  // namespace kbench::models
