// Google Benchmark's part of the command line, checked: the library ends the program over a value
// that it does not take, or complains in words of its own.
#pragma once

#include <string>
#include <vector>

namespace kbench::program {

/// What Google Benchmark adds to the name of a benchmark with one iteration and manual time.
inline constexpr const char* kBenchmarkNameSuffix = "/iterations:1/manual_time";

/// The flags that kbench has to know, too.
struct BenchmarkFlags {
  bool owns_output = false;  ///< --benchmark_format: it reports on standard output itself
  bool lists_only = false;   ///< --benchmark_list_tests
  size_t repetitions = 1;    ///< --benchmark_repetitions
  std::string filter;        ///< --benchmark_filter, for filter_takes()
};

/// Throws Error(kInvalidArgument) for a flag or value that Google Benchmark does not take, and has
/// the library take the rest but for the filter. Once a process: it keeps global state.
BenchmarkFlags read_benchmark_flags(const std::vector<std::string>& flags);

/// A filter as Google Benchmark reads it, a POSIX extended regular expression: "-" in front turns
/// it round, "all" takes everything.
bool filter_takes(const std::string& filter, const std::string& name);

}  // namespace kbench::program
