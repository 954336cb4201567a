// The messages of a compiler, collected from its log.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kbench/result.h"

namespace kbench {

/// How many diagnostics are kept, half of them for errors and half for the rest; and how much of
/// each.
inline constexpr size_t kMostDiagnostics = 50;
inline constexpr size_t kMostMessageBytes = 4096;

/// Files and messages come out escaped and cut (kbench/error.h), as a source chooses the text of
/// its #line and #error directives. Where some messages are left out a last note counts them.
class CompilerMessages {
 public:
  /// Lines of `file` itself are counted from `first_line`.
  CompilerMessages(const std::string& file, int first_line)
      : file_(file), first_line_(first_line) {}
  void add(Diagnostic diagnostic);
  /// The line belongs to the message before it; without one it is an error of its own.
  void continue_with(std::string_view line);
  std::vector<Diagnostic> finish();

 private:
  const std::string& file_;
  int first_line_;
  std::vector<Diagnostic> all_;
  size_t errors_ = 0, others_ = 0, left_out_ = 0;
  bool keeping_ = false;  ///< whether the message that a line may continue was kept
};

/// A line's number, clamped: #line directives can claim any. Nothing where the text is no number.
std::optional<int> line_number(std::string_view text);

}  // namespace kbench
