// What the program prints: the one place that knows of terminals, their width and their colours.
#pragma once

#include <cstdio>
#include <string>

#include "kbench/verdict.h"

namespace kbench::program {

/// Prints text on standard output.
void say(const std::string& text);
/// Prints "kbench: " and a line on standard error.
void warn(const std::string& line);

/// The columns of the terminal that `stream` writes to; 0 where it is no terminal.
size_t terminal_width(std::FILE* stream);

enum class Colour { good, bad, doubtful };
/// The text in a colour, where standard output is a terminal that has some and the variable
/// NO_COLOR is empty or not set; elsewhere as it is.
std::string coloured(const std::string& text, Colour colour);
/// A verdict's name: good where it passed, doubtful where the candidate is not to
/// blame, bad otherwise.
std::string coloured_name(Verdict verdict);

}  // namespace kbench::program
