#include "harness/frontends/program/baseline_report.h"

#include <nlohmann/json.hpp>
#include <vector>

#include "harness/frontends/program/text.h"
#include "libkbench/base/text.h"
#include "libkbench/core/in_words.h"
#include "libkbench/scoring/json_fields.h"

namespace kbench {

KBENCH_FIELDS(ComparedTask, task, name, theirs_ms, ours_ms, ratio, roofline_share, eager_share)

namespace program {
namespace {

using Json = nlohmann::ordered_json;

constexpr double kSlow = 0.5;
constexpr size_t kWorst = 10;

std::string percent(double share) { return format_number(100 * share, 3) + "%"; }

std::string time_text(double ms) { return format_number(ms, 4); }

std::string preset_text(const Baseline& baseline) {
  return preset_in_words(baseline.preset, baseline.dtype);
}

std::vector<std::string> heading() {
  return {"task", "name", "theirs ms", "ours ms", "ratio", "roofline", "eager roofline"};
}

std::vector<std::string> row_of(const ComparedTask& task) {
  return {to_string(task.task),      task.name,
          time_text(task.theirs_ms), time_text(task.ours_ms),
          format_number(task.ratio), percent(task.roofline_share),
          percent(task.eager_share)};
}

std::string table_of(const std::vector<ComparedTask>& tasks) {
  std::vector<std::vector<std::string>> rows = {heading()};
  for (const ComparedTask& task : tasks) rows.push_back(row_of(task));
  return format_table(rows);
}

std::string list_of(const std::vector<TaskId>& tasks) {
  return listed(tasks, [](const TaskId& task) { return to_string(task); });
}

}  // namespace

std::string format_heading(const Baseline& baseline) {
  std::string text = baseline.device + ", preset " + preset_text(baseline) + "\n";
  if (baseline.roofline.flops_per_s > 0) {
    text += "roofline: copies " + format_bytes(baseline.roofline.copy_bytes_per_s) +
            "/s, multiply-adds " + format_flops(baseline.roofline.flops_per_s) + "/s\n";
  }
  return text;
}

std::string format_times(const Baseline& baseline) {
  const bool roofline = baseline.roofline.flops_per_s > 0;
  std::vector<std::vector<std::string>> rows = {
      {"task", "name", "ms", "GFLOP/s", "GB/s", "roofline", "eager roofline"}};
  for (const BaselineEntry& entry : baseline.tasks) {
    if (!entry.timed()) continue;
    const double seconds = entry.times.median_ms * 1e-3;
    rows.push_back({to_string(entry.task), entry.name, time_text(entry.times.median_ms),
                    format_number(entry.flops / seconds * 1e-9),
                    format_number(entry.least_bytes / seconds * 1e-9),
                    roofline ? percent(entry.roofline_share()) : "",
                    roofline ? percent(entry.eager_share()) : ""});
  }
  return rows.size() > 1 ? format_table(rows) : "";
}

std::string format_untimed(const Baseline& baseline) {
  std::string text;
  for (const BaselineEntry& entry : baseline.tasks) {
    if (entry.timed()) continue;
    text +=
        "  " + to_string(entry.task) + "_" + entry.name + ": " + shown_message(entry.error) + "\n";
  }
  return text.empty() ? "" : "Not timed:\n" + text;
}

std::string format_comparison(const BaselineComparison& comparison, const Baseline& ours,
                              const RecordedTimes& theirs) {
  std::string text = "Against " + theirs.label() + "; ratio is theirs / ours\n" +
                     recorded_notice(theirs, ours.device) + "\n" + table_of(comparison.tasks);
  std::map<int, size_t> count;
  for (const ComparedTask& task : comparison.tasks) ++count[task.task.level];
  std::vector<std::vector<std::string>> means = {{"", "tasks", "geometric mean"}};
  for (const auto& [level, mean] : comparison.geomean_by_level) {
    means.push_back(
        {"level " + std::to_string(level), std::to_string(count[level]), format_number(mean)});
  }
  means.push_back(
      {"all", std::to_string(comparison.tasks.size()), format_number(comparison.geomean)});
  text += "\n" + format_table(means);
  const auto slow = comparison.below(kSlow);
  text += "\nBelow " + format_number(kSlow) + ": " + std::to_string(slow.size()) + "\n";
  if (!slow.empty()) text += table_of(slow);
  text += "\nSlowest\n" + table_of(comparison.worst(kWorst));
  if (!comparison.not_theirs.empty()) {
    text += "\nNo time in " + theirs.file + ": " + list_of(comparison.not_theirs) + "\n";
  }
  return text;
}

std::string comparison_json(const BaselineComparison& comparison, const Baseline& ours,
                            const RecordedTimes& theirs) {
  Json document = Json::parse(to_json(ours));
  Json& json = document["comparison"];
  json = {
      {"file", theirs.file},     {"column", theirs.column},        {"device", theirs.device},
      {"preset", theirs.preset}, {"dtype", name_of(theirs.dtype)}, {"geomean", comparison.geomean}};
  for (const auto& [level, mean] : comparison.geomean_by_level) {
    json["geomean_by_level"][std::to_string(level)] = mean;
  }
  json["tasks"] = json_of<Json>(comparison.tasks);
  json["not_theirs"] = json_of<Json>(comparison.not_theirs);
  json["not_ours"] = json_of<Json>(comparison.not_ours);
  return json_text(document, 1) + "\n";
}

std::string recorded_notice(const RecordedTimes& theirs, const std::string& device) {
  std::string text;
  if (theirs.device != device) {
    text += "warning: " + theirs.file + " was recorded on " +
            (theirs.device.empty() ? "an unnamed device" : theirs.device) + ", not on " + device +
            "\n";
  }
  if (theirs.preset.empty() && theirs.variables.empty()) {
    text += "warning: " + theirs.file + " does not say at what sizes its times were taken\n";
  }
  return text;
}

}  // namespace program
}  // namespace kbench
