// The file of --benchmark_out, which Google Benchmark itself writes without checking for errors.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "libkbench/base/files.h"
#include "libkbench/base/unique_fd.h"

namespace kbench::program {

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

}  // namespace kbench::program
