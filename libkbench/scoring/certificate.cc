#include "kbench/certificate.h"

#include <algorithm>
#include <cmath>

#include "kbench/error.h"
#include "libkbench/base/enum_names.h"
#include "libkbench/base/text.h"
#include "libkbench/core/own_tasks.h"
#include "libkbench/scoring/honest_errors.h"
#include "libkbench/scoring/json_field.h"
#include "libkbench/scoring/json_fields.h"

namespace kbench {
namespace {

using Json = nlohmann::ordered_json;

/// Three digits; JSON has no infinity.
Json three_digits(double value) {
  return std::isfinite(value) ? Json::parse(digits_text(value, 3)) : nullptr;
}

}  // namespace

KBENCH_FIELDS(Margin, margin, rule, description)
KBENCH_FIELDS(KindTally, tried, dead, no_room, nearest, left)
KBENCH_OPTIONAL_FIELDS(KindTally, dead, no_room, nearest, left)

namespace {

Json from_margin(const Margin& margin) {
  return {{"margin", three_digits(margin.margin)},
          {"rule", margin.rule},
          {"description", margin.description}};
}

Json from_tally(const KindTally& tally) {
  Json json = {{"tried", tally.tried}};
  if (tally.dead > 0) json["dead"] = tally.dead;
  if (tally.no_room > 0) json["no_room"] = tally.no_room;
  if (tally.nearest) json["nearest"] = from_margin(*tally.nearest);
  for (const Margin& left : tally.left) json["left"].push_back(from_margin(left));
  return json;
}

bool none_left(const Certificate& certificate, VariantKind kind) {
  const auto found = certificate.kinds.find(kind);
  return found == certificate.kinds.end() || found->second.left.empty();
}

}  // namespace

std::string_view name_of(VariantKind kind) {
  return name_in<VariantKind::honest>({"null", "mutant", "subset", "precision", "honest"}, kind);
}

bool Certificate::values() const {
  return none_left(*this, VariantKind::null) && none_left(*this, VariantKind::mutant) &&
         none_left(*this, VariantKind::honest);
}

bool Certificate::subset_within_noise() const { return !none_left(*this, VariantKind::subset); }

bool Certificate::precision() const { return values() && none_left(*this, VariantKind::precision); }

std::string_view explain_certificate(std::string_view word) {
  if (word == kCertifiedPrecision) {
    return "certified: no known shortcut passes, nor any with fewer bits than the task's";
  }
  if (word == kCertifiedValues) {
    return "certified in values: no known shortcut passes; some part in fewer bits would";
  }
  if (word == kNotCertified) {
    return "not certified: a pass proves nothing, nor do wrong values: a shortcut is known that "
           "passes, or an honest variant that fails";
  }
  if (word == kTrivialTask) return "trivial: its outputs can be known without its inputs";
  if (word == kUntried) {
    return "untried: at these sizes no shortcut was held against the check, and one may pass";
  }
  throw Error(ErrorCode::kInvalidArgument, "no certificate is called '" + shown(word) + "'");
}

std::string to_json(const CertificateFile& file) {
  Json document = {{"preset", std::string(name_of(file.preset))},
                   {"device", file.device},
                   {"driver", file.driver},
                   {"date", file.date},
                   {"kbench", file.kbench}};
  if (file.dtype != DType::f32) document["dtype"] = std::string(name_of(file.dtype));
  // A line a task, so that what changes is seen in a diff.
  std::string text = json_text(document);
  text.back() = ',';
  text += "\n\"tasks\": [";
  const char* separator = "\n";
  for (const Certificate& certificate : file.tasks) {
    Json entry = {{"task", exact_name(certificate.task)}, {"tolerance", certificate.tolerance}};
    for (const auto& [kind, tally] : certificate.kinds) {
      entry[std::string(name_of(kind))] = from_tally(tally);
    }
    text += separator + json_text(entry);
    separator = ",\n";
  }
  return text + "\n]}\n";
}

CertificateFile parse_certificates(const std::string& text, const std::string& name) {
  const nlohmann::json json = parse_json(text, name);
  const JsonField fields(json, name, "");
  CertificateFile file;
  file.preset = fields["preset"].as(preset_from_name);
  file.dtype = dtype_or_f32(fields);
  file.device = fields["device"].text();
  file.driver = fields["driver"].text();
  file.date = fields["date"].text();
  file.kbench = fields["kbench"].text();
  for (const JsonField& entry : fields["tasks"].items()) {
    Certificate certificate;
    certificate.task = entry["task"].as(task_id_of_exact);
    certificate.tolerance = entry["tolerance"].positive_real();
    for (const VariantKind kind : kVariantKinds) {
      const std::string kind_name(name_of(kind));
      if (!entry.has(kind_name)) continue;
      read_value(entry[kind_name], certificate.kinds[kind], {.reals = Reals::or_infinity});
    }
    file.tasks.push_back(std::move(certificate));
  }
  std::ranges::sort(file.tasks, {}, &Certificate::task);
  return file;
}

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
