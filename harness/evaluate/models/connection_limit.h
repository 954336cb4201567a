// How many requests to a model may be under way at once.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <stop_token>

namespace kbench::models {

/// Begins with the most; halves when the server asks for less, and grows by one after as many
/// requests in a row as there may be at once went well.
class ConnectionLimit {
 public:
  explicit ConnectionLimit(int most) : most_(most), limit_(most) {}

  enum class Ended { well, limited, otherwise };

  /// Waits for a place. False when stop was requested first.
  bool take(std::stop_token stop);
  /// Gives the place back, and says how many there are by now where that changed, else 0.
  /// `round`: what round() was when the request was sent. Of the requests of one round only the
  /// first that was limited halves the limit: the others were sent before that could help.
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
