// Names as C, GLSL and Python have them.
#pragma once

#include <algorithm>
#include <cctype>
#include <string_view>

namespace kbench {

/// Letters, digits and '_' of ASCII, no digit first.
inline bool is_identifier(std::string_view text) {
  return !text.empty() && !std::isdigit(static_cast<unsigned char>(text[0])) &&
         std::ranges::all_of(
             text, [](unsigned char c) { return (c < 128 && std::isalnum(c)) || c == '_'; });
}

}  // namespace kbench
