// JSON as text, and values that JSON has no number for.
#pragma once

#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "kbench/result.h"

namespace kbench {

/// JSON's text with what kbench/error.h calls hidden, and which stands in strings alone, as \uNNNN:
/// it reads as the same value, and a terminal shows what is there.
std::string with_hidden_escaped(std::string json);

/// In one line, or with members on lines of their own, indented by so many blanks. Names, paths and
/// messages may hold anything: bytes that are not UTF-8 are replaced, as JSON has none, and hidden
/// characters are escaped.
template <class Json>
std::string json_text(const Json& json, int indent = -1) {
  return with_hidden_escaped(json.dump(indent, ' ', false, Json::error_handler_t::replace));
}

template <class T>
nlohmann::ordered_json or_null(const std::optional<T>& value) {
  return value ? nlohmann::ordered_json(*value) : nlohmann::ordered_json(nullptr);
}

/// JSON has no infinity and no NaN: null stands for them.
inline nlohmann::ordered_json number_json(double value) {
  return std::isfinite(value) ? nlohmann::ordered_json(value) : nlohmann::ordered_json(nullptr);
}

inline nlohmann::ordered_json interval_json(const Interval& interval) {
  return {{"low", number_json(interval.low)},
          {"point", number_json(interval.point)},
          {"high", number_json(interval.high)}};
}

}  // namespace kbench
