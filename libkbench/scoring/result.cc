#include "kbench/result.h"

#include <cmath>
#include <nlohmann/json.hpp>

#include "libkbench/base/json_text.h"
#include "libkbench/scoring/json_field.h"

namespace kbench {
namespace {

using Json = nlohmann::ordered_json;

Json from_diagnostics(const std::vector<Diagnostic>& diagnostics) {
  Json json = Json::array();
  for (const auto& d : diagnostics) {
    json.push_back({{"severity", d.severity},
                    {"file", d.file},
                    {"line", d.line},
                    {"column", d.column},
                    {"message", d.message}});
  }
  return json;
}

Json from_tuning(const std::vector<TunedKernel>& tuning) {
  Json json = Json::array();
  for (const TunedKernel& tuned : tuning) {
    Json configs = Json::array();
    for (const TunedConfig& config : tuned.configs) {
      configs.push_back({{"text", config.text}, {"ms", number_json(config.ms)}});
    }
    json.push_back(
        {{"kernel", tuned.kernel}, {"chosen", tuned.chosen}, {"configs", std::move(configs)}});
  }
  return json;
}

// A member of each type from its field.
void read_field(const JsonField& field, std::string& out) { out = field.text(); }
void read_field(const JsonField& field, bool& out) { out = field.boolean(); }
void read_field(const JsonField& field, int& out) { out = field.small_integer(); }
void read_field(const JsonField& field, double& out) { out = field.real_or_infinity(); }

Interval to_interval(const JsonField& field) {
  return {field["low"].real_or_infinity(), field["point"].real_or_infinity(),
          field["high"].real_or_infinity()};
}

std::vector<Diagnostic> to_diagnostics(const JsonField& field) {
  std::vector<Diagnostic> diagnostics;
  for (const JsonField& item : field.items()) {
    Diagnostic& d = diagnostics.emplace_back();
    d.severity = item["severity"].text();
    d.file = item["file"].text();
    d.line = item["line"].small_integer();
    d.column = item["column"].small_integer();
    d.message = item["message"].text();
  }
  return diagnostics;
}

std::vector<TunedKernel> to_tuning(const JsonField& field) {
  std::vector<TunedKernel> tuning;
  for (const JsonField& item : field.items()) {
    TunedKernel& tuned = tuning.emplace_back();
    tuned.kernel = item["kernel"].text();
    tuned.chosen = item["chosen"].small_integer();
    for (const JsonField& config : item["configs"].items()) {
      tuned.configs.push_back({config["text"].text(), config["ms"].real_or_infinity()});
    }
    if (tuned.chosen < 0 || static_cast<size_t>(tuned.chosen) >= tuned.configs.size()) {
      item["chosen"].fail("is none of the configurations");
    }
  }
  return tuning;
}

// Runs of plain members, in the order of the line: one list for writing and for reading. Each calls
// visit(name, member).
template <class R, class Visit>
void visit_identity(R& r, Visit visit) {
  visit("device", r.device);
  visit("driver", r.driver);
  visit("software_device", r.software_device);
  visit("baseline", r.baseline);
  visit("settings", r.settings);
  visit("version", r.version);
}

template <class R, class Visit>
void visit_measurements(R& r, Visit visit) {
  visit("candidate_ms", r.candidate_ms);
  visit("baseline_ms", r.baseline_ms);
  visit("setup_ms", r.setup_ms);
  visit("max_error", r.max_error);
  visit("gbytes_per_s", r.gbytes_per_s);
  visit("tflops", r.tflops);
  visit("compile_s", r.compile_s);
  visit("wall_s", r.wall_s);
}

}  // namespace

std::string Experiment::key() const {
  return json_text(
      Json::array({candidate_hash, set, to_string(task), variables_json<Json>(variables), device,
                   driver, baseline, settings, version}));
}

std::string to_json(const Result& r) {
  Json json;
  json["set"] = r.set;
  json["candidate"] = r.candidate;
  json["candidate_hash"] = r.candidate_hash;
  json["task"] = to_string(r.task);
  json["task_name"] = r.task_name;
  json["preset"] = r.preset;
  json["variables"] = variables_json<Json>(r.variables);
  visit_identity(r, [&](const char* name, const auto& value) { json[name] = value; });
  json["device_uuid"] = r.device_uuid;
  json["certificate"] = r.certificate;
  json["verdict"] = std::string(name_of(r.verdict));
  json["message"] = r.message;
  json["diagnostics"] = from_diagnostics(r.diagnostics);
  json["tuning"] = from_tuning(r.tuning);
  json["lane"] = r.lane;
  json["samples"] = r.samples;
  json["speedup"] = interval_json(r.speedup);
  visit_measurements(r, [&](const char* name, double value) { json[name] = number_json(value); });
  json["busy"] = r.busy;
  json["stage_s"] = r.stage_s;
  return json_text(json);
}

Result result_from_json(const std::string& line) {
  static const std::string kNoFile;
  const nlohmann::json json = parse_json(line, kNoFile);
  const JsonField fields(json, kNoFile, "result");
  const auto read = [&](const char* name, auto& value) { read_field(fields[name], value); };
  Result r;
  read("set", r.set);
  read("candidate", r.candidate);
  read("candidate_hash", r.candidate_hash);
  r.task = fields["task"].as(parse_task_id);
  read("task_name", r.task_name);
  read("preset", r.preset);
  r.variables = fields["variables"].variables();
  visit_identity(r, read);
  // None of these is in records of earlier versions.
  if (json.contains("device_uuid")) read("device_uuid", r.device_uuid);
  if (json.contains("certificate")) read("certificate", r.certificate);
  r.verdict = fields["verdict"].as(verdict_from_name);
  read("message", r.message);
  r.diagnostics = to_diagnostics(fields["diagnostics"]);
  if (json.contains("tuning")) r.tuning = to_tuning(fields["tuning"]);
  if (json.contains("lane")) read("lane", r.lane);
  read("samples", r.samples);
  r.speedup = to_interval(fields["speedup"]);
  visit_measurements(r, read);
  if (json.contains("busy")) read("busy", r.busy);
  if (json.contains("stage_s")) {  // Records of earlier versions have none.
    for (const auto& [name, seconds] : json["stage_s"].items()) {
      r.stage_s[name] = fields["stage_s"][name.c_str()].real();
    }
  }
  return r;
}

}  // namespace kbench
