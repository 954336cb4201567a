#include "harness/evaluate/generate/settings.h"

#include <algorithm>
#include <set>
#include <sstream>

#include "kbench/error.h"
#include "libkbench/base/files.h"
#include "libkbench/base/json_text.h"
#include "libkbench/scoring/settings.h"

namespace kbench::generate {
namespace {

using Json = Settings::Json;

/// Settings that do not shape a model's answers: how its server is reached and what it costs.
const std::set<std::string>& reaching() {
  static const std::set<std::string> kKeys = {"connections", "timeout", "price",         "key_env",
                                              "ca_file",     "tries",   "retry_seconds", "url"};
  return kKeys;
}

std::string name_of_model(const Json& model) { return model.value("name", std::string()); }

/// The first key in which two models differ; empty if none.
std::string difference(Json first, Json second) {
  for (Json* one : {&first, &second}) {
    for (const std::string& key : reaching()) one->erase(key);
  }
  for (const auto* one : {&first, &second}) {
    const Json& other = one == &first ? second : first;
    for (const auto& [key, value] : one->items()) {
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

const Json* Settings::find(const std::string& key) const {
  if (const auto found = values_.find(key); found != values_.end()) return &*found;
  // A run in float32 does not say so.
  static const Json kFloat32 = name_of(DType::f32);
  return key == "dtype" ? &kFloat32 : nullptr;
}

void Settings::set_tasks(const std::vector<const Task*>& tasks) {
  Json list = Json::array();
  for (const Task* task : tasks) list.push_back(to_string(task->id));
  set("tasks", std::move(list));
}

void Settings::add_model(const std::string& json) { models_.push_back(Json::parse(json)); }

std::optional<std::string> Settings::text(const std::string& key) const {
  const Json* value = find(key);
  if (value == nullptr || !value->is_string()) return std::nullopt;
  return value->get<std::string>();
}

std::optional<double> Settings::number(const std::string& key) const {
  const Json* value = find(key);
  if (value == nullptr || !value->is_number()) return std::nullopt;
  return value->get<double>();
}

std::optional<bool> Settings::flag(const std::string& key) const {
  const Json* value = find(key);
  if (value == nullptr || !value->is_boolean()) return std::nullopt;
  return value->get<bool>();
}

std::vector<TaskId> Settings::tasks() const {
  std::vector<TaskId> tasks;
  const Json* value = find("tasks");
  if (value == nullptr) return tasks;
  for (const Json& each : *value) tasks.push_back(parse_task_id(each.get<std::string>()));
  return tasks;
}

std::vector<std::string> Settings::model_names() const {
  std::vector<std::string> names;
  for (const Json& model : models_) names.push_back(name_of_model(model));
  return names;
}

std::vector<std::string> Settings::models() const {
  std::vector<std::string> texts;
  for (const Json& model : models_) texts.push_back(json_text(model));
  return texts;
}

std::string Settings::to_yaml() const {
  std::string yaml = "# The settings of a run (kbench generate); it goes on only with these.\n";
  for (const auto& [key, value] : values_.items()) yaml += key + ": " + json_text(value) + "\n";
  yaml += "models:\n";
  for (const Json& model : models_) yaml += "  - " + json_text(model) + "\n";
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
        const bool measurement = key == "measurement" && value.is_string();
        settings.set(key, measurement ? Json(settings_of_today(value.get<std::string>())) : value);
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

Settings Settings::resumed(const Settings& stored, const std::string& run) const {
  Settings result = *this;
  const auto expect_same = [&](const std::string& key, const Json& before, const Json& asked) {
    if (before != asked) refuse(run, key, json_text(before), json_text(asked));
  };
  expect_same("dtype", *stored.find("dtype"), *find("dtype"));
  for (const auto& [key, asked] : values_.items()) {
    const Json* before = stored.find(key);
    if (before == nullptr) refuse_older(run, key);
    if (before->is_null() || *before == asked) continue;
    if (asked.is_null()) {
      result.set(key, *before);
    } else if (grows(key)) {
      result.set(key, std::max(before->get<int64_t>(), asked.get<int64_t>()));
    } else if (key == "tasks") {
      std::set<TaskId> all;
      for (const Settings* settings : {&stored, this}) {
        for (const TaskId& id : settings->tasks()) all.insert(id);
      }
      Json list = Json::array();
      for (const TaskId& id : all) list.push_back(to_string(id));
      result.set(key, std::move(list));
    } else {
      expect_same(key, *before, asked);
    }
  }
  result.models_ = stored.models_;
  for (const Json& model : models_) {
    const std::string name = name_of_model(model);
    const auto same = std::ranges::find(result.models_, name, name_of_model);
    if (same == result.models_.end()) {
      result.models_.push_back(model);
      continue;
    }
    if (const std::string key = difference(*same, model); !key.empty()) {
      const auto part = [&](const Json& all) {
        return all.contains(key) ? json_text(all.at(key)) : "none";
      };
      refuse(run, "model " + name + "'s " + key, part(*same), part(model));
    }
    *same = model;
  }
  return result;
}

}  // namespace kbench::generate
