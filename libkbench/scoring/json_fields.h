// Structs whose fields are listed (kbench/fields.h) as JSON, and back. A struct is an
// object with a member for each field. An enum with a name_of() is its name, a task its
// exact_name(), any other enum a number; an optional that is unset is null, or left out; callbacks
// are left out.
//
// A type that wants another form has a write_field(Json&, value) and a read_field(JsonField, value)
// in its namespace, which must be declared before it is read or written. To keep compilation short,
// a struct's JSON is made in one .cc.
#pragma once

#include <array>
#include <concepts>
#include <functional>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "kbench/compare.h"
#include "kbench/error.h"
#include "kbench/fields.h"
#include "kbench/question.h"
#include "kbench/result.h"
#include "kbench/task.h"
#include "kbench/tensor.h"
#include "kbench/verdict.h"
#include "libkbench/base/enum_names.h"
#include "libkbench/base/json_text.h"
#include "libkbench/core/own_tasks.h"
#include "libkbench/core/variables_json.h"
#include "libkbench/scoring/json_field.h"

namespace kbench {

// Records that several rooms read and write.
KBENCH_FIELDS(TaskAt, task, preset, variables, dtype)
// Records of a task in float32 leave it out, as those of earlier versions do.
KBENCH_OPTIONAL_FIELDS(TaskAt, dtype)
template <std::derived_from<TaskAt> T>
bool is_left_out(const T& at, std::string_view field) {
  return field == "dtype" && at.dtype == DType::f32;
}
KBENCH_FIELDS(Interval, low, point, high)
KBENCH_FIELDS(Diagnostic, severity, file, line, column, message)
KBENCH_FIELDS(TunedConfig, text, ms)
KBENCH_FIELDS(TunedKernel, kernel, chosen, configs)
KBENCH_FIELDS(SanitizerFinding, checker, kernel, file, line, text)

inline void read_field(const JsonField& f, Verdict& value) { value = f.as(verdict_from_name); }
inline void read_field(const JsonField& f, DType& value) { value = f.as(dtype_from_name); }
inline void read_field(const JsonField& f, TaskId& value) {
  value = f.as(task_id_of_exact);
  if (!value.own.empty() && value.meaning == 0) value = f.as(parse_task_id);
}
inline void read_field(const JsonField& f, Variables& value) { value = f.variables(); }
inline void read_field(const JsonField& f, ToleranceRule& value) {
  const auto rule = value_named(f.text(), ToleranceRule::kernelbench);
  if (!rule) f.fail("must be kbench or kernelbench");
  value = *rule;
}
inline void read_field(const JsonField& f, OtherSizes& value) {
  value = f.as(other_sizes_from_name);
}
inline void read_field(const JsonField& f, Sanitize& value) { value = f.as(sanitize_from_name); }
inline void read_field(const JsonField& f, Opponent& value) { value = f.as(opponent_from_name); }
template <class Json>
void write_field(Json& json, const Opponent& value) {
  json = name_of(value);
}
template <class Json>
void write_field(Json& json, ErrorCode value) {
  json = static_cast<int>(value);
}
inline void read_field(const JsonField& f, ErrorCode& value) {
  const int code = f.whole<int>();
  if (code < 0 || code > static_cast<int>(ErrorCode::kInternal)) f.fail("is no error's code");
  value = static_cast<ErrorCode>(code);
}
inline void read_field(const JsonField& f, Interval& value) {
  each_field([&](const char* name, double& end) { end = f[name].real_or_infinity(); }, value);
}

/// What an unset optional is written as.
enum class Unset { null, left_out };
/// Which numbers a real field takes; infinity is null.
enum class Reals { any, not_negative, or_infinity };
/// How a struct and what it holds are read.
struct ReadRules {
  Reals reals = Reals::any;
  bool all_optional = false;  ///< fields that are absent keep the value they have
  bool no_others = false;     ///< an object with another member is refused
};

template <class T>
inline constexpr bool kIsCallback = false;
template <class F>
inline constexpr bool kIsCallback<std::function<F>> = true;
template <class T>
inline constexpr bool kIsOptional = false;
template <class T>
inline constexpr bool kIsOptional<std::optional<T>> = true;

template <class Json, class T>
Json json_of(const T& value, Unset unset = Unset::left_out);

/// An object of its fields, also of a type that has a write_field(): what one is made of calls
/// this, as json_of() of a type has to be the same function in all files.
template <class Json, HasFields T>
Json fields_json(const T& value, Unset unset = Unset::left_out) {
  Json object = Json::object();
  each_field(
      [&]<class F>(const char* name, const F& field) {
        if constexpr (requires { is_left_out(value, name); }) {
          if (is_left_out(value, name)) return;
        }
        if constexpr (kIsOptional<F>) {
          if (!field && unset == Unset::left_out) return;
        }
        if constexpr (!kIsCallback<F>) object[name] = json_of<Json>(field, unset);
      },
      value);
  return object;
}

template <class Json, class T>
Json json_of(const T& value, Unset unset) {
  if constexpr (requires(Json & json) { write_field(json, value); }) {
    Json json;
    write_field(json, value);
    return json;
  } else if constexpr (std::is_arithmetic_v<T> || std::same_as<T, std::string>) {
    return value;
  } else if constexpr (std::same_as<T, TaskId>) {
    return exact_name(value);
  } else if constexpr (std::same_as<T, Variables>) {
    return variables_json<Json>(value);
  } else if constexpr (std::is_enum_v<T>) {
    if constexpr (requires { name_of(value); }) {
      return std::string(name_of(value));
    } else {
      return static_cast<std::underlying_type_t<T>>(value);
    }
  } else if constexpr (kIsOptional<T>) {
    return value ? json_of<Json>(*value, unset) : Json(nullptr);
  } else if constexpr (HasFields<T>) {
    return fields_json<Json>(value, unset);
  } else if constexpr (requires { typename T::mapped_type; }) {
    Json object = Json::object();
    for (const auto& [key, member] : value) {
      if constexpr (std::same_as<typename T::key_type, TaskId>) {
        object[exact_name(key)] = json_of<Json>(member, unset);
      } else if constexpr (std::is_enum_v<typename T::key_type>) {
        object[std::string(name_of(key))] = json_of<Json>(member, unset);
      } else {
        object[key] = json_of<Json>(member, unset);
      }
    }
    return object;
  } else {
    Json list = Json::array();
    for (const auto& item : value) list.push_back(json_of<Json>(item, unset));
    return list;
  }
}

template <class T>
void read_value(const JsonField& field, T& value, ReadRules rules = {});

/// Reads an object's fields, each when it is visited.
template <class S>
class FieldReader {
 public:
  explicit FieldReader(const JsonField& object, ReadRules rules = {})
      : object_(object), rules_(rules) {
    if (!object.is_object()) object.fail("must be an object");
  }
  template <class T>
  void operator()(const char* name, T& value) {
    if constexpr (std::derived_from<S, TaskAt> && std::same_as<T, DType>) {
      if (is_given(name)) value = object_[name].as(task_dtype_from_name);
    } else if constexpr (!kIsCallback<T>) {
      if (is_given(name)) read_value(object_[name], value, rules_);
    }
  }
  /// False for a field that is absent and may be; operator[] complains of one that may not.
  bool is_given(const char* name) {
    names_.push_back(name);
    const bool optional =
        rules_.all_optional || is_optional_field(static_cast<const S*>(nullptr), name);
    return !optional || object_.has(name);
  }
  /// Once all fields were visited.
  void finish() const {
    if (rules_.no_others) expect_only(object_, names_);
  }

