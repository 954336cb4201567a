// run.yaml: the settings on which a run's results depend, with defaults filled in. One "key: value"
// on each line, the value as JSON (which is YAML); then the models, one on each line. Contains no
// secrets.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "kbench/task.h"

namespace kbench::generate {

class Settings {
 public:
  using Json = nlohmann::ordered_json;

  /// A text, number or flag; null: not known yet.
  void set(const std::string& key, Json value) { values_[key] = std::move(value); }
  void set_tasks(const std::vector<const Task*>& tasks);
  /// A model's settings as a JSON object with a "name" (kbench/openai_model.h makes one).
  void add_model(const std::string& json);

  std::optional<std::string> text(const std::string& key) const;  ///< nothing if absent or null
  std::optional<double> number(const std::string& key) const;
  std::optional<bool> flag(const std::string& key) const;
  std::vector<TaskId> tasks() const;
  std::vector<std::string> model_names() const;
  std::vector<std::string> models() const;  ///< JSON

  std::string to_yaml() const;
  /// Throws kIo, kParse with the line.
  static Settings read(const std::string& path);

  /// The settings of a run that was begun with `stored` and is continued with these. Samples,
  /// attempts, tasks and models may be added; a null takes the other's value; a model's settings
  /// must agree except for how its server is reached. Throws kInvalidArgument naming the first key
  /// that differs.
  Settings resumed(const Settings& stored, const std::string& run) const;

 private:
  /// Null where the settings have no such key.
  const Json* find(const std::string& key) const;

  Json values_ = Json::object();
  std::vector<Json> models_;
};

}  // namespace kbench::generate
