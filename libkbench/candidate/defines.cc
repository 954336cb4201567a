// Macros from the manifest: text for the preprocessor, for kernels that were written for another
// build system.
#include "libkbench/candidate/defines.h"

#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <vector>

#include "kbench/candidate_limits.h"
#include "kbench/text.h"
#include "libkbench/base/identifier.h"
#include "libkbench/base/text.h"
#include "libkbench/candidate/parser.h"

namespace kbench {
namespace {

/// "ld( b , i )" as "ld(b,i)"; nothing where the text is no macro's name.
std::optional<std::string> plain_name(std::string_view key) {
  const size_t open = key.find('(');
  // As in a #define line: no blank before the parenthesis.
  const std::string_view name = key.substr(0, open);
  if (!is_identifier(name)) return std::nullopt;
  if (open == std::string_view::npos) return std::string(name);
  if (key.back() != ')') return std::nullopt;
  std::string plain = std::string(name) + "(";
  std::string_view rest = key.substr(open + 1, key.size() - open - 2);
  if (trimmed(rest).empty()) return plain + ")";
  std::set<std::string_view> parameters;
  while (true) {
    const size_t comma = rest.find(',');
    const std::string_view parameter = trimmed(rest.substr(0, comma));
    if (!is_identifier(parameter) || !parameters.insert(parameter).second) return std::nullopt;
    plain += (parameters.size() > 1 ? "," : "") + std::string(parameter);
    if (comma == std::string_view::npos) return plain + ")";
    rest.remove_prefix(comma + 1);
  }
}

/// Why no manifest may define a macro of that name; empty where it may.
std::string reserved(const std::string& name) {
  if (name.starts_with("KB_")) {
    return "names with KB_ in front are the harness's own macros, the task's shape variables";
  }
  if (name.starts_with("GL_") || name.starts_with("gl_") || name == "defined" ||
      name == "__LINE__" || name == "__FILE__" || name == "__VERSION__") {
    return "the name is the compiler's own";
  }
  return "";
}

}  // namespace

std::string macro_name(const std::string& define) { return define.substr(0, define.find('(')); }

CandidateParser::Constants CandidateParser::defines(const YAML::Node& node) {
  Constants result;
  const auto entries = yaml_.entries(node, "defines");
  check_count(yaml_.at(node), "defines", entries.size(), limits::kDefines);
  std::set<std::string> known;
  for (const auto& entry : entries) {
    const auto name = plain_name(entry.key);
    if (!name || name->size() > limits::kDefineBytes) {
      fail_parse(entry.at, quoted(entry.key) +
                               " cannot name a macro; write NAME, or \"NAME(a, b)\" with different "
                               "parameters, of letters, digits and _");
    }
    const std::string macro = macro_name(*name);
    if (const std::string why = reserved(macro); !why.empty()) {
      fail_parse(entry.at, "macro " + quoted(macro) + ": " + why);
    }
    if (!known.insert(macro).second) fail_parse(entry.at, "macro " + quoted(macro) + " twice");
    if (entry.value.IsNull()) {
      fail_parse(entry.at, "macro " + quoted(macro) + " has no text; \"\" defines it as nothing");
    }
    const Sourced text = yaml_.text(entry.value, "macro " + quoted(macro));
    if (text.text.size() > limits::kDefineBytes) {
      fail_parse(text.at, "macro " + quoted(macro) + " has " + std::to_string(text.text.size()) +
                              " bytes; at most " + std::to_string(limits::kDefineBytes) +
                              " are allowed");
    }
    // A macro is one line: characters that end it, or join it to the next, are refused.
    if (shown(text.text, text.text.size()) != text.text || text.text.ends_with('\\')) {
      fail_parse(text.at, "macro " + quoted(macro) + " must be one line of text");
    }
    result.emplace_back(*name, text);
  }
  return result;
}

size_t add_defines(const Candidate& candidate, const Kernel& kernel, ResolvedKernel& resolved) {
  if (kernel.language != Kernel::Language::glsl && kernel.language != Kernel::Language::hlsl &&
      kernel.language != Kernel::Language::cuda) {
    return 0;
  }
  std::map<std::string, const std::pair<std::string, Sourced>*> chosen;
  for (const auto* defines : {&candidate.defines, &kernel.defines}) {
    for (const auto& define : *defines) chosen[macro_name(define.first)] = &define;
  }
  for (const auto& [name, value] : resolved.macros) {
    const auto clash = chosen.find(name);
    if (clash == chosen.end()) continue;
    fail_parse(clash->second->second.at,
               "macro '" + name + "' is a constant of kernel '" + kernel.name +
                   "' as well, which is a macro too: leave one of them out");
  }
  size_t bytes = 0;
  for (const auto& [name, define] : chosen) {
    bytes += define->first.size() + define->second.text.size();
    resolved.macros.emplace_back(define->first, define->second.text);
  }
  return bytes;
}

}  // namespace kbench
