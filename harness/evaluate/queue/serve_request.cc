#include "harness/evaluate/queue/serve_request.h"

#include <algorithm>
#include <cmath>
#include <concepts>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "harness/evaluate/client/named_task.h"
#include "harness/measure/vulkan/plan.h"
#include "kbench/candidate_source.h"
#include "kbench/text.h"
#include "libkbench/base/enum_names.h"
#include "libkbench/base/json_text.h"
#include "libkbench/base/suggest.h"
#include "libkbench/candidate/source_json.h"
#include "libkbench/core/own_tasks.h"
#include "libkbench/core/variables_json.h"
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

/// The members of a request. Each is read once; members that were not read are unknown.
class Members {
 public:
  explicit Members(const json& object) : object_(object) {}

  const json* find(const std::string& name) {
    known_.push_back(name);
    const auto found = object_.find(name);
    return found == object_.end() ? nullptr : &*found;
  }
  void read(const std::string& name, std::string& value) {
    if (const json* member = find(name)) {
      if (!member->is_string()) refuse("'" + name + "' must be a string");
      value = member->get<std::string>();
    }
  }
  void read(const std::string& name, bool& value) {
    if (const json* member = find(name)) {
      if (!member->is_boolean()) refuse("'" + name + "' must be true or false");
      value = member->get<bool>();
    }
  }
  void read(const std::string& name, double& value, double low, double high) {
    const json* member = find(name);
    if (member == nullptr) return;
    const double given = member->is_number() ? member->get<double>() : NAN;
    if (!(given >= low && given <= high)) {
      refuse("'" + name + "' must be a number from " + json(low).dump() + " to " +
             json(high).dump());
    }
    value = given;
  }
  template <std::integral T>
  void read(const std::string& name, T& value, T low, T high) {
    const json* member = find(name);
    if (member == nullptr) return;
    const bool fits = member->is_number_unsigned()
                          ? std::in_range<T>(member->get<uint64_t>())
                          : member->is_number_integer() && std::in_range<T>(member->get<int64_t>());
    const T given = fits ? member->get<T>() : T{};
    if (!fits || given < low || given > high) {
      refuse("'" + name + "' must be a whole number from " + std::to_string(low) + " to " +
             std::to_string(high));
    }
    value = given;
  }
  void expect_no_more() const {
    for (const auto& [name, value] : object_.items()) {
      if (std::find(known_.begin(), known_.end(), name) != known_.end()) continue;
      refuse("there is no '" + shown(name) + "'" + suggestion(name, known_));
    }
  }

 private:
  const json& object_;
  std::vector<std::string> known_;
};

CandidateSource read_candidate(Members& members, Sender sender) {
  const json* candidate = members.find("candidate");
  const json* files = members.find("files");
  if (candidate != nullptr && sender == Sender::network) {
    refuse("a path on the server ('candidate') cannot be named from elsewhere; send 'files'");
  }
  const json* manifest = members.find("manifest");
  const json* name = members.find("name");
  if ((candidate == nullptr) == (files == nullptr)) {
    refuse("wants one of 'candidate' (a path) and 'files' (path: text)");
  }
  if (candidate != nullptr) {
    if (!candidate->is_string()) refuse("'candidate' must be a path");
    if (manifest != nullptr || name != nullptr) refuse("'manifest' and 'name' go with 'files'");
    return candidate->get<std::string>();
  }
  json source = {{"files", *files}};
  if (manifest != nullptr) source["manifest"] = *manifest;
  if (name != nullptr) source["name"] = *name;
  return source_from_json(source);
}

std::vector<double> thresholds_of(const json& list) {
  constexpr size_t kMost = 100;
  const auto is_number = [](const json& each) { return each.is_number(); };
  if (!list.is_array() || list.size() > kMost || !std::ranges::all_of(list, is_number)) {
    refuse("'thresholds' must be a list of at most " + std::to_string(kMost) + " numbers");
  }
  return list.get<std::vector<double>>();
}

