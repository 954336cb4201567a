#include "libkbench/extraction/thoughts.h"

#include <algorithm>
#include <utility>

#include "libkbench/base/text.h"
#include "libkbench/extraction/fenced_blocks.h"

namespace kbench {
namespace {

/// Whether the text at that place is `what`, ignoring case.
bool stands_at(std::string_view text, size_t at, std::string_view what) {
  const std::string_view there = text.substr(at, what.size());
  return std::equal(there.begin(), there.end(), what.begin(), what.end(),
                    [](char a, char b) { return lower(a) == lower(b); });
}

/// Whether only blanks precede a place in its line.
bool begins_line(std::string_view text, size_t at) {
  while (at > 0 && (text[at - 1] == ' ' || text[at - 1] == '\t')) --at;
  return at == 0 || text[at - 1] == '\n' || text[at - 1] == '\r';
}

/// Whether only a fence's mark precedes a place in its line: "``` </think>".
bool follows_a_fence(std::string_view text, size_t begin) {
  constexpr size_t kMark = 3;
  while (begin > 0 && (text[begin - 1] == ' ' || text[begin - 1] == '\t')) --begin;
  if (begin == 0) return false;
  const char mark = text[begin - 1];
  if (mark != '`' && mark != '~') return false;
  const size_t end = begin;
  while (begin > 0 && text[begin - 1] == mark) --begin;
  if (end - begin < kMark) return false;
  while (begin > 0 && (text[begin - 1] == ' ' || text[begin - 1] == '\t' || text[begin - 1] == '>'))
    --begin;
  return begin == 0 || text[begin - 1] == '\n' || text[begin - 1] == '\r';
}

}  // namespace

Said without_thoughts(std::string_view text, const std::vector<std::string>& tags) {
  std::vector<std::pair<size_t, size_t>> ends;
  for (size_t at = 0; (at = text.find("</", at)) != text.npos; at += 2) {
    for (const std::string& tag : tags) {
      const std::string end = "</" + tag + ">";
      if (!stands_at(text, at, end)) continue;
      ends.emplace_back(at, at + end.size());
      break;
    }
  }
  if (ends.empty()) {
    const size_t front = text.find_first_not_of(" \t\r\n");
    const bool opened =
        front != text.npos && std::any_of(tags.begin(), tags.end(), [&](const std::string& tag) {
          return stands_at(text, front, "<" + tag + ">");
        });
    return {text, opened};
  }
  // By CommonMark's rules such a line closes no fence, but models mean it to.
  const auto fenced_end = std::find_if(ends.rbegin(), ends.rend(), [&](const auto& each) {
    return follows_a_fence(text, each.first);
  });
  if (fenced_end != ends.rend()) {
    return without_thoughts(text.substr(fenced_end->second), tags);
  }
  const std::vector<FencedBlock> blocks = fenced_blocks(text);
  size_t cut = 0, in_front = 0;
  size_t next = 0;
  for (const auto& [begin, end] : ends) {
    while (next < blocks.size() && blocks[next].end <= begin) ++next;
    const bool fenced = next < blocks.size() && blocks[next].begin <= begin;
    if (!fenced) cut = end;
    if (begins_line(text, begin)) in_front = end;
  }
  return {text.substr(cut > 0 ? cut : in_front), false};
}

}  // namespace kbench
