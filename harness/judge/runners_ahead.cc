#include "harness/judge/runners_ahead.h"

#include <algorithm>
#include <utility>

#include "harness/vulkan/device.h"

namespace kbench::judge {
namespace {

/// An open runner holds some of the device's memory, and of the host's.
size_t batch_on(const vulkan::DeviceSnapshot& snapshot) { return snapshot.software() ? 2 : 4; }

}  // namespace

RunnersAhead::RunnersAhead(RunnerProcess::Options options) : options_(std::move(options)) {
  start(1);
}

void RunnersAhead::start(size_t wanted) {
  while (idle_.size() < wanted) {
    idle_.push_back(std::make_unique<RunnerProcess>(Role::candidate, options_));
  }
}

void RunnersAhead::top_up(const vulkan::DeviceSnapshot& snapshot, bool for_cuda) {
  start(batch_on(snapshot));
  for (const auto& runner : idle_) runner->begin_open(for_cuda);
}

std::unique_ptr<RunnerProcess> RunnersAhead::take_idle(bool for_cuda) {
  start(1);
  auto runner = std::move(idle_.front());
  idle_.pop_front();
  runner->begin_open(for_cuda);
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
  const bool for_cuda = !snapshot.software() && Candidacy::looks_like_cuda(request.candidate);
  auto runner = take_idle(for_cuda);
  runner->wait_open(vulkan::to_string(snapshot.device_uuid));
  return std::make_unique<Candidacy>(std::move(runner), request, snapshot);
}

void RunnersAhead::before_sampling(const client::Request& measured,
                                   const vulkan::DeviceSnapshot& snapshot) {
  std::erase_if(idle_, [&](const auto& runner) {
    try {
      runner->wait_open(vulkan::to_string(snapshot.device_uuid));
      return false;
    } catch (const RunnerFailure&) {
      return true;
    }
  });
  if (snapshot.software()) return;
  for (const CandidateSource& candidate : measured.next_files) {
    if (idle_.empty()) return;
    client::Request following = measured;
    following.candidate = candidate;
    if (has_begun(following)) continue;
    auto candidacy = std::make_unique<Candidacy>(take_idle(false), following, snapshot);
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
