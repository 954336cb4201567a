#include "harness/evaluate/generate/settings.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "kbench/error.h"
#include "kbench/text.h"
#include "libkbench/base/files.h"
#include "libkbench/base/json_text.h"

namespace kbench::generate {
namespace {

using Json = nlohmann::ordered_json;

std::string dump(const Json& json) { return json_text(json); }

/// Settings that do not shape a model's answers: how its server is reached and what it costs.
const std::set<std::string>& reaching() {
  static const std::set<std::string> kKeys = {"connections", "timeout", "price",         "key_env",
                                              "ca_file",     "tries",   "retry_seconds", "url"};
  return kKeys;
}

std::string name_of_model(const std::string& json) {
  return Json::parse(json).value("name", std::string());
}

/// The first key in which two models differ; empty if none.
std::string difference(const std::string& a, const std::string& b) {
  Json first = Json::parse(a), second = Json::parse(b);
  // Earlier versions wrote how many samples share a request.
  for (Json* one : {&first, &second}) {
    if (one->contains("send")) one->at("send").erase("choices");
  }
  for (const auto* one : {&first, &second}) {
    const Json& other = one == &first ? second : first;
    for (const auto& [key, value] : one->items()) {
      if (reaching().contains(key)) continue;
      if (!other.contains(key) || other.at(key) != value) return key;
    }
  }
  return "";
}

[[noreturn]] void refuse(const std::string& run, const std::string& key, const std::string& stored,
                         const std::string& asked) {
  throw Error(ErrorCode::kInvalidArgument, run + " was begun with " + key + " " + shown(stored) +
                                               ", and cannot go on with " + shown(asked) +
                                               "; take the same, or another folder");
}

[[noreturn]] void refuse_older(const std::string& run, const std::string& key) {
  throw Error(ErrorCode::kInvalidArgument,
              run + " was begun without the setting '" + shown(key) +
                  "', by another version of kbench, and cannot go on with this one; take that "
                  "version, or another folder");
}

bool grows(const std::string& key) { return key == "samples" || key == "attempts"; }
/// Whether a value has the type that resumed() compares.
bool fits(const std::string& key, const Json& value) {
  return !grows(key) || value.is_number_integer();
}

}  // namespace

void Settings::put(const std::string& key, const std::string& json) {
  for (auto& [each, value] : values_) {
    if (each == key) {
      value = json;
      return;
    }
  }
  values_.emplace_back(key, json);
}

const std::string* Settings::find(const std::string& key) const {
  for (const auto& [each, value] : values_) {
    if (each == key) return &value;
  }
  // A run in float32 does not say so.
  static const std::string kFloat32 = dump(name_of(DType::f32));
  return key == "dtype" ? &kFloat32 : nullptr;
}

void Settings::set(const std::string& key, const std::string& text) { put(key, dump(text)); }
void Settings::set(const std::string& key, int64_t number) { put(key, dump(number)); }
void Settings::set(const std::string& key, double number) { put(key, dump(number)); }
void Settings::set(const std::string& key, bool flag) { put(key, dump(flag)); }
void Settings::set_null(const std::string& key) { put(key, "null"); }

void Settings::set_tasks(const std::vector<const Task*>& tasks) {
  Json list = Json::array();
  for (const Task* task : tasks) list.push_back(to_string(task->id));
  put("tasks", dump(list));
}

void Settings::add_model(const std::string& json) { models_.push_back(json); }

std::optional<std::string> Settings::text(const std::string& key) const {
  const std::string* value = find(key);
  if (value == nullptr) return std::nullopt;
  const Json json = Json::parse(*value);
  if (!json.is_string()) return std::nullopt;
  return json.get<std::string>();
}

std::optional<double> Settings::number(const std::string& key) const {
  const std::string* value = find(key);
  if (value == nullptr) return std::nullopt;
  const Json json = Json::parse(*value);
  if (!json.is_number()) return std::nullopt;
  return json.get<double>();
}

std::optional<bool> Settings::flag(const std::string& key) const {
  const std::string* value = find(key);
  if (value == nullptr || (*value != "true" && *value != "false")) return std::nullopt;
  return *value == "true";
}

std::vector<TaskId> Settings::tasks() const {
  std::vector<TaskId> tasks;
  const std::string* value = find("tasks");
  if (value == nullptr) return tasks;
  for (const Json& each : Json::parse(*value)) {
    tasks.push_back(parse_task_id(each.get<std::string>()));
  }
  return tasks;
}

std::vector<std::string> Settings::model_names() const {
  std::vector<std::string> names;
  for (const std::string& model : models_) names.push_back(name_of_model(model));
  return names;
}

std::string Settings::to_yaml() const {
  std::string yaml = "# The settings of a run (kbench generate); it goes on only with these.\n";
  for (const auto& [key, value] : values_) yaml += key + ": " + value + "\n";
  yaml += "models:\n";
  for (const std::string& model : models_) yaml += "  - " + model + "\n";
  return yaml;
}

Settings Settings::read(const std::string& path) {
  Settings settings;
  std::istringstream lines(read_file(path));
  bool in_models = false;
  int number = 0;
  for (std::string line; std::getline(lines, line);) {
    ++number;
    if (line.empty() || line.front() == '#') continue;
    try {
      constexpr std::string_view kItem = "  - ";
      if (line == "models:") {
        in_models = true;
      } else if (in_models && line.starts_with(kItem)) {
        const std::string json = line.substr(kItem.size());
        if (!Json::parse(json).at("name").is_string()) throw Error(ErrorCode::kParse, "");
        settings.add_model(json);
      } else {
        const size_t colon = line.find(": ");
        if (colon == line.npos || in_models) throw Error(ErrorCode::kParse, "");
        const Json value = Json::parse(line.substr(colon + 2));
        if (!fits(line.substr(0, colon), value)) throw Error(ErrorCode::kParse, "");
        const std::string key = line.substr(0, colon);
        if (key == "dtype") task_dtype_from_name(value.get<std::string>());
        settings.put(key, dump(value));
      }
    } catch (const std::exception&) {
      throw Error(ErrorCode::kParse, Location{path, number, 0},
                  "is no setting of a run as kbench writes it");
    }
  }
  try {
    settings.tasks();
  } catch (const std::exception&) {
    throw Error(ErrorCode::kParse, Location{path}, "'tasks' is no list of tasks");
  }
  return settings;
}

void Settings::refuse_relay(const std::string& run) const {
  if (text("strategy") != "relay") return;
  throw Error(ErrorCode::kUnsupported,
              run +
                  " is a relay, in which models took turns; this version reports on it, and "
                  "neither goes on with it nor judges it");
}

Settings Settings::resumed(const Settings& stored, const std::string& run) const {
  stored.refuse_relay(run);
  Settings result = *this;
  if (const std::string& before = *stored.find("dtype"), &asked = *find("dtype"); before != asked) {
    refuse(run, "dtype", before, asked);
  }
  for (const auto& [key, asked] : values_) {
    const std::string* before = stored.find(key);
    if (before == nullptr) refuse_older(run, key);
    if (*before == "null" || *before == asked) continue;
    if (asked == "null") {
      result.put(key, *before);
    } else if (grows(key)) {
      const auto most =
          std::max(Json::parse(*before).get<int64_t>(), Json::parse(asked).get<int64_t>());
      result.put(key, dump(most));
    } else if (key == "tasks") {
      std::vector<TaskId> all = stored.tasks();
      const std::vector<TaskId> mine = tasks();
      all.insert(all.end(), mine.begin(), mine.end());
      std::sort(all.begin(), all.end());
      all.erase(std::unique(all.begin(), all.end()), all.end());
      Json list = Json::array();
      for (const TaskId& id : all) list.push_back(to_string(id));
      result.put(key, dump(list));
    } else {
      refuse(run, key, *before, asked);
    }
  }
  result.models_ = stored.models_;
  for (const std::string& model : models_) {
    const std::string name = name_of_model(model);
    const auto same = std::find_if(result.models_.begin(), result.models_.end(),
                                   [&](const std::string& m) { return name_of_model(m) == name; });
    if (same == result.models_.end()) {
      result.models_.push_back(model);
      continue;
    }
    if (const std::string key = difference(*same, model); !key.empty()) {
      const auto part = [&](const std::string& json) {
        const Json all = Json::parse(json);
        return all.contains(key) ? dump(all.at(key)) : "none";
      };
      refuse(run, "model " + name + "'s " + key, part(*same), part(model));
    }
    *same = model;
  }
  return result;
}

}  // namespace kbench::generate
