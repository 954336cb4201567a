// Structs whose fields are listed (libkbench/base/fields.h), as JSON Schema: what json_fields.h
// writes of them.
#pragma once

#include <concepts>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <type_traits>

#include "libkbench/base/enum_names.h"
#include "libkbench/scoring/json_fields.h"

namespace kbench {

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
