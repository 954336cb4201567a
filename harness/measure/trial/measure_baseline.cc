// measure_baseline(): the eager baseline of many tasks, one process, one device.
#include <ctime>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "harness/measure/eager/eager.h"
#include "harness/measure/trial/baseline_timer.h"
#include "harness/measure/trial/experiment.h"
#include "harness/measure/vulkan/device.h"
#include "kbench/baseline.h"
#include "kbench/error.h"
#include "kbench/version.h"

namespace kbench {
namespace {

/// Tasks whose pipelines are made together: enough for all cores, few enough for the first times to
/// come soon.
constexpr size_t kTogether = 25;

std::string now() {
  const std::time_t seconds = std::time(nullptr);
  std::tm utc = {};
  gmtime_r(&seconds, &utc);
  char text[32];
  std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &utc);
  return text;
}

std::string method_of(const trial::PassPlan& plan, uint64_t flush_bytes) {
  char text[256];
  std::snprintf(text, sizeof text,
                "device timestamps around one pass of the graph; %d warm-up passes, more while the "
                "clock is rising; %.3g MB written before each pass to flush caches; median of up "
                "to %d passes",
                plan.warm_up, static_cast<double>(flush_bytes) * 1e-6, plan.most);
  return text;
}

BaselineEntry describe_entry(const Task& task, const Graph& graph, const Roofline& roofline) {
  BaselineEntry entry;
  entry.task = task.id;
  entry.name = task.name;
  entry.variables = trial::sizes_of(graph);
  entry.flops = graph.flops();
  entry.least_bytes = graph.least_bytes();
  entry.least_ms = roofline.least_ms(entry.flops, entry.least_bytes);
  for (const Graph::Node& node : graph.nodes()) {
    const double bytes = least_bytes(graph.stored(node.call));
    entry.eager_bytes += bytes;
    const double flops = node.call.op->flops ? node.call.op->flops(node.call) : 0;
    entry.eager_least_ms += roofline.least_ms(flops, bytes);
  }
  return entry;
}

/// The device with its timer. A lost device is opened again; after a timeout nothing is timed any
/// more, as the task may still be running and would disturb all later times.
class TimingDevice {
 public:
  explicit TimingDevice(vulkan::OpenOptions options) : options_(std::move(options)) { open(); }

  vulkan::Device& device() { return *device_; }
  trial::BaselineTimer& timer() { return *timer_; }

  void time(const Task& task, const Graph& graph, const trial::PassPlan& plan,
            BaselineEntry& entry) {
    if (!halted_.empty()) {
      entry.error = halted_;
      return;
    }
    try {
      entry.times = timer_->time(task, graph, plan, entry.launches);
      const auto messages = device_->take_validation_messages();
      if (!messages.empty()) entry.error = "the validation layer says: " + messages.front();
    } catch (const Error& e) {
      entry.error = e.what();
      if (e.code() == ErrorCode::kDeviceLost) open();
      if (e.code() == ErrorCode::kTimeout) {
        halted_ = "not timed: " + to_string(task.id) + " timed out and may still be running";
      }
    }
  }

 private:
  void open() {
    timer_.reset();
    device_.reset();
    device_ = vulkan::Device::open(options_);
    timer_ = std::make_unique<trial::BaselineTimer>(*device_);
  }

  vulkan::OpenOptions options_;
  std::unique_ptr<vulkan::Device> device_;
  std::unique_ptr<trial::BaselineTimer> timer_;
  std::string halted_;
};

}  // namespace

Baseline measure_baseline(std::span<const Task* const> tasks, const BaselineOptions& options) {
  if (options.passes < 1) {
    throw Error(ErrorCode::kInvalidArgument,
                "a baseline takes one pass at least, not " + std::to_string(options.passes));
  }
  vulkan::OpenOptions open;
  open.selector = options.device;
  open.validate = options.validate;
  TimingDevice timing(open);
  const vulkan::DeviceSnapshot snapshot = timing.device().snapshot();
  const Preset preset =
      trial::choose_preset(options.preset, tasks, options.overrides, options.dtype, snapshot);
  std::vector<std::unique_ptr<Graph>> graphs;
  for (const Task* task : tasks) {
    graphs.push_back(build_graph(task_at(task->id, preset, options.overrides, options.dtype)));
  }

  trial::PassPlan plan;
  plan.most = options.passes;
  plan.max_seconds = options.max_seconds;
  Baseline baseline;
  baseline.version = version();
  baseline.device = snapshot.name;
  baseline.driver = snapshot.driver;
  baseline.software_device = snapshot.software();
  baseline.preset = name_of(preset);
  baseline.dtype = options.dtype;
  baseline.date = now();
  baseline.method = method_of(plan, timing.device().plan().flush_bytes);
  if (options.roofline) baseline.roofline = trial::measure_roofline(timing.device());
  for (size_t i = 0; i < tasks.size(); ++i) {
    if (options.on_begin) options.on_begin(*tasks[i]);
    if (i % kTogether == 0) {
      std::vector<const Graph*> next;
      for (size_t j = i; j < std::min(i + kTogether, tasks.size()); ++j) {
        next.push_back(graphs[j].get());
      }
      timing.timer().prepare(next);
    }
    BaselineEntry entry = describe_entry(*tasks[i], *graphs[i], baseline.roofline);
    timing.time(*tasks[i], *graphs[i], plan, entry);
    graphs[i].reset();
    baseline.tasks.push_back(std::move(entry));
    if (options.on_entry) options.on_entry(baseline);
  }
  return baseline;
}

}  // namespace kbench
