#include "harness/measure/judge/dismissed.h"

#include <utility>

namespace kbench::judge {

void Dismissed::hold(std::unique_ptr<RunnerProcess> runner) {
  const std::lock_guard lock(mutex_);
  end_held_locked();
  runner->hold();
  held_ = std::move(runner);
}

void Dismissed::end_held() {
  const std::lock_guard lock(mutex_);
  end_held_locked();
}

void Dismissed::forget_ended() {
  std::erase_if(ending_, [](const auto& each) { return each->ended(); });
}

void Dismissed::end_held_locked() {
  forget_ended();
  if (!held_) return;
  held_->begin_kill();
  ending_.push_back(std::move(held_));
}

bool Dismissed::all_ended() {
  const std::lock_guard lock(mutex_);
  forget_ended();
  return ending_.empty();
}

void Dismissed::wait() {
  const std::lock_guard lock(mutex_);
  for (const auto& each : ending_) each->wait_end();
}

}  // namespace kbench::judge
