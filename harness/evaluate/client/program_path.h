// The path of the kbench program, which judges and runners are started from.
#pragma once

#include <string>

namespace kbench::client {

/// The chosen program; else $KBENCH_PROGRAM; this program if it is kbench; the one beside it; the
/// one on PATH. Throws kNotFound.
std::string program_path(const std::string& chosen);

}  // namespace kbench::client
