#include "harness/evaluate/generate/scheduler.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "libkbench/base/text.h"

namespace kbench::generate {
namespace {

/// How often the clock, which may be a test's, is checked while nothing else happens.
constexpr std::chrono::milliseconds kLook(50);

}  // namespace

Scheduler::Scheduler(const Plan& plan, Options options, const Spent& before)
    : plan_(plan),
      devices_(options.devices),
      asking_(options.asking),
      now_(std::move(options.now)),
      budget_(options.limits, before),
      ready_(plan.members().size()),
      open_(plan.members().size()),
      touched_(plan.chains()),
      cursor_(plan.members().size()),
      lost_(plan.members().size()) {
  if (!options.limits.seconds) return;
  deadline_ = now_() + *options.limits.seconds;
  deadline_text_ = "--max-seconds " + digits_text(*options.limits.seconds, 6);
}

void Scheduler::add_open(uint32_t chain) {
  touched_[chain] = true;
  open_[plan_.chain(chain).member].push_back(chain);
}

void Scheduler::add_answered(uint32_t chain) {
  touched_[chain] = true;
  answered_.push_back(chain);
}

/// Moves the member's cursor to its next chain that has not begun.
std::optional<uint32_t> Scheduler::next_fresh(uint32_t member) {
  for (uint32_t& at = cursor_[member]; at < plan_.chains(); ++at) {
    if (!touched_[at] && plan_.chain(at).member == member) return at;
  }
  return std::nullopt;
}

void Scheduler::check_time() {
  if (deadline_ && stop_ == Stop::none && now_() >= *deadline_) {
    stop_ = Stop::budget;
    reason_ = deadline_text_;
    changed_.notify_all();
  }
}

/// Whether no chain will be available to any asking thread any more.
bool Scheduler::over() const {
  const auto none = [](const auto& queues) {
    return std::all_of(queues.begin(), queues.end(), [](const auto& q) { return q.empty(); });
  };
  if (active_ > 0 || (!answered_.empty() && !ended())) return false;
  return !may_ask() || none(ready_);
}

std::optional<Scheduler::Turn> Scheduler::next_turn(uint32_t member) {
  std::unique_lock hold(mutex_);
  for (;;) {
    check_time();
    if (ended()) return std::nullopt;
    // Recorded answers come first: they cost nothing.
    if (!answered_.empty() && room()) {
      const uint32_t number = answered_.front();
      answered_.pop_front();
      ++active_;
      return Turn{number, nullptr};
    }
    if (may_ask() && !lost_[member] && room()) {
      if (!ready_[member].empty()) {
        std::unique_ptr<Chain> chain = std::move(ready_[member].front());
        ready_[member].pop_front();
        ++active_;
        const uint32_t number = chain->number;
        return Turn{number, std::move(chain)};
      }
      if (!open_[member].empty()) {
        const uint32_t number = open_[member].front();
        open_[member].pop_front();
        ++active_;
        return Turn{number, nullptr};
      }
      if (const std::optional<uint32_t> fresh = next_fresh(member)) {
        touched_[*fresh] = true;
        ++active_;
        return Turn{*fresh, nullptr};
      }
    }
    const bool mine_left =
        may_ask() && !lost_[member] &&
        (!ready_[member].empty() || !open_[member].empty() || next_fresh(member).has_value());
    if (!mine_left && over()) {
      changed_.notify_all();
      return std::nullopt;
    }
    changed_.wait_for(hold, kLook);
  }
}

Budget::Claim Scheduler::claim_of(size_t prompt_characters, const Sampling& sampling,
                                  const std::optional<ModelPrice>& price) {
  const std::lock_guard hold(mutex_);
  return budget_.claim(prompt_characters, sampling, price);
}

bool Scheduler::claim(const Budget::Claim& claim) {
  std::unique_lock hold(mutex_);
  for (;;) {
    check_time();
    if (!may_ask()) return false;
    const Budget::Grant grant = budget_.ask(claim);
    if (grant == Budget::Grant::given) {
      ++under_way_;
      return true;
    }
    if (grant == Budget::Grant::spent) {
      stop_ = Stop::budget;
      reason_ = budget_.reason();
      changed_.notify_all();
      return false;
    }
    changed_.wait_for(hold, kLook);
  }
}

void Scheduler::settle(const Budget::Claim& claim, const Usage* usage,
                       const std::optional<ModelPrice>& price) {
  const std::lock_guard hold(mutex_);
  budget_.settle(claim, usage, price);
  --under_way_;
  changed_.notify_all();
}

void Scheduler::add_spent(const Usage& usage, const std::optional<double>& cost) {
  const std::lock_guard hold(mutex_);
  budget_.add(usage, cost);
}

std::shared_ptr<Waiting> Scheduler::give_to_device(Waiting waiting) {
  auto given = std::make_shared<Waiting>(std::move(waiting));
  const std::lock_guard hold(mutex_);
  most_waiting_ = std::max(most_waiting_, ++waiting_);
  const auto [at, is_first] = at_hand_.try_emplace(given->reading.hash);
  if (is_first) return given;
  at->second.push_back(std::move(given));
  return nullptr;
}

void Scheduler::go_on(std::unique_ptr<Chain> chain) {
  const std::lock_guard hold(mutex_);
  const uint32_t member = chain->id.member;
  --active_;
  if (!lost_[member]) ready_[member].push_back(std::move(chain));
  changed_.notify_all();
}

void Scheduler::leave() {
  const std::lock_guard hold(mutex_);
  --active_;
  changed_.notify_all();
}

bool Scheduler::lose(uint32_t member) {
  const std::lock_guard hold(mutex_);
  if (lost_[member]) return false;
  lost_[member] = true;
  ready_[member].clear();
  open_[member].clear();
  changed_.notify_all();
  return true;
}

void Scheduler::begin_judging(Waiting& waiting) {
  if (std::exchange(waiting.begun, true)) return;  // on a device that was lost
  const std::lock_guard hold(mutex_);
  --waiting_;
  changed_.notify_all();
}

std::shared_ptr<Waiting> Scheduler::looked_at(const std::string& hash) {
  const std::lock_guard hold(mutex_);
  if (ended()) return nullptr;
  const auto at = at_hand_.find(hash);
  if (at->second.empty()) {
    at_hand_.erase(at);
    return nullptr;
  }
  std::shared_ptr<Waiting> next = std::move(at->second.front());
  at->second.pop_front();
  return next;
}

void Scheduler::stop(Stop how, const std::string& reason) {
  const std::lock_guard hold(mutex_);
  if (stop_ >= how) return;
  stop_ = how;
  reason_ = reason;
  changed_.notify_all();
}

Scheduler::Stop Scheduler::stopped() const {
  const std::lock_guard hold(mutex_);
  return stop_;
}

std::string Scheduler::reason() const {
  const std::lock_guard hold(mutex_);
  return reason_;
}

Scheduler::Counts Scheduler::counts() const {
  const std::lock_guard hold(mutex_);
  return {waiting_, under_way_, most_waiting_, budget_.spent()};
}

}  // namespace kbench::generate
