#include "harness/frontends/program/text.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <sstream>
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

constexpr size_t kBetweenColumns = 2;
constexpr size_t kNarrowestColumn = 12;  ///< narrower columns are not cut

std::string cut(std::string cell, size_t width) {
  if (cell.size() <= width) return cell;
  size_t end = width - 3;
  while (end > 0 && (static_cast<unsigned char>(cell[end]) & 0xc0) == 0x80) --end;
  return cell.substr(0, end) + "...";
}

/// The rows with the cells of the widest columns cut, until lines have at most `width` characters,
/// if that is possible.
std::vector<std::vector<std::string>> fitted(std::vector<std::vector<std::string>> rows,
                                             size_t width) {
  std::vector<size_t> widths;
  for (const auto& row : rows) {
    widths.resize(std::max(widths.size(), row.size()));
    for (size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  }
  if (widths.empty()) return rows;
  size_t total = kBetweenColumns * (widths.size() - 1);
  for (const size_t each : widths) total += each;
  while (total > width) {
    size_t& widest = *std::ranges::max_element(widths);
    if (widest <= kNarrowestColumn) break;
    --widest;
    --total;
  }
  for (auto& row : rows) {
    for (size_t i = 0; i < row.size(); ++i) row[i] = cut(std::move(row[i]), widths[i]);
  }
  return rows;
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

std::string padded(std::string text, size_t width) {
  if (text.size() < width) text.append(width - text.size(), ' ');
  return text;
}

bool passed_uncertified(const Result& result) {
  return result.correct() &&
         (result.certificate == kNotCertified || result.certificate == kUntried);
}

std::string software_warning(const std::string& device) {
  return "times were taken on a software device (" + device + "): they rank nothing on a GPU";
}

std::string format_table(const std::vector<std::vector<std::string>>& rows) {
  const size_t width = terminal_width(stdout);
  if (width == 0) return text_table(rows, Side::left);
  std::istringstream lines(text_table(fitted(rows, width), Side::left));
  std::string text;
  for (std::string line; std::getline(lines, line);) text += cut(std::move(line), width) + "\n";
  return text;
}

}  // namespace kbench::program
