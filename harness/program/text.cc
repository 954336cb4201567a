#include "harness/program/text.h"

#include <array>
#include <cmath>
#include <cstdio>

#include "kbench/error.h"
#include "kbench/text.h"
#include "libkbench/src/text_table.h"

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

std::string format_number(double value, int digits) { return print("%.*g", digits, value); }

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

std::string format_speedup(const Interval& speedup) {
  return print("%.2fx [%.2f, %.2f]", speedup.point, speedup.low, speedup.high);
}

std::string shown_message(const std::string& message) { return shown(message, 600); }

std::string format_diagnostic(const Diagnostic& d) {
  return at(Location{d.file, d.line, d.column}) + shown(d.severity) + ": " +
         shown_message(d.message);
}

std::string padded(std::string text, size_t width) {
  if (text.size() < width) text.append(width - text.size(), ' ');
  return text;
}

std::string format_table(const std::vector<std::vector<std::string>>& rows) {
  return text_table(rows, Side::left);
}

}  // namespace kbench::program
