// A model's folder in a run, used as a candidate set.
#pragma once

#include <string>
#include <vector>

namespace kbench::program {

/// The candidates of RUN/candidates/MODEL, one for each task: the fastest that passed, else the
/// last. Empty if the folder is not part of a run. Throws kIo, kParse.
std::vector<std::string> best_of_run(const std::string& folder);

}  // namespace kbench::program
