#include "harness/measure/runner/kernel_text.h"

#include <algorithm>
#include <cstddef>
#include <string_view>

namespace kbench::runner {
namespace {

/// Where the line after #version begins; 0 without one.
size_t behind_version(std::string_view text) {
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find('\n', at), text.size());
    std::string_view line = text.substr(at, end - at);
    line.remove_prefix(std::min(line.find_first_not_of(" \t"), line.size()));
    if (line.starts_with('#')) {
      line.remove_prefix(1);
      line.remove_prefix(std::min(line.find_first_not_of(" \t"), line.size()));
      if (line.starts_with("version")) return std::min(end + 1, text.size());
    }
    at = end + 1;
  }
  return 0;
}

/// A #line directive, with the file if its name can stand in a string literal.
std::string line_directive(std::ptrdiff_t line, const std::string& file) {
  const bool plain = std::all_of(file.begin(), file.end(), [](unsigned char c) {
    return c >= ' ' && c < 127 && c != '"' && c != '\\';
  });
  return "\n#line " + std::to_string(line) + (plain ? " \"" + file + "\"" : "") + "\n";
}

}  // namespace

std::string kernel_text(const ResolvedKernel& resolved) {
  const Kernel& kernel = *resolved.kernel;
  const std::string& front = resolved.real_names;
  if (front.empty()) return kernel.source;
  const std::string& source = kernel.source;
  const size_t split = behind_version(source);
  const std::string head = source.substr(0, split);
  const auto next = std::count(head.begin(), head.end(), '\n') + 1;
  return head + front + line_directive(next, kernel.file) + source.substr(split);
}

}  // namespace kbench::runner
