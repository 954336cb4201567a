#include "kbench/result.h"

#include <string_view>

#include "libkbench/scoring/json_fields.h"
#include "libkbench/scoring/json_schema.h"

namespace kbench {

using Json = nlohmann::ordered_json;

KBENCH_FIELDS(WrongAt, sizes, verdict, message)
KBENCH_FIELDS(HoldsAt, tried, right, first_wrong)
// In the order of the line.
KBENCH_FIELDS_OF_DERIVED(Experiment, TaskAt, set, candidate, candidate_hash, task, task_name,
                         preset, variables, dtype, device, driver, software_device, baseline,
                         settings, version, device_uuid, certificate, made_for)
KBENCH_FIELDS_OF_DERIVED(Result, Experiment, set, candidate, candidate_hash, task, task_name,
                         preset, variables, dtype, device, driver, software_device, baseline,
                         settings, version, device_uuid, certificate, made_for, verdict, message,
                         diagnostics, tuning, lane, samples, speedup, candidate_ms, baseline_ms,
                         setup_ms, max_error, gbytes_per_s, tflops, compile_s, wall_s, busy,
                         runner_served, opponent, opponent_finding, own_kernels, library_calls,
                         holds_at, stage_s)
// Records of earlier versions lack these.
KBENCH_OPTIONAL_FIELDS(Result, dtype, device_uuid, certificate, made_for, tuning, lane, busy,
                       runner_served, opponent, opponent_finding, own_kernels, library_calls,
                       holds_at, stage_s)
KBENCH_OPTIONAL_FIELDS(HoldsAt, first_wrong)

/// Records from before have none of these, and most candidates neither ask nor call for anything.
bool is_left_out(const Result& result, std::string_view field) {
  return (field == "dtype" && result.dtype == DType::f32) ||
         (field == "made_for" && result.made_for.empty()) ||
         (field == "library_calls" && result.library_calls.empty());
}

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
  result.task.meaning = meaning_from_text(
      std::string_view(result.settings).substr(at + kBefore.size(), kDigits));
}

Result result_from_json(const std::string& line) {
  static const std::string kNoFile;
  const nlohmann::json json = parse_json(line, kNoFile);
  const JsonField fields(json, kNoFile, "result");
  Result result;
  read_value(fields, result, {.reals = Reals::or_infinity});
  read_meaning(result);
  for (size_t i = 0; i < result.tuning.size(); ++i) {
    const TunedKernel& tuned = result.tuning[i];
    if (tuned.chosen < 0 || static_cast<size_t>(tuned.chosen) >= tuned.configs.size()) {
      fields["tuning"].item(i)["chosen"].fail("is none of the configurations");
    }
  }
  return result;
}

}  // namespace kbench
