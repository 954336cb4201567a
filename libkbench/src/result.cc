#include "kbench/result.h"

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "kbench/error.h"
#include "libkbench/src/json_field.h"

namespace kbench {
namespace {

using Json = nlohmann::ordered_json;

/// Compiler messages and file names may hold anything; a line of JSON is UTF-8.
std::string dump(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

/// JSON has no infinity.
Json from_number(double value) { return std::isfinite(value) ? Json(value) : Json(nullptr); }

Json from_interval(const Interval& interval) {
  return {{"low", from_number(interval.low)},
          {"point", from_number(interval.point)},
          {"high", from_number(interval.high)}};
}

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

/// A JSON object whose fields must be there and of the right type.
class Fields {
 public:
  Fields(const Json& json, std::string where) : json_(json), where_(std::move(where)) {
    if (!json.is_object()) fail("is not an object");
  }

  Json::const_reference at(const char* name) const {
    const auto found = json_.find(name);
    if (found == json_.end()) fail("lacks '" + std::string(name) + "'");
    return *found;
  }
  void get(const char* name, std::string& out) const {
    const Json& field = at(name);
    if (!field.is_string()) fail("'" + std::string(name) + "' is not a string");
    out = field.get<std::string>();
  }
  void get(const char* name, bool& out) const {
    const Json& field = at(name);
    if (!field.is_boolean()) fail("'" + std::string(name) + "' is not true or false");
    out = field.get<bool>();
  }
  void get(const char* name, int& out) const {
    const Json& field = at(name);
    if (!field.is_number_integer()) fail("'" + std::string(name) + "' is not an integer");
    out = field.get<int>();
  }
  void get(const char* name, double& out) const {
    const Json& field = at(name);
    if (!field.is_number() && !field.is_null()) {
      fail("'" + std::string(name) + "' is not a number or null");
    }
    out = field.is_null() ? std::numeric_limits<double>::infinity() : field.get<double>();
  }
  [[noreturn]] void fail(const std::string& why) const {
    throw Error(ErrorCode::kParse, where_ + " " + why);
  }

 private:
  const Json& json_;
  std::string where_;
};

Interval to_interval(const Json& json) {
  const Fields fields(json, "result's 'speedup'");
  Interval interval;
  fields.get("low", interval.low);
  fields.get("point", interval.point);
  fields.get("high", interval.high);
  return interval;
}

VariableValue to_variable(const Json& json, const Fields& fields, const std::string& name) {
  if (json.is_number_integer()) return json.get<int64_t>();
  if (json.is_number_float()) return json.get<double>();
  if (!json.is_array()) fields.fail("'variables." + name + "' is not a number or a list");
  std::vector<int64_t> list;
  for (const Json& item : json) {
    if (!item.is_number_integer()) {
      fields.fail("'variables." + name + "' holds something else than integers");
    }
    list.push_back(item.get<int64_t>());
  }
  return list;
}

Variables to_variables(const Json& json, const Fields& fields) {
  if (!json.is_object()) fields.fail("'variables' is not an object");
  Variables variables;
  for (const auto& [name, value] : json.items()) {
    variables[name] = to_variable(value, fields, name);
  }
  return variables;
}

std::vector<Diagnostic> to_diagnostics(const Json& json, const Fields& fields) {
  if (!json.is_array()) fields.fail("'diagnostics' is not a list");
  std::vector<Diagnostic> diagnostics;
  for (const Json& item : json) {
    const Fields field(item, "a diagnostic");
    Diagnostic& d = diagnostics.emplace_back();
    field.get("severity", d.severity);
    field.get("file", d.file);
    field.get("line", d.line);
    field.get("column", d.column);
    field.get("message", d.message);
  }
  return diagnostics;
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

std::string Result::key() const {
  return dump(Json::array({candidate_hash, set, to_string(task), variables_json<Json>(variables),
                           device, driver, baseline, settings, version}));
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
  json["verdict"] = std::string(name_of(r.verdict));
  json["message"] = r.message;
  json["diagnostics"] = from_diagnostics(r.diagnostics);
  json["samples"] = r.samples;
  json["speedup"] = from_interval(r.speedup);
  visit_measurements(r, [&](const char* name, double value) { json[name] = from_number(value); });
  return dump(json);
}

Result result_from_json(const std::string& line) {
  Json json;
  try {
    json = Json::parse(line);
  } catch (const Json::parse_error& e) {
    throw Error(ErrorCode::kParse,
                "result is not valid JSON at character " + std::to_string(e.byte));
  }
  const Fields fields(json, "result");
  Result r;
  fields.get("set", r.set);
  fields.get("candidate", r.candidate);
  fields.get("candidate_hash", r.candidate_hash);
  std::string word;
  fields.get("task", word);
  try {
    r.task = parse_task_id(word);
    fields.get("verdict", word);
    r.verdict = verdict_from_name(word);
  } catch (const Error& e) {
    fields.fail("holds a bad name: " + e.message());
  }
  fields.get("task_name", r.task_name);
  fields.get("preset", r.preset);
  r.variables = to_variables(fields.at("variables"), fields);
  visit_identity(r, [&](const char* name, auto& value) { fields.get(name, value); });
  fields.get("message", r.message);
  r.diagnostics = to_diagnostics(fields.at("diagnostics"), fields);
  fields.get("samples", r.samples);
  r.speedup = to_interval(fields.at("speedup"));
  visit_measurements(r, [&](const char* name, double& value) { fields.get(name, value); });
  return r;
}

}  // namespace kbench
