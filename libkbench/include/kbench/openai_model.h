// A model behind any server that speaks OpenAI's chat or plain completions.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "kbench/model.h"

namespace kbench {

// Which models are asked, where, and how: models.yaml (docs/models.md).

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

/// Something that happened on the way to an answer.
struct ModelEvent {
  enum class Kind {
    retry,        ///< a try failed; another follows after `seconds`
    wait,         ///< the same, where the wait is longer than 10 s
    parameter,    ///< the server refused a parameter, which is renamed or left out from now on
    connections,  ///< fewer requests, or more again, are under way at once from now on
    insecure,     ///< a key goes over plain http to another host
    given_up,     ///< a request stays without an answer
    model_lost,   ///< no further request to this model will be sent
  };
  Kind kind = Kind::retry;
  std::string model = {};    ///< ModelConfig::name
  std::string purpose = {};  ///< Ask::purpose; empty where no request is meant
  std::string text = {};     ///< one line, escaped; never holds a key
  double seconds = 0;        ///< waited for; 0: nothing is
  int status = 0;            ///< of HTTP; 0: there was none
};
std::string_view name_of(ModelEvent::Kind kind);
/// One line: {"event": "wait", "model": ..., "purpose": ..., "text": ..., ...}.
std::string to_json(const ModelEvent& event);

/// Replaceable parts of a model, for tests; those left empty are the real ones.
struct ModelHooks {
  /// Called from any thread that asks, never from two at once. Must not ask the model.
  std::function<void(const ModelEvent&)> event = {};
  std::function<double()> clock = {};       ///< seconds from any fixed instant
  std::function<int64_t()> unix_time = {};  ///< seconds since 1970, for dates in headers
  std::function<double()> uniform = {};     ///< random, in [0, 1); any thread
  /// Waits; ends early when stop is requested.
  std::function<void(double seconds, std::stop_token stop)> sleep = {};
};

/// docs/models.md says how servers differ and what is done about it.
///
/// Failures that may pass (408, 409, 425, 429, 500, 502 to 504, 529, connections that break,
/// answers that end early or are malformed) are tried again after max(Retry-After, a random share
/// of 1 s * 2^i up to 60 s); 401 to 404 and a spent quota end the model: this and every further
/// call throws ModelError with Reach::model. A cancelled request throws Reach::request.
class OpenAiModel : public Model {
 public:
  /// Throws Error: kInvalidArgument for settings that make no sense, kNotFound where key_env is not
  /// set. The key is read once, here.
  explicit OpenAiModel(ModelConfig config, ModelHooks hooks = {});
  ~OpenAiModel() override;
  OpenAiModel(const OpenAiModel&) = delete;

  std::string name() const override;
  const ModelConfig& config() const;
  Answer ask(const Ask& ask, std::stop_token stop) override;

  /// What the server says it serves (URL/models). Throws ModelError.
  std::vector<std::string> served(std::stop_token stop);

  /// Requests that may be under way at once by now.
  int connections() const;

 private:
  class State;
  std::unique_ptr<State> state_;
};

/// Keeps this process, environment and all, out of core dumps and out of reach of debuggers of the
/// same user: for programs that hold a key. OpenAiModel keeps its own copy of a key out of them
/// whether or not this is called; the environment's and libcurl's buffers it cannot.
void forbid_core_dumps();

}  // namespace kbench
