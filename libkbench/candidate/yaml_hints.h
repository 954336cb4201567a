// What most likely went wrong where a YAML text does not mean what its author meant.
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

/// A line of the preprocessor (#version) that stands left of the block of text it belongs to: YAML
/// takes it for a comment, and the block for ended. `header` is the index of the line that the
/// block's '|' ends.
std::optional<YamlHint> line_left_of_block(const std::vector<std::string>& lines, size_t header);

/// Why YAML could not be read that says `message` about the line with that index; nothing where
/// the message has to do.
std::optional<YamlHint> why_not_yaml(const std::vector<std::string>& lines, int line,
                                     const std::string& message);

}  // namespace kbench
