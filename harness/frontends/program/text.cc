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

constexpr size_t kBetweenColumns = 2;
constexpr size_t kNarrowestColumn = 12;  ///< narrower columns are not wrapped

/// The cell in lines of at most `width` bytes, broken behind a space or '_' where there is one.
std::vector<std::string> wrapped(std::string_view cell, size_t width) {
  std::vector<std::string> lines;
  while (cell.size() > width) {
    size_t end = cell.find_last_of(" _", width - 1);
    end = end == cell.npos || end == 0 ? width : end + 1;
    while (end > 1 && (static_cast<unsigned char>(cell[end]) & 0xc0) == 0x80) --end;
    lines.emplace_back(cell.substr(0, end));
    cell.remove_prefix(end);
  }
  lines.emplace_back(cell);
  return lines;
}

/// The rows with the cells of the widest columns wrapped, until lines have at most `width`
/// characters, if that is possible.
std::vector<std::vector<std::string>> fitted(const std::vector<std::vector<std::string>>& rows,
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
  std::vector<std::vector<std::string>> lines;
  for (const auto& row : rows) {
    const size_t first = lines.size();
    for (size_t i = 0; i < row.size(); ++i) {
      const std::vector<std::string> cell = wrapped(row[i], widths[i]);
      lines.resize(std::max(lines.size(), first + cell.size()),
                   std::vector<std::string>(row.size()));
      for (size_t line = 0; line < cell.size(); ++line) lines[first + line][i] = cell[line];
    }
  }
  return lines;
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

bool passed_uncertified(const Result& result) {
  return result.correct() &&
         (result.certificate == kNotCertified || result.certificate == kUntried);
}

std::string software_warning(const std::string& device) {
  return "times were taken on a software device (" + device + "): they rank nothing on a GPU";
}

std::string format_table(const std::vector<std::vector<std::string>>& rows) {
  const size_t width = terminal_width(stdout);
  return text_table(width == 0 ? rows : fitted(rows, width), Side::left);
}

}  // namespace kbench::program
