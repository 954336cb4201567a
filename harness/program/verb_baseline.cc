#include <cstdio>
#include <filesystem>
#include <fstream>
#include <memory>

#include "harness/program/help.h"
#include "harness/program/options.h"
#include "harness/program/progress.h"
#include "harness/program/report.h"
#include "harness/program/text.h"
#include "harness/program/verbs.h"
#include "kbench/baseline.h"
#include "kbench/error.h"

namespace kbench::program {
namespace {

struct BaselineVerbOptions {
  TaskOptions tasks;
  SizeOptions size;
  DeviceOptions device;
  int samples = BaselineOptions{}.passes;
  double max_seconds = BaselineOptions{}.max_seconds;
  std::string output;
  bool json = false;
};

std::string label(const BaselineEntry& entry) { return to_string(entry.task) + "_" + entry.name; }

std::string table_of(const Baseline& baseline) {
  std::vector<std::vector<std::string>> rows = {{"task", "name", "ms", "GFLOP/s", "GB/s"}};
  for (const BaselineEntry& entry : baseline.tasks) {
    if (!entry.timed()) continue;
    const double seconds = entry.times.median_ms * 1e-3;
    rows.push_back({to_string(entry.task), entry.name, format_number(entry.times.median_ms, 4),
                    format_number(entry.flops / seconds * 1e-9),
                    format_number(entry.least_bytes / seconds * 1e-9)});
  }
  return format_table(rows);
}

std::string failures_of(const Baseline& baseline) {
  std::string text;
  for (const BaselineEntry& entry : baseline.tasks) {
    if (!entry.timed()) text += "  " + label(entry) + ": " + entry.error + "\n";
  }
  return text.empty() ? "" : "Not timed:\n" + text;
}

/// An output that cannot be written is found before the first task is timed.
void require_writable(const std::string& path) {
  if (path.empty()) return;
  std::ofstream file(path, std::ios::app);
  if (!file) throw Error(ErrorCode::kIo, "cannot write " + path);
}

Baseline measure(const BaselineVerbOptions& options) {
  const std::vector<const Task*> tasks = options.tasks.select();
  BaselineOptions wanted;
  wanted.device = options.device.device;
  wanted.validate = options.device.validate;
  wanted.preset = options.size.preset;
  wanted.overrides = options.size.overrides();
  wanted.passes = options.samples;
  wanted.max_seconds = options.max_seconds;
  options.device.choose();
  require_writable(options.output);
  Progress progress(stderr, tasks.size());
  wanted.on_begin = [&](const Task& task) { progress.begin(to_string(task.id) + "_" + task.name); };
  wanted.on_entry = [&](const Baseline& so_far) {
    if (!options.output.empty()) write_baseline(options.output, so_far);
    const BaselineEntry& entry = so_far.tasks.back();
    progress.finish(label(entry), entry.timed() ? format_ms(entry.times.median_ms) : entry.error);
  };
  return measure_baseline(tasks, wanted);
}

int run_baseline(const BaselineVerbOptions& options) {
  const Baseline baseline = measure(options);
  const std::string failures = failures_of(baseline);
  if (options.json) {
    std::fputs(to_json(baseline).c_str(), stdout);
  } else {
    std::printf("%s, preset %s\n\n%s", baseline.device.c_str(), baseline.preset.c_str(),
                table_of(baseline).c_str());
    if (baseline.software_device) {
      std::printf("\n%s\n", software_warning(baseline.device).c_str());
    }
  }
  if (!failures.empty()) std::fprintf(options.json ? stderr : stdout, "\n%s", failures.c_str());
  return failures.empty() ? kDone : kFailed;
}

}  // namespace

Verb add_baseline(CLI::App& program) {
  auto options = std::make_shared<BaselineVerbOptions>();
  CLI::App* app = add_verb(
      program, "baseline", "Time the eager baseline itself",
      "Times the eager baseline of each task: one kernel an operator, inputs drawn on the device,\n"
      "caches flushed before each pass, the median of the passes. A task that does not fit or "
      "fails\n"
      "is reported and the rest goes on; exit code 1 then.",
      "  kbench baseline --task level1/1,level2/*\n"
      "  kbench baseline --preset v0.1 --output baseline.json");
  options->tasks.add_to(*app);
  options->size.add_to(*app, /*with_auto=*/true);
  options->device.add_to(*app);
  app->add_option("--samples", options->samples, "Timed passes a task at most")
      ->check(CLI::Range(1, 1000000))
      ->type_name("N")
      ->capture_default_str()
      ->group("Measurement");
  app->add_option("--max-seconds", options->max_seconds,
                  "Device time to spend on a task's passes; three are taken at least")
      ->check(CLI::Range(0.0, 1e6))
      ->type_name("S")
      ->capture_default_str()
      ->group("Measurement");
  app->add_option("--output", options->output,
                  "Write what was measured as JSON; the file is replaced after every task")
      ->type_name("FILE")
      ->group("Output");
  app->add_flag("--json", options->json, "The same document on standard output")->group("Output");
  return {app, [options] { return run_baseline(*options); }};
}

}  // namespace kbench::program
