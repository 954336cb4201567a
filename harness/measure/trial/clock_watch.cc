#include "harness/measure/trial/clock_watch.h"

#include <algorithm>
#include <chrono>
#include <span>

namespace kbench::trial {
namespace {

constexpr double kSubmitSeconds = 60;
/// How long a device is kept busy: at a clock a little below full, which heat or its power may hold
/// there, and at an idle one, which it has to leave.
constexpr double kRaiseSeconds = 0.3, kLeaveIdleSeconds = 1.0;
constexpr uint32_t kLinks = 1024;  ///< of 16 multiply-adds: some 35 microseconds at 2 GHz
constexpr uint64_t kBusyBytes = uint64_t{64} << 20;
/// Under heavy arithmetic devices lower their clock by a fifth, which is part of the measurement.
/// Idle clocks are several times lower.
constexpr double kSlackInWork = 1.4;
/// Between the writes of raise() nothing lowers it.
constexpr double kSlackInRaise = 1.1;

}  // namespace

bool FullClock::reached(double chain_ns, double slack) {
  fastest_ns_ = std::min(fastest_ns_, chain_ns);
  return chain_ns <= slack * fastest_ns_;
}

ClockWatch::ClockWatch(vulkan::Device& device) : device_(device) {
  if (device_.snapshot().software()) return;
  sink_ = device.allocate(256);
  busy_ = device.allocate(kBusyBytes);
  commands_.emplace(device, 2);
}

void ClockWatch::raise(Kernels& kernels) {
  if (!commands_) return;
  using Clock = std::chrono::steady_clock;
  const auto start = Clock::now();
  double seconds = 0;
  for (double most = kRaiseSeconds; seconds < most;) {
    commands_->begin();
    commands_->timestamp(0);
    record(*commands_);
    commands_->timestamp(1);
    kernels.flush(*commands_, {&busy_, 0, busy_.size()}, 0);
    commands_->submit_and_wait(kSubmitSeconds);
    const double chain_ns = commands_->elapsed_ns(0, 1);
    if (clock_.reached(chain_ns, kSlackInRaise) && learned_) return;
    most = clock_.reached(chain_ns, kSlackInWork) ? kRaiseSeconds : kLeaveIdleSeconds;
    seconds = std::chrono::duration<double>(Clock::now() - start).count();
  }
  learned_ = true;
}

void ClockWatch::record(vulkan::Commands& commands) {
  if (!commands_) return;
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
  return !commands_ || clock_.reached(chain_ns, kSlackInWork);
}

}  // namespace kbench::trial
