// Writes results to the file of --output.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "kbench/result.h"

namespace kbench::program {

/// If a result cannot be written, it is kept and tried again with each further result: so a job
/// continues when the disk is full, and loses nothing if that is temporary.
class OutputFile {
 public:
  /// Opens the file; "": no file. Throws like ResultWriter.
  explicit OutputFile(const std::string& path);

  /// Returns "", or, the first time that a result cannot be written, a warning.
  std::string append(const Result& result);
  /// Tries a last time. Returns "", or how many results the file lacks.
  std::string finish();

 private:
  /// Writes pending results; returns why it failed, else "".
  std::string write_waiting();

  std::string path_;
  std::unique_ptr<ResultWriter> writer_;
  std::vector<Result> waiting_;
  bool said_ = false;
};

}  // namespace kbench::program
