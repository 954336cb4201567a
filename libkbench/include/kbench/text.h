// Texts from outside, made fit to be shown.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace kbench {

/// A text that a candidate, a file's name or a compiler gave, as one line that is safe in a
/// terminal, a table and a log: control characters, line and paragraph separators, characters that
/// are invisible or turn the direction of writing, and what is not UTF-8 become \xNN, \uNNNN or
/// \UNNNNNNNN; a text that would be longer than `most` bytes is cut in the middle, with a note of
/// its length in the gap. Backslashes stay, so that shown(shown(t)) == shown(t).
std::string shown(std::string_view text, size_t most = 200);

}  // namespace kbench
