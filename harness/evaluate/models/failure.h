// What a failed request calls for.
#pragma once

#include <string>
#include <vector>

#include "harness/evaluate/models/reply.h"

namespace kbench::models {

enum class Remedy {
  retry,      ///< it may pass
  parameter,  ///< send it again without, or with another name for, Failure::parameter
  too_long,   ///< an outcome: the prompt does not fit
  filtered,   ///< an outcome: a content filter
  request,    ///< no further try will help this request
  model,      ///< nor any other request to this model
};

struct Failure {
  Remedy remedy = Remedy::retry;
  std::string parameter = {};
  bool limited = false;  ///< the server asks for fewer requests
};

/// What an error means. `sent`: the optional parameters of the request.
Failure understood(const ServerError& error, const std::vector<std::string>& sent);

}  // namespace kbench::models
