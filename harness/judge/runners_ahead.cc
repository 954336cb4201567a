#include "harness/judge/runners_ahead.h"

#include <algorithm>
#include <utility>

#include "harness/vulkan/device.h"

namespace kbench::judge {

RunnersAhead::RunnersAhead(RunnerProcess::Options options) : options_(std::move(options)) {
  start(1);
}

void RunnersAhead::start(size_t wanted) {
  while (open_.size() < wanted) {
    open_.push_back(std::make_unique<RunnerProcess>(Role::candidate, options_));
  }
}

void RunnersAhead::fill(const vulkan::DeviceSnapshot& snapshot) {
  if (!open_.empty()) return;
  // Each holds some of the device's memory and of the host's.
  constexpr uint64_t kMemoryForOne = uint64_t{16} << 30, kLeast = 2, kMost = 6;
  const uint64_t wanted =
      snapshot.software() ? kLeast
                          : std::clamp(snapshot.device_local_bytes / kMemoryForOne, kLeast, kMost);
  start(wanted);
}

void RunnersAhead::top_up() {
  constexpr size_t kATask = 2;
  start(kATask);
}

std::unique_ptr<RunnerProcess> RunnersAhead::take_open() {
  if (open_.empty()) return std::make_unique<RunnerProcess>(Role::candidate, options_);
  auto runner = std::move(open_.front());
  open_.pop_front();
  return runner;
}

bool RunnersAhead::has_begun(const client::Request& request) const {
  return std::ranges::any_of(begun_, [&](const auto& each) { return each->answers(request); });
}

std::unique_ptr<Candidacy> RunnersAhead::candidacy_of(const client::Request& request,
                                                      const vulkan::DeviceSnapshot& snapshot) {
  const auto found =
      std::ranges::find_if(begun_, [&](const auto& each) { return each->answers(request); });
  if (found != begun_.end()) {
    auto candidacy = std::move(*found);
    begun_.erase(begun_.begin(), found + 1);  // Those before it were passed over.
    candidacy->runner().spare_processors(false);
    return candidacy;
  }
  begun_.clear();  // Something else is asked for than was said.
  auto runner = take_open();
  runner->wait_open(vulkan::to_string(snapshot.device_uuid));
  return std::make_unique<Candidacy>(std::move(runner), request, snapshot);
}

void RunnersAhead::before_sampling(const client::Request& measured,
                                   const vulkan::DeviceSnapshot& snapshot) {
  std::erase_if(open_, [&](const auto& runner) {
    try {
      runner->wait_open(vulkan::to_string(snapshot.device_uuid));
      return false;
    } catch (const RunnerFailure&) {
      return true;
    }
  });
  if (snapshot.software()) return;
  for (const CandidateSource& candidate : measured.next_files) {
    if (open_.empty()) return;
    client::Request following = measured;
    following.candidate = candidate;
    if (has_begun(following)) continue;
    auto candidacy = std::make_unique<Candidacy>(take_open(), following, snapshot);
    candidacy->runner().spare_processors(true);  // The judge's clock needs some.
    candidacy->begin();
    begun_.push_back(std::move(candidacy));
  }
}

std::optional<BenchKey> RunnersAhead::next_task(const BenchKey& now) {
  for (const auto& each : begun_) {
    if (each->well() && !(each->key() == now)) return each->key();
  }
  return std::nullopt;
}

}  // namespace kbench::judge
