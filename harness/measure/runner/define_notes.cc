#include "harness/measure/runner/define_notes.h"

#include <algorithm>
#include <cctype>
#include <map>
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

std::set<std::string> word_set(std::string_view line) {
  const std::vector<std::string_view> words = words_in(line);
  return {words.begin(), words.end()};
}

/// The line of the author's files that a diagnostic is about; empty if it is about none of them.
std::string_view line_of(const Diagnostic& diagnostic, const Kernel& kernel,
                         const Candidate& candidate) {
  if (diagnostic.file == shown(kernel.file)) {
    return line_of(kernel.source, diagnostic.line - kernel.first_line + 1);
  }
  for (const auto& [path, text] : candidate.includes) {
    if (diagnostic.file.ends_with(path)) return line_of(text, diagnostic.line);
  }
  return {};
}

/// Whether it looks like the name of a macro.
bool is_like_a_macro(const std::string& word) {
  constexpr size_t kShortest = 2;
  return word.size() >= kShortest && std::isalpha(static_cast<unsigned char>(word[0])) != 0 &&
         std::ranges::none_of(word, [](unsigned char c) { return std::islower(c) != 0; });
}

/// Whether a text has `#define WORD`.
bool defines(std::string_view text, const std::string& word) {
  for (size_t at = text.find("define"); at != std::string_view::npos;
       at = text.find("define", at + 1)) {
    const std::string_view rest = text.substr(at, text.find('\n', at) - at);
    if (find_word(rest, word) != rest.npos) return true;
  }
  return false;
}

/// For an undefined macro a compiler reports a syntax error without its name: these notes name it.
void add_undefined_notes(const ResolvedKernel& resolved, const Candidate& candidate, size_t first,
                         std::vector<Diagnostic>& diagnostics) {
  const Kernel& kernel = *resolved.kernel;
  const auto defined = [&](const std::string& word) {
    const bool given = std::ranges::any_of(resolved.macros, [&](const auto& macro) {
      return macro.first.substr(0, macro.first.find('(')) == word;
    });
    return given || defines(kernel.source, word) ||
           (kernel.preamble && defines(kernel.preamble->text, word)) ||
           std::ranges::any_of(candidate.includes,
                               [&](const auto& file) { return defines(file.second, word); });
  };
  std::set<std::string> told;
  const size_t last = diagnostics.size();
  for (size_t i = first; i < last; ++i) {
    const Diagnostic error = diagnostics[i];
    if (error.severity != "error" || error.message.find("syntax error") == std::string::npos) {
      continue;
    }
    for (const std::string& word : word_set(line_of(error, kernel, candidate))) {
      if (!is_like_a_macro(word) || word.starts_with("GL_") || defined(word)) continue;
      if (told.size() >= kMostNotes || !told.insert(word).second) continue;
      diagnostics.push_back({.severity = "note",
                             .file = error.file,
                             .line = error.line,
                             .message = "'" + shown(word, 100) +
                                        "' is defined nowhere: neither in the shader nor, as a "
                                        "macro, by the manifest's `defines` or `constants`"});
    }
  }
}

}  // namespace

void add_define_notes(const ResolvedKernel& resolved, const Candidate& candidate, size_t first,
                      std::vector<Diagnostic>& diagnostics) {
  const Kernel& kernel = *resolved.kernel;
  std::set<std::string> words;
  for (size_t i = first; i < diagnostics.size(); ++i) {
    if (diagnostics[i].severity != "error" || diagnostics[i].line < 1) continue;
    words.merge(word_set(line_of(diagnostics[i], kernel, candidate)));
  }
  add_undefined_notes(resolved, candidate, first, diagnostics);
  std::set<std::string> told;
  const auto note = [&](const std::string& name, const Location& at, const std::string& what) {
    if (!words.contains(name) || told.size() >= kMostNotes || !told.insert(name).second) return;
    diagnostics.push_back({.severity = "note",
                           .file = shown(at.file),
                           .line = at.line,
                           .column = at.column,
                           .message = "in that line " + what});
  };
  std::map<std::string, std::string> values(resolved.macros.begin(), resolved.macros.end());
  for (const auto* constants : {&kernel.constants, &candidate.constants}) {
    for (const auto& [name, expression] : *constants) {
      note(name, expression.at, name + " is this constant, " + values[name]);
    }
  }
  for (const auto* defines : {&kernel.defines, &candidate.defines}) {  // the kernel's own first
    for (const auto& [define, text] : *defines) {
      note(define.substr(0, define.find('(')), text.at,
           shown(define) + " is defined here, as " +
               shown(text.text.empty() ? "nothing" : text.text));
    }
  }
}

}  // namespace kbench::runner
