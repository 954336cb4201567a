// Results on their way into the file of --output.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "kbench/result.h"

namespace kbench::program {

/// Keeps what cannot be written and tries again with every further result: a job goes on when the
/// disk is full, and loses nothing when it is full for a while only.
class OutputFile {
 public:
  /// Opens the file; "" is none. Throws as ResultWriter does.
  explicit OutputFile(const std::string& path);

  /// Empty, or for the first result that cannot be written the line that says so.
  std::string append(const Result& result);
  /// Tries a last time. Empty, or the line that says how many results the file lacks.
  std::string finish();

 private:
  /// Writes what waits; the reason where not all of it can be.
  std::string write_waiting();

  std::string path_;
  std::unique_ptr<ResultWriter> writer_;
  std::vector<Result> waiting_;
  bool said_ = false;
};

}  // namespace kbench::program
