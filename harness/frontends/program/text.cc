#include "harness/frontends/program/text.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <string_view>
#include <utility>

#include "harness/frontends/program/terminal.h"
#include "kbench/certificate.h"
#include "kbench/error.h"
#include "libkbench/base/text.h"

namespace kbench::program {
namespace {

template <class... Args>
std::string print(const char* format, Args... args) {
  std::array<char, 128> text;
  std::snprintf(text.data(), text.size(), format, args...);
  return text.data();
}

std::string scaled(double value, const char* unit) {
  constexpr const char* kPrefixes[] = {"", "k", "M", "G", "T", "P"};
  size_t prefix = 0;
  while (std::abs(value) >= 999.5 && prefix + 1 < std::size(kPrefixes)) {
    value /= 1000;
    ++prefix;
  }
  return format_number(value) + " " + kPrefixes[prefix] + unit;
}

}  // namespace

std::string format_number(double value, int digits) {
  return std::isnan(value) ? "-" : print("%.*g", digits, value);
}

std::string format_bytes(double bytes) { return scaled(bytes, "B"); }

std::string format_flops(double flops) { return scaled(flops, "FLOP"); }

std::string format_ms(double ms) {
  return ms >= 100 ? print("%.0f ms", ms) : format_number(ms) + " ms";
}

std::string format_seconds(double seconds) {
  const long whole = std::lround(seconds);
  if (whole < 60) return print("%lds", whole);
  if (whole < 3600) return print("%ldm%02lds", whole / 60, whole % 60);
  return print("%ldh%02ldm", whole / 3600, whole / 60 % 60);
}

std::string format_factor(double value) {
  return print(value != 0 && value < 0.1 ? "%#.2g" : "%.2f", value);
}

std::string format_speedup(const Interval& speedup) {
  return format_factor(speedup.point) + "x [" + format_factor(speedup.low) + ", " +
         format_factor(speedup.high) + "]";
}

std::string format_outcome(const Attempt& attempt) {
  if (!attempt.verdict) return std::string(name_of(attempt.outcome));
  std::string text(name_of(*attempt.verdict));
  if (attempt.correct()) text += "  " + format_speedup(attempt.speedup);
  return text;
}

std::string shown_message(const std::string& message) { return shown(message, 600); }

std::string format_diagnostic(const Diagnostic& d) {
  return at(Location{d.file, d.line, d.column}) + shown(d.severity) + ": " +
         shown_message(d.message);
}

std::string pointed_line(std::string_view text, const Location& place, const std::string& indent) {
  if (place.line < 1 || place.column < 1) return "";
  for (int line = 1; line < place.line; ++line) {
    const size_t end = text.find('\n');
    if (end == text.npos) return "";
    text.remove_prefix(end + 1);
  }
  text = text.substr(0, text.find('\n'));
  const size_t blanks = std::min(text.find_first_not_of(" \t"), text.size());
  const std::string_view line = trimmed(text);
  if (line.empty()) return "";
  const std::string front = indent + "    | ";
  std::string pointed = front + shown(line) + "\n";
  const size_t column = static_cast<size_t>(place.column) - 1;
  // What is escaped or cut would move the caret.
  if (column >= blanks && column < blanks + line.size() && shown(line) == line) {
    pointed += front + std::string(column - blanks, ' ') + "^\n";
  }
  return pointed;
}

std::string wrapped(const std::string& text, size_t columns) {
  std::istringstream words(text);
  std::string result, line;
  for (std::string word; words >> word;) {
    if (!line.empty() && line.size() + 1 + word.size() > columns) {
      result += line + "\n";
      line.clear();
    }
    line += (line.empty() ? "" : " ") + word;
  }
  return result + line;
}

std::string padded(std::string text, size_t width) {
  if (text.size() < width) text.append(width - text.size(), ' ');
  return text;
}

bool proves_nothing(const Result& result) {
  return result.certificate == kNotCertified ||
         (result.correct() && result.certificate == kUntried);
}

std::string software_warning(const std::string& device) {
  return "times were taken on a software device (" + device + "): they rank nothing on a GPU";
}

std::string format_table(const std::vector<std::vector<std::string>>& rows) {
  return text_table(rows, Side::left, terminal_width(stdout));
}

}  // namespace kbench::program
