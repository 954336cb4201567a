#include "harness/measure/trial/clock_watch.h"

#include <algorithm>
#include <chrono>
#include <limits>
#include <span>

namespace kbench::trial {
namespace {

constexpr double kBusySeconds = 0.5, kSubmitSeconds = 60;
constexpr uint32_t kLinks = 1024;  ///< of 16 multiply-adds: some 35 microseconds at 2 GHz
/// Under heavy arithmetic devices lower their clock by a fifth, which is part of the measurement.
/// Idle clocks are several times lower.
constexpr double kSlack = 1.4;

}  // namespace

ClockWatch::ClockWatch(vulkan::Device& device, Kernels& kernels, const vulkan::Region& busy)
    : device_(device), sink_(device.allocate(256)) {
  if (device_.snapshot().software()) return;
  fastest_ns_ = std::numeric_limits<double>::infinity();
  vulkan::Commands commands(device_, 2);
  using Clock = std::chrono::steady_clock;
  const auto start = Clock::now();
  while (std::chrono::duration<double>(Clock::now() - start).count() < kBusySeconds) {
    commands.begin();
    commands.timestamp(0);
    record(commands);
    commands.timestamp(1);
    kernels.flush(commands, busy, 0);
    commands.submit_and_wait(kSubmitSeconds);
    at_full_clock(commands.elapsed_ns(0, 1));
  }
}

void ClockWatch::record(vulkan::Commands& commands) {
  if (device_.snapshot().software()) return;
  struct Push {
    uint64_t sink;
    uint32_t links;
    float factor;
  };
  const Push push{vulkan::Region{&sink_, 0, sink_.size()}.address(), kLinks, 0.999f};
  const vulkan::Pipeline& pipeline = device_.pipelines().get_embedded(
      {"clock_chain.comp", {}, static_cast<uint32_t>(sizeof push), 0});
  commands.dispatch(pipeline, {}, std::as_bytes(std::span(&push, 1)), {1, 1, 1});
  commands.barrier();
}

bool ClockWatch::at_full_clock(double chain_ns) {
  if (device_.snapshot().software()) return true;
  fastest_ns_ = std::min(fastest_ns_, chain_ns);
  return chain_ns <= kSlack * fastest_ns_;
}

}  // namespace kbench::trial
