// Reading JSON files: values that know where they stand, so that a complaint names file and place.
#pragma once

#include <concepts>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kbench/error.h"
#include "kbench/tensor.h"
#include "kbench/variables.h"

namespace kbench {

/// A JSON value that knows where in the file it stands. It refers to the value and to the file's
/// name, which must stay. Each reader throws kParse where the value is of another kind.
class JsonField {
 public:
  JsonField(const nlohmann::json& json, const std::string& file, std::string where)
      : json_(&json), file_(&file), where_(std::move(where)) {}

  bool has(const std::string& name) const { return json_->is_object() && json_->contains(name); }
  JsonField operator[](const std::string& name) const;
  size_t list_size() const;
  JsonField item(size_t i) const;  ///< of a list; `i` must be less than its size
  std::vector<JsonField> items() const;
  /// The members of an object, by name.
  std::vector<std::pair<std::string, JsonField>> members() const;
  const nlohmann::json& json() const { return *json_; }
  const std::string& where() const { return where_; }
  bool is_null() const { return json_->is_null(); }
  bool is_number() const { return json_->is_number(); }
  bool is_object() const { return json_->is_object(); }
  std::string text() const;
  double real() const;
  double real_or_infinity() const;  ///< JSON has no infinity: null stands for it
  double positive_real() const;     ///< a magnitude
  bool boolean() const;
  int64_t integer() const;    ///< true is 1
  int small_integer() const;  ///< an integer that an int holds
  uint64_t seed() const;
  /// An integer that T holds.
  template <std::integral T>
  T whole() const {
    if constexpr (std::same_as<T, uint64_t>) return seed();
    const int64_t value = integer();
    if (!std::in_range<T>(value)) fail("is out of range");
    return static_cast<T>(value);
  }
  std::vector<int64_t> integers() const;
  std::vector<double> reals() const;
  Variables variables() const;
  /// The field as f makes it; f's own complaints get this place.
  template <class F>
  auto as(F f) const {
    return as(f, text());
  }
  /// What f makes of `text`, which is the field's name where that has a meaning.
  template <class F>
  auto as(F f, const std::string& text) const {
    try {
      return f(text);
    } catch (const Error& e) {
      if (e.code() == ErrorCode::kParse) throw;
      fail(": " + e.message());
    }
  }
  [[noreturn]] void fail(const std::string& why) const;

 private:
  int64_t integer_in(const nlohmann::json& json, const char* complaint) const;

  const nlohmann::json* json_;
  const std::string* file_;
  std::string where_;
};

/// The "dtype" of an object, of kTaskDTypes; f32 where it has none.
DType dtype_or_f32(const JsonField& object);
/// Throws kParse where an object has another member than these.
void expect_only(const JsonField& object, const std::vector<std::string_view>& names);

/// Throws kParse with file, line and column, and nothing of the parser's own. An empty path is for
/// a single line: the message then says at which character.
nlohmann::json parse_json(const std::string& text, const std::string& path);

/// Reads and parses. Throws kIo too.
nlohmann::json read_json(const std::string& path);

}  // namespace kbench
