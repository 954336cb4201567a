#include "harness/measure/trial/roofline.h"

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>

#include "harness/measure/trial/kernels.h"
#include "harness/measure/vulkan/commands.h"
#include "harness/measure/vulkan/pipeline.h"

namespace kbench::trial {
namespace {

constexpr double kWaitSeconds = 60;
constexpr int kRepeats = 5;  ///< of which the fastest counts; the first warms up

template <class Push>
double fastest_seconds(vulkan::Device& device, vulkan::Commands& commands,
                       const vulkan::EmbeddedKey& key, const Push& push, uint32_t groups) {
  const vulkan::Pipeline& pipeline = device.pipelines().get_embedded(key);
  double best = 0;
  for (int repeat = 0; repeat < kRepeats; ++repeat) {
    commands.begin();
    commands.timestamp(0);
    commands.dispatch(pipeline, {}, std::as_bytes(std::span(&push, 1)), {groups, 1, 1});
    commands.timestamp(1);
    commands.submit_and_wait(kWaitSeconds);
    const double seconds = std::max(commands.elapsed_ns(0, 1), 1.0) * 1e-9;
    if (repeat == 1 || (repeat > 1 && seconds < best)) best = seconds;
  }
  return best;
}

double copy_bytes_per_s(vulkan::Device& device, vulkan::Commands& commands) {
  const bool software = device.snapshot().software();
  // The caches hold less than what is written to flush them; from there on, in doublings.
  const uint64_t least = software ? 4 << 20 : device.plan().flush_bytes;
  const uint64_t most = software ? 8 << 20 : std::min(8 * least, device.available_bytes() / 4);
  const vulkan::Buffer from = device.allocate(std::max(least, most));
  const vulkan::Buffer to = device.allocate(std::max(least, most));
  struct Push {
    uint64_t from, to;
  };
  const Push push{from.address(), to.address()};
  commands.begin();
  commands.fill(from, 0, from.size() & ~uint64_t{3}, 0x3f800000u);
  commands.submit_and_wait(kWaitSeconds);
  double best = 0;
  for (const uint64_t quads : {1, 2, 4}) {
    const vulkan::EmbeddedKey key{"roofline_copy.comp",
                                  {{"QUADS", std::to_string(quads) + "u"}},
                                  static_cast<uint32_t>(sizeof push),
                                  0};
    const uint64_t group_bytes = kGroupThreads * quads * 16;
    for (uint64_t bytes = least; bytes <= most; bytes *= 2) {
      const uint64_t groups = bytes / group_bytes;
      if (groups > device.snapshot().max_group_count[0]) break;
      const double seconds =
          fastest_seconds(device, commands, key, push, static_cast<uint32_t>(groups));
      best = std::max(best, 2.0 * static_cast<double>(groups * group_bytes) / seconds);
    }
  }
  return best;
}

double flops_per_s(vulkan::Device& device, vulkan::Commands& commands) {
  const bool software = device.snapshot().software();
  constexpr uint32_t kChains = 16, kUnroll = 8;
  const uint32_t groups = software ? 8 : 8192;
  // Software devices cut loops of more than 65535 turns short.
  const uint32_t most_turns = software ? 128 : 8192;
  constexpr double kLongEnough = 5e-3;  ///< seconds
  const vulkan::Buffer to = device.allocate(kGroupThreads);
  struct Push {
    uint64_t to;
    float factor, term;
    uint32_t turns, unused;
  };
  Push push{to.address(), 0.5f, 1.0f, 32, 0};
  const vulkan::EmbeddedKey key{
      "roofline_fma.comp",
      {{"CHAINS", std::to_string(kChains) + "u"}, {"UNROLL", std::to_string(kUnroll) + "u"}},
      static_cast<uint32_t>(sizeof push),
      0};
  double best = 0;
  for (;; push.turns *= 2) {
    const double seconds = fastest_seconds(device, commands, key, push, groups);
    const double flops = 2.0 * kChains * kUnroll * push.turns * kGroupThreads * groups;
    best = std::max(best, flops / seconds);
    if (seconds >= kLongEnough || 2 * push.turns > most_turns) return best;
  }
}

}  // namespace

Roofline measure_roofline(vulkan::Device& device) {
  vulkan::Commands commands(device, 2);
  return {copy_bytes_per_s(device, commands), flops_per_s(device, commands)};
}

}  // namespace kbench::trial
