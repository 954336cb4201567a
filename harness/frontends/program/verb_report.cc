#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <optional>

#include "harness/evaluate/report/analysis.h"
#include "harness/evaluate/report/figures.h"
#include "harness/evaluate/report/page.h"
#include "harness/evaluate/report/study.h"
#include "harness/evaluate/report/tables.h"
#include "harness/frontends/program/options.h"
#include "harness/frontends/program/verbs.h"
#include "kbench/error.h"
#include "libkbench/base/files.h"
#include "libkbench/scoring/run_names.h"

namespace kbench::program {
namespace {

namespace fs = std::filesystem;

struct ReportOptions {
  std::vector<std::string> sources;
  TaskOptions tasks;
  std::vector<int> ks;
  std::vector<double> thresholds = {1.0};
  std::string dtype, svg, html;
  bool json = false;
};

void write_pictures(const std::string& folder, const report::Study& study,
                    const report::Analysis& analysis) {
  std::error_code failed;
  fs::create_directories(folder, failed);
  if (failed) throw_io("make the folder", folder, failed.value());
  for (const report::Chart& chart : report::charts(analysis)) {
    replace_file(fs::path(folder) / (chart.id + ".svg"),
                 report::svg(chart, report::ChartUse::file));
  }
  size_t number = 0;
  for (const report::ModelReport& model : analysis.models) {
    const report::Plot plot = report::speedup_plot(study, model);
    ++number;
    if (plot.points.empty()) continue;
    replace_file(fs::path(folder) / ("speedup_" + std::to_string(number) + "_" +
                                     run_folder_name(model.name) + ".svg"),
                 report::svg(plot));
  }
}

int run_report(const ReportOptions& options) {
  std::vector<TaskId> tasks;
  if (options.tasks.given()) {
    for (const Task* task : options.tasks.select()) tasks.push_back(task->id);
  }
  std::optional<DType> dtype;
  if (!options.dtype.empty()) dtype = task_dtype_from_name(options.dtype);
  const report::Study study = report::read_study(options.sources, tasks, dtype);
  report::AnalysisOptions wanted{options.ks, options.thresholds};
  std::ranges::sort(wanted.ks);
  const report::Analysis analysis = report::analyse(study, wanted);
  if (!options.svg.empty()) write_pictures(options.svg, study, analysis);
  if (!options.html.empty()) replace_file(options.html, report::report_page(study, analysis));
  const std::string text =
      options.json ? report::report_json(study, analysis) : report::format_report(study, analysis);
  std::fputs(text.c_str(), stdout);
  return kDone;
}

}  // namespace

Verb add_report(Command program) {
  auto options = std::make_shared<ReportOptions>();
  const Command app = program.add_verb(
      "report", "What attempts of models say: pass@k, funnel, cost, intervals",
      "Reads runs of models (folders) and files of results, and prints leaderboard, funnel, "
      "correct-by-attempt, cost, the models as a swarm and their comparisons. Candidate sets of a "
      "results file count as models with one sample, those of several shards as one. Nothing is "
      "run and no device is needed.",
      "  kbench report run/\n"
      "  kbench report run/ other/ --k 1,10 --fast-p 1,2 --html report.html\n"
      "  kbench report results.jsonl --json");
  app.add_option("RUN PATH", options->sources, "Folders of runs, or files of results").required();
  options->tasks.add_to(app);
  app.add_option("--k K,...", options->ks,
                 "Samples k of pass@k: 1,5,10 (default: as many as there are)",
                 number_from(1, 1000000))
      .comma_separated();
  add_fast_p(app, options->thresholds);
  app.add_option("--dtype NAME", options->dtype,
                 "Only results in f32, f16 or bf16, of files that hold several", task_dtypes());
  const Command output = app.in_group("Output");
  output.add_flag("--json", options->json, "One JSON document on standard output");
  output.add_option("--svg DIR", options->svg,
                    "Draw the curves, and the winners' speedups, into a folder");
  output.add_option("--html FILE", options->html,
                    "Write one page with everything in it, for any browser");
  return {app, [options] { return run_report(*options); }};
}

}  // namespace kbench::program
