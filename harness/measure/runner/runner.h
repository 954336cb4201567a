// The runner's side of a trial: what `kbench runner-process` does.
#pragma once

namespace kbench::runner {

/// How the process exits where the system has no thread, process or memory left for it.
inline constexpr int kStarvedStatus = 87;

/// Serves the judge on descriptor 3 until it closes, then ends the process. Arguments: the role
/// ("opponent", "candidate", or kPrototypeRole of a process::Prototype, whose copies are told which
/// of the two they are), the device's selector, and "validate" or nothing. Returns (2, with a line
/// on standard error) only when there is no judge to serve.
int run_runner(int argc, char** argv);

}  // namespace kbench::runner
