// Language models as kbench sees them: messages in, an answer out.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kbench/error.h"

namespace kbench {

enum class Role { system, user, assistant };
std::string_view name_of(Role role);  ///< "system", "user", "assistant"

struct Message {
  Role role = Role::user;
  std::string text;
};

/// How an answer is drawn; what is unset is left to the server.
struct Sampling {
  std::optional<double> temperature = {};
  std::optional<double> top_p = {};
  std::optional<int64_t> max_tokens = {};
};

/// One request.
struct Ask {
  std::vector<Message> messages = {};
  Sampling sampling = {};
  uint64_t seed = 0;         ///< 31 bits; a server may ignore it
  std::string purpose = {};  ///< "level1/19 s3 a2", for logs
};

/// Tokens of an exchange. What a server does not say stays unset: unknown is not zero.
struct Usage {
  std::optional<int64_t> input = {};
  std::optional<int64_t> cached = {};     ///< of input, read from the server's cache
  std::optional<int64_t> output = {};     ///< reasoning included
  std::optional<int64_t> reasoning = {};  ///< of output
};

/// The answer to a request.
struct Answer {
  std::string text = {};
  std::string reasoning = {};  ///< thoughts the server keeps apart; never searched for a candidate
  /// As the server says it: "stop", "length", "content_filter", ...; "context_length" where it
  /// refused a prompt that is too long for the model; "refusal" where the model declined in a field
  /// of its own.
  std::string finish = {};
  std::string served_by = {};  ///< the model's name as the server says it
  std::string fingerprint = {};
  Usage usage = {};
  double seconds = 0;  ///< of the request that was answered
  int tries = 1;       ///< requests sent until this one was answered
  /// The request as sent, without its messages and key: a JSON object, or empty.
  std::string sent = {};
};

/// A request that stayed without an answer after all tries, or a model that cannot be asked at all.
class ModelError : public Error {
 public:
  enum class Reach { request, model };  ///< what is lost: this request, or every further one
  ModelError(Reach reach, const std::string& message)
      : Error(ErrorCode::kModel, message), reach_(reach) {}
  Reach reach() const { return reach_; }

 private:
  Reach reach_;
};

/// Something that answers. Implementations may be asked from several threads at once.
class Model {
 public:
  virtual ~Model() = default;
  virtual std::string name() const = 0;
  /// Throws ModelError; returns an answer also where the model refused or was cut short (see
  /// Answer::finish).
  virtual Answer ask(const Ask& ask, std::stop_token stop) = 0;
};

/// A model made of a function: for tests, and for programs that hold a model of their own.
class FunctionModel : public Model {
 public:
  using Function = std::function<Answer(const Ask&, std::stop_token)>;
  FunctionModel(std::string name, Function function)
      : name_(std::move(name)), function_(std::move(function)) {}
  std::string name() const override { return name_; }
  Answer ask(const Ask& ask, std::stop_token stop) override { return function_(ask, stop); }

 private:
  std::string name_;
  Function function_;
};

}  // namespace kbench
