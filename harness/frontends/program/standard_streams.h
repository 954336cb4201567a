// Makes sure that the standard streams are open, and that what was printed arrived.
#pragma once

namespace kbench::program {

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
