// Which models are asked, where, and how: models.yaml (docs/models.md).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kbench/model.h"

namespace kbench {

enum class ModelApi {
  chat,         ///< URL/chat/completions
  completions,  ///< URL/completions: base models; the messages' texts are the prompt
};
std::string_view name_of(ModelApi api);  ///< "chat", "completions"

/// The field a token limit is sent in. `automatic` begins with max_tokens and goes over to
/// max_completion_tokens once, where the server refuses it.
enum class TokenField { automatic, max_tokens, max_completion_tokens };
std::string_view name_of(TokenField field);  ///< "auto", "max_tokens", "max_completion_tokens"

/// Prices of a million tokens, in any one currency.
struct ModelPrice {
  double input = 0;
  std::optional<double> cached = {};  ///< of input tokens from the server's cache; unset: as input
  double output = 0;
};

/// One model on one OpenAI-compatible server.
struct ModelConfig {
  std::string name = {};     ///< of [A-Za-z0-9._-]: in folders, tables and flags
  std::string url = {};      ///< "http://127.0.0.1:8000/v1"; http or https
  std::string model = {};    ///< the server's name for it
  std::string key_env = {};  ///< the environment variable that holds the key; empty: none is sent
  ModelApi api = ModelApi::chat;
  int connections = 8;  ///< requests under way at once, at most

  /// Sent with every request, unless an Ask says otherwise; what is unset is not sent.
  Sampling sampling = {.temperature = 1.0, .top_p = 1.0, .max_tokens = 8192};
  std::string extra = {};  ///< more fields of the request, verbatim: a JSON object, or empty

  bool send_seed = true;
  bool stream = true;  ///< a stall shows at once
  TokenField token_field = TokenField::automatic;
  bool system = true;  ///< false: the system message is put before the first user message

  std::vector<std::string> thinking_tags = {"think", "thinking", "reasoning"};
  std::string thinking_effort = {};  ///< reasoning_effort; empty: not sent

  // Seconds.
  double connect_timeout = 10;
  double first_timeout = 300;    ///< to a stream's first byte
  double silence_timeout = 120;  ///< between two of its bytes
  double total_timeout = 1800;   ///< of one try

  int tries = 6;               ///< of one request
  double retry_seconds = 900;  ///< after which no further try begins

  std::string ca_file = {};  ///< certificates to trust, PEM; empty: the system's
  std::optional<ModelPrice> price = {};
};

/// Reads a models file. Throws kIo, and kParse with line and column: an unknown key, a value of the
/// wrong kind or out of range, two models of one name.
std::vector<ModelConfig> read_models(const std::string& path);
/// The same of a text; `file` is what messages call it.
std::vector<ModelConfig> parse_models(const std::string& text, const std::string& file);

/// Every setting, also those left at their defaults, as one line of JSON (which is YAML, and what
/// parse_models() reads as an item of `models`). There is no secret in it.
std::string to_json(const ModelConfig& config);

/// The cost of an exchange; unset where the usage it depends on is unknown.
std::optional<double> cost_of(const Usage& usage, const ModelPrice& price);

}  // namespace kbench
