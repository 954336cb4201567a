// Evaluations driven through Google Benchmark, so that its flags, filters and files work.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "kbench/result.h"

namespace kbench::program {

struct BenchmarkCase {
  std::string name;
  std::function<const Result&()> evaluate;
};

/// Google Benchmark's part of the command line, checked. At most one object a process, and run()
/// at most once: the library keeps global state.
class BenchmarkRun {
 public:
  /// Throws Error(kInvalidArgument) for a flag that Google Benchmark does not know or take.
  explicit BenchmarkRun(const std::vector<std::string>& flags);
  ~BenchmarkRun();
  BenchmarkRun(const BenchmarkRun&) = delete;

  /// --benchmark_format was given: Google Benchmark reports on standard output itself.
  bool owns_output() const { return owns_output_; }
  /// --benchmark_list_tests was given: run() only prints names.
  bool lists_only() const { return lists_only_; }
  /// How often --benchmark_repetitions has every case run.
  size_t repetitions() const { return repetitions_; }
  bool has_filter() const { return !filter_.empty(); }
  /// Whether --benchmark_filter takes a benchmark of that name.
  bool selects(const std::string& name) const;

  /// Registers a benchmark a case, with manual time, and runs them. `aggregate` is called with a
  /// line for each statistic when --benchmark_repetitions asks for them.
  void run(const std::vector<BenchmarkCase>& cases,
           const std::function<void(const std::string&)>& aggregate);

 private:
  bool owns_output_ = false, lists_only_ = false;
  size_t repetitions_ = 1;
  std::string filter_;
};

}  // namespace kbench::program
