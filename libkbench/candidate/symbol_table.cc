#include "libkbench/candidate/symbol_table.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <string_view>

#include "libkbench/base/text.h"

namespace kbench {
namespace {

/// A literal that is valid in GLSL and HLSL and safe inside any expression.
std::string literal(double value, bool real) {
  std::string text = number_text(value);
  if (real) {
    if (text.find_first_of(".e") == std::string::npos) text += ".0";
  } else {
    text = std::to_string(static_cast<int64_t>(value));
    constexpr double kIntMax = std::numeric_limits<int32_t>::max();
    constexpr double kUintMax = std::numeric_limits<uint32_t>::max();
    if (value > kUintMax || value < -kIntMax) {
      text += "L";
    } else if (value > kIntMax) {
      text += "u";
    }
  }
  return value < 0 ? "(" + text + ")" : text;
}

/// Calls f(word) for every name and number of the expression, "1e-5" and "x_0" being one each.
template <class F>
void for_each_word(std::string_view text, F f) {
  for (size_t i = 0; i < text.size();) {
    if (!is_word_character(text[i]) && text[i] != '.') {
      ++i;
      continue;
    }
    const bool number = text[i] == '.' || std::isdigit(static_cast<unsigned char>(text[i]));
    size_t end = i;
    while (end < text.size() && (is_word_character(text[end]) || text[end] == '.' ||
                                 (number && (text[end] == '-' || text[end] == '+') &&
                                  (text[end - 1] == 'e' || text[end - 1] == 'E')))) {
      ++end;
    }
    f(text.substr(i, end - i), number);
    i = end;
  }
}

}  // namespace

SymbolTable::SymbolTable(const Variables& variables, const DeviceNumbers& device, DType dtype) {
  for (const auto& [name, number] : device) names_[name] = static_cast<double>(number);
  for (const DType each : kTaskDTypes) {
    const std::string name = "dtype_" + std::string(name_of(each));
    std::string macro = "KB_" + name;
    std::ranges::transform(macro, macro.begin(), [](unsigned char c) { return std::toupper(c); });
    add(name, each == dtype ? 1 : 0, false, macro);
    variables_.insert(name);
  }
  for (const auto& [name, value] : variables) {
    const bool real = std::holds_alternative<double>(value);
    const auto* list = std::get_if<std::vector<int64_t>>(&value);
    if (list && std::all_of(name.begin(), name.end(), is_word_character)) {
      lists_[name] = list->size();
    }
    for (const auto& [plain, number] : expression_names({{name, value}})) {
      if (!std::isfinite(number) || (!real && std::abs(number) > kExact)) {
        throw Error(ErrorCode::kInvalidArgument,
                    "shape variable '" + name + "' is too large for expressions");
      }
      add(plain, number, real, "KB_" + plain);
      variables_.insert(plain);
    }
  }
}

void SymbolTable::add(const std::string& name, double value, bool real, const std::string& macro) {
  // A later definition replaces the earlier one's macro.
  if (names_.contains(name)) {
    std::erase_if(macros_, [&](const auto& known) { return known.first == macro; });
  }
  names_[name] = value;
  if (real) {
    reals_.insert(name);
  } else {
    reals_.erase(name);
  }
  macros_.emplace_back(macro, literal(value, real));
}

void SymbolTable::define(const std::string& name, const Sourced& expression) {
  if (variables_.contains(name)) {
    fail_parse(expression.at,
               "constant '" + name +
                   "' has the name of a shape variable or of the type of the task; use another");
  }
  const bool real = is_real(expression);
  add(name, real ? this->real(expression) : static_cast<double>(integer(expression)), real, name);
}

void SymbolTable::set_running(const Running& running) {
  for (const std::string& name : running_) names_.erase(name);
  running_.clear();
  for (const auto& [name, value] : running) {
    names_[name] = static_cast<double>(value);
    running_.push_back(name);
  }
}

bool SymbolTable::knows(const std::string& name) const {
  const bool runs = std::find(running_.begin(), running_.end(), name) != running_.end();
  return lists_.contains(name) || (names_.contains(name) && !runs);
}

/// Throws kUnsupported where the expression uses a number of the device and none is known.
void SymbolTable::check_device(const Sourced& expression) const {
  const auto& known = device_number_names();
  for_each_word(expression.text, [&](std::string_view word, bool number) {
    if (number || names_.contains(std::string(word)) || names_.contains(std::string(word) + "_0")) {
      return;
    }
    const auto is_word = [&](const std::string& name) {
      return name == word || name == std::string(word) + "_0";  // that of list[0]
    };
    if (std::none_of(known.begin(), known.end(), is_word)) return;
    throw Error(ErrorCode::kUnsupported, expression.at,
                "'" + std::string(word) + "' is the device's, and no device is known here");
  });
}

int64_t SymbolTable::integer(const Sourced& expression) const {
  check_device(expression);
  return evaluate_integer(expression, names_);
}

double SymbolTable::real(const Sourced& expression) const {
  check_device(expression);
  return evaluate_real(expression, names_);
}

std::vector<int64_t> SymbolTable::integers(const Sourced& expression, int64_t low, int64_t high,
                                           const std::string& what) const {
  const auto list = lists_.find(expression.text);
  if (list == lists_.end()) return {integer(expression, low, high, what)};
  std::vector<int64_t> values;
  for (size_t i = 0; i < list->second; ++i) {
    const Sourced element{expression.text + "[" + std::to_string(i) + "]", expression.at};
    values.push_back(integer(element, low, high, what));
  }
  return values;
}

int64_t SymbolTable::integer(const Sourced& expression, int64_t low, int64_t high,
                             const std::string& what) const {
  const int64_t value = integer(expression);
  if (value < low || value > high) {
    fail_parse(expression.at, what + " must be " + std::to_string(low) + " to " +
                                  std::to_string(high) + ", but " + quoted(expression.text) +
                                  " is " + std::to_string(value));
  }
  return value;
}

Shape SymbolTable::shape(const std::vector<Sourced>& extents) const {
  Shape shape;
  for (const Sourced& extent : extents) {
    for (const int64_t one : integers(extent, 1, kMaxExact, "an extent")) shape.push_back(one);
  }
  return shape;
}

bool SymbolTable::is_real(const Sourced& expression) const {
  bool real = false;
  for_each_word(expression.text, [&](std::string_view word, bool number) {
    real |= number ? word.find_first_of(".eE") != std::string_view::npos
                   : reals_.contains(std::string(word));
  });
  return real;
}

}  // namespace kbench
