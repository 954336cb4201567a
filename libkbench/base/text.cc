#include "libkbench/base/text.h"

#include <charconv>
#include <cstdio>
#include <iterator>

#include "kbench/candidate_limits.h"
#include "kbench/text.h"

namespace kbench {

std::string quoted(const std::string& text) { return "'" + shown(text, 120) + "'"; }

std::string joined(const std::vector<std::string>& names) {
  std::string text;
  for (size_t i = 0; i < names.size(); ++i) {
    if (i > 0) text += ", ";
    if (i == limits::kListedNames) {
      return text + "and " + std::to_string(names.size() - i) + " more";
    }
    text += names[i];
  }
  return text;
}

std::string number_text(double x) {
  char text[40];
  const auto end = std::to_chars(text, text + sizeof text, x).ptr;
  return std::string(text, end);
}

std::string digits_text(double x, int digits) {
  char text[40];
  std::snprintf(text, sizeof text, "%.*g", digits, x);
  return text;
}

std::string scaled_text(double x) {
  constexpr const char* kPrefixes[] = {" ", " k", " M", " G", " T", " P"};
  size_t prefix = 0;
  for (; x >= 1000 && prefix + 1 < std::size(kPrefixes); x /= 1000) ++prefix;
  char text[40];
  std::snprintf(text, sizeof text, "%.*f%s", prefix == 0 ? 0 : 2, x, kPrefixes[prefix]);
  return text;
}

std::string_view trimmed(std::string_view text) {
  const size_t first = text.find_first_not_of(" \t\r");
  if (first == text.npos) return {};
  return text.substr(first, text.find_last_not_of(" \t\r") + 1 - first);
}

void fail_parse(const Location& at, const std::string& message) {
  throw Error(ErrorCode::kParse, at, shown(message, limits::kMessageBytes));
}

void check_count(const Location& at, const std::string& what, size_t count, size_t most) {
  if (count <= most) return;
  fail_parse(at, what + ": at most " + std::to_string(most) + " are allowed, found " +
                     std::to_string(count));
}

}  // namespace kbench
