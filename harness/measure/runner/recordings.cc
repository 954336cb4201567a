#include "harness/measure/runner/recordings.h"

#include <utility>

#include "harness/measure/runner/protocol.h"

namespace kbench::runner {
namespace {

/// Before the cache flush, before the run and after it.
constexpr uint32_t kTimestamps = 3;

}  // namespace

Recordings::Recordings(vulkan::Device& device)
    : device_(device),
      kernels_(device),
      flush_(device.allocate(device.plan().flush_bytes)),
      spare_(std::make_unique<vulkan::Commands>(device, kTimestamps)) {
  constexpr double kFirstSeconds = 60;
  spare_->begin();
  kernels_.flush(*spare_, {&flush_, 0, flush_.size()}, 0);
  spare_->submit_and_wait(kFirstSeconds);
}

vulkan::Commands& Recordings::of(Program& program, const Pass& pass, const ImportedMemory& memory) {
  const bool lane = program.lane() != nullptr;
  std::unique_ptr<vulkan::Commands>& list =
      lists_[lane ? 0 : (pass.setup ? 1 : 0) + (pass.exact ? 2 : 0)];
  if (!list) {
    list = spare_ ? std::move(spare_) : std::make_unique<vulkan::Commands>(device_, kTimestamps);
    list->begin();
    list->timestamp(0);
    kernels_.flush(*list, {&flush_, 0, flush_.size()}, 1);
    list->barrier();
    list->timestamp(1);
    if (!lane) program.record(*list, pass, memory, {});
    list->timestamp(2);
  }
  return *list;
}

std::vector<double> Recordings::profile(Program& program, const ImportedMemory& memory,
                                        double seconds) {
  if (!profile_) {
    profile_ = std::make_unique<vulkan::Commands>(device_, kMostProfiledSteps + 1);
    profile_->begin();
    kernels_.flush(*profile_, {&flush_, 0, flush_.size()}, 1);
    profile_->barrier();
    profile_->timestamp(0);
    profiled_steps_ = 0;
    bool rest = false;
    program.record(*profile_, Pass{}, memory, [&] {
      rest = profiled_steps_ + 1 == kMostProfiledSteps;
      if (!rest) profile_->timestamp(++profiled_steps_);
    });
    if (rest) profile_->timestamp(++profiled_steps_);
  }
  profile_->submit_and_wait(seconds);
  std::vector<double> step_ns;
  for (uint32_t i = 0; i < profiled_steps_; ++i) {
    step_ns.push_back(profile_->elapsed_ns(i, i + 1));
  }
  return step_ns;
}

void Recordings::overwrite_stacks(double seconds) {
  constexpr uint64_t kKey = 0x9e3779b97f4a7c15;  // Any: it only has to differ from what lies there.
  vulkan::Commands commands(device_);
  commands.begin();
  kernels_.overwrite_stacks(commands, {&flush_, 0, flush_.size()}, kKey);
  commands.submit_and_wait(seconds);
}

void Recordings::forget() {
  for (auto& list : lists_) list.reset();
  profile_.reset();
}

}  // namespace kbench::runner
