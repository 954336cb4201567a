// The file of --benchmark_out, which Google Benchmark writes as it goes and without looking whether
// that worked.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "libkbench/base/files.h"
#include "libkbench/base/unique_fd.h"

namespace kbench::program {

/// Has Google Benchmark write into memory, so that the file appears whole or not at all.
class BenchmarkOut {
 public:
  /// Puts the memory's name into the flag, where there is one. Throws kIo where the file cannot be
  /// written.
  explicit BenchmarkOut(std::vector<std::string>& flags);
  /// After the benchmarks: puts the file in its place. Throws kIo.
  void commit();

 private:
  std::string path_;
  std::optional<NewFile> file_;
  UniqueFd memory_;
};

}  // namespace kbench::program
