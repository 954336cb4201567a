#include "harness/vulkan/diagnostics.h"

#include <charconv>
#include <optional>
#include <sstream>

namespace kbench::vulkan {
namespace {

std::optional<int> parse_line_number(const std::string& text) {
  int number = 0;
  const char* end = text.data() + text.size();
  const auto parsed = std::from_chars(text.data(), end, number);
  if (text.empty() || parsed.ec != std::errc{} || parsed.ptr != end) return std::nullopt;
  return number;
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
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (line.empty()) continue;
    if (auto diagnostic = parse_one(line)) {
      if (diagnostic->line > 0 && diagnostic->file == file) diagnostic->line += first_line - 1;
      diagnostics.push_back(std::move(*diagnostic));
    } else if (!diagnostics.empty()) {
      diagnostics.back().message += " " + line;
    } else {
      diagnostics.push_back({.severity = "error", .file = file, .message = line});
    }
  }
  return diagnostics;
}

}  // namespace kbench::vulkan
