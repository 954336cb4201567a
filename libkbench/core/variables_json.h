// Shape variables as JSON: an object of integers, reals and lists of integers.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "kbench/variables.h"

namespace kbench {

/// The object that variables_from_json() reads.
template <class Json>
Json variables_json(const Variables& variables) {
  Json json = Json::object();
  for (const auto& [name, value] : variables) {
    std::visit([&, &key = name](const auto& v) { json[key] = v; }, value);
  }
  return json;
}

/// A whole real stays a real; true becomes 1. `json` must be an object. For a member that cannot be
/// a variable's value calls fail(its name, what is wrong with it), which must throw.
template <class Json, class Fail>
Variables variables_from_json(const Json& json, Fail fail) {
  const auto integer = [&](const std::string& name, const Json& value) {
    if (value.is_number_unsigned() && !std::in_range<int64_t>(value.template get<uint64_t>())) {
      fail(name, "holds an integer out of range");
    }
    return value.template get<int64_t>();
  };
  Variables variables;
  for (const auto& [name, value] : json.items()) {
    if (value.is_boolean()) {
      variables[name] = int64_t{value.template get<bool>()};
    } else if (value.is_number_integer()) {
      variables[name] = integer(name, value);
    } else if (value.is_number_float()) {
      variables[name] = value.template get<double>();
    } else if (value.is_array()) {
      std::vector<int64_t> list;
      for (const Json& item : value) {
        if (!item.is_number_integer()) fail(name, "must be a list of integers");
        list.push_back(integer(name, item));
      }
      variables[name] = std::move(list);
    } else {
      fail(name, "must be a number or a list of integers");
    }
  }
  return variables;
}

}  // namespace kbench
