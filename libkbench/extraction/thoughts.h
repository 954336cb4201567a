// The thoughts that some models put into their answers.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace kbench {

struct Said {
  std::string_view text;        ///< what stands behind the thoughts
  bool still_thinking = false;  ///< a start tag at the front, and no end tag
};

/// Cuts a text up to the last end tag outside a fence. Where every end tag is in one, thoughts may
/// have left a fence open, which then holds the rest: a tag that begins a line is taken. An
/// end tag behind a fence's mark ("```</think>") ends the fence and the thoughts.
Said without_thoughts(std::string_view text, const std::vector<std::string>& tags);

}  // namespace kbench
