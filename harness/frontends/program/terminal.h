// Prints to the terminal; handles its width and colours.
#pragma once

#include <cstdio>
#include <string>

#include "kbench/verdict.h"

namespace kbench::program {

/// Prints text on standard output.
void say(const std::string& text);
/// Prints "kbench: " and a line on standard error.
void warn(const std::string& line);

/// The width of the terminal that `stream` writes to; 0 if it is none.
size_t terminal_width(std::FILE* stream);

enum class Colour { good, bad, doubtful };
/// The text in a colour if standard output is a terminal with colours and NO_COLOR is empty or not
/// set; else unchanged.
std::string coloured(const std::string& text, Colour colour);
/// A verdict's name in colour: good if it passed, doubtful if the candidate is not to blame, else
/// bad.
std::string coloured_name(Verdict verdict);

}  // namespace kbench::program
