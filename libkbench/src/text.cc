#include "libkbench/src/text.h"

#include <charconv>

namespace kbench {

std::string quoted(const std::string& text) {
  constexpr size_t kLongest = 60;
  std::string shown = text.substr(0, kLongest);
  for (char& c : shown) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = '?';
  }
  return "'" + shown + (text.size() > kLongest ? "...'" : "'");
}

std::string joined(const std::vector<std::string>& names) {
  std::string text;
  for (const auto& name : names) text += (text.empty() ? "" : ", ") + name;
  return text;
}

std::string number_text(double x) {
  char text[40];
  const auto end = std::to_chars(text, text + sizeof text, x).ptr;
  return std::string(text, end);
}

}  // namespace kbench
