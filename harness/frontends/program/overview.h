// The output of `kbench` without arguments.
#pragma once

#include <string>

namespace kbench::program {

/// What the main job would do, and how to start it.
std::string overview();

}  // namespace kbench::program
