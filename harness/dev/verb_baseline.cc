// Making a file of the eager baseline's times.
#include <cstdio>
#include <memory>

#include "harness/dev/verbs.h"
#include "harness/frontends/program/baseline_report.h"
#include "harness/frontends/program/options.h"
#include "harness/frontends/program/progress.h"
#include "harness/frontends/program/terminal.h"
#include "harness/frontends/program/text.h"
#include "harness/measure/process/host_lock.h"
#include "harness/measure/trial/experiment.h"
#include "kbench/baseline.h"
#include "libkbench/base/files.h"

namespace kbench::dev {
namespace {

struct BaselineVerbOptions {
  program::TaskOptions tasks;
  program::SizeOptions size;
  program::DeviceOptions device;
  int samples = BaselineOptions{}.passes;
  double max_seconds = BaselineOptions{}.max_seconds;
  std::string output, kernelbench;
};

/// Checked before the first task is timed.
void require_writable(const std::string& path) {
  if (path.empty()) return;
  const NewFile file(path);
}

Baseline measure(const BaselineVerbOptions& options) {
  std::vector<const Task*> tasks = options.tasks.select();
  program::leave_out_undefined(tasks, options.size.dtype());
  BaselineOptions wanted;
  wanted.device = options.device.device;
  wanted.validate = options.device.validate;
  wanted.overrides = options.size.overrides();
  wanted.dtype = options.size.dtype();
  wanted.passes = options.samples;
  wanted.max_seconds = options.max_seconds;
  const vulkan::DeviceSnapshot device = options.device.choose();
  const Preset preset =
      trial::choose_preset(options.size.preset, tasks, wanted.overrides, wanted.dtype, device);
  wanted.preset = name_of(preset);
  require_writable(options.output);
  require_writable(options.kernelbench);
  program::Progress progress(stderr, tasks.size());
  process::HostLock lock(process::device_lock_name(vulkan::to_string(device.device_uuid)));
  const auto take_lock = [&] { lock.take([&] { progress.begin("waits for the device"); }); };
  wanted.on_begin = [&](const Task& task) {
    take_lock();
    progress.begin(to_string(task.id) + "_" + task.name);
  };
  wanted.on_entry = [&](const Baseline& so_far) {
    lock.release();  // other processes may measure between tasks
    if (!options.output.empty()) write_baseline(options.output, so_far);
    const BaselineEntry& entry = so_far.tasks.back();
    progress.finish(to_string(entry.task) + "_" + entry.name,
                    entry.timed() ? program::format_ms(entry.times.median_ms) : entry.error);
  };
  take_lock();  // the roofline is measured first
  return measure_baseline(tasks, wanted);
}

int run_baseline(const BaselineVerbOptions& options) {
  const Baseline made = measure(options);
  if (!options.kernelbench.empty()) write_kernelbench_baseline(options.kernelbench, made);
  program::say(program::format_heading(made) + "\n" + program::format_times(made));
  if (made.software_device) program::say("\n" + program::software_warning(made.device) + "\n");
  const std::string untimed = program::format_untimed(made);
  if (untimed.empty()) return program::kDone;
  program::say("\n" + untimed);
  return program::kFailed;
}

}  // namespace

program::Verb add_baseline(program::Command program) {
  auto options = std::make_shared<BaselineVerbOptions>();
  const program::Command app = program.add_verb(
      "baseline", "Time the eager baseline itself",
      "Times the eager baseline of each task: one kernel an operator, inputs drawn on the device, "
      "caches flushed before each pass, the median of the passes, and its share of the roofline "
      "measured on the device. A task that does not fit or fails is reported and the rest goes on; "
      "exit code 1 then. `kbench baseline` shows and compares what --output wrote.",
      "  kbench-dev baseline --task level1/1,level2/*\n"
      "  kbench-dev baseline --preset v0.1 --output h200.json");
  options->tasks.add_to(app);
  options->size.add_to(app, /*with_auto=*/true);
  options->device.add_to(app);
  const program::Command output = app.in_group("Output");
  output.add_option("--output FILE", options->output,
                    "Write what was measured as JSON; the file is replaced after every task");
  output.add_option("--kernelbench FILE", options->kernelbench,
                    "Write it in KernelBench's baseline format too, at the end");
  const program::Command measurement = app.in_group("Measurement");
  measurement.add_setting("--passes N", options->samples, "Timed passes a task at most",
                          program::number_from(1, 1000000));
  measurement.add_setting("--measure-seconds S", options->max_seconds,
                          "Device time to spend on a task's passes; three are taken at least",
                          program::within(0, 1e6));
  return {app, [options] { return run_baseline(*options); }};
}

}  // namespace kbench::dev
