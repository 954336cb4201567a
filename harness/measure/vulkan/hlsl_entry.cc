#include "harness/measure/vulkan/hlsl_entry.h"

#include "libkbench/base/text.h"

namespace kbench::vulkan {

std::vector<std::string> hlsl_entry_points(std::string_view text) {
  constexpr std::string_view kMark = "numthreads";
  std::vector<std::string> names;
  for (size_t at = text.find(kMark); at != std::string_view::npos; at = text.find(kMark, at)) {
    at = text.find(']', at);
    if (at == std::string_view::npos) break;
    // "void NAME(", other attributes may come before.
    const size_t open = text.find('(', at);
    if (open == std::string_view::npos) break;
    size_t end = open;
    while (end > at && !is_word_character(text[end - 1])) --end;
    size_t begin = end;
    while (begin > at && is_word_character(text[begin - 1])) --begin;
    if (end > begin) names.emplace_back(text.substr(begin, end - begin));
    at = open;
  }
  return names;
}

}  // namespace kbench::vulkan
