#include "harness/evaluate/report/figures.h"

#include <algorithm>

#include "harness/evaluate/report/svg_text.h"
#include "kbench/text.h"
#include "libkbench/core/in_words.h"

namespace kbench::report {
namespace {

constexpr size_t kMostLines = 8;

ChartPoint point(double x, const Score& score) {
  const double y = score.value ? score.value->low : 0;
  return {x, y, score.interval.low, score.interval.high};
}

Chart fast_p_chart(const Analysis& analysis) {
  const std::string k = std::to_string(analysis.ks.front());
  Chart chart{.id = "fast_p",
              .title = "fast_p@" + k + " against p",
              .x_axis = "p: times the baseline's speed",
              .y_axis = "share of tasks correct and more than p times as fast",
              .mark_x = 1,
              .lines = {}};
  for (size_t m = 0; m < analysis.models.size() && m < kMostLines; ++m) {
    const ModelReport& model = analysis.models[m];
    ChartLine line{.name = model.name, .style = m, .points = {}, .below = {}, .steps = true};
    for (size_t i = 0; i < analysis.curve_ps.size(); ++i) {
      if (!model.fast_curve[i].value) continue;
      line.points.push_back(point(analysis.curve_ps[i], model.fast_curve[i]));
      line.below.push_back(point(analysis.curve_ps[i], model.low_curve[i]));
    }
    chart.lines.push_back(std::move(line));
  }
  return chart;
}

Chart pass_chart(const Analysis& analysis) {
  Chart chart{.id = "pass_at_k",
              .title = "pass@k",
              .x_axis = "k samples",
              .y_axis = "share of tasks solved by one of k samples",
              .logarithmic_x = true,
              .mark_x = {},
              .lines = {}};
  for (size_t m = 0; m < analysis.models.size() && m < kMostLines; ++m) {
    const ModelReport& model = analysis.models[m];
    ChartLine line{.name = model.name, .style = m, .points = {}, .below = {}};
    for (size_t i = 0; i < model.curve_ks.size(); ++i) {
      if (!model.pass_curve[i].value) continue;
      line.points.push_back(point(model.curve_ks[i], model.pass_curve[i]));
    }
    chart.lines.push_back(std::move(line));
  }
  return chart;
}

Chart attempts_chart(const Analysis& analysis) {
  Chart chart{.id = "by_attempt",
              .title = "Correct by attempt",
              .x_axis = "attempt",
              .y_axis = "share of samples correct by then; thin: fast_1",
              .mark_x = {},
              .lines = {}};
  for (size_t m = 0; m < analysis.models.size() && m < kMostLines; ++m) {
    const ModelReport& model = analysis.models[m];
    ChartLine line{.name = model.name, .style = m, .points = {}, .below = {}};
    for (size_t i = 0; i < model.correct_by.size(); ++i) {
      const ByAttempt& at = model.correct_by[i];
      line.points.push_back({double(at.attempt), at.share.low, at.interval.low, at.interval.high});
      line.below.push_back({double(at.attempt), model.fast_by[i].share.low, 0, 0});
    }
    chart.lines.push_back(std::move(line));
  }
  return chart;
}

ChartLine swarm_line(const std::string& name, size_t style, const std::vector<SwarmPoint>& points) {
  ChartLine line{.name = name, .style = style, .points = {}, .below = {}};
  for (const SwarmPoint& at : points) {
    if (at.calls > 0) {
      line.points.push_back({at.calls, at.solved->low, at.solved->low, at.solved->high});
    }
  }
  return line;
}

Chart swarm_chart(const Analysis& analysis) {
  Chart chart{.id = "swarm",
              .title = "All models together, at equal calls",
              .x_axis = "calls a task",
              .y_axis = "share of tasks solved by then",
              .logarithmic_x = true,
              .mark_x = {},
              .lines = {}};
  for (size_t m = 0; m < analysis.models.size() && m + 1 < kMostLines; ++m) {
    chart.lines.push_back(swarm_line(analysis.models[m].name, m, analysis.swarm->members[m].alone));
  }
  chart.lines.push_back(swarm_line("all together", kMostLines - 1, analysis.swarm->together));
  return chart;
}

bool has_points(const Chart& chart, size_t least) {
  return std::ranges::any_of(
      chart.lines, [least](const ChartLine& line) { return line.points.size() >= least; });
}

}  // namespace

std::vector<Chart> charts(const Analysis& analysis) {
  std::vector<Chart> all = {fast_p_chart(analysis)};
  if (Chart chart = pass_chart(analysis); has_points(chart, 2)) all.push_back(std::move(chart));
  if (analysis.attempts > 1) all.push_back(attempts_chart(analysis));
  if (analysis.swarm) {
    if (Chart chart = swarm_chart(analysis); has_points(chart, 2)) all.push_back(std::move(chart));
  }
  std::erase_if(all, [](const Chart& chart) { return !has_points(chart, 1); });
  return all;
}

Plot speedup_plot(const Study& study, const ModelReport& model) {
  Plot plot{.title = shown(model.name) + ": the best candidate of each task",
            .subtitle = study.device + ", preset " + preset_in_words(study.preset, study.dtype),
            .axis = "times the baseline's speed",
            .filled = {},
            .hollow = {},
            .logarithmic = true,
            .level_means = true,
            .points = {}};
  for (size_t i = 0; i < model.winners.size(); ++i) {
    const Winner& winner = model.winners[i];
    if (!winner.solved() || !(winner.value() > 0)) continue;
    const TaskId task = study.scope.tasks[i];
    const Task* known = lookup_task(task);
    plot.points.push_back({task, known ? known->name : "", winner.value(), {}});
  }
  return plot;
}

}  // namespace kbench::report
