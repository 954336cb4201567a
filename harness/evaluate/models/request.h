// A request as it is sent.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "kbench/model.h"
#include "kbench/model_config.h"

namespace kbench::models {

/// What is known by now of the parameters a server takes.
struct Dialect {
  std::string token_field = "max_tokens";
  bool may_rename = true;  ///< the token field, once
  std::vector<std::string> refused = {};

  bool operator==(const Dialect&) const = default;
  bool takes(const std::string& parameter) const;
};
Dialect first_dialect(const ModelConfig& config);

/// Learns that a parameter was refused. False where nothing is left to try.
bool learn(Dialect& dialect, const std::string& parameter);

struct Request {
  std::string path;  ///< behind the base URL
  std::string body;
  std::string sent;                   ///< the body without messages
  std::vector<std::string> optional;  ///< parameters in it that a server may refuse
};

/// `choices`: how many answers are asked for.
Request make_request(const ModelConfig& config, const Dialect& dialect, const Ask& ask, int choices,
                     uint64_t seed);

}  // namespace kbench::models
