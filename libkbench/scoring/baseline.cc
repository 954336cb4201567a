// Baselines as values and as files.
#include "kbench/baseline.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "kbench/error.h"
#include "kbench/score.h"
#include "libkbench/base/files.h"
#include "libkbench/base/json_text.h"
#include "libkbench/scoring/json_fields.h"

namespace kbench {
namespace {

using Json = nlohmann::ordered_json;

constexpr int kFormat = 1;

// The plain numbers of an entry, in the order of the file: one list for writing and for reading.
template <class E, class Visit>
void visit_costs(E& entry, Visit visit) {
  visit("flops", entry.flops);
  visit("least_bytes", entry.least_bytes);
  visit("eager_bytes", entry.eager_bytes);
  visit("least_ms", entry.least_ms);
  visit("eager_least_ms", entry.eager_least_ms);
}

template <class T, class Visit>
void visit_times(T& times, Visit visit) {
  visit("median_ms", times.median_ms);
  visit("mean_ms", times.mean_ms);
  visit("min_ms", times.min_ms);
  visit("max_ms", times.max_ms);
  visit("std_ms", times.std_ms);
}

Json from_entry(const BaselineEntry& entry) {
  Json json = {{"task", to_string(entry.task)},
               {"name", entry.name},
               {"variables", variables_json<Json>(entry.variables)}};
  const auto write = [&](const char* name, double value) { json[name] = value; };
  visit_costs(entry, write);
  json["launches"] = entry.launches;
  if (!entry.timed()) {
    json["error"] = entry.error;
    return json;
  }
  json["passes"] = entry.times.passes;
  visit_times(entry.times, write);
  json["roofline_share"] = entry.roofline_share();
  json["eager_share"] = entry.eager_share();
  return json;
}

BaselineEntry to_entry(const JsonField& field) {
  BaselineEntry entry;
  entry.task = field["task"].as(parse_task_id);
  entry.name = field["name"].text();
  entry.variables = field["variables"].variables();
  const auto read = [&](const char* name, double& value) { value = field[name].positive_real(); };
  visit_costs(entry, read);
  entry.launches = field["launches"].small_integer();
  if (field.has("error")) {
    entry.error = field["error"].text();
    if (entry.error.empty()) field["error"].fail("is empty");
    return entry;
  }
  entry.times.passes = field["passes"].small_integer();
  visit_times(entry.times, read);
  if (!(entry.times.median_ms > 0)) field["median_ms"].fail("must be above zero");
  return entry;
}

double share(double least_ms, const BaselineEntry& entry) {
  return entry.times.median_ms > 0 ? least_ms / entry.times.median_ms : 0;
}

}  // namespace

PassTimes summarize_passes(std::span<const double> milliseconds) {
  PassTimes times;
  if (milliseconds.empty()) return times;
  const auto n = static_cast<double>(milliseconds.size());
  times.passes = static_cast<int>(milliseconds.size());
  times.median_ms = median({milliseconds.begin(), milliseconds.end()});
  const auto [least, most] = std::minmax_element(milliseconds.begin(), milliseconds.end());
  times.min_ms = *least;
  times.max_ms = *most;
  for (const double ms : milliseconds) times.mean_ms += ms / n;
  double variance = 0;
  for (const double ms : milliseconds) {
    variance += (ms - times.mean_ms) * (ms - times.mean_ms) / n;
  }
  times.std_ms = std::sqrt(variance);
  return times;
}

double Roofline::least_ms(double flops, double bytes) const {
  if (!(copy_bytes_per_s > 0) || !(flops_per_s > 0)) return 0;
  return 1e3 * std::max(flops / flops_per_s, bytes / copy_bytes_per_s);
}

double BaselineEntry::roofline_share() const { return share(least_ms, *this); }
double BaselineEntry::eager_share() const { return share(eager_least_ms, *this); }

std::string to_json(const Baseline& baseline) {
  Json json = {{"kbench_baseline", kFormat},
               {"version", baseline.version},
               {"device", baseline.device},
               {"driver", baseline.driver},
               {"software_device", baseline.software_device},
               {"preset", baseline.preset},
               {"date", baseline.date},
               {"method", baseline.method},
               {"roofline",
                {{"copy_bytes_per_s", baseline.roofline.copy_bytes_per_s},
                 {"flops_per_s", baseline.roofline.flops_per_s}}},
               {"tasks", Json::array()}};
  for (const BaselineEntry& entry : baseline.tasks) json["tasks"].push_back(from_entry(entry));
  return json_text(json, 1) + "\n";
}

void write_baseline(const std::string& path, const Baseline& baseline) {
  replace_file(path, to_json(baseline));
}

Baseline read_baseline(const std::string& path) {
  const nlohmann::json json = read_json(path);
  const JsonField file(json, path, "");
  if (!file.has("kbench_baseline")) {
    file.fail("is no baseline of kbench's: it lacks field 'kbench_baseline'");
  }
  if (file["kbench_baseline"].integer() != kFormat) {
    file["kbench_baseline"].fail("must be " + std::to_string(kFormat));
  }
  Baseline baseline;
  baseline.version = file["version"].text();
  baseline.device = file["device"].text();
  baseline.driver = file["driver"].text();
  baseline.software_device = file["software_device"].boolean();
  baseline.preset = file["preset"].text();
  baseline.date = file["date"].text();
  baseline.method = file["method"].text();
  baseline.roofline.copy_bytes_per_s = file["roofline"]["copy_bytes_per_s"].positive_real();
  baseline.roofline.flops_per_s = file["roofline"]["flops_per_s"].positive_real();
  for (const JsonField& entry : file["tasks"].items()) baseline.tasks.push_back(to_entry(entry));
  return baseline;
}

std::string to_kernelbench_json(const Baseline& baseline, std::span<const Task> suite) {
  Json json = Json::object();
  for (const BaselineEntry& entry : baseline.tasks) {
    Json& value = json["level" + std::to_string(entry.task.level)]
                      [kernelbench_file(find_task(entry.task, suite))];
    if (!entry.timed()) continue;  // null
    value = {{"mean", entry.times.mean_ms},      {"std", entry.times.std_ms},
             {"min", entry.times.min_ms},        {"max", entry.times.max_ms},
             {"num_trials", entry.times.passes}, {"hardware", baseline.device},
             {"device", baseline.driver}};
  }
  return json_text(json, 1) + "\n";
}

void write_kernelbench_baseline(const std::string& path, const Baseline& baseline,
                                std::span<const Task> suite) {
  replace_file(path, to_kernelbench_json(baseline, suite));
}

}  // namespace kbench
