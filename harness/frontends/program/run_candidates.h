// A model's folder in a run, as a candidate set.
#pragma once

#include <string>
#include <vector>

namespace kbench::program {

/// Of RUN/candidates/MODEL one candidate a task: the fastest that passed, else the last. Empty
/// where the folder is none of a run's. Throws kIo, kParse.
std::vector<std::string> best_of_run(const std::string& folder);

}  // namespace kbench::program
