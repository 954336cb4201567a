#include "harness/evaluate/client/options_json.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "kbench/recorded.h"
#include "kbench/text.h"
#include "libkbench/base/enum_names.h"

namespace kbench::client {
namespace {

using nlohmann::json;

double seconds(const JsonField& field) { return field.positive_real(); }

SamplingPlan plan_from(const JsonField& field) {
  expect_only(field, {"precision", "max_seconds", "min_samples", "max_samples"});
  SamplingPlan plan;
  if (field.has("precision")) plan.precision = field["precision"].positive_real();
  if (field.has("max_seconds")) plan.max_seconds = seconds(field["max_seconds"]);
  if (field.has("min_samples")) plan.min_samples = field["min_samples"].small_integer();
  if (field.has("max_samples")) plan.max_samples = field["max_samples"].small_integer();
  return plan;
}

Limits limits_from(const JsonField& field) {
  expect_only(field, {"compile_seconds", "device_seconds", "total_seconds", "host_bytes"});
  Limits limits;
  if (field.has("compile_seconds")) limits.compile_seconds = seconds(field["compile_seconds"]);
  if (field.has("device_seconds")) limits.device_seconds = seconds(field["device_seconds"]);
  if (field.has("total_seconds")) limits.total_seconds = seconds(field["total_seconds"]);
  if (field.has("host_bytes")) limits.host_bytes = field["host_bytes"].integer();
  return limits;
}

ToleranceRule tolerance_from(const JsonField& field) {
  if (const auto rule = value_named(field.text(), ToleranceRule::kernelbench)) return *rule;
  field.fail("must be kbench or kernelbench");
}

}  // namespace

void expect_only(const JsonField& field, std::initializer_list<std::string_view> names) {
  for (const auto& [name, value] : field.members()) {
    if (std::find(names.begin(), names.end(), name) != names.end()) continue;
    std::string known;
    for (const std::string_view each : names) {
      known += (known.empty() ? "" : ", ") + std::string(each);
    }
    field.fail("has no field '" + shown(name) + "'; it may have " + known);
  }
}

EvaluateOptions options_from_json(const JsonField& field) {
  expect_only(field, {"device", "preset", "overrides", "tolerance", "recorded", "plan", "limits",
                      "validate", "other_sizes", "seed", "program"});
  EvaluateOptions options;
  if (field.has("device")) options.device = field["device"].text();
  if (field.has("preset")) options.preset = field["preset"].text();
  if (field.has("overrides")) options.overrides = field["overrides"].variables();
  if (field.has("tolerance")) options.tolerance = tolerance_from(field["tolerance"]);
  if (field.has("recorded")) {
    const JsonField recorded = field["recorded"];
    expect_only(recorded, {"file", "column"});
    options.recorded = read_recorded_times(recorded["file"].text(),
                                           recorded.has("column") ? recorded["column"].text() : "");
  }
  if (field.has("plan")) options.plan = plan_from(field["plan"]);
  if (field.has("limits")) options.limits = limits_from(field["limits"]);
  if (field.has("validate")) options.validate = field["validate"].boolean();
  if (field.has("other_sizes")) options.other_sizes = field["other_sizes"].boolean();
  if (field.has("seed")) options.seed = field["seed"].seed();
  if (field.has("program")) options.program = field["program"].text();
  return options;
}

namespace {

/// Every member of a DeviceSummary but limits, once, for writing and for reading; and of those.
void visit(auto&& each, auto& device) {
  each("index", device.index);
  each("name", device.name);
  each("driver", device.driver);
  each("type", device.type);
  each("api_version", device.api_version);
  each("memory_bytes", device.memory_bytes);
  each("usable", device.usable);
  each("reason", device.reason);
}

void visit_limits(auto&& each, auto& limits) {
  each("group_size", limits.group_size);
  each("group_count", limits.group_count);
  each("invocations", limits.invocations);
  each("shared_bytes", limits.shared_bytes);
  each("binding_range", limits.binding_range);
  each("subgroup_size", limits.subgroup_size);
  each("min_subgroup_size", limits.min_subgroup_size);
  each("max_subgroup_size", limits.max_subgroup_size);
  each("subgroup_arithmetic", limits.subgroup_arithmetic);
  each("subgroup_shuffle", limits.subgroup_shuffle);
  each("float16", limits.float16);
  each("float64", limits.float64);
  each("storage_16bit", limits.storage_16bit);
  each("cooperative_matrix", limits.cooperative_matrix);
  each("float_atomics", limits.float_atomics);
}

void read(const JsonField& field, std::string& value) { value = field.text(); }
void read(const JsonField& field, bool& value) { value = field.boolean(); }
void read(const JsonField& field, int& value) { value = field.small_integer(); }
void read(const JsonField& field, int64_t& value) { value = field.integer(); }
void read(const JsonField& field, std::array<int64_t, 3>& value) {
  const std::vector<int64_t> all = field.integers();
  if (all.size() != value.size()) field.fail("must be three integers");
  std::copy(all.begin(), all.end(), value.begin());
}

}  // namespace

json to_value(const DeviceSummary& device) {
  json value = json::object();
  visit([&](const char* name, const auto& member) { value[name] = member; }, device);
  if (!device.limits) return value;
  json& limits = value["limits"] = json::object();
  visit_limits([&](const char* name, const auto& member) { limits[name] = member; },
               *device.limits);
  return value;
}

DeviceSummary device_from_json(const JsonField& field) {
  DeviceSummary device;
  visit([&](const char* name, auto& member) { read(field[name], member); }, device);
  if (field.has("limits")) {
    const JsonField of = field["limits"];
    visit_limits([&](const char* name, auto& member) { read(of[name], member); },
                 device.limits.emplace());
  }
  return device;
}

}  // namespace kbench::client
