#include "harness/evaluate/evaluators/backlog.h"

#include <algorithm>
#include <utility>

#include "harness/measure/judge_protocol/protocol.h"

namespace kbench::evaluators {
namespace {

/// How many waiting experiments a device searches for more of its current group.
constexpr size_t kWindow = 64;
/// How often others may be taken before the one that has waited longest.
constexpr int kMostPassedOver = 32;

}  // namespace

bool Backlog::may_have(size_t device, const Waiting& waiting) const {
  return !devices_[device].out && waiting.only_on.value_or(device) == device &&
         waiting.never_on != device;
}

bool Backlog::any_device_may_have(const Waiting& waiting) const {
  for (size_t device = 0; device < devices_.size(); ++device) {
    if (may_have(device, waiting)) return true;
  }
  return false;
}

bool Backlog::add(Waiting waiting, bool at_front) {
  if (!any_device_may_have(waiting)) return false;
  at_front ? waiting_.push_front(std::move(waiting)) : waiting_.push_back(std::move(waiting));
  return true;
}

bool Backlog::remove(uint64_t id) {
  const auto is_it = [id](const Waiting& each) { return each.id == id; };
  size_t removed = std::erase_if(waiting_, is_it);
  for (Device& device : devices_) removed += std::erase_if(device.ahead, is_it);
  return removed > 0;
}

bool Backlog::others_are_at(const std::string& group, size_t device) const {
  for (size_t other = 0; other < devices_.size(); ++other) {
    const Device& at = devices_[other];
    if (other == device || at.out) continue;
    if (at.group == group) return true;
    for (const Waiting& each : at.ahead) {
      if (each.group == group) return true;
    }
  }
  return false;
}

/// Reserves one more: of the device's current group; else the first of a group that no other device
/// is working on, so that each task is prepared on one device; else the first.
void Backlog::set_aside(size_t device) {
  Device& mine = devices_[device];
  const std::string& group = mine.ahead.empty() ? mine.group : mine.ahead.back().group;
  const size_t none = waiting_.size();
  size_t first = none, of_group = none, of_new_group = none;
  for (size_t i = 0, seen = 0; i < waiting_.size() && seen < kWindow && of_group == none; ++i) {
    const Waiting& each = waiting_[i];
    if (!may_have(device, each)) continue;
    ++seen;
    if (first == none) first = i;
    if (each.group.empty()) continue;
    if (each.group == group) of_group = i;
    if (of_new_group == none && !others_are_at(each.group, device)) of_new_group = i;
  }
  if (first == none) return;
  size_t chosen = of_group != none ? of_group : of_new_group != none ? of_new_group : first;
  if (chosen != first) {
    if (std::exchange(passed_over_id_, waiting_[first].id) != waiting_[first].id) passed_over_ = 0;
    if (++passed_over_ > kMostPassedOver) chosen = first;
  }
  mine.ahead.push_back(std::move(waiting_[chosen]));
  waiting_.erase(waiting_.begin() + static_cast<ptrdiff_t>(chosen));
}

/// Takes the last experiment that another device has reserved.
std::optional<Waiting> Backlog::take_from_another(size_t device) {
  Device* longest = nullptr;
  for (Device& other : devices_) {
    const bool any = std::ranges::any_of(
        other.ahead, [&](const Waiting& each) { return may_have(device, each); });
    if (any && (longest == nullptr || other.ahead.size() > longest->ahead.size())) longest = &other;
  }
  if (longest == nullptr) return std::nullopt;
  const auto last = std::find_if(longest->ahead.rbegin(), longest->ahead.rend(),
                                 [&](const Waiting& each) { return may_have(device, each); });
  Waiting taken = std::move(*last);
  longest->ahead.erase(std::next(last).base());
  return taken;
}

std::optional<Waiting> Backlog::take(size_t device) {
  Device& mine = devices_[device];
  if (mine.out) return std::nullopt;
  if (mine.ahead.empty()) set_aside(device);
  std::optional<Waiting> taken;
  if (!mine.ahead.empty()) {
    taken = std::move(mine.ahead.front());
    mine.ahead.pop_front();
  } else {
    taken = take_from_another(device);
  }
  if (taken) mine.group = taken->group;
  return taken;
}

std::vector<uint64_t> Backlog::following(size_t device) {
  Device& mine = devices_[device];
  for (size_t before = mine.ahead.size(); before < judge::kMostFilesAhead; ++before) {
    set_aside(device);
    if (mine.ahead.size() == before) break;
  }
  std::vector<uint64_t> ids;
  for (const Waiting& each : mine.ahead) ids.push_back(each.id);
  return ids;
}

std::vector<Waiting> Backlog::take_out(size_t device) {
  Device& gone = devices_[device];
  gone.out = true;
  gone.group.clear();
  for (; !gone.ahead.empty(); gone.ahead.pop_back()) {
    waiting_.push_front(std::move(gone.ahead.back()));
  }
  std::vector<Waiting> orphans;
  std::erase_if(waiting_, [&](Waiting& each) {
    if (any_device_may_have(each)) return false;
    orphans.push_back(std::move(each));
    return true;
  });
  return orphans;
}

std::vector<Waiting> Backlog::clear() {
  std::vector<Waiting> all(std::make_move_iterator(waiting_.begin()),
                           std::make_move_iterator(waiting_.end()));
  waiting_.clear();
  for (Device& device : devices_) {
    all.insert(all.end(), std::make_move_iterator(device.ahead.begin()),
               std::make_move_iterator(device.ahead.end()));
    device.ahead.clear();
  }
  return all;
}

size_t Backlog::size() const {
  size_t count = waiting_.size();
  for (const Device& device : devices_) count += device.ahead.size();
  return count;
}

size_t Backlog::devices_left() const {
  return static_cast<size_t>(
      std::ranges::count_if(devices_, [](const Device& device) { return !device.out; }));
}

}  // namespace kbench::evaluators
