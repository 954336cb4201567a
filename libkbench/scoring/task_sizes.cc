#include "libkbench/scoring/task_sizes.h"

#include "libkbench/base/json_text.h"
#include "libkbench/core/variables_json.h"
#include "libkbench/scoring/json_field.h"

namespace kbench {

std::string to_json(const TaskSizes& sizes) {
  using Json = nlohmann::ordered_json;
  std::string text = "{\"tasks\": [";
  const char* separator = "\n";
  for (const auto& [task, variables] : sizes) {
    const Json entry = {{"task", to_string(task)}, {"sizes", variables_json<Json>(variables)}};
    text += separator + json_text(entry);
    separator = ",\n";
  }
  return text + "\n]}\n";
}

TaskSizes parse_task_sizes(const std::string& text, const std::string& name) {
  const nlohmann::json json = parse_json(text, name);
  TaskSizes sizes;
  for (const JsonField& entry : JsonField(json, name, "")["tasks"].items()) {
    const TaskId task = entry["task"].as(parse_task_id);
    if (!sizes.emplace(task, entry["sizes"].variables()).second) entry["task"].fail("comes twice");
  }
  return sizes;
}

}  // namespace kbench
