// The standard streams: prints, handles the width and colours of a terminal, and makes sure that
// the streams are open and that what was printed arrived.
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

/// A verdict's name: green if it passed, yellow if the candidate is not to blame, else red; without
/// a colour unless standard output is a terminal with colours and NO_COLOR is empty or not set.
std::string coloured_name(Verdict verdict);

/// Opens closed descriptors 0 to 2 on /dev/null, or else files opened later would receive messages.
/// Call first. False if it fails.
bool open_missing_descriptors();

/// Makes writes to a closed pipe, or past the file size limit, fail instead of ending the process.
/// Not inherited by child programs.
void let_writes_fail();

/// Flushes standard output. Returns `code`; kPipeClosed if the reader of a pipe has ended, which is
/// no error; or kUsage, with a line on standard error, if output was lost otherwise.
int finish_output(int code);

}  // namespace kbench::program
