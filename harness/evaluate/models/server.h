// One model on its server: sends requests, repeats them, and adapts them to the parameters that the
// server takes.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "harness/evaluate/models/chat_request.h"
#include "harness/evaluate/models/reply.h"
#include "harness/evaluate/models/secret.h"
#include "harness/evaluate/models/transfer.h"
#include "kbench/openai_model.h"

namespace kbench::models {

/// Starts at `most`. Halves when the server asks for fewer requests, and grows by one after as many
/// successes in a row as the current limit.
class ConnectionLimit {
 public:
  explicit ConnectionLimit(int most) : most_(most), limit_(most) {}

  enum class Ended { well, limited, otherwise };

  /// Waits until a request may be sent. False if stop was requested first.
  bool take(std::stop_token stop);
  /// Ends a request. Returns the new limit if it has changed, else 0. `round`: the value of round()
  /// when the request was sent. Only the first limited request of a round halves the limit, because
  /// the others were sent before that could help.
  int give_back(Ended ended, uint64_t round);

  uint64_t round() const;
  int limit() const;

 private:
  mutable std::mutex mutex_;
  std::condition_variable_any freed_;
  int most_, limit_, taken_ = 0, well_ = 0;
  uint64_t round_ = 0;
};

class Server {
 public:
  /// Throws like OpenAiModel's constructor.
  Server(ModelConfig config, ModelHooks hooks);

  const ModelConfig& config() const { return config_; }
  int connections() const { return limit_.limit(); }

  /// Repeats the request until there is an answer; throws ModelError.
  Answer ask(const Ask& ask, const std::stop_token& stop);
  std::vector<std::string> served(const std::stop_token& stop);

 private:
  /// The outcome of one try.
  struct Try {
    std::unique_ptr<Reply> reply = {};  ///< set if it is an answer
    Failure failure = {};
    std::string message = {};  ///< why there is none; one line, escaped, without the key
    int status = 0;
    double seconds = 0;
    std::optional<double> wait = {};  ///< seconds that the server asks to wait
    bool stopped = false;
  };

  // Texts for messages: with the model's name; escaped and without the key; of an error.
  std::string about(const std::string& what) const;
  std::string message(const std::string& text) const;
  std::string said(const ServerError& error) const;
  /// What the reply holds, as an answer.
  Answer answer_of(Reply& reply) const;
  /// A text of an answer without the key.
  std::string clean(std::string text) const;

  void tell(ModelEvent::Kind kind, const std::string& purpose, const std::string& text,
            double seconds = 0, int status = 0);
  void check_not_lost();
  Dialect current_dialect();
  [[noreturn]] void give_up(const Ask& ask, const Try& one, int tries = 0);
  [[noreturn]] void lose(const Try& one);
  /// Whether a request that was refused because of a parameter can be sent in another form.
  bool learnt(const Dialect& used, const Try& one, const Ask& ask);

  HttpRequest http(const std::string& path) const;
  /// Sends a request once, as soon as the connection limit allows.
  Try attempt(const ChatRequest& request, const std::stop_token& stop);
  Try sent(const ChatRequest& request, const std::stop_token& stop);
  /// Turns a reply into the outcome of a try.
  void judge(std::unique_ptr<Reply> reply, const ChatRequest& request, const HttpEnd& end,
             Try& one) const;
  /// Sends a request over a free connection.
  HttpEnd run(const HttpRequest& request, const std::stop_token& stop, const Transfer::Sink& sink);

  ModelConfig config_;
  ModelHooks hooks_;
  Url url_;
  std::optional<Secret> key_;
  ConnectionLimit limit_;
  std::atomic<uint64_t> successes_ = 0;

  std::mutex event_mutex_;
  std::mutex mutex_;  ///< guards the members below
  Dialect dialect_;
  std::optional<std::string> lost_;
  std::vector<std::unique_ptr<Transfer>> free_;
};

}  // namespace kbench::models
