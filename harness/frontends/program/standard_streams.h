// Standard input, output and error: that they are there, and that what was printed arrived.
#pragma once

namespace kbench::program {

/// Opens descriptors 0 to 2 on /dev/null where they are closed. Before anything else is opened:
/// a file that took the place of one would have messages written into it. False where it cannot.
bool open_missing_descriptors();

/// Has a write to a closed pipe, or past the limit of a file's size, fail rather than end the
/// process. Programs that are started are not touched.
void let_writes_fail();

/// Writes out what is left of standard output. `code`; kPipeClosed where what it was piped into has
/// ended, which is no error; kUsage and a line on standard error where something printed did not
/// arrive otherwise.
int finish_output(int code);

}  // namespace kbench::program
