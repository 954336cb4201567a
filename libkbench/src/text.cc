#include "libkbench/src/text.h"

#include <charconv>

#include "kbench/text.h"

namespace kbench {

std::string quoted(const std::string& text) { return "'" + shown(text, 120) + "'"; }

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
