// The runner: the process `kbench runner-process`, which runs a candidate or a baseline for the
// judge.
#pragma once

namespace kbench::runner {

/// The exit status if the system has no thread, process or memory left for the runner.
inline constexpr int kStarvedStatus = 87;
/// A runner's exit status where the judge's messages cannot be read, or its own not be sent.
inline constexpr int kNotHeardStatus = 88;

/// Serves the judge on descriptor 3 until it is closed, then ends the process. Arguments: the role
/// ("baseline", "candidate", or kPrototypeRole for a process::Prototype, whose
/// copies are told their roles), the device's selector, and optionally "validate". Returns only if
/// there is no judge: 2, with a line on standard error.
int run_runner(int argc, char** argv);

}  // namespace kbench::runner
