// The fenced code blocks of a Markdown text.
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

}  // namespace kbench
