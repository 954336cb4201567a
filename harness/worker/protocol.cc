#include "harness/worker/protocol.h"

#include <nlohmann/json.hpp>
#include <utility>

namespace kbench::worker {
namespace {

using nlohmann::json;

json to_value(const Variables& variables) {
  json object = json::object();
  for (const auto& [name, value] : variables) {
    std::visit([&, &key = name](const auto& v) { object[key] = v; }, value);
  }
  return object;
}

Variables variables_from(const json& object) {
  Variables variables;
  for (const auto& [name, value] : object.items()) {
    if (value.is_array()) {
      variables[name] = value.get<std::vector<int64_t>>();
    } else if (value.is_number_float()) {
      variables[name] = value.get<double>();
    } else {
      variables[name] = value.get<int64_t>();
    }
  }
  return variables;
}

json to_value(const RecordedTimes& recorded) {
  json object = {{"file", recorded.file},     {"column", recorded.column},
                 {"device", recorded.device}, {"preset", recorded.preset},
                 {"ms", json::object()},      {"variables", json::object()}};
  for (const auto& [task, ms] : recorded.ms) object["ms"][to_string(task)] = ms;
  for (const auto& [task, sizes] : recorded.variables) {
    object["variables"][to_string(task)] = to_value(sizes);
  }
  return object;
}

RecordedTimes recorded_from(const json& object) {
  RecordedTimes recorded;
  recorded.file = object.at("file").get<std::string>();
  recorded.column = object.at("column").get<std::string>();
  recorded.device = object.at("device").get<std::string>();
  recorded.preset = object.at("preset").get<std::string>();
  for (const auto& [task, ms] : object.at("ms").items()) {
    recorded.ms[parse_task_id(task)] = ms.get<double>();
  }
  for (const auto& [task, sizes] : object.at("variables").items()) {
    recorded.variables[parse_task_id(task)] = variables_from(sizes);
  }
  return recorded;
}

json parse(std::string_view text, const char* what) {
  json value = json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!value.is_object()) {
    throw Error(ErrorCode::kParse, std::string("malformed ") + what + " between kbench and worker");
  }
  return value;
}

}  // namespace

std::string to_json(const Job& job) {
  const EvaluateOptions& o = job.options;
  json value = {
      {"candidate", job.candidate_file},
      {"parent", job.parent},
      {"device", o.device},
      {"preset", o.preset},
      {"overrides", to_value(o.overrides)},
      {"tolerance", o.tolerance == ToleranceRule::kernelbench ? "kernelbench" : "kbench"},
      {"plan",
       {{"precision", o.plan.precision},
        {"max_seconds", o.plan.max_seconds},
        {"min_samples", o.plan.min_samples},
        {"max_samples", o.plan.max_samples}}},
      {"limits",
       {{"compile_seconds", o.limits.compile_seconds},
        {"device_seconds", o.limits.device_seconds},
        {"total_seconds", o.limits.total_seconds},
        {"host_bytes", o.limits.host_bytes}}},
      {"validate", o.validate},
  };
  if (o.seed) value["seed"] = *o.seed;
  if (o.recorded) value["recorded"] = to_value(*o.recorded);
  return value.dump(-1, ' ', false, json::error_handler_t::replace);
}

Job job_from_json(const std::string& line) {
  const json value = parse(line, "job");
  try {
    Job job;
    job.candidate_file = value.at("candidate").get<std::string>();
    job.parent = value.at("parent").get<pid_t>();
    EvaluateOptions& o = job.options;
    o.device = value.at("device").get<std::string>();
    o.preset = value.at("preset").get<std::string>();
    o.overrides = variables_from(value.at("overrides"));
    o.tolerance =
        value.at("tolerance") == "kernelbench" ? ToleranceRule::kernelbench : ToleranceRule::kbench;
    const json& plan = value.at("plan");
    o.plan = {plan.at("precision").get<double>(), plan.at("max_seconds").get<double>(),
              plan.at("min_samples").get<int>(), plan.at("max_samples").get<int>()};
    const json& limits = value.at("limits");
    o.limits = {limits.at("compile_seconds").get<double>(),
                limits.at("device_seconds").get<double>(), limits.at("total_seconds").get<double>(),
                limits.at("host_bytes").get<int64_t>()};
    o.validate = value.at("validate").get<bool>();
    if (value.contains("seed")) o.seed = value.at("seed").get<uint64_t>();
    if (value.contains("recorded")) o.recorded = recorded_from(value.at("recorded"));
    return job;
  } catch (const json::exception& e) {
    throw Error(ErrorCode::kParse,
                std::string("malformed job between kbench and worker: ") + e.what());
  }
}

std::string to_json(const Error& error) {
  const json value = {{"code", static_cast<int>(error.code())},
                      {"message", error.message()},
                      {"file", error.location().file},
                      {"line", error.location().line},
                      {"column", error.location().column}};
  return value.dump(-1, ' ', false, json::error_handler_t::replace);
}

Error error_from_json(std::string_view line) {
  const json value = parse(line, "error");
  try {
    return Error(static_cast<ErrorCode>(value.at("code").get<int>()),
                 Location{value.at("file").get<std::string>(), value.at("line").get<int>(),
                          value.at("column").get<int>()},
                 value.at("message").get<std::string>());
  } catch (const json::exception& e) {
    throw Error(ErrorCode::kParse,
                std::string("malformed error between kbench and worker: ") + e.what());
  }
}

}  // namespace kbench::worker
