// The names of an enum's values: written once, in its name_of(); read back here.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace kbench {

/// One of `names`, which stand in the order of the enum's values, `kLast` being its last.
template <auto kLast, size_t N>
constexpr std::string_view name_in(const std::string_view (&names)[N], decltype(kLast) value) {
  static_assert(N == static_cast<size_t>(kLast) + 1, "one name for each value");
  return names[static_cast<size_t>(value)];
}

/// The value whose name_of() is `name`, of an enum whose values are 0 to `last`.
template <class E>
std::optional<E> value_named(std::string_view name, E last) {
  for (int i = 0; i <= static_cast<int>(last); ++i) {
    if (name_of(static_cast<E>(i)) == name) return static_cast<E>(i);
  }
  return std::nullopt;
}

/// All names, in the order of the values.
template <class E>
std::vector<std::string> names_to(E last) {
  std::vector<std::string> names;
  for (int i = 0; i <= static_cast<int>(last); ++i) {
    names.emplace_back(name_of(static_cast<E>(i)));
  }
  return names;
}

}  // namespace kbench
