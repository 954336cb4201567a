#include "harness/measure/runner/define_notes.h"

#include <algorithm>
#include <cctype>
#include <set>
#include <string>
#include <string_view>

#include "kbench/text.h"
#include "libkbench/base/text.h"

namespace kbench::runner {
namespace {

constexpr size_t kMostNotes = 8;

std::string_view line_of(std::string_view text, int number) {
  for (int line = 1; line < number; ++line) {
    const size_t end = text.find('\n');
    if (end == std::string_view::npos) return {};
    text.remove_prefix(end + 1);
  }
  return text.substr(0, text.find('\n'));
}

/// The line of the author's files that a diagnostic is about; empty if it is about none of them.
std::string_view line_of(const Diagnostic& diagnostic, const Kernel& kernel,
                         const Candidate& candidate) {
  if (diagnostic.line < 1) return {};
  if (diagnostic.file == shown(kernel.file)) {
    return line_of(kernel.source, diagnostic.line - kernel.first_line + 1);
  }
  for (const auto& [path, text] : candidate.includes) {
    if (diagnostic.file.ends_with(path)) return line_of(text, diagnostic.line);
  }
  return {};
}

/// Whether it looks like the name of a macro.
bool is_like_a_macro(std::string_view word) {
  return word.size() > 1 && std::isalpha(static_cast<unsigned char>(word[0])) != 0 &&
         !word.starts_with("GL_") &&
         std::ranges::none_of(word, [](unsigned char c) { return std::islower(c) != 0; });
}

/// Whether a text has `#define WORD`.
bool defines(std::string_view text, std::string_view word) {
  for (size_t at = text.find("define"); at != text.npos; at = text.find("define", at + 1)) {
    if (find_word(text.substr(at, text.find('\n', at) - at), word) != text.npos) return true;
  }
  return false;
}

}  // namespace

void add_define_notes(const ResolvedKernel& resolved, const Candidate& candidate, size_t first,
                      std::vector<Diagnostic>& diagnostics) {
  const Kernel& kernel = *resolved.kernel;
  const auto what_is = [&](std::string_view word, bool syntax) -> std::string {
    for (const auto& [macro, text] : resolved.macros) {
      if (std::string_view(macro).substr(0, macro.find('(')) != word) continue;
      return " in that line is a macro: " + (text.empty() ? "nothing" : shown(text));
    }
    const bool defined = defines(kernel.source, word) ||
                         std::ranges::any_of(candidate.includes, [&](const auto& file) {
                           return defines(file.second, word);
                         });
    if (!syntax || !is_like_a_macro(word) || defined) return "";
    return " is defined nowhere: neither in the shader nor, as a macro, by the manifest's "
           "`defines` "
           "or `constants`";
  };
  std::set<std::string> told;
  const size_t last = diagnostics.size();
  for (size_t i = first; i < last; ++i) {
    const Diagnostic error = diagnostics[i];
    if (error.severity != "error") continue;
    const bool syntax = error.message.find("syntax error") != std::string::npos;
    for (const std::string_view word : words_in(line_of(error, kernel, candidate))) {
      const std::string what = what_is(word, syntax);
      if (what.empty() || told.size() >= kMostNotes || !told.emplace(word).second) continue;
      diagnostics.push_back({.severity = "note",
                             .file = error.file,
                             .line = error.line,
                             .message = "'" + shown(std::string(word), 100) + "'" + what});
    }
  }
}

}  // namespace kbench::runner
