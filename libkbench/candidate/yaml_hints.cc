#include "libkbench/candidate/yaml_hints.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <string_view>

#include "libkbench/base/text.h"

namespace kbench {
namespace {

size_t indent_of(std::string_view line) {
  return std::min(line.find_first_not_of(' '), line.size());
}

bool is_blank(std::string_view line) {
  return line.find_first_not_of(" \t\r") == std::string_view::npos;
}

/// "#version 450", but no "# a comment".
bool is_directive(std::string_view line) {
  constexpr std::array<std::string_view, 14> kWords = {
      "version", "extension", "include", "define", "undef",  "ifdef", "ifndef",
      "if",      "elif",      "else",    "endif",  "pragma", "line",  "error"};
  line.remove_prefix(indent_of(line));
  if (!line.starts_with('#')) return false;
  line.remove_prefix(1);
  const std::string_view word = line.substr(0, line.find_first_of(" \t\r(\"<"));
  return std::find(kWords.begin(), kWords.end(), word) != kWords.end();
}

struct GoneKey {
  std::string_view key, instead;
};
constexpr std::string_view kAddInKernel =
    "bind the whole buffer, give the kernel the first element's number as a number, and add it "
    "there";
constexpr GoneKey kGoneKeys[] = {
    {"bindings",
     "number the shader's buffers 0, 1, 2, ... of set 0 in the order of 'bind', in HLSL t and u "
     "together (register(t0), register(u1))"},
    {"preamble", "write its text into the shader, behind the #version line"},
    {"optimize", "leave it out; shaders are always optimized"},
    {"subgroup_size", "leave it out, and ask gl_SubgroupSize in the shader"},
    {"fast_math", "call the fast functions by their names (__expf, __fdividef)"},
    {"configs", "give the best of them as the kernel's num_warps, num_stages and constants"},
    {"cluster", "say it in the kernel: __cluster_dims__(2, 1, 1)"},
    {"cooperative", "end the kernel where its grid would wait, and launch another"},
    {"copy", "copy by a kernel, or by {op: cast, in: x, out: output, attributes: {dtype: f32}}"},
    {"fill", "write the values by a kernel"},
    {"offset", kAddInKernel},
    {"length", kAddInKernel},
};

}  // namespace

std::string_view instead_of_gone(std::string_view key) {
  const auto* const found = std::ranges::find(kGoneKeys, key, &GoneKey::key);
  return found == std::end(kGoneKeys) ? std::string_view() : found->instead;
}

bool begins_block(std::string_view line) {
  while (!line.empty() && std::string_view(" \r").find(line.back()) != std::string_view::npos) {
    line.remove_suffix(1);
  }
  if (line.ends_with("|-") || line.ends_with("|+")) line.remove_suffix(1);
  const bool behind = line.find(": ") != std::string_view::npos || trimmed(line).starts_with("- ");
  return behind && line.ends_with(" |");
}

std::optional<YamlHint> line_left_of_block(const std::vector<std::string>& lines, size_t header) {
  if (header >= lines.size() || !begins_block(lines[header])) return std::nullopt;
  const auto next = [&](size_t i) {
    while (i < lines.size() && is_blank(lines[i])) ++i;
    return i;
  };
  const size_t first = next(header + 1);
  if (first == lines.size()) return std::nullopt;
  // The key, behind the dashes of lists.
  const size_t key = std::min(lines[header].find_first_not_of(" -"), lines[header].size());
  const size_t indent = indent_of(lines[first]) > key ? indent_of(lines[first]) : key + 1;
  size_t i = first;
  while (i < lines.size() && indent_of(lines[i]) >= indent) i = next(i + 1);
  if (i == lines.size() || !is_directive(lines[i])) return std::nullopt;
  return YamlHint{static_cast<int>(i) + 1, static_cast<int>(indent_of(lines[i])) + 1,
                  quoted(std::string(trimmed(lines[i]))) + " stands left of the text of " +
                      quoted(std::string(trimmed(lines[header]))) + " in line " +
                      std::to_string(header + 1) +
                      ", and ends it: indent every line of it alike, by more than its key"};
}

std::optional<YamlHint> why_not_yaml(const std::vector<std::string>& lines, int line,
                                     const std::string& message) {
  if (message.find("flow not found") != std::string::npos) {
    return YamlHint{0, 0, message + "; between { } and [ ] quote texts that hold , [ ] { } or :"};
  }
  // The cause is not behind the place that is complained of.
  const size_t last = std::min(static_cast<size_t>(std::max(line, 0)) + 1, lines.size());
  for (size_t i = last; i-- > 0 && i + 3 > last;) {
    const std::string_view blanks =
        std::string_view(lines[i]).substr(0, lines[i].find_first_not_of(" \t"));
    const size_t tab = blanks.find('\t');
    if (tab == std::string_view::npos || is_blank(lines[i])) continue;
    return YamlHint{static_cast<int>(i) + 1, static_cast<int>(tab) + 1,
                    "a tab indents this line, and YAML takes spaces only"};
  }
  for (size_t i = last; i-- > 0;) {
    if (auto hint = line_left_of_block(lines, i)) return hint;
  }
  return std::nullopt;
}

}  // namespace kbench
