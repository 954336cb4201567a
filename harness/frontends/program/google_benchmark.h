// The main job's side of Google Benchmark: its flags, its report of evaluations that run elsewhere,
// and its file.
#pragma once

#include <functional>
#include <future>
#include <optional>
#include <string>
#include <vector>

#include "kbench/result.h"
#include "libkbench/base/files.h"

namespace kbench::program {

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

/// Lets Google Benchmark write into memory, so that the file appears completely or not at all.
class BenchmarkOut {
 public:
  /// Replaces the file in the flag, if given, by the memory file. Throws kIo if the file cannot be
  /// written.
  explicit BenchmarkOut(std::vector<std::string>& flags);
  /// Writes the file, after the benchmarks. Throws kIo.
  void commit();

 private:
  std::string path_;
  std::optional<NewFile> file_;
  UniqueFd memory_;
};

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
