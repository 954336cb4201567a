// The fenced code blocks of a Markdown text, and the thoughts that some models put before them.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace kbench {

struct FencedBlock {
  std::string info;      ///< the text behind the opening fence
  std::string language;  ///< its first word
  std::string text;      ///< ends with a newline
  size_t begin = 0;      ///< of the opening fence's line, in bytes of the source
  size_t end = 0;        ///< behind the text; the closing fence, where there is one, follows
  bool closed = true;
  std::string_view line_before;  ///< the last line above the fence that is not blank; of the source
};

/// Finds fenced blocks by CommonMark's rules: also in lists and quotes, of tildes, and of more
/// marks than fences inside them; beyond these rules also where they are indented by more than
/// three spaces or inside HTML. Blocks that hold nothing but blank lines are left out.
std::vector<FencedBlock> fenced_blocks(std::string_view source);

struct Said {
  std::string_view text;        ///< behind the thoughts
  bool still_thinking = false;  ///< a start tag at the front, and no end tag
};

/// The text behind the last end tag outside a fence. Where all end tags are inside one, the
/// thoughts may have left a fence open: the last tag that begins a line counts then. An end tag
/// behind a fence's mark ("```</think>") ends the fence and the thoughts.
Said without_thoughts(std::string_view text, const std::vector<std::string>& tags);

}  // namespace kbench
