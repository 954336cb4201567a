#include <algorithm>
#include <cstdio>
#include <memory>
#include <optional>

#include "harness/frontends/program/baseline_report.h"
#include "harness/frontends/program/options.h"
#include "harness/frontends/program/terminal.h"
#include "harness/frontends/program/text.h"
#include "harness/frontends/program/verbs.h"
#include "kbench/baseline.h"
#include "kbench/error.h"

namespace kbench::program {
namespace {

struct BaselineVerbOptions {
  TaskOptions tasks;
  std::string file, against;
  bool json = false;
};

/// The file's times of the tasks asked for.
Baseline read_times(const BaselineVerbOptions& options) {
  Baseline baseline = read_baseline(options.file);
  const std::vector<const Task*> tasks = options.tasks.select();
  std::erase_if(baseline.tasks, [&](const BaselineEntry& entry) {
    return std::ranges::none_of(tasks, [&](const Task* task) { return task->id == entry.task; });
  });
  if (baseline.tasks.empty()) {
    throw Error(ErrorCode::kNotFound, options.file + " holds none of the tasks asked for");
  }
  return baseline;
}

int run_baseline(const BaselineVerbOptions& options) {
  const Baseline ours = read_times(options);
  std::optional<RecordedTimes> theirs;
  std::optional<BaselineComparison> comparison;
  if (!options.against.empty()) {
    theirs = recorded_times(options.against);
    comparison = compare_baselines(ours, *theirs);
  }
  if (options.json) {
    say(comparison ? comparison_json(*comparison, ours, *theirs) : to_json(ours));
  } else {
    say(format_heading(ours) + "\n" +
        (comparison ? format_comparison(*comparison, ours, *theirs) : format_times(ours)));
    if (ours.software_device) say("\n" + software_warning(ours.device) + "\n");
  }
  const std::string untimed = format_untimed(ours);
  if (!untimed.empty()) std::fprintf(options.json ? stderr : stdout, "\n%s", untimed.c_str());
  return kDone;
}

}  // namespace

Verb add_baseline(Command program) {
  auto options = std::make_shared<BaselineVerbOptions>();
  const Command app = program.add_verb(
      "baseline", "Recorded times of the eager baseline, and how they compare",
      "Shows a file of the eager baseline's times (docs/baseline.md), with each task's share of "
      "the "
      "roofline, or compares it with other recorded times: ratios, their geometric means, the "
      "slowest tasks. Nothing is measured.",
      "  kbench baseline h200.json --task level1/*\n"
      "  kbench baseline h200.json --against torch.json:eager_ms");
  app.add_option("FILE", options->file, "A file of kbench's own baseline times", readable())
      .required();
  options->tasks.add_to(app);
  app.in_group("Comparison")
      .add_option("--against FILE", options->against,
                  "Recorded times: a file of kbench's or of KernelBench's, or a table of tasks and "
                  "columns; FILE:COLUMN names which of its numbers (default: median_ms, mean, "
                  "eager_strict_ms, or the only one)");
  app.in_group("Output").add_flag("--json", options->json, "The JSON document on standard output");
  return {app, [options] { return run_baseline(*options); }};
}

}  // namespace kbench::program
