#include "harness/measure/trial/baseline_timer.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "harness/measure/eager/eager.h"
#include "harness/measure/trial/device_draw.h"
#include "harness/measure/trial/eager_run.h"
#include "harness/measure/trial/kernels.h"
#include "harness/measure/trial/slab_layout.h"
#include "harness/measure/vulkan/commands.h"
#include "harness/measure/vulkan/pipeline.h"
#include "kbench/error.h"

namespace kbench::trial {
namespace {

constexpr double kDrawSeconds = 300, kPassSeconds = 120;
/// Device time after which a clock that does not rise is accepted.
constexpr double kMostWaitSeconds = 1;

}  // namespace

BaselineTimer::BaselineTimer(vulkan::Device& device)
    : device_(device),
      kernels_(device),
      secret_(std::nullopt),
      flush_(device.allocate(device.plan().flush_bytes)),
      clock_(device),
      commands_(device, 4) {
  clock_.raise(kernels_);
}

void BaselineTimer::prepare(std::span<const Graph* const> graphs) {
  const eager::DeviceTraits traits = eager::traits_of(device_.snapshot());
  std::vector<vulkan::EmbeddedKey> keys;
  for (const Graph* graph : graphs) {
    try {
      const DType real = graph->dtype();
      require_memory(device_, *graph, eager::EagerGraph::arena_bytes(*graph, traits, real), real);
      const auto more = eager::EagerGraph::pipelines(*graph, traits, real);
      keys.insert(keys.end(), more.begin(), more.end());
    } catch (const Error&) {
      continue;
    }
  }
  device_.pipelines().prepare({}, keys);
}

/// Draws inputs and parameters; halves as float32 first, which are then rounded to where they lie.
void BaselineTimer::draw(const Task& task, const Graph& graph, const GraphMemory& memory) {
  const uint64_t most = largest_half(graph, DType::f32);
  const vulkan::Buffer wide = most > 0 ? device_.allocate(most) : vulkan::Buffer();
  commands_.begin();
  place_tensors(device_, commands_, graph, memory,
                [&](const Graph::ValueInfo& value, vulkan::Commands&, const vulkan::Region& to) {
                  const DrawKey key{secret_.next(), task.id.draw_word(), value.name};
                  const DType stored = graph.stored(value.type).dtype;
                  if (!is_half(stored)) {
                    draw_tensor(device_, commands_, value.distribution, key, value.type, to);
                    return;
                  }
                  const vulkan::Region drawn{&wide, 0, static_cast<uint64_t>(value.type.bytes())};
                  draw_halves(device_, commands_, kernels_, value.distribution, key, value.type,
                              {stored, drawn, to});
                });
  commands_.submit_and_wait(kDrawSeconds);
}

PassTimes BaselineTimer::time(const Task& task, const Graph& graph, const PassPlan& plan,
                              int& launches) {
  const eager::DeviceTraits traits = eager::traits_of(device_.snapshot());
  const DType real = graph.dtype();
  const uint64_t arena_bytes = eager::EagerGraph::arena_bytes(graph, traits, real);
  require_memory(device_, graph, arena_bytes + largest_half(graph, DType::f32), real);
  const eager::EagerGraph baseline(device_, graph, real);
  launches = static_cast<int>(baseline.launches());
  const GraphMemory memory(device_, graph, baseline.arena_bytes(), real);
  draw(task, graph, memory);

  std::vector<double> milliseconds;
  double spent_ns = 0, waited_ns = 0;
  int warm_ups = 0;
  const auto least = static_cast<size_t>(std::min(plan.least, plan.most));
  while (milliseconds.size() < static_cast<size_t>(plan.most)) {
    if (milliseconds.size() >= least && spent_ns * 1e-9 >= plan.max_seconds) break;
    commands_.begin();
    commands_.timestamp(0);
    clock_.record(commands_);
    commands_.timestamp(1);
    kernels_.flush(commands_, {&flush_, 0, flush_.size()}, secret_.next());
    commands_.barrier();
    commands_.timestamp(2);
    baseline.record(commands_, memory.values(), memory.arena());
    commands_.timestamp(3);
    commands_.submit_and_wait(kPassSeconds);
    const bool steady = clock_.at_full_clock(commands_.elapsed_ns(0, 1));
    if (warm_ups < plan.warm_up || (!steady && waited_ns * 1e-9 < kMostWaitSeconds)) {
      ++warm_ups;
      if (!steady) waited_ns += commands_.elapsed_ns(0, 3);
      continue;
    }
    milliseconds.push_back(commands_.elapsed_ns(2, 3) * 1e-6);
    spent_ns += commands_.elapsed_ns(0, 3);
  }
  return summarize_passes(milliseconds);
}

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