 protected:
  const JsonField& object_;

 private:
  ReadRules rules_;
  std::vector<std::string_view> names_;
};

template <class T>
void read_value(const JsonField& field, T& value, ReadRules rules) {
  if constexpr (requires { read_field(field, value); }) {
    read_field(field, value);
  } else if constexpr (std::same_as<T, bool>) {
    value = field.boolean();
  } else if constexpr (std::same_as<T, double>) {
    value = rules.reals == Reals::any            ? field.real()
            : rules.reals == Reals::not_negative ? field.positive_real()
                                                 : field.real_or_infinity();
  } else if constexpr (std::integral<T>) {
    value = field.whole<T>();
  } else if constexpr (std::same_as<T, std::string>) {
    value = field.text();
  } else if constexpr (std::is_enum_v<T>) {
    value = static_cast<T>(field.whole<std::underlying_type_t<T>>());
  } else if constexpr (kIsOptional<T>) {
    value.reset();
    if (!field.is_null()) read_value(field, value.emplace(), rules);
  } else if constexpr (HasFields<T>) {
    FieldReader<T> reader(field, rules);
    each_field(reader, value);
    reader.finish();
  } else if constexpr (requires { typename T::mapped_type; }) {
    value.clear();
    for (const auto& [name, member] : field.members()) {
      if constexpr (std::same_as<typename T::key_type, TaskId>) {
        read_value(member, value[member.as(task_id_of_exact, name)]);
      } else {
        read_value(member, value[name]);
      }
    }
  } else if constexpr (requires { std::tuple_size<T>::value; }) {
    const size_t size = value.size();
    if (field.list_size() != size) field.fail("must be a list of " + std::to_string(size));
    for (size_t i = 0; i < size; ++i) read_value(field.item(i), value[i], rules);
  } else {
    value.clear();
    for (size_t i = 0; i < field.list_size(); ++i) {
      read_value(field.item(i), value.emplace_back(), rules);
    }
  }
}

/// A struct as one line, no newline at the end.
template <class T>
std::string json_line(const T& value) {
  return json_text(json_of<nlohmann::json>(value));
}

/// What another process of kbench wrote with json_line(). Throws kParse that begins with
/// `complaint`, "malformed request".
template <class T>
T value_of_line(std::string_view line, const std::string& complaint) {
  static const std::string kNoFile;
  const nlohmann::json json = nlohmann::json::parse(line, nullptr, /*allow_exceptions=*/false);
  if (!json.is_object()) throw Error(ErrorCode::kParse, complaint);
  T value;
  try {
    read_value(JsonField(json, kNoFile, "message"), value);
  } catch (const Error& e) {
    throw Error(ErrorCode::kParse, complaint + ": " + e.message());
  }
  return value;
}

// Structs whose fields are listed (kbench/fields.h), as JSON Schema: what json_fields.h
// writes of them.

/// The schema of what json_of<Json>(T) gives. Enums whose names are listed nowhere are strings.
template <class Json, class T>
Json json_schema_of() {
  const auto of_type = [](Json type) { return Json{{"type", std::move(type)}}; };
  if constexpr (std::same_as<T, bool>) {
    return of_type("boolean");
  } else if constexpr (std::integral<T>) {
    return of_type("integer");
  } else if constexpr (std::floating_point<T>) {
    return of_type({"number", "null"});  // null: infinite, or no number
  } else if constexpr (std::same_as<T, std::string> || std::same_as<T, TaskId> ||
                       std::is_enum_v<T>) {
    return of_type("string");
  } else if constexpr (std::same_as<T, Variables>) {
    return of_type("object");
  } else if constexpr (kIsOptional<T>) {
    return json_schema_of<Json, typename T::value_type>();
  } else if constexpr (HasFields<T>) {
    Json properties = Json::object(), required = Json::array();
    // Not a local T: g++ 12 would warn that it may not be initialised.
    const auto value = std::make_unique<const T>();
    each_field(
        [&]<class F>(const char* name, const F&) {
          properties[name] = json_schema_of<Json, F>();
          if (!kIsOptional<F> && !is_optional_field(static_cast<const T*>(nullptr), name)) {
            required.push_back(name);
          }
        },
        *value);
    return {{"type", "object"}, {"properties", properties}, {"required", required}};
  } else if constexpr (requires { typename T::mapped_type; }) {
    return {{"type", "object"},
            {"additionalProperties", json_schema_of<Json, typename T::mapped_type>()}};
  } else {
    return {{"type", "array"}, {"items", json_schema_of<Json, typename T::value_type>()}};
  }
}

}  // namespace kbench
