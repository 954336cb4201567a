#include "kbench/variables.h"

#include <optional>

#include "kbench/error.h"
#include "kbench/tensor.h"
#include "libkbench/base/enum_names.h"
#include "libkbench/base/text.h"

namespace kbench {
namespace {

template <class T>
std::optional<T> parse_number(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  T value{};
  return read_number(text, value) ? std::optional(value) : std::nullopt;
}

std::optional<std::vector<int64_t>> parse_list(std::string_view text) {
  if (text.size() < 2 || text.front() != '[' || text.back() != ']') return std::nullopt;
  text = text.substr(1, text.size() - 2);
  std::vector<int64_t> list;
  while (!text.empty()) {
    const size_t comma = std::min(text.find(','), text.size());
    const auto value = parse_number<int64_t>(text.substr(0, comma));
    if (!value) return std::nullopt;
    list.push_back(*value);
    text.remove_prefix(std::min(comma + 1, text.size()));
  }
  return list;
}

std::string real_text(double value) {
  const std::string text = number_text(value);
  return text.find_first_of(".en") == std::string::npos ? text + ".0" : text;
}

}  // namespace

std::string_view name_of(Preset preset) {
  return name_in<Preset::v0_1>({"smoke", "train", "v0", "v0.1"}, preset);
}

Preset preset_from_name(std::string_view name) {
  if (const auto preset = value_named(name, Preset::v0_1)) return *preset;
  const std::vector<std::string> known = names_to(Preset::v0_1);
  throw Error(ErrorCode::kInvalidArgument, "unknown preset '" + shown(name) + "'" +
                                               suggestion(name, known) +
                                               "; known: " + joined(known));
}

std::string to_string(const VariableValue& value) {
  if (const auto* integer = std::get_if<int64_t>(&value)) return std::to_string(*integer);
  if (const auto* real = std::get_if<double>(&value)) return real_text(*real);
  return to_string(std::get<std::vector<int64_t>>(value));
}

const VariableValue& VariableSpec::at(Preset preset) const {
  switch (preset) {
    case Preset::smoke:
      return smoke;
    case Preset::train:
      return train;
    case Preset::v0:
      return v0;
    case Preset::v0_1:
      break;
  }
  return v0_1;
}

bool VariableSpec::differs() const { return smoke != train || train != v0 || v0 != v0_1; }

std::pair<std::string, VariableValue> parse_assignment(std::string_view text) {
  const size_t equals = text.find('=');
  if (equals != std::string_view::npos && equals > 0) {
    const std::string name(text.substr(0, equals));
    const std::string_view value = text.substr(equals + 1);
    if (auto integer = parse_number<int64_t>(value)) return {name, *integer};
    if (auto real = parse_number<double>(value)) return {name, *real};
    if (auto list = parse_list(value)) return {name, *list};
  }
  throw Error(
      ErrorCode::kInvalidArgument,
      "'" + std::string(text) + "' is not NAME=VALUE with a number or a list like [16,1,1]");
}

}  // namespace kbench
