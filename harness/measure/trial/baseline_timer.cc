#include "harness/measure/trial/baseline_timer.h"

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "harness/measure/eager/eager.h"
#include "harness/measure/trial/device_draw.h"
#include "harness/measure/trial/eager_run.h"
#include "harness/measure/trial/slab_layout.h"
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

}  // namespace kbench::trial
