#include "harness/evaluate/queue/serve_request.h"

#include <algorithm>
#include <concepts>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "harness/evaluate/client/named_task.h"
#include "harness/evaluate/client/options_json.h"
#include "harness/measure/vulkan/plan.h"
#include "kbench/candidate_source.h"
#include "kbench/error.h"
#include "libkbench/base/json_text.h"
#include "libkbench/base/text.h"
#include "libkbench/candidate/source_json.h"
#include "libkbench/core/own_tasks.h"
#include "libkbench/core/variables_json.h"
#include "libkbench/scoring/json_fields.h"
#include "libkbench/task_file/task_file.h"

namespace kbench::queue {
namespace {

using nlohmann::json;

/// Deeper than any valid line.
constexpr int kDepth = 8;
constexpr size_t kIdBytes = 1000;

[[noreturn]] void refuse(const std::string& why) { throw Error(ErrorCode::kInvalidArgument, why); }

json parse(std::string_view line) {
  const auto shallow = [](int depth, json::parse_event_t, json&) {
    if (depth > kDepth) refuse("is nested too deeply");
    return true;
  };
  json value;
  try {
    value = json::parse(line, shallow);
  } catch (const json::parse_error& e) {
    refuse("is not JSON from character " + std::to_string(e.byte) + " on");
  } catch (const json::out_of_range&) {
    refuse("holds a number out of range");
  }
  if (!value.is_object()) refuse("is not a JSON object");
  return value;
}

std::string id_of(const json& value) {
  if (value.is_object() || value.is_array())
    refuse("an id is a string, a number, a boolean or null");
  std::string text = json_text(value);
  if (text.size() > kIdBytes) refuse("an id of more than " + std::to_string(kIdBytes) + " bytes");
  return text;
}

/// Reads an evaluation's options, whose members stand in the line itself: those of the plan and of
/// the limits, too, and `overrides` as `set`.
class LineReader : public FieldReader<EvaluateOptions> {
 public:
  LineReader(const JsonField& line, const Limits& most)
      : FieldReader(line, {.all_optional = true, .no_others = true}), most_(most) {}

  using FieldReader::operator();
  void operator()(const char*, SamplingPlan& plan) { each_field(*this, plan); }
  void operator()(const char*, Limits& limits) { each_field(*this, limits); }
  void operator()(const char*, Variables& overrides) { FieldReader::operator()("set", overrides); }
  void operator()(const char* name, DType& dtype) {
    if (is_given(name)) dtype = object_[name].as(task_dtype_from_name);
  }
  void operator()(const char*, std::optional<RecordedTimes>&) {}
  void operator()(const char* name, std::string& text) {
    if (name == std::string_view("preset")) FieldReader::operator()(name, text);
  }
  void operator()(const char* name, bool& flag) {
    if (name != std::string_view("validate")) FieldReader::operator()(name, flag);
  }
  void operator()(const char* name, double& value) { read_within(name, value); }
  void operator()(const char* name, int& value) { read_within(name, value); }
  void operator()(const char* name, int64_t& value) { read_within(name, value); }
  void operator()(const char* name, std::vector<double>& list) {
    constexpr size_t kMost = 100;
    FieldReader::operator()(name, list);
    if (list.size() > kMost) refuse("'thresholds' has more than " + std::to_string(kMost));
  }

 private:
  std::pair<double, double> range_of(std::string_view name) const {
    constexpr double kLeastSeconds = 0.001;
    if (name == "precision") return {0, 1};
    if (name == "max_seconds") return {0, most_.total_seconds};
    if (name == "compile_seconds") return {kLeastSeconds, most_.compile_seconds};
    if (name == "device_seconds") return {kLeastSeconds, most_.device_seconds};
    if (name == "total_seconds") return {kLeastSeconds, most_.total_seconds};
    if (name == "host_bytes") return {1 << 20, static_cast<double>(most_.host_bytes)};
    return {1, 1e6};  // samples
  }
  template <class T>
  void read_within(const char* name, T& value) {
    if (!is_given(name)) return;
    read_value(object_[name], value);
    const auto [low, high] = range_of(name);
    if (static_cast<double>(value) >= low && static_cast<double>(value) <= high) return;
    refuse("'" + std::string(name) + "' must be a number from " + digits_text(low, 12) + " to " +
           digits_text(high, 12));
  }

  const Limits& most_;
};

/// Writes what LineReader reads, and of the limits those that are not as `usual`.
class LineWriter {
 public:
  LineWriter(json& line, const Limits& usual) : line_(line), usual_(usual) {}

  template <class T>
  void operator()(const char* name, const T& value) {
    const std::string_view own = name;
    if constexpr (std::same_as<T, Limits>) {
      const json mine = json_of<json>(value), others = json_of<json>(usual_);
      for (const auto& [limit, seconds] : mine.items()) {
        if (seconds != others[limit]) line_[limit] = seconds;
      }
    } else if constexpr (std::same_as<T, SamplingPlan>) {
      each_field(*this, value);
    } else if constexpr (!kIsCallback<T> && !std::same_as<T, std::optional<RecordedTimes>>) {
      if (own == "device" || own == "validate" || own == "program") return;
      const json member = json_of<json>(value);
      if (!member.is_null()) line_[own == "overrides" ? "set" : name] = member;
    }
  }

