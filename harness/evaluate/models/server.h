// One model on its server: requests are sent, tried again, and put in words that the server takes.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "harness/evaluate/models/connection_limit.h"
#include "harness/evaluate/models/failure.h"
#include "harness/evaluate/models/reply.h"
#include "harness/evaluate/models/request.h"
#include "harness/evaluate/models/secret.h"
#include "harness/evaluate/models/transfer.h"
#include "harness/evaluate/models/url.h"
#include "kbench/openai_model.h"

namespace kbench::models {

/// Answers to one request, and how they were got.
struct Answered {
  std::unique_ptr<Reply> reply;  ///< null: `finish` takes the answer's place
  std::string finish;
  std::string sent;
  double seconds = 0;
  int tries = 0;
};

class Server {
 public:
  /// Throws as OpenAiModel's constructor does.
  Server(ModelConfig config, ModelHooks hooks);

  const ModelConfig& config() const { return config_; }
  int connections() const { return limit_.limit(); }

  /// Asks until there is an answer, or throws ModelError.
  Answered answered(const Ask& ask, int choices, uint64_t seed, const std::stop_token& stop);
  /// An answer out of one of a reply's choices, which it takes away.
  Answer answer_of(Answered& got, size_t choice) const;
  std::vector<std::string> served(const std::stop_token& stop);

 private:
  /// What became of one try.
  struct Try {
    std::unique_ptr<Reply> reply = {};  ///< set where it is an answer
    Failure failure = {};
    std::string message = {};  ///< why there is none: one line, escaped, without the key
    int status = 0;
    double seconds = 0;
    std::optional<double> wait = {};  ///< what the server asks for
    bool stopped = false;
  };

  // Texts for messages: about this model; escaped and without the key; of an error.
  std::string about(const std::string& what) const;
  std::string message(const std::string& text) const;
  std::string said(const ServerError& error) const;
  /// A text for an answer, without the key.
  std::string clean(std::string text) const;

  void tell(ModelEvent::Kind kind, const std::string& purpose, const std::string& text,
            double seconds = 0, int status = 0);
  void check_not_lost();
  Dialect current_dialect();
  [[noreturn]] void give_up(const Ask& ask, const Try& one, int tries = 0);
  [[noreturn]] void lose(const Try& one);
  /// Whether a request that was refused for a parameter can be put in other words.
  bool learnt(const Dialect& used, const Try& one, const Ask& ask);

  HttpRequest http(const std::string& path) const;
  /// Sends a request once, when there is a place for it.
  Try attempt(const Request& request, const std::stop_token& stop);
  Try sent(const Request& request, const std::stop_token& stop);
  /// What a reply amounts to.
  void judge(std::unique_ptr<Reply> reply, const Request& request, const HttpEnd& end,
             Try& one) const;
  /// Runs a request on a connection that nobody else uses meanwhile.
  HttpEnd run(const HttpRequest& request, const std::stop_token& stop, const Transfer::Sink& sink);

  ModelConfig config_;
  ModelHooks hooks_;
  Url url_;
  std::optional<Secret> key_;
  ConnectionLimit limit_;
  std::atomic<uint64_t> successes_ = 0;

  std::mutex event_mutex_;
  std::mutex mutex_;  ///< of what follows
  Dialect dialect_;
  std::optional<std::string> lost_;
  std::vector<std::unique_ptr<Transfer>> free_;
};

}  // namespace kbench::models
