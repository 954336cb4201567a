// Reports evaluations through Google Benchmark, for its flags, repetitions and files. The
// evaluations run elsewhere; a benchmark waits for its result.
#pragma once

#include <functional>
#include <future>
#include <string>
#include <vector>

#include "kbench/result.h"

namespace kbench::program {

struct BenchmarkCase {
  std::string name;
  std::vector<std::future<Result>> results = {};  ///< by repetition; each is waited for
};

/// Registers one benchmark with manual time for each case and runs them; once in a process.
/// `owns_output`: Google Benchmark reports on standard output; otherwise `aggregate` is called with
/// a line for each statistic over repetitions.
void run_benchmarks(std::vector<BenchmarkCase>& cases, bool owns_output,
                    const std::function<void(const std::string&)>& aggregate);

}  // namespace kbench::program
