#include "libkbench/question/question_json.h"

#include <algorithm>
#include <concepts>
#include <utility>

#include "libkbench/base/enum_names.h"
#include "libkbench/base/text.h"
#include "libkbench/scoring/settings.h"

namespace kbench {

namespace {

using nlohmann::json;

// What earlier versions wrote.

/// Whether other sizes were tried, and whether they had to be right.
OtherSizes other_sizes_of(const json& tried, const json& required) {
  if (tried.is_boolean() && !tried.get<bool>()) return OtherSizes::none;
  return required.is_boolean() && required.get<bool>() ? OtherSizes::require : OtherSizes::note;
}

/// The question's members of an object, each where today's list has it; not `others`, which may
/// hold a candidate's files.
json in_parts(const json& whole, const std::vector<std::string_view>& others) {
  json object = json::object();
  for (const auto& [name, value] : whole.items()) {
    if (std::ranges::find(others, name) == others.end()) object[name] = value;
  }
  const auto take = [&](const char* name) {
    const auto found = object.find(name);
    if (found == object.end()) return json(nullptr);
    json value = *found;
    object.erase(found);
    return value;
  };
  if (object.contains("set") && !object.contains("overrides")) object["overrides"] = take("set");
  const auto flag = object.find("other_sizes");
  const bool as_flags = object.contains("general") || (flag != object.end() && flag->is_boolean());
  if (as_flags) {
    const json tried = take("other_sizes"), required = take("general");
    for (const json* each : {&tried, &required}) {
      if (!each->is_null() && !each->is_boolean()) {
        throw Error(ErrorCode::kParse, "'other_sizes' and 'general' must be true or false");
      }
    }
    object["other_sizes"] = name_of(other_sizes_of(tried, required));
  }
  const Question none;
  each_part(
      [&](const char* part, const auto& fields) {
        each_field(
            [&](const char* name, const auto&) {
              if (!object.contains(name)) return;
              json value = take(name);
              if (!object.contains(part)) object[part] = json::object();
              if (object[part].is_object()) object[part].emplace(name, std::move(value));
            },
            fields);
      },
      none);
  return object;
}

/// Reads one part, or the question itself: what is there, each number within its range.
class AskedReader {
 public:
  AskedReader(const JsonField& object, std::vector<std::string_view> others, const Limits& most)
      : object_(object), names_(std::move(others)), most_(most) {
    if (!object.is_object()) object.fail("must be an object");
  }

  template <class T>
  void operator()(const char* name, T& value, const FieldWords& words) {
    if constexpr (std::same_as<T, CandidateSource>) {
      return;
    } else {
      names_.push_back(name);
      if (!object_.has(name)) return;
      const JsonField field = object_[name];
      if constexpr (IsPart<T>) {
        AskedReader part(field, {}, most_);
        each_asked_field(part, value);
        part.finish();
      } else if constexpr (std::same_as<T, DType>) {
        value = field.as(task_dtype_from_name);
      } else if constexpr (std::same_as<T, std::optional<RecordedTimes>>) {
        expect_only(field, {"file", "column"});
        value = read_recorded_times(field["file"].text(),
                                    field.has("column") ? field["column"].text() : "");
      } else {
        read_value(field, value);
        if constexpr (std::is_arithmetic_v<T> && !std::same_as<T, bool>) {
          expect_within(field, name, static_cast<double>(value), words);
        } else if constexpr (std::same_as<T, std::optional<uint64_t>>) {
          if (value) expect_within(field, name, static_cast<double>(*value), words);
        }
      }
    }
  }
  void finish() const { expect_only(object_, names_); }

 private:
  void expect_within(const JsonField& field, std::string_view name, double value,
                     const FieldWords& words) const {
    double high = words.high;
    each_field(
        [&](std::string_view limit, double most) {
          if (name == limit || (name == "max_seconds" && limit == "total_seconds")) {
            high = std::min(high, most);
          }
        },
        most_);
    if (value >= words.low && value <= high) return;
    field.fail("must be a number from " + digits_text(words.low, 12) + " to " +
               digits_text(high, 12));
  }

