// Likely causes where a YAML text cannot be read, or is read as something else than its author
// meant.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace kbench {

struct YamlHint {
  int line = 0, column = 0;  ///< 1-based
  std::string message;
};

/// Whether a block of text begins behind the line: it ends with '|', '|-' or '|+' behind a key or a
/// dash, perhaps with an anchor between.
bool begins_block(std::string_view line);

/// Finds a preprocessor line (#version) that is indented less than the block of text it belongs to:
/// YAML takes it for a comment and ends the block there. `header` is the index of the line that
/// ends with the block's '|'.
std::optional<YamlHint> line_left_of_block(const std::vector<std::string>& lines, size_t header);

/// The likely cause of the YAML parser's `message` about the line with that index; nothing where
/// the message must suffice.
std::optional<YamlHint> why_not_yaml(const std::vector<std::string>& lines, int line,
                                     const std::string& message);

/// What to write in place of a key that candidates' files had once; empty for any other word.
std::string_view instead_of_gone(std::string_view key);

}  // namespace kbench