 private:
  json& line_;
  const Limits& usual_;
};

CandidateSource read_candidate(const JsonField& line, Sender sender) {
  if (line.has("candidate") && sender == Sender::network) {
    refuse("a path on the server ('candidate') cannot be named from elsewhere; send 'files'");
  }
  if (line.has("candidate") == line.has("files")) {
    refuse("wants one of 'candidate' (a path) and 'files' (path: text)");
  }
  if (line.has("candidate")) {
    if (!line["candidate"].json().is_string()) refuse("'candidate' must be a path");
    if (line.has("manifest") || line.has("name")) refuse("'manifest' and 'name' go with 'files'");
    return line["candidate"].text();
  }
  json source;
  for (const char* member : {"files", "manifest", "name"}) {
    if (line.has(member)) source[member] = line[member].json();
  }
  return source_from_json(source);
}

void read_options(LineReader& reader, const Limits& most, EvaluateOptions& options) {
  const double before = options.limits.total_seconds;
  each_field(reader, options);
  if (options.preset != "auto") preset_from_name(options.preset);
  SamplingPlan& plan = options.plan;
  plan.max_samples = std::max(plan.max_samples, plan.min_samples);
  // As on the command line: a long measurement is given more time.
  double& total = options.limits.total_seconds;
  if (total == before && before == Limits{}.total_seconds) {
    total = std::max(before, std::min(before + 4 * plan.max_seconds, most.total_seconds));
  }
}

void read_line(const JsonField& object, const EvaluateOptions& defaults, const Limits& most,
               const std::vector<vulkan::DeviceSnapshot>& devices, Sender sender, ServeLine& line) {
  LineReader reader(object, most);
  for (const char* read_elsewhere : {"id", "candidate", "files", "manifest", "name"}) {
    reader.is_given(read_elsewhere);
  }
  line.request.options = defaults;
  line.request.candidate = read_candidate(object, sender);
  std::optional<TaskId> own_task;
  if (reader.is_given("task_file")) {
    // It is not made known here: another sender may mean something else by its name, and such
    // files would add up while the server runs.
    const std::string task_file = object["task_file"].text();
    own_task = read_task_file(task_file, "task_file")->id;
    line.request.task_files = {task_file};
  }
  if (reader.is_given("author")) line.request.candidate.author = object["author"].text();
  read_options(reader, most, line.request.options);
  reader("check", line.request.check_only);
  reader("stages", line.stages);
  if (reader.is_given("device")) {
    const json& device = object["device"].json();
    if (!device.is_string() && !device.is_number_unsigned()) {
      refuse("'device' must be an index, a UUID or part of a name");
    }
    const std::string selector = device.is_string() ? device.get<std::string>() : device.dump();
    line.device = static_cast<size_t>(&vulkan::choose_device(devices, selector) - devices.data());
  }
  reader.finish();
  expect_readable(line.request.candidate);
  const EvaluateOptions& options = line.request.options;
  std::optional<TaskId> task = client::named_task_id(line.request.candidate);
  if (task && own_task && task->own == own_task->own) task = own_task;
  if (task) {  // Those of one group are judged in a row.
    line.group = exact_name(*task) + " " + options.preset + " " +
                 std::string(name_of(options.dtype)) + " " +
                 variables_json<json>(options.overrides).dump();
  }
}

}  // namespace

ServeLine parse_serve_line(std::string_view text, const EvaluateOptions& defaults,
                           const Limits& most, const std::vector<vulkan::DeviceSnapshot>& devices,
                           Sender sender) {
  ServeLine line;
  try {
    const json object = parse(text);
    if (const auto id = object.find("id"); id != object.end()) line.id = id_of(*id);
    if (const auto cancel = object.find("cancel");
        cancel != object.end() && sender == Sender::this_user) {
      if (object.size() != 1) refuse("'cancel' stands alone: {\"cancel\": id}");
      line.id = id_of(*cancel);
      line.cancel = true;
      return line;
    }
    if (line.id.empty() && sender == Sender::this_user) refuse("has no 'id'");
    static const std::string kNoFile;
    read_line({object, kNoFile, "the line"}, defaults, most, devices, sender, line);
    return line;
  } catch (const Error& e) {
    throw BadLine{line.id, e};
  } catch (const json::exception& e) {
    throw BadLine{line.id, Error(ErrorCode::kInvalidArgument, e.what())};
  }
}

std::string serve_line_of(const client::EvaluateRequest& request, const std::string& device) {
  const EvaluateOptions& options = request.options;
  if (options.recorded) {
    throw Error(ErrorCode::kUnsupported, "a server elsewhere takes no recorded times as baseline");
  }
  if (options.validate) {
    throw Error(ErrorCode::kUnsupported,
                "the validation layer is a server's own choice, from its start");
  }
  if (request.inspect_seed || request.profile_runs || request.values_only) {
    throw Error(ErrorCode::kUnsupported, "a server elsewhere judges, and looks no closer");
  }
  json line = source_json<json>(in_memory(request.candidate));
  // The server's own limits hold where no other was asked for: it may have lower ones.
  Limits usual;
  usual.total_seconds += 4 * options.plan.max_seconds;
  LineWriter writer(line, usual);
  each_field(writer, options);
  if (device != "auto") line["device"] = device;
  line["check"] = request.check_only;
  const Task* task = client::named_task(request.candidate);
  if (task != nullptr && !task->file.empty()) line["task_file"] = task->file;
  return json_text(line);
}

}  // namespace kbench::queue
