// Evaluations reported through Google Benchmark, so that its flags, repetitions and files work.
// They are made elsewhere: a benchmark waits for the result that it is about.
#pragma once

#include <functional>
#include <future>
#include <string>
#include <vector>

#include "kbench/result.h"

namespace kbench::program {

struct BenchmarkCase {
  std::string name;
  std::vector<std::future<Result>> results = {};  ///< one a repetition; each is waited for
};

/// Registers a benchmark a case, with manual time, and runs them; once a process. `owns_output`:
/// Google Benchmark reports on standard output itself; else `aggregate` is called with a line for
/// each statistic over repetitions.
void run_benchmarks(std::vector<BenchmarkCase>& cases, bool owns_output,
                    const std::function<void(const std::string&)>& aggregate);

}  // namespace kbench::program
