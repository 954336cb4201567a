// The HTTP request that asks a model.
#pragma once

#include <string>
#include <vector>

#include "kbench/model.h"
#include "kbench/openai_model.h"

namespace kbench::models {

/// What is known so far of the parameters that a server takes.
struct Dialect {
  std::string token_field = "max_tokens";
  bool may_rename = true;  ///< the token field may still be renamed
  std::vector<std::string> refused = {};

  bool operator==(const Dialect&) const = default;
  bool takes(const std::string& parameter) const;
};
Dialect first_dialect(const ModelConfig& config);

/// Records that a parameter was refused. False if there is nothing left to try.
bool learn(Dialect& dialect, const std::string& parameter);

struct ChatRequest {
  std::string path;  ///< appended to the base URL
  std::string body;
  std::string sent;                   ///< the body without messages
  std::vector<std::string> optional;  ///< its parameters that a server may refuse
};

ChatRequest make_request(const ModelConfig& config, const Dialect& dialect, const Ask& ask);

}  // namespace kbench::models
