#include "harness/evaluate/generate/plan.h"

#include <algorithm>
#include <set>
#include <utility>

#include "kbench/error.h"

namespace kbench::generate {

Plan::Plan(std::vector<const Task*> tasks, std::vector<std::string> members, int samples)
    : tasks_(std::move(tasks)), members_(std::move(members)), samples_(samples) {
  if (tasks_.empty() || members_.empty() || samples_ < 1) {
    throw Error(ErrorCode::kInvalidArgument,
                "a run needs at least one task, one model and one sample");
  }
  std::sort(tasks_.begin(), tasks_.end(), [](auto* a, auto* b) { return a->id < b->id; });
  if (std::set<std::string>(members_.begin(), members_.end()).size() != members_.size()) {
    throw Error(ErrorCode::kInvalidArgument, "a run has two models of one name");
  }
  const double chains = double(tasks_.size()) * double(members_.size()) * samples_;
  if (chains >= double(uint32_t{1} << 31)) {
    throw Error(ErrorCode::kInvalidArgument, "more than 2^31 chains of attempts in one run");
  }
  chains_ = static_cast<uint32_t>(chains);
}

Plan::Chain Plan::chain(uint32_t number) const {
  const auto members = static_cast<uint32_t>(members_.size());
  const auto samples = static_cast<uint32_t>(samples_);
  Chain chain;
  chain.member = number % members;
  number /= members;
  chain.sample = static_cast<int>(number % samples) + 1;
  chain.task = number / samples;
  return chain;
}

uint32_t Plan::number(const Chain& chain) const {
  const auto sample = static_cast<uint32_t>(chain.sample - 1);
  const uint32_t pair = chain.task * static_cast<uint32_t>(samples_) + sample;
  return pair * static_cast<uint32_t>(members_.size()) + chain.member;
}

std::optional<uint32_t> Plan::find(std::string_view model, TaskId task, int sample) const {
  const auto member = std::find(members_.begin(), members_.end(), model);
  const auto at = std::lower_bound(tasks_.begin(), tasks_.end(), task,
                                   [](const Task* each, TaskId id) { return each->id < id; });
  if (member == members_.end() || at == tasks_.end() || (*at)->id != task || sample < 1 ||
      sample > samples_) {
    return std::nullopt;
  }
  return number({static_cast<uint32_t>(member - members_.begin()),
                 static_cast<uint32_t>(at - tasks_.begin()), sample});
}

}  // namespace kbench::generate
