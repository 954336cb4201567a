#include "libkbench/scoring/honest_errors.h"

#include <algorithm>

#include "kbench/error.h"
#include "libkbench/base/text.h"
#include "libkbench/scoring/json_field.h"
#include "libkbench/scoring/json_fields.h"

namespace kbench {
namespace {

using Json = nlohmann::ordered_json;

Json three_digits(double value) { return Json::parse(digits_text(value, 3)); }

}  // namespace

std::string to_json(const HonestErrors& errors, DType half) {
  std::string text = "{\"dtype\":\"" + std::string(name_of(half)) + "\",\n\"tasks\": [";
  const char* separator = "\n";
  for (const auto& [task, error] : errors) {
    Json entry = {{"task", to_string(task)}};
    if (!error.undefined.empty()) {
      entry["undefined"] = error.undefined;
    } else {
      entry["relative"] = three_digits(error.relative);
      entry["rms"] = three_digits(error.rms);
      entry["elements"] = error.elements;
      entry["relative_of"] = error.relative_of;
      entry["rms_of"] = error.rms_of;
    }
    text += separator + json_text(entry);
    separator = ",\n";
  }
  return text + "\n]}\n";
}

HonestErrors parse_honest_errors(const std::string& text, const std::string& name, DType half) {
  const nlohmann::json json = parse_json(text, name);
  const JsonField fields(json, name, "");
  if (fields["dtype"].as(task_dtype_from_name) != half) {
    fields["dtype"].fail("must be " + std::string(name_of(half)));
  }
  HonestErrors errors;
  for (const JsonField& entry : fields["tasks"].items()) {
    HonestError& error = errors[entry["task"].as(parse_task_id)];
    if (entry.has("undefined")) {
      error.undefined = entry["undefined"].text();
      continue;
    }
    error.relative = entry["relative"].real();
    error.rms = entry["rms"].real();
    error.elements = entry["elements"].whole<int64_t>();
    if (error.elements < 1) entry["elements"].fail("must be at least 1");
    error.relative_of = entry["relative_of"].text();
    error.rms_of = entry["rms_of"].text();
  }
  return errors;
}

void merge(HonestError& into, const HonestError& found) {
  if (!found.undefined.empty()) into.undefined = found.undefined;
  if (found.relative > into.relative) {
    into.relative = found.relative;
    into.relative_of = found.relative_of;
  }
  if (found.rms > into.rms) {
    into.rms = found.rms;
    into.rms_of = found.rms_of;
  }
  into.elements = std::min(into.elements, found.elements);
}

}  // namespace kbench
