// Limits the number of concurrent requests to a model.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <stop_token>

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

}  // namespace kbench::models
