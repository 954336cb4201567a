// Pieces of SVG text.
#pragma once

#include <array>
#include <cstdio>
#include <string>

namespace kbench::report {

template <class... Args>
std::string print(const char* format, Args... args) {
  std::array<char, 512> text;
  std::snprintf(text.data(), text.size(), format, args...);
  return text.data();
}

/// Significant digits.
inline std::string number(double value, int digits = 3) { return print("%.*g", digits, value); }

inline std::string escaped(const std::string& text) {
  std::string safe;
  for (const char letter : text) {
    switch (letter) {
      case '&':
        safe += "&amp;";
        break;
      case '<':
        safe += "&lt;";
        break;
      case '>':
        safe += "&gt;";
        break;
      case '"':
        safe += "&quot;";
        break;
      default:
        safe += static_cast<unsigned char>(letter) < 0x20 ? ' ' : letter;
    }
  }
  return safe;
}

}  // namespace kbench::report
