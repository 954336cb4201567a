#include <algorithm>
#include <cstdio>
#include <memory>
#include <optional>

#include "harness/frontends/program/baseline_report.h"
#include "harness/frontends/program/options.h"
#include "harness/frontends/program/progress.h"
#include "harness/frontends/program/report.h"
#include "harness/frontends/program/terminal.h"
#include "harness/frontends/program/text.h"
#include "harness/frontends/program/verbs.h"
#include "harness/measure/process/host_lock.h"
#include "harness/measure/trial/experiment.h"
#include "kbench/baseline.h"
#include "kbench/error.h"
#include "kbench/recorded.h"
#include "libkbench/base/files.h"

namespace kbench::program {
namespace {

struct BaselineVerbOptions {
  TaskOptions tasks;
  SizeOptions size;
  DeviceOptions device;
  int samples = BaselineOptions{}.passes;
  double max_seconds = BaselineOptions{}.max_seconds;
  std::string from, against, column;
  std::string output, kernelbench;
  bool mix_dtypes = false, json = false;
};

/// Checked before the first task is timed.
void require_writable(const std::string& path) {
  if (path.empty()) return;
  const NewFile file(path);
}

/// Times of other sizes are reported before the first task is timed.
void require_same_sizes(const std::vector<const Task*>& tasks, Preset preset,
                        const Variables& overrides, const RecordedTimes& theirs) {
  for (const Task* task : tasks) {
    if (theirs.find(task->id) != nullptr) {
      theirs.time_of(task_at(task->id, preset, overrides, theirs.dtype));
    }
  }
}

Baseline measure(const BaselineVerbOptions& options, const std::optional<RecordedTimes>& theirs) {
  std::vector<const Task*> tasks = options.tasks.select();
  leave_out_undefined(tasks, options.size.dtype());
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
  if (theirs && !options.mix_dtypes) require_same_dtype(wanted.dtype, *theirs);
  if (theirs) require_same_sizes(tasks, preset, wanted.overrides, *theirs);
  require_writable(options.output);
  require_writable(options.kernelbench);
  Progress progress(stderr, tasks.size());
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
                    entry.timed() ? format_ms(entry.times.median_ms) : entry.error);
  };
  take_lock();  // the roofline is measured first
  return measure_baseline(tasks, wanted);
}

Baseline read_measured(const BaselineVerbOptions& options) {
  Baseline baseline = read_baseline(options.from);
  const std::vector<const Task*> tasks = options.tasks.select();
  std::erase_if(baseline.tasks, [&](const BaselineEntry& entry) {
    return std::ranges::none_of(tasks, [&](const Task* task) { return task->id == entry.task; });
  });
  if (baseline.tasks.empty()) {
    throw Error(ErrorCode::kNotFound, options.from + " holds none of the tasks asked for");
  }
  return baseline;
}

int run_baseline(const BaselineVerbOptions& options) {
  std::optional<RecordedTimes> theirs;
  if (!options.against.empty()) theirs = read_recorded_times(options.against, options.column);
  const Baseline ours = options.from.empty() ? measure(options, theirs) : read_measured(options);
  std::optional<BaselineComparison> comparison;
  if (theirs) {
    comparison = compare_baselines(ours, *theirs, tasks(),
                                   options.mix_dtypes ? OtherDType::allow : OtherDType::refuse);
  }

  if (!options.kernelbench.empty()) write_kernelbench_baseline(options.kernelbench, ours);
  if (options.json) {
    const std::string text =
        comparison ? comparison_json(*comparison, ours, *theirs) : to_json(ours);
    say(text);
  } else {
    const std::string body =
        comparison ? format_comparison(*comparison, ours, *theirs) : format_times(ours);
    say(format_heading(ours) + "\n" + body);
    if (ours.software_device) say("\n" + software_warning(ours.device) + "\n");
  }
  const std::string untimed = format_untimed(ours);
  if (!untimed.empty()) std::fprintf(options.json ? stderr : stdout, "\n%s", untimed.c_str());
  return untimed.empty() || !options.from.empty() ? kDone : kFailed;
}

void add_measurement(Command app, BaselineVerbOptions& options) {
  const Check counts = whole_number(1, 1000000);
  const Command measurement = app.in_group("Measurement");
  const Option passes =
      measurement.add_setting("--passes N", options.samples, "Timed passes a task at most", counts);
  keep_old_name(app, "--samples", options.samples, counts, passes);
  const Option seconds = measurement.add_setting(
      "--measure-seconds S", options.max_seconds,
      "Device time to spend on a task's passes; three are taken at least", within(0, 1e6));
  keep_old_name(app, "--max-seconds", options.max_seconds, within(0, 1e6), seconds);
  const Option from =
      measurement.add_option("--from FILE", options.from,
                             "Measure nothing: take what an earlier --output wrote", readable());
  for (const char* measuring :
       {"--preset", "--set", "--dtype", "--device", "--validate", "--passes", "--samples",
        "--measure-seconds", "--max-seconds", "--output"}) {
    from.excludes(app.option(measuring));
  }
}

void add_comparison(Command app, BaselineVerbOptions& options) {
  const Command comparison = app.in_group("Comparison");
  const Option against = comparison.add_option(
      "--against FILE", options.against,
      "Compare with recorded times: an --output of this verb, KernelBench's baseline "
      "JSON, or a table of tasks and columns",
      readable());
  comparison
      .add_option(
          "--column NAME", options.column,
          "Which of its numbers (default: median_ms, mean, eager_strict_ms, or the only one)")
      .needs(against);
  comparison
      .add_flag("--mix-dtypes", options.mix_dtypes,
                "Allow times in another dtype, as of float16 against float32")
      .needs(against);
}

}  // namespace

Verb add_baseline(Command program) {
  auto options = std::make_shared<BaselineVerbOptions>();
  const Command app = program.add_verb(
      "baseline", "Time the eager baseline itself",
      "Times the eager baseline of each task: one kernel an operator, inputs drawn on the device, "
      "caches flushed before each pass, the median of the passes, and its share of the roofline "
      "measured on the device. Compares with recorded times. A task that does not fit or fails is "
      "reported and the rest goes on; exit code 1 then.",
      "  kbench baseline --task level1/1,level2/*\n"
      "  kbench baseline --preset v0.1 --output h200.json --kernelbench baseline_time_kbench.json\n"
      "  kbench baseline --from h200.json --against torch.json --column eager_ms");
  options->tasks.add_to(app);
  options->size.add_to(app, /*with_auto=*/true);
  options->device.add_to(app);
  const Command output = app.in_group("Output");
  output.add_option("--output FILE", options->output,
                    "Write what was measured as JSON; the file is replaced after every task");
  output.add_option("--kernelbench FILE", options->kernelbench,
                    "Write it in KernelBench's baseline format too, at the end");
  output.add_flag("--json", options->json, "The JSON document on standard output");
  add_measurement(app, *options);
  add_comparison(app, *options);
  return {app, [options] { return run_baseline(*options); }};
}

}  // namespace kbench::program