void read_options(Members& members, const Limits& most, EvaluateOptions& options) {
  members.read("preset", options.preset);
  if (options.preset != "auto") preset_from_name(options.preset);
  std::string dtype(name_of(options.dtype));
  members.read("dtype", dtype);
  options.dtype = task_dtype_from_name(dtype);
  if (const json* set = members.find("set")) {
    if (!set->is_object()) refuse("'set' must be an object of shape variables");
    options.overrides = variables_from_json(*set, [](const std::string& name, const char* what) {
      refuse("'set': " + shown(name) + " " + what);
    });
  }
  std::string tolerance(name_of(options.tolerance));
  members.read("tolerance", tolerance);
  const auto rule = value_named(tolerance, ToleranceRule::kernelbench);
  if (!rule) refuse("'tolerance' is kbench or kernelbench");
  options.tolerance = *rule;
  std::string opponent(name_of(options.opponent));
  members.read("opponent", opponent);
  const auto against = value_named(opponent, Opponent::best);
  if (!against) refuse("'opponent' is eager, torch, torch.compile or best");
  options.opponent = *against;
  constexpr int kMostSamples = 1000000;
  SamplingPlan& plan = options.plan;
  members.read("max_seconds", plan.max_seconds, 0, most.total_seconds);
  members.read("precision", plan.precision, 0, 1);
  members.read("min_samples", plan.min_samples, 1, kMostSamples);
  members.read("max_samples", plan.max_samples, 1, kMostSamples);
  plan.max_samples = std::max(plan.max_samples, plan.min_samples);
  if (const json* thresholds = members.find("thresholds")) {
    plan.thresholds = thresholds_of(*thresholds);
  }
  Limits& limits = options.limits;
  const double before = limits.total_seconds;
  members.read("compile_seconds", limits.compile_seconds, 0.001, most.compile_seconds);
  members.read("device_seconds", limits.device_seconds, 0.001, most.device_seconds);
  members.read("total_seconds", limits.total_seconds, 0.001, most.total_seconds);
  members.read("host_bytes", limits.host_bytes, int64_t{1} << 20, most.host_bytes);
  // As on the command line: a long measurement is given more time.
  if (limits.total_seconds == before && before == Limits{}.total_seconds) {
    limits.total_seconds =
        std::max(before, std::min(before + 4 * plan.max_seconds, most.total_seconds));
  }
  members.read("other_sizes", options.other_sizes);
  members.read("general", options.general);
  members.read("fresh_runners", options.fresh_runners);
  uint64_t seed = 0;
  if (members.find("seed") != nullptr) {
    members.read("seed", seed, uint64_t{0}, UINT64_MAX);
    options.seed = seed;
  }
}

void read_line(const json& object, const EvaluateOptions& defaults, const Limits& most,
               const std::vector<vulkan::DeviceSnapshot>& devices, Sender sender, ServeLine& line) {
  Members members(object);
  members.find("id");
  line.request.options = defaults;
  line.request.candidate = read_candidate(members, sender);
  std::string task_file;
  members.read("task_file", task_file);
  std::optional<TaskId> own_task;
  if (!task_file.empty()) {
    // It is not made known here: another sender may mean something else by its name, and such
    // files would add up while the server runs.
    own_task = read_task_file(task_file, "task_file")->id;
    line.request.task_files = {task_file};
  }
  members.read("author", line.request.candidate.author);
  read_options(members, most, line.request.options);
  members.read("check", line.request.check_only);
  members.read("stages", line.stages);
  if (const json* device = members.find("device")) {
    if (!device->is_string() && !device->is_number_unsigned()) {
      refuse("'device' must be an index, a UUID or part of a name");
    }
    const std::string selector = device->is_string() ? device->get<std::string>() : device->dump();
    line.device = static_cast<size_t>(&vulkan::choose_device(devices, selector) - devices.data());
  }
  members.expect_no_more();
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
    read_line(object, defaults, most, devices, sender, line);
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
  line["preset"] = options.preset;
  line["dtype"] = name_of(options.dtype);
  line["set"] = variables_json<json>(options.overrides);
  line["tolerance"] = name_of(options.tolerance);
  line["opponent"] = name_of(options.opponent);
  line["max_seconds"] = options.plan.max_seconds;
  line["precision"] = options.plan.precision;
  line["min_samples"] = options.plan.min_samples;
  line["max_samples"] = options.plan.max_samples;
  line["thresholds"] = options.plan.thresholds;
  // The server's own limits hold where no other was asked for: it may have lower ones.
  Limits usual;
  usual.total_seconds += 4 * options.plan.max_seconds;
  const auto send = [&line](const char* name, auto value, auto as_usual) {
    if (value != as_usual) line[name] = value;
  };
  send("compile_seconds", options.limits.compile_seconds, usual.compile_seconds);
  send("device_seconds", options.limits.device_seconds, usual.device_seconds);
  send("total_seconds", options.limits.total_seconds, usual.total_seconds);
  send("host_bytes", options.limits.host_bytes, usual.host_bytes);
  line["other_sizes"] = options.other_sizes;
  line["general"] = options.general;
  line["fresh_runners"] = options.fresh_runners;
  if (options.seed) line["seed"] = *options.seed;
  if (device != "auto") line["device"] = device;
  line["check"] = request.check_only;
  const Task* task = client::named_task(request.candidate);
  if (task != nullptr && !task->file.empty()) line["task_file"] = task->file;
  return json_text(line);
}

}  // namespace kbench::queue
