// Reading JSON files: values that know where they stand, so that a complaint names file and place.
#pragma once

#include <cstdint>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "kbench/error.h"
#include "kbench/variables.h"
#include "libkbench/core/variables_json.h"

namespace kbench {

/// A JSON value that knows where in the file it stands.
class JsonField {
 public:
  JsonField(const nlohmann::json& json, const std::string& file, std::string where)
      : json_(&json), file_(&file), where_(std::move(where)) {}

  bool has(const std::string& name) const { return json_->is_object() && json_->contains(name); }
  JsonField operator[](const std::string& name) const {
    if (!json_->is_object()) fail("must be an object");
    const auto found = json_->find(name);
    if (found == json_->end()) fail("lacks field '" + name + "'");
    return {*found, *file_, where_.empty() ? name : where_ + "." + name};
  }
  std::vector<JsonField> items() const {
    if (!json_->is_array()) fail("must be a list");
    std::vector<JsonField> all;
    for (size_t i = 0; i < json_->size(); ++i) {
      all.emplace_back((*json_)[i], *file_, where_ + "[" + std::to_string(i) + "]");
    }
    return all;
  }
  /// The members of an object, by name.
  std::vector<std::pair<std::string, JsonField>> members() const {
    if (!json_->is_object()) fail("must be an object");
    std::vector<std::pair<std::string, JsonField>> all;
    for (const auto& [name, value] : json_->items()) all.emplace_back(name, (*this)[name]);
    return all;
  }
  const nlohmann::json& json() const { return *json_; }
  bool is_null() const { return json_->is_null(); }
  bool is_number() const { return json_->is_number(); }
  bool is_object() const { return json_->is_object(); }
  std::string text() const {
    if (!json_->is_string()) fail("must be a string");
    return json_->get<std::string>();
  }
  double real() const {
    if (!json_->is_number()) fail("must be a number");
    return json_->get<double>();
  }
  /// JSON has no infinity: null stands for it.
  double real_or_infinity() const {
    if (is_null()) return std::numeric_limits<double>::infinity();
    if (!json_->is_number()) fail("must be a number or null");
    return json_->get<double>();
  }
  /// A magnitude.
  double positive_real() const {
    const double value = real();
    if (!(value >= 0)) fail("must not be negative");
    return value;
  }
  bool boolean() const {
    if (!json_->is_boolean()) fail("must be true or false");
    return json_->get<bool>();
  }
  int64_t integer() const {
    if (json_->is_boolean()) return json_->get<bool>();
    return integer_in(*json_, "must be an integer");
  }
  /// An integer that an int holds.
  int small_integer() const {
    const int64_t value = integer();
    if (value < std::numeric_limits<int>::min() || value > std::numeric_limits<int>::max()) {
      fail("is out of range");
    }
    return static_cast<int>(value);
  }
  uint64_t seed() const {
    if (!json_->is_number_unsigned()) fail("must be an integer and not negative");
    return json_->get<uint64_t>();
  }
  std::vector<int64_t> integers() const {
    if (!json_->is_array()) fail("must be a list of integers");
    std::vector<int64_t> all;
    all.reserve(json_->size());
    for (const nlohmann::json& item : *json_) {
      all.push_back(integer_in(item, "must be a list of integers"));
    }
    return all;
  }
  std::vector<double> reals() const {
    if (!json_->is_array()) fail("must be a list of numbers");
    std::vector<double> all;
    all.reserve(json_->size());
    for (const nlohmann::json& item : *json_) {
      if (!item.is_number()) fail("must be a list of numbers");
      all.push_back(item.get<double>());
    }
    return all;
  }
  Variables variables() const {
    if (!json_->is_object()) fail("must be an object");
    return variables_from_json(
        *json_, [&](const std::string& name, const char* what) { (*this)[name].fail(what); });
  }
  /// The field as f makes it; f's own complaints get this place.
  template <class F>
  auto as(F f) const {
    try {
      return f(text());
    } catch (const Error& e) {
      if (e.code() == ErrorCode::kParse) throw;
      fail(": " + e.message());
    }
  }
  [[noreturn]] void fail(const std::string& why) const {
    const std::string where = where_.empty() ? "the file" : where_;
    throw Error(ErrorCode::kParse, Location{*file_},
                where + (why.starts_with(':') ? "" : " ") + why);
  }

 private:
  int64_t integer_in(const nlohmann::json& json, const char* complaint) const {
    if (!json.is_number_integer()) fail(complaint);
    if (json.is_number_unsigned() && json.get<uint64_t>() > uint64_t{INT64_MAX}) {
      fail("holds an integer out of range");
    }
    return json.get<int64_t>();
  }

  const nlohmann::json* json_;
  const std::string* file_;
  std::string where_;
};

/// Throws kParse with file, line and column, and nothing of the parser's own. An empty path is for
/// a single line: the message then says at which character.
nlohmann::json parse_json(const std::string& text, const std::string& path);

/// Reads and parses. Throws kIo too.
nlohmann::json read_json(const std::string& path);

}  // namespace kbench
