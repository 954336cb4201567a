// Bits of text that messages are made of.
#pragma once

#include <string>
#include <vector>

namespace kbench {

/// The text in quotes, escaped and shortened for a message (kbench/text.h).
std::string quoted(const std::string& text);
/// "a, b, c".
std::string joined(const std::vector<std::string>& names);
/// Shortest decimal text that reads back as x.
std::string number_text(double x);

}  // namespace kbench
