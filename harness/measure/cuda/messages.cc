#include "harness/measure/cuda/messages.h"

#include <optional>
#include <sstream>
#include <string_view>

#include "libkbench/base/compiler_messages.h"
#include "libkbench/base/text.h"

namespace kbench::cuda {
namespace {

struct Severity {
  std::string_view word;  // as a compiler writes it
  const char* shown;
};
constexpr Severity kSeverities[] = {{"catastrophic error", "error"},
                                    {"internal error", "error"},
                                    {"error", "error"},
                                    {"fatal", "error"},
                                    {"warning", "warning"},
                                    {"remark", "note"},
                                    {"note", "note"},
                                    {"info", "note"}};

/// The text behind "error: ", "warning #177-D: ", "error   : ".
bool read_severity(std::string_view text, Diagnostic& diagnostic) {
  for (const Severity& severity : kSeverities) {
    if (!text.starts_with(severity.word)) continue;
    std::string_view rest = trimmed(text.substr(severity.word.size()));
    if (rest.starts_with("#")) rest = rest.substr(std::min(rest.find(':'), rest.size()));
    if (!rest.starts_with(":")) continue;
    diagnostic.severity = severity.shown;
    diagnostic.message = std::string(trimmed(rest.substr(1)));
    return true;
  }
  return false;
}

/// "FILE(LINE): SEVERITY: MESSAGE"; a file's name may itself hold parentheses.
std::optional<Diagnostic> nvrtc_line(std::string_view line) {
  Diagnostic diagnostic;
  for (size_t at = line.find("): "); at != std::string_view::npos; at = line.find("): ", at + 1)) {
    const size_t open = line.rfind('(', at);
    if (open == std::string_view::npos) continue;
    const auto place = line_number(line.substr(open + 1, at - open - 1));
    if (!place || !read_severity(line.substr(at + 3), diagnostic)) continue;
    diagnostic.file = std::string(line.substr(0, open));
    diagnostic.line = *place;
    return diagnostic;
  }
  if (read_severity(line, diagnostic)) return diagnostic;
  return std::nullopt;
}

/// "ptxas application ptx input, line 12; error   : MESSAGE" and "ptxas fatal   : MESSAGE".
std::optional<Diagnostic> ptxas_line(std::string_view line, const std::string& file) {
  if (!line.starts_with("ptxas ")) return std::nullopt;
  Diagnostic diagnostic;
  diagnostic.file = file;
  constexpr std::string_view kPlace = ", line ";
  const size_t place = line.find(kPlace);
  const size_t end = line.find(';', place == std::string_view::npos ? 0 : place);
  if (place != std::string_view::npos && end != std::string_view::npos) {
    const size_t begin = place + kPlace.size();
    diagnostic.line = line_number(line.substr(begin, end - begin)).value_or(0);
    if (read_severity(trimmed(line.substr(end + 1)), diagnostic)) return diagnostic;
  }
  if (read_severity(line.substr(6), diagnostic)) return diagnostic;
  return std::nullopt;
}

/// Summaries at the end, and lines that only point at the line above.
bool says_nothing(std::string_view line) {
  const bool pointer = line.find_first_not_of("^~ \t") == std::string_view::npos;
  return pointer || line.starts_with("Remark: The warnings can be suppressed") ||
         line.find(" detected in the compilation of ") != std::string_view::npos;
}

}  // namespace

std::vector<Diagnostic> parse_nvrtc_log(const std::string& log, const std::string& file,
                                        int first_line) {
  CompilerMessages all(file, first_line);
  std::istringstream lines(log);
  for (std::string line; std::getline(lines, line);) {
    if (auto assembled = ptxas_line(line, file)) {
      assembled->line = 0;  // a line of NVRTC's output
      all.add(*std::move(assembled));
    } else if (auto diagnostic = nvrtc_line(line)) {
      all.add(*std::move(diagnostic));
    } else if (!says_nothing(line)) {
      all.continue_with(trimmed(line));
    }
  }
  return all.finish();
}

std::vector<Diagnostic> parse_ptxas_log(const std::string& log, const std::string& file,
                                        int first_line) {
  CompilerMessages all(file, first_line);
  std::istringstream lines(log);
  for (std::string line; std::getline(lines, line);) {
    if (auto diagnostic = ptxas_line(line, file)) {
      // The last line only says that there were errors.
      if (diagnostic->message.find("aborted due to errors") == std::string::npos) {
        all.add(*std::move(diagnostic));
      }
    } else if (!says_nothing(line) && !line.starts_with("ERROR NVJITLINK")) {
      all.continue_with(trimmed(line));
    }
  }
  return all.finish();
}

}  // namespace kbench::cuda
