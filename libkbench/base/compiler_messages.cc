#include "libkbench/base/compiler_messages.h"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <limits>

#include "kbench/error.h"

namespace kbench {

void CompilerMessages::add(Diagnostic diagnostic) {
  size_t& count = diagnostic.severity == "error" ? errors_ : others_;
  keeping_ = count < kMostDiagnostics / 2;
  if (!keeping_) {
    ++left_out_;
    return;
  }
  ++count;
  if (diagnostic.line > 0 && diagnostic.file == file_) {
    const int64_t line = int64_t{diagnostic.line} + first_line_ - 1;
    diagnostic.line =
        static_cast<int>(std::clamp<int64_t>(line, 0, std::numeric_limits<int>::max()));
  }
  all_.push_back(std::move(diagnostic));
}

void CompilerMessages::continue_with(std::string_view line) {
  if (all_.empty()) {
    add({.severity = "error", .file = file_, .message = std::string(line)});
  } else if (keeping_ && all_.back().message.size() <= kMostMessageBytes) {
    all_.back().message += " " + std::string(line);
  }
}

std::vector<Diagnostic> CompilerMessages::finish() {
  if (left_out_ > 0) {
    all_.push_back({.severity = "note",
                    .file = file_,
                    .message = std::to_string(left_out_) + " more messages are left out"});
  }
  for (Diagnostic& diagnostic : all_) {
    diagnostic.file = shown(diagnostic.file);
    diagnostic.message = shown(diagnostic.message, kMostMessageBytes);
  }
  return std::move(all_);
}

std::optional<int> line_number(std::string_view text) {
  int number = 0;
  const char* end = text.data() + text.size();
  const auto [read, error] = std::from_chars(text.data(), end, number);
  if (text.empty() || read != end || error == std::errc::invalid_argument) return std::nullopt;
  if (text[0] == '-') return 0;
  return error == std::errc{} ? number : std::numeric_limits<int>::max();
}

}  // namespace kbench
