// Checks Google Benchmark's flags before the library sees them: it exits on an invalid value, or
// reports it in its own words.
#pragma once

#include <string>
#include <vector>

namespace kbench::program {

/// Appended by Google Benchmark to the name of a benchmark with one iteration and manual time.
inline constexpr const char* kBenchmarkNameSuffix = "/iterations:1/manual_time";

/// The flags that kbench itself uses.
struct BenchmarkFlags {
  bool owns_output = false;  ///< --benchmark_format: Google Benchmark reports on standard output
  bool lists_only = false;   ///< --benchmark_list_tests
  size_t repetitions = 1;    ///< --benchmark_repetitions
  std::string filter;        ///< --benchmark_filter, for filter_takes()
};

/// Throws Error(kInvalidArgument) for an unknown flag or invalid value, and initialises the library
/// with all but the filter. Call once in a process: the library keeps global state.
BenchmarkFlags read_benchmark_flags(const std::vector<std::string>& flags);

/// Matches like Google Benchmark: a POSIX extended regular expression; a leading "-" negates it,
/// "all" matches everything.
bool filter_takes(const std::string& filter, const std::string& name);

}  // namespace kbench::program
