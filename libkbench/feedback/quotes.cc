// Lines of a candidate, and what they contain.
#include <algorithm>
#include <cctype>
#include <charconv>
#include <map>

#include "kbench/error.h"
#include "libkbench/base/text.h"
#include "libkbench/feedback/parts.h"

namespace kbench {
namespace {

constexpr size_t kLineBytes = 160;

std::string_view line_of(std::string_view text, int number) {
  for (int line = 1; !text.empty() || line == number; ++line) {
    const size_t end = std::min(text.find('\n'), text.size());
    if (line == number) return text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return {};
}

std::string_view base_name(std::string_view path) {
  return path.substr(path.rfind('/') + 1);  // npos + 1 is 0
}

/// Whether a place in messages, which may begin with a folder, is that file.
bool is_file(const std::string& shown_path, const std::string& path) {
  return shown_path == path || base_name(shown_path) == base_name(path);
}

/// The words of a line that are no numbers.
std::vector<std::string> names_in(std::string_view line) {
  std::vector<std::string> names;
  for (const std::string_view word : words_in(line)) {
    if (std::isdigit(static_cast<unsigned char>(word[0])) == 0) names.emplace_back(word);
  }
  return names;
}

std::map<std::string, double> numbers_of(const ResolvedKernel& kernel) {
  std::map<std::string, double> numbers;
  for (const auto& [name, value] : kernel.macros) {
    double number = 0;
    const char* const end = value.data() + value.size();
    const auto [rest, error] = std::from_chars(value.data(), end, number);
    const bool suffix = rest + 1 == end && (*rest == 'u' || *rest == 'f');
    if (error == std::errc() && (rest == end || suffix)) numbers[name] = number;
  }
  return numbers;
}

std::optional<int64_t> value_of(std::string_view text, const std::map<std::string, double>& names) {
  std::string expression(trimmed(text));
  while (!expression.empty() && (expression.back() == 'u' || expression.back() == 'U') &&
         expression.size() > 1 &&
         std::isdigit(static_cast<unsigned char>(*(expression.end() - 2)))) {
    expression.pop_back();
  }
  try {
    return evaluate_integer({expression, {}}, names);
  } catch (const Error&) {
    return std::nullopt;
  }
}

/// The text behind `key` up to a comma or closing parenthesis at the same depth.
std::optional<std::string_view> argument_behind(std::string_view source, std::string_view key) {
  size_t at = source.find(key);
  if (at == std::string_view::npos) return std::nullopt;
  at += key.size();
  while (at < source.size() && std::isspace(static_cast<unsigned char>(source[at]))) ++at;
  if (at >= source.size() || source[at] != '=') return std::nullopt;
  const size_t begin = at + 1;
  int depth = 0;
  for (at = begin; at < source.size(); ++at) {
    if (source[at] == '(') ++depth;
    if (source[at] == ')' && depth-- == 0) break;
    if (source[at] == ',' && depth == 0) break;
  }
  return source.substr(begin, at - begin);
}

}  // namespace

std::string source_line(const Facts& facts, const std::string& file, int line) {
  if (line < 1) return "";
  if (facts.candidate) {
    for (const Kernel& kernel : facts.candidate->kernels) {
      if (!is_file(file, kernel.file) || line < kernel.first_line) continue;
      const std::string found(trimmed(line_of(kernel.source, line - kernel.first_line + 1)));
      if (!found.empty()) return shown(found, kLineBytes);
    }
    if (const TorchModule* module = facts.module(); module && is_file(file, module->file)) {
      return shown(trimmed(line_of(module->source, line)), kLineBytes);
    }
    for (const auto& [path, text] : facts.candidate->includes) {
      if (is_file(file, path)) return shown(trimmed(line_of(text, line)), kLineBytes);
    }
  }
  for (const auto& [path, text] : facts.evidence.files) {
    if (is_file(file, path)) return shown(trimmed(line_of(text, line)), kLineBytes);
  }
  return "";
}

int line_in(const std::string& message) {
  constexpr std::string_view kMark = " (line ";
  const size_t at = message.rfind(kMark);
  if (at == std::string::npos) return 0;
  int line = 0;
  const char* const end = message.data() + message.size();
  const auto [rest, error] = std::from_chars(message.data() + at + kMark.size(), end, line);
  return error == std::errc() && std::string_view(rest, end) == ")" ? line : 0;
}

std::string macros_in(const Facts& facts, const std::string& line) {
  if (!facts.resolved) return "";
  constexpr size_t kMost = 6;
  std::map<std::string, std::string> found;
  for (const std::string& word : names_in(line)) {
    for (const ResolvedKernel& kernel : facts.resolved->kernels) {
      for (const auto& [name, value] : kernel.macros) {
        if (name == word && found.size() < kMost) found.emplace(name, value);
      }
    }
  }
  std::string text;
  for (const auto& [name, value] : found) {
    text += (text.empty() ? "" : ", ") + shown(name, 40) + " = " + shown(value, 40);
  }
  return text;
}

Workgroup workgroup_of(const ResolvedStep& step, const ResolvedKernel& kernel) {
  std::array<int64_t, 3> size = {1, 1, 1};
  if (is_cuda(kernel.kernel->language)) {
    std::ranges::copy(step.block, size.begin());
    return size;
  }
  const std::string& source = kernel.kernel->source;
  const std::map<std::string, double> names = numbers_of(kernel);
  if (kernel.kernel->language == Kernel::Language::hlsl) {
    const size_t at = source.find("numthreads(");
    if (at == std::string::npos) return std::nullopt;
    size_t begin = at + std::string_view("numthreads(").size();
    for (int axis = 0; axis < 3; ++axis) {
      const size_t end = source.find_first_of(",)", begin);
      if (end == std::string::npos) return std::nullopt;
      const auto value = value_of(std::string_view(source).substr(begin, end - begin), names);
      if (!value) return std::nullopt;
      size[static_cast<size_t>(axis)] = *value;
      begin = end + 1;
    }
    return size;
  }
  bool any = false;
  for (size_t axis = 0; axis < 3; ++axis) {
    const std::string key = std::string("local_size_") + "xyz"[axis];
    const auto text = argument_behind(source, key);
    if (!text) continue;
    const auto value = value_of(*text, names);
    if (!value) return std::nullopt;
    size[axis] = *value;
    any = true;
  }
  if (!any) return std::nullopt;
  return size;
}

std::optional<double> invocations_of(const ResolvedStep& step, const Workgroup& workgroup) {
  if (!workgroup) return std::nullopt;
  double invocations = 1;
  for (size_t axis = 0; axis < 3; ++axis) {
    invocations *= static_cast<double>(step.groups[axis]) * static_cast<double>((*workgroup)[axis]);
  }
  return invocations;
}

std::vector<std::string> loop_lines(const Candidate& candidate, size_t most) {
  struct Loop {
    int doubt;
    std::string text;
  };
  std::vector<Loop> loops;
  for (const Kernel& kernel : candidate.kernels) {
    std::string_view rest = kernel.source;
    for (int line = kernel.first_line; !rest.empty(); ++line) {
      const size_t end = std::min(rest.find('\n'), rest.size());
      const std::string text(trimmed(rest.substr(0, end)));
      rest.remove_prefix(std::min(end + 1, rest.size()));
      if (text.rfind("//", 0) == 0) continue;
      const std::vector<std::string> words = names_in(text);
      const auto has = [&](const char* word) {
        return std::find(words.begin(), words.end(), word) != words.end();
      };
      if (!has("while") && !has("for")) continue;
      const int doubt = has("while") || text.find(";;") != std::string::npos ? 2
                        : text.find('[') != std::string::npos                ? 1
                                                                             : 0;
      loops.push_back({doubt, at(Location{std::string(base_name(kernel.file)), line, 0}) +
                                  shown(text, kLineBytes)});
    }
  }
  std::stable_sort(loops.begin(), loops.end(),
                   [](const Loop& a, const Loop& b) { return a.doubt > b.doubt; });
  std::vector<std::string> lines;
  for (size_t i = 0; i < std::min(most, loops.size()); ++i) lines.push_back(loops[i].text);
  return lines;
}

}  // namespace kbench
