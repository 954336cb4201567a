#include "harness/measure/judge/retiring_runners.h"

#include <utility>

namespace kbench::judge {

void RetiringRunners::hold(std::unique_ptr<RunnerProcess> runner) {
  const std::lock_guard lock(mutex_);
  end_held_locked();
  runner->hold();
  held_ = std::move(runner);
}

void RetiringRunners::end_held() {
  const std::lock_guard lock(mutex_);
  end_held_locked();
}

void RetiringRunners::forget_ended() {
  std::erase_if(ending_, [](const auto& each) { return each->ended(); });
}

void RetiringRunners::end_held_locked() {
  forget_ended();
  if (!held_) return;
  held_->begin_kill();
  ending_.push_back(std::move(held_));
}

bool RetiringRunners::all_ended() {
  const std::lock_guard lock(mutex_);
  forget_ended();
  return ending_.empty();
}

void RetiringRunners::wait() {
  const std::lock_guard lock(mutex_);
  for (const auto& each : ending_) each->wait_end();
}

}  // namespace kbench::judge
