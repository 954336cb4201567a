// Baselines as values and as files.
#include "kbench/baseline.h"

#include <algorithm>
#include <cmath>

#include "kbench/error.h"
#include "kbench/score.h"
#include "libkbench/base/files.h"
#include "libkbench/core/own_tasks.h"
#include "libkbench/scoring/json_fields.h"

namespace kbench {

using Json = nlohmann::ordered_json;

// In the order of the file.
KBENCH_FIELDS(PassTimes, passes, median_ms, mean_ms, min_ms, max_ms, std_ms)
KBENCH_FIELDS(Roofline, copy_bytes_per_s, flops_per_s)
KBENCH_FIELDS(BaselineEntry, task, name, variables, flops, least_bytes, eager_bytes, least_ms,
              eager_least_ms, launches, error, times)
KBENCH_FIELDS(Baseline, version, device, driver, software_device, preset, dtype, date, method,
              roofline, tasks)
// A baseline in float32 leaves it out, as those of earlier versions do.
KBENCH_OPTIONAL_FIELDS(Baseline, dtype)
static bool is_left_out(const Baseline& baseline, std::string_view field) {
  return field == "dtype" && baseline.dtype == DType::f32;
}

/// An entry has the members of its times, or an error.
static void write_field(Json& json, const BaselineEntry& entry) {
  json = Json::object();
  each_field(
      [&]<class F>(std::string_view name, const F& field) {
        if (name == (entry.timed() ? "error" : "times")) return;
        if (name == "times") return json.update(json_of<Json>(field));
        json[std::string(name)] = json_of<Json>(field);
      },
      entry);
  json["task"] = to_string(entry.task);
  if (!entry.task.own.empty()) json["meaning"] = meaning_text(entry.task.meaning);
  if (!entry.timed()) return;
  json["roofline_share"] = entry.roofline_share();
  json["eager_share"] = entry.eager_share();
}

static void read_field(const JsonField& field, BaselineEntry& entry) {
  constexpr ReadRules kRules = {.reals = Reals::not_negative};
  const bool timed = !field.has("error");
  each_field(
      [&]<class F>(const std::string& name, F& value) {
        if (name == (timed ? "error" : "times")) return;
        read_value(name == "times" ? field : field[name], value, kRules);
      },
      entry);
  if (!entry.task.own.empty()) {
    entry.task.meaning = field.has("meaning") ? field["meaning"].as(meaning_from_text) : 0;
  }
  if (!timed && entry.error.empty()) field["error"].fail("is empty");
  if (timed && !(entry.times.median_ms > 0)) field["median_ms"].fail("must be above zero");
}

namespace {

constexpr int kFormat = 1;

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
  Json json = {{"kbench_baseline", kFormat}};
  json.update(json_of<Json>(baseline));
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
  read_value(file, baseline, {.reals = Reals::not_negative});
  if (file.has("dtype")) baseline.dtype = file["dtype"].as(task_dtype_from_name);
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
    if (baseline.dtype != DType::f32) value["dtype"] = name_of(baseline.dtype);
  }
  return json_text(json, 1) + "\n";
}

void write_kernelbench_baseline(const std::string& path, const Baseline& baseline,
                                std::span<const Task> suite) {
  replace_file(path, to_kernelbench_json(baseline, suite));
}

namespace {

/// KernelBench makes every blank and sign of a title a "_". A task's name leaves out those at the
/// title's end, which some titles of level 1 have: one blank or full stop, or two closing marks of
/// a list of options.
constexpr int kOneMark[] = {1, 2, 4, 6, 7, 8, 9, 12, 26, 27, 35, 36, 37, 38, 39, 72};
constexpr int kTwoMarks[] = {75, 76, 77, 78, 79, 80, 81};

}  // namespace

std::string kernelbench_file(const Task& task) {
  std::string name = std::to_string(task.id.number) + "_" + task.name;
  if (task.id.level == 1 && std::ranges::count(kOneMark, task.id.number) > 0) name += "_";
  if (task.id.level == 1 && std::ranges::count(kTwoMarks, task.id.number) > 0) name += "__";
  return name + ".py";
}

}  // namespace kbench
