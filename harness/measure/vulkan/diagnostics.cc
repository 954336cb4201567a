#include "harness/measure/vulkan/diagnostics.h"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <limits>
#include <optional>
#include <sstream>
#include <utility>

#include "kbench/text.h"

namespace kbench::vulkan {
namespace {

/// A line's number, clamped: #line directives can claim any.
std::optional<int> parse_line_number(const std::string& text) {
  int number = 0;
  const char* end = text.data() + text.size();
  const auto [read, error] = std::from_chars(text.data(), end, number);
  if (text.empty() || read != end || error == std::errc::invalid_argument) return std::nullopt;
  if (text[0] == '-') return 0;
  return error == std::errc{} ? number : std::numeric_limits<int>::max();
}

int added(int line, int lines) {
  const int64_t sum = int64_t{line} + lines;
  return static_cast<int>(std::clamp<int64_t>(sum, 0, std::numeric_limits<int>::max()));
}

std::optional<Diagnostic> parse_one(const std::string& text) {
  size_t at = std::string::npos;
  Diagnostic diagnostic;
  size_t message = 0;
  for (const char* severity : {"error", "warning", "note"}) {
    const std::string mark = ": " + std::string(severity) + ": ";
    const size_t found = text.find(mark);
    if (found >= at) continue;
    at = found;
    diagnostic.severity = severity;
    message = found + mark.size();
  }
  if (at == std::string::npos) return std::nullopt;
  diagnostic.file = text.substr(0, at);
  diagnostic.message = text.substr(message);
  const size_t colon = diagnostic.file.rfind(':');
  if (colon != std::string::npos) {
    if (const auto line = parse_line_number(diagnostic.file.substr(colon + 1))) {
      diagnostic.line = *line;
      diagnostic.file.resize(colon);
    }
  }
  return diagnostic;
}

}  // namespace

std::vector<Diagnostic> parse_diagnostics(const std::string& text, const std::string& file,
                                          int first_line) {
  std::vector<Diagnostic> diagnostics;
  size_t errors = 0, others = 0;
  size_t left_out = 0;
  bool keeping = false;  // whether the message that a line may continue was kept
  const auto add = [&](Diagnostic diagnostic) {
    size_t& count = diagnostic.severity == "error" ? errors : others;
    keeping = count < kMostDiagnostics / 2;
    if (!keeping) {
      ++left_out;
      return;
    }
    ++count;
    diagnostics.push_back(std::move(diagnostic));
  };
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (line.empty()) continue;
    if (auto diagnostic = parse_one(line)) {
      if (diagnostic->line > 0 && diagnostic->file == file) {
        diagnostic->line = added(diagnostic->line, first_line - 1);
      }
      add(*std::move(diagnostic));
    } else if (diagnostics.empty()) {
      add({.severity = "error", .file = file, .message = line});
    } else if (keeping && diagnostics.back().message.size() <= kMostMessageBytes) {
      diagnostics.back().message += " " + line;
    }
  }
  // Escaped: a shader chooses the text of its #line and #error directives.
  for (Diagnostic& diagnostic : diagnostics) {
    diagnostic.file = shown(diagnostic.file);
    diagnostic.message = shown(diagnostic.message, kMostMessageBytes);
  }
  if (left_out > 0) {
    diagnostics.push_back({.severity = "note",
                           .file = shown(file),
                           .message = std::to_string(left_out) + " more messages are left out"});
  }
  return diagnostics;
}

}  // namespace kbench::vulkan
