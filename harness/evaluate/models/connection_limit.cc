#include "harness/evaluate/models/connection_limit.h"

#include <algorithm>

namespace kbench::models {

bool ConnectionLimit::take(std::stop_token stop) {
  std::unique_lock lock(mutex_);
  if (!freed_.wait(lock, stop, [&] { return taken_ < limit_; })) return false;
  ++taken_;
  return true;
}

int ConnectionLimit::give_back(Ended ended, uint64_t round) {
  const std::lock_guard lock(mutex_);
  --taken_;
  const int before = limit_;
  if (ended == Ended::limited) {
    well_ = 0;
    if (round == round_) {
      limit_ = std::max(1, limit_ / 2);
      ++round_;
    }
  } else if (ended == Ended::well && ++well_ >= limit_) {
    well_ = 0;
    limit_ = std::min(most_, limit_ + 1);
  }
  freed_.notify_all();
  return limit_ == before ? 0 : limit_;
}

uint64_t ConnectionLimit::round() const {
  const std::lock_guard lock(mutex_);
  return round_;
}

int ConnectionLimit::limit() const {
  const std::lock_guard lock(mutex_);
  return limit_;
}

}  // namespace kbench::models
