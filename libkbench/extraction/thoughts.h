// The thoughts that some models put into their answers.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace kbench {

struct Said {
  std::string_view text;        ///< behind the thoughts
  bool still_thinking = false;  ///< a start tag at the front, and no end tag
};

/// The text behind the last end tag outside a fence. Where all end tags are inside one, the
/// thoughts may have left a fence open: the last tag that begins a line counts then. An end tag
/// behind a fence's mark ("```</think>") ends the fence and the thoughts.
Said without_thoughts(std::string_view text, const std::vector<std::string>& tags);

}  // namespace kbench
