#include "kbench/result.h"

#include <string_view>

#include "libkbench/scoring/json_schema.h"
#include "libkbench/scoring/result_check.h"
#include "libkbench/scoring/result_fields.h"

namespace kbench {

using Json = nlohmann::ordered_json;

std::string Experiment::key() const {
  Json key = {candidate_hash, set,    to_string(task), variables_json<Json>(variables),
              device,         driver, baseline,        settings,
              version};
  if (dtype != DType::f32) key.push_back(name_of(dtype));  // Records from before know of no other.
  return json_text(key);
}

std::string to_json(const Result& result) {
  Json json = json_of<Json>(result);
  json["task"] = to_string(result.task);  // Its meaning is in the settings.
  return json_text(json);
}

std::string result_json_schema() {
  Json schema = json_schema_of<Json, Result>();
  schema["properties"]["verdict"]["enum"] = names_to(Verdict::compiles);
  return json_text(schema);
}

/// Of several files of one name, the one that it was judged by; where that name is known at all.
static void read_meaning(Result& result) {
  constexpr std::string_view kBefore = " task=";
  constexpr size_t kDigits = 16;
  const size_t at = result.settings.find(kBefore);
  if (result.task.meaning == 0 || at == std::string::npos) return;
  result.task.meaning =
      meaning_from_text(std::string_view(result.settings).substr(at + kBefore.size(), kDigits));
}

Result unchecked_result(const std::string& line) {
  static const std::string kNoFile;
  const nlohmann::json json = parse_json(line, kNoFile);
  Result result;
  read_value(JsonField(json, kNoFile, "result"), result, {.reals = Reals::or_infinity});
  read_meaning(result);
  return result;
}

Result result_from_json(const std::string& line) {
  Result result = unchecked_result(line);
  expect_possible(result);
  return result;
}

}  // namespace kbench