  const JsonField& object_;
  std::vector<std::string_view> names_;
  const Limits& most_;
};

}  // namespace

void read_question(const JsonField& object, const std::vector<std::string_view>& others,
                   const Limits& most, Question& question) {
  constexpr size_t kMostThresholds = 100;
  if (!object.is_object()) object.fail("must be an object");
  static const std::string kNoFile;
  const json parts = in_parts(object.json(), others);
  const JsonField members(parts, kNoFile, object.where());
  AskedReader reader(members, others, most);
  each_asked_field(reader, question);
  reader.finish();
  if (members.has("preset") && question.preset != "auto") members["preset"].as(preset_from_name);
  if (question.plan.thresholds.size() > kMostThresholds) {
    members["plan"]["thresholds"].fail("has more than " + std::to_string(kMostThresholds));
  }
  SamplingPlan& plan = question.plan;
  plan.max_samples = std::max(plan.max_samples, plan.min_samples);
}

namespace {

/// All members but those that stand elsewhere: the candidate, whose files may be large, and
/// recorded times.
json whole_json(const Question& question) {
  json object = json::object();
  each_field(
      [&]<class T>(const char* name, const T& value) {
        if constexpr (!std::same_as<T, CandidateSource> &&
                      !std::same_as<T, std::optional<RecordedTimes>>) {
          object[name] = json_of<json>(value);
        }
      },
      question);
  return object;
}

}  // namespace

json question_json(const Question& question, const Question& usual) {
  json object = whole_json(question);
  const json others = whole_json(usual);
  const auto keep_differences = [](const auto& self, json& mine, const json& theirs) -> void {
    for (auto member = mine.begin(); member != mine.end();) {
      const auto other = theirs.find(member.key());
      const bool both = other != theirs.end();
      if (both && member->is_object() && other->is_object()) self(self, *member, *other);
      const bool same = (both && *member == *other) || (member->is_object() && member->empty());
      member = same ? mine.erase(member) : std::next(member);
    }
  };
  keep_differences(keep_differences, object, others);
  return object;
}

nlohmann::ordered_json question_schema() {
  using Schema = nlohmann::ordered_json;
  Schema properties = Schema::object();
  const Question none;
  const auto add = [](Schema& to, const char* name, const auto& value, const FieldWords& words) {
    using T = std::remove_cvref_t<decltype(value)>;
    Schema schema = Schema::object();
    if constexpr (std::same_as<T, OtherSizes>) {
      schema["enum"] = names_to(OtherSizes::require);
    } else if constexpr (std::same_as<T, Sanitize>) {
      schema["enum"] = names_to(Sanitize::fail);
    } else if constexpr (std::same_as<T, ToleranceRule>) {
      schema["enum"] = names_to(ToleranceRule::kernelbench);
    } else if constexpr (std::same_as<T, DType>) {
      for (const DType dtype : kTaskDTypes) schema["enum"].push_back(name_of(dtype));
    } else if constexpr (std::same_as<T, Opponent>) {
      schema["type"] = "string";
    } else if constexpr (std::same_as<T, std::vector<double>>) {
      schema = {{"type", "array"}, {"items", {{"type", "number"}}}, {"maxItems", 100}};
    } else if constexpr (std::same_as<T, double>) {
      schema["type"] = "number";
    } else {
      schema = json_schema_of<Schema, T>();
    }
    if constexpr (std::is_arithmetic_v<T> && !std::same_as<T, bool>) {
      schema["minimum"] =
          std::integral<T> ? Schema(static_cast<int64_t>(words.low)) : Schema(words.low);
    }
    if (std::same_as<T, std::optional<uint64_t>> && words.high != FieldWords{}.high) {
      schema["minimum"] = static_cast<int64_t>(words.low);
      schema["maximum"] = static_cast<int64_t>(words.high);
    }
    if (!words.help.empty()) schema["description"] = words.help;
    to[name] = std::move(schema);
  };
  each_asked_field(
      [&](const char* name, const auto& value, const FieldWords& words) {
        using T = std::remove_cvref_t<decltype(value)>;
        if constexpr (IsPart<const T>) {
          Schema part = Schema::object();
          each_asked_field([&](const char* field, const auto& member,
                               const FieldWords& said) { add(part, field, member, said); },
                           value);
          properties[name] = {
              {"type", "object"}, {"additionalProperties", false}, {"properties", std::move(part)}};
        } else if constexpr (!std::same_as<T, CandidateSource> &&
                             !std::same_as<T, std::optional<RecordedTimes>>) {
          add(properties, name, value, words);
        }
      },
      none);
  return properties;
}

}  // namespace kbench
