// Judging on another machine, behind `kbench serve --http` there.
#pragma once

#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include "kbench/evaluate.h"

namespace kbench {

struct ServerOptions {
  std::string url;              ///< "http://host:8000", "https://host/kbench"
  std::string device = "auto";  ///< one of the server's, as --device takes it; "auto": any
  /// The environment variable with the token that the server wants; not set: none is sent.
  std::string token_env = "KBENCH_TOKEN";
  std::string ca_file = {};                 ///< certificates to trust, in place of the system's
  std::vector<DeviceSummary> devices = {};  ///< the server's, where they are known already
};

/// Sends each question to the server and waits for its result, one at a time: a Pool of several
/// keeps a server busy. It tries again while the server has no room or cannot be reached, for up to
/// two minutes (docs/architecture.md).
class Server : public Evaluator {
 public:
  /// Reaches nothing yet. Throws kInvalidArgument for a URL or a token that is none.
  explicit Server(ServerOptions options);
  ~Server() override;

  /// Also throws the server's errors: kInvalidArgument for what it refuses. An Observer is told of
  /// stages, about once a second.
  using Evaluator::evaluate;
  Result evaluate(const Question& question, const Observer& observer,
                  std::stop_token stop) override;
  /// Throws kIo where the server cannot be reached, kInvalidArgument where it takes no such token.
  std::vector<DeviceSummary> devices() override;
  std::string trouble() override;

 private:
  class State;
  std::unique_ptr<State> state_;
};

}  // namespace kbench
