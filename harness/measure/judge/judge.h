// The judge: what `kbench judge-process` does.
#pragma once

namespace kbench::judge {

/// Opens the device, says hello on descriptor 3, and evaluates the jobs that come as lines on
/// standard input until that ends. Arguments: the device's selector, and "validate" or nothing.
/// Returns (2, with a line on standard error) only when there is no client to answer to.
int run_judge(int argc, char** argv);

}  // namespace kbench::judge
