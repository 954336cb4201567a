#include "harness/evaluate/client/protocol.h"

#include <concepts>
#include <nlohmann/json.hpp>
#include <type_traits>
#include <utility>

#include "libkbench/base/json_text.h"
#include "libkbench/candidate/source_json.h"
#include "libkbench/core/variables_json.h"

namespace kbench::client {
namespace {

using nlohmann::json;

[[noreturn]] void malformed(const std::string& what, const std::string& why) {
  throw Error(ErrorCode::kParse, "malformed " + what + " between kbench and its judge: " + why);
}

/// A whole number that T holds: the JSON library would cast any number, and cut it.
template <std::integral T>
T whole(const json& value) {
  const bool fits = value.is_number_unsigned()
                        ? std::in_range<T>(value.get<uint64_t>())
                        : value.is_number_integer() && std::in_range<T>(value.get<int64_t>());
  if (!fits) malformed("message", "a number out of range");
  return value.get<T>();
}

Variables variables_from(const json& object) {
  if (!object.is_object()) malformed("request", "variables that are no object");
  return variables_from_json(object, [](const std::string& name, const char* what) {
    malformed("request", name + " " + what);
  });
}

json to_value(const RecordedTimes& recorded) {
  json object = {{"file", recorded.file},     {"column", recorded.column},
                 {"device", recorded.device}, {"preset", recorded.preset},
                 {"ms", json::object()},      {"variables", json::object()}};
  for (const auto& [task, ms] : recorded.ms) object["ms"][to_string(task)] = ms;
  for (const auto& [task, sizes] : recorded.variables) {
    object["variables"][to_string(task)] = variables_json<json>(sizes);
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
    throw Error(ErrorCode::kParse,
                std::string("malformed ") + what + " between kbench and its judge");
  }
  return value;
}

}  // namespace

std::string to_json(const Request& request) {
  const EvaluateOptions& o = request.options;
  json value = {
      {"candidate", source_json<json>(request.candidate)},
      {"check_only", request.check_only},
      {"more", request.more},
      {"preset", o.preset},
      {"overrides", variables_json<json>(o.overrides)},
      {"tolerance", name_of(o.tolerance)},
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
      {"validate", o.validate},  // part of a result's settings
      {"other_sizes", o.other_sizes},
  };
  json& following = value["next_files"] = json::array();
  for (const CandidateSource& each : request.next_files) {
    following.push_back(source_json<json>(each));
  }
  if (request.progress) value["progress"] = true;
  if (o.seed) value["seed"] = *o.seed;
  if (request.inspect_seed) value["inspect_seed"] = *request.inspect_seed;
  if (request.profile_runs > 0) value["profile_runs"] = request.profile_runs;
  if (request.values_only) value["values_only"] = true;
  if (o.recorded) value["recorded"] = to_value(*o.recorded);
  return json_text(value);
}

Request request_from_json(const std::string& line) {
  const json value = parse(line, "request");
  try {
    Request request;
    request.candidate = source_from_json(value.at("candidate"));
    request.check_only = value.at("check_only").get<bool>();
    request.more = value.at("more").get<bool>();
    for (const json& each : value.at("next_files")) {
      request.next_files.push_back(source_from_json(each));
    }
    if (value.contains("progress")) request.progress = value.at("progress").get<bool>();
    EvaluateOptions& o = request.options;
    o.preset = value.at("preset").get<std::string>();
    o.overrides = variables_from(value.at("overrides"));
    o.tolerance = tolerance_rule_from_name(value.at("tolerance").get<std::string>());
    const json& plan = value.at("plan");
    o.plan = {plan.at("precision").get<double>(), plan.at("max_seconds").get<double>(),
              whole<int>(plan.at("min_samples")), whole<int>(plan.at("max_samples"))};
    const json& limits = value.at("limits");
    o.limits = {limits.at("compile_seconds").get<double>(),
                limits.at("device_seconds").get<double>(), limits.at("total_seconds").get<double>(),
                whole<int64_t>(limits.at("host_bytes"))};
    o.validate = value.at("validate").get<bool>();
    o.other_sizes = value.at("other_sizes").get<bool>();
    if (value.contains("values_only")) request.values_only = value.at("values_only").get<bool>();
    if (value.contains("seed")) o.seed = whole<uint64_t>(value.at("seed"));
    if (value.contains("inspect_seed")) {
      request.inspect_seed = whole<uint64_t>(value.at("inspect_seed"));
    }
    if (value.contains("profile_runs")) {
      constexpr int kMostRuns = 1000;
      request.profile_runs = whole<int>(value.at("profile_runs"));
      if (request.profile_runs < 1 || request.profile_runs > kMostRuns) {
        malformed("request", "profile_runs out of range");
      }
    }
    if (value.contains("recorded")) o.recorded = recorded_from(value.at("recorded"));
    return request;
  } catch (const json::exception& e) {
    malformed("request", e.what());
  } catch (const Error& e) {
    if (e.code() == ErrorCode::kParse) throw;
    malformed("request", e.message());
  }
}

bool same_question(const Request& a, const Request& b) {
  Request one = a, other = b;
  for (Request* each : {&one, &other}) {
    each->more = each->progress = false;
    each->next_files.clear();
  }
  return to_json(one) == to_json(other);
}

std::string to_json(const Progress& progress) {
  const Interval& speedup = progress.speedup;
  return json{{"samples", progress.samples},
              {"speedup", {{"low", speedup.low}, {"point", speedup.point}, {"high", speedup.high}}},
              {"seconds", progress.seconds}}
      .dump();
}

Progress progress_from_json(std::string_view line) {
  const json value = parse(line, "progress");
  try {
    const json& speedup = value.at("speedup");
    return {whole<int>(value.at("samples")),
            {speedup.at("low").get<double>(), speedup.at("point").get<double>(),
             speedup.at("high").get<double>()},
            value.at("seconds").get<double>()};
  } catch (const json::exception& e) {
    malformed("progress", e.what());
  }
}

std::string to_json(const Error& error) {
  const json value = {{"code", static_cast<int>(error.code())},
                      {"message", error.message()},
                      {"file", error.location().file},
                      {"line", error.location().line},
                      {"column", error.location().column}};
  return json_text(value);
}

Error error_from_json(std::string_view line) {
  const json value = parse(line, "error");
  try {
    const int code = whole<int>(value.at("code"));
    if (code < 0 || code > static_cast<int>(ErrorCode::kInternal)) {
      malformed("error", "a code that there is not");
    }
    return Error(static_cast<ErrorCode>(code),
                 Location{value.at("file").get<std::string>(), whole<int>(value.at("line")),
                          whole<int>(value.at("column"))},
                 value.at("message").get<std::string>());
  } catch (const json::exception& e) {
    throw Error(ErrorCode::kParse,
                std::string("malformed error between kbench and its judge: ") + e.what());
  }
}

namespace {

template <class V>
void visit(V& v, auto& q, vulkan::QueueFamily*) {
  v("index", q.index);
  v("compute", q.compute);
  v("graphics", q.graphics);
  v("timestamp_bits", q.timestamp_bits);
}

/// Every field of a snapshot, once, for writing and for reading.
template <class V>
void visit(V& v, auto& s, vulkan::DeviceSnapshot*) {
  v("index", s.index);
  v("name", s.name);
  v("driver", s.driver);
  v("device_uuid", s.device_uuid);
  v("driver_uuid", s.driver_uuid);
  v("type", s.type);
  v("api_version", s.api_version);
  v("vendor_id", s.vendor_id);
  v("device_id", s.device_id);
  v("queues", s.queues);
  v("extensions", s.extensions);
  v("max_storage_buffer_range", s.max_storage_buffer_range);
  v("max_allocation", s.max_allocation);
  v("max_buffer", s.max_buffer);
  v("device_local_bytes", s.device_local_bytes);
  v("device_local_budget", s.device_local_budget);
  v("max_push_constants", s.max_push_constants);
  v("max_shared_memory", s.max_shared_memory);
  v("max_invocations", s.max_invocations);
  v("max_group_count", s.max_group_count);
  v("max_group_size", s.max_group_size);
  v("max_storage_buffers_per_stage", s.max_storage_buffers_per_stage);
  v("storage_offset_alignment", s.storage_offset_alignment);
  v("timestamp_period_ns", s.timestamp_period_ns);
  v("subgroup_size", s.subgroup_size);
  v("min_subgroup_size", s.min_subgroup_size);
  v("max_subgroup_size", s.max_subgroup_size);
  v("subgroup_operations", s.subgroup_operations);
  v("required_subgroup_stages", s.required_subgroup_stages);
  v("max_subgroups_per_group", s.max_subgroups_per_group);
  v("buffer_device_address", s.buffer_device_address);
  v("shader_int64", s.shader_int64);
  v("shader_int16", s.shader_int16);
  v("shader_int8", s.shader_int8);
  v("shader_float64", s.shader_float64);
  v("shader_float16", s.shader_float16);
  v("storage_16bit", s.storage_16bit);
  v("storage_8bit", s.storage_8bit);
  v("scalar_block_layout", s.scalar_block_layout);
  v("vulkan_memory_model", s.vulkan_memory_model);
  v("memory_model_device_scope", s.memory_model_device_scope);
  v("subgroup_size_control", s.subgroup_size_control);
  v("full_subgroups", s.full_subgroups);
  v("synchronization2", s.synchronization2);
  v("host_query_reset", s.host_query_reset);
  v("cooperative_matrix", s.cooperative_matrix);
  v("cooperative_matrix_nv", s.cooperative_matrix_nv);
  v("float_atomics", s.float_atomics);
  v("shares_descriptors", s.shares_descriptors);
  v("dedicated_descriptors", s.dedicated_descriptors);
  v("shares_host_pointers", s.shares_host_pointers);
}

struct SnapshotWriter {
  json object = json::object();
  template <class T>
  void operator()(const char* name, const T& value) {
    if constexpr (std::is_same_v<T, std::vector<vulkan::QueueFamily>>) {
      object[name] = json::array();
      for (const auto& each : value) {
        SnapshotWriter writer;
        visit(writer, each, static_cast<vulkan::QueueFamily*>(nullptr));
        object[name].push_back(std::move(writer.object));
      }
    } else {
      object[name] = value;
    }
  }
};

template <class T>
void read(const json& from, T& value) {
  if constexpr (std::is_enum_v<T>) {
    value = static_cast<T>(whole<std::underlying_type_t<T>>(from));
  } else if constexpr (std::integral<T> && !std::same_as<T, bool>) {
    value = whole<T>(from);
  } else if constexpr (std::is_array_v<T> || requires { std::tuple_size<T>::value; }) {
    if (!from.is_array() || from.size() != std::size(value)) malformed("device", "a bad list");
    for (size_t i = 0; i < std::size(value); ++i) read(from[i], value[i]);
  } else {
    from.get_to(value);
  }
}

struct SnapshotReader {
  const json& object;
  template <class T>
  void operator()(const char* name, T& value) {
    if constexpr (std::is_same_v<T, std::vector<vulkan::QueueFamily>>) {
      for (const json& each : object.at(name)) {
        SnapshotReader reader{each};
        visit(reader, value.emplace_back(), static_cast<vulkan::QueueFamily*>(nullptr));
      }
    } else {
      read(object.at(name), value);
    }
  }
};

json value_of(const vulkan::DeviceSnapshot& snapshot) {
  SnapshotWriter writer;
  visit(writer, snapshot, static_cast<vulkan::DeviceSnapshot*>(nullptr));
  return std::move(writer.object);
}

vulkan::DeviceSnapshot snapshot_of(const json& value) {
  try {
    vulkan::DeviceSnapshot snapshot;
    SnapshotReader reader{value};
    visit(reader, snapshot, static_cast<vulkan::DeviceSnapshot*>(nullptr));
    return snapshot;
  } catch (const json::exception& e) {
    throw Error(ErrorCode::kParse,
                std::string("malformed device from kbench's judge: ") + e.what());
  }
}

}  // namespace

std::string to_json(const vulkan::DeviceSnapshot& snapshot) {
  return json_text(value_of(snapshot));
}

vulkan::DeviceSnapshot snapshot_from_json(std::string_view line) {
  return snapshot_of(parse(line, "device"));
}

std::string to_json(const std::vector<vulkan::DeviceSnapshot>& list) {
  json all = json::array();
  for (const auto& snapshot : list) all.push_back(value_of(snapshot));
  return json_text(json{{"devices", std::move(all)}});
}

std::vector<vulkan::DeviceSnapshot> snapshots_from_json(std::string_view line) {
  const json value = parse(line, "list of devices");
  const auto devices = value.find("devices");
  if (devices == value.end()) malformed("list of devices", "there is none");
  std::vector<vulkan::DeviceSnapshot> list;
  for (const json& each : *devices) list.push_back(snapshot_of(each));
  return list;
}

}  // namespace kbench::client
