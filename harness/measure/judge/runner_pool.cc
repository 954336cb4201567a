#include "harness/measure/judge/runner_pool.h"

#include <algorithm>
#include <utility>

namespace kbench::judge {

RunnerPool::RunnerPool(RunnerProcess::Options options) : options_(std::move(options)) {
  idle_.push_back(start());
}

std::unique_ptr<RunnerProcess> RunnerPool::start() {
  return std::make_unique<RunnerProcess>(Role::candidate, options_);
}

size_t RunnerPool::count_for_cuda() const {
  return static_cast<size_t>(
      std::ranges::count_if(idle_, [](const auto& each) { return each->opened_for_cuda(); }));
}

/// A runner to be told to open if fewer than wanted are open or opening; else the end.
RunnerPool::Runners::iterator RunnerPool::first_lacking(size_t wanted, size_t wanted_for_cuda) {
  while (idle_.size() < wanted) idle_.push_back(start());
  const auto untold =
      std::ranges::find_if(idle_, [](const auto& each) { return !each->told_to_open(); });
  if (untold != idle_.end() || count_for_cuda() >= wanted_for_cuda) return untold;
  return idle_.insert(idle_.end(), start());
}

bool RunnerPool::top_up(size_t wanted, size_t wanted_for_cuda) {
  bool told = false;
  for (;;) {
    const auto next = first_lacking(wanted, wanted_for_cuda);
    if (next == idle_.end()) return told;
    (*next)->begin_open(count_for_cuda() < wanted_for_cuda);
    told = true;
  }
}

bool RunnerPool::open_another(size_t wanted, size_t wanted_for_cuda,
                              const std::string& device_uuid) {
  constexpr int kAtOnce = 6;
  int opening = 0;
  for (auto each = idle_.begin(); each != idle_.end(); ++each) {
    const bool told = (*each)->told_to_open();
    opening += told && !opens(each, device_uuid, std::chrono::milliseconds(0)) ? 1 : 0;
  }
  if (opening >= kAtOnce) return false;
  const auto next = first_lacking(wanted, wanted_for_cuda);
  if (next == idle_.end()) return false;
  (*next)->begin_open(count_for_cuda() < wanted_for_cuda);
  return true;
}

bool RunnerPool::wait_for_opening(const std::string& device_uuid, std::chrono::milliseconds most) {
  for (auto each = idle_.begin(); each != idle_.end(); ++each) {
    if ((*each)->told_to_open() && !opens(each, device_uuid, most)) return true;
  }
  return false;
}

/// A candidate without CUDA may have a runner that is open for it, but not the other way round.
RunnerPool::Runners::iterator RunnerPool::preferred(bool for_cuda) {
  const auto same = std::ranges::find_if(idle_, [&](const auto& each) {
    return !each->told_to_open() || each->opened_for_cuda() == for_cuda;
  });
  return same != idle_.end() || for_cuda ? same : idle_.begin();
}

std::unique_ptr<RunnerProcess> RunnerPool::take(Runners::iterator which) {
  auto runner = which == idle_.end() ? start() : std::move(*which);
  if (which != idle_.end()) idle_.erase(which);
  return runner;
}

std::unique_ptr<RunnerProcess> RunnerPool::take(bool for_cuda) {
  auto runner = take(preferred(for_cuda));
  runner->begin_open(for_cuda);
  return runner;
}

bool RunnerPool::opens(Runners::iterator which, const std::string& device_uuid,
                       std::chrono::milliseconds most) {
  try {
    return (*which)->opens_within(most, device_uuid);
  } catch (const RunnerFailure&) {
    idle_.erase(which);
    throw;
  }
}

std::unique_ptr<RunnerProcess> RunnerPool::take_open(bool for_cuda,
                                                     const std::string& device_uuid) {
  const auto first = preferred(for_cuda);
  if (first == idle_.end()) return nullptr;
  const bool kind = (*first)->opened_for_cuda();
  for (auto each = first; each != idle_.end(); ++each) {
    if ((*each)->told_to_open() && (*each)->opened_for_cuda() == kind &&
        opens(each, device_uuid, std::chrono::milliseconds(0))) {
      return take(each);
    }
  }
  return nullptr;
}

void RunnerPool::wait_open(const std::string& device_uuid) {
  std::erase_if(idle_, [&](const auto& runner) {
    if (!runner->told_to_open()) return false;
    try {
      runner->wait_open(device_uuid);
      return false;
    } catch (const RunnerFailure&) {
      return true;
    }
  });
}

}  // namespace kbench::judge
