// Rows of text as aligned columns.
#pragma once

#include <string>
#include <vector>

namespace kbench {

enum class Side { left, right };

/// A line a row, columns as wide as their widest cell with two blanks between, no blanks at the
/// ends of lines. Cells of the first column stand to the left of it, those of the others on `side`.
std::string text_table(const std::vector<std::vector<std::string>>& rows, Side side);

}  // namespace kbench
