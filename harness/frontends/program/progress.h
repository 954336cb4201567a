// Where a run is: one line that is redrawn on a terminal, a line an evaluation elsewhere.
#pragma once

#include <chrono>
#include <cstdio>
#include <string>

#include "kbench/result.h"

namespace kbench::program {

/// Not thread-safe.
class Progress {
 public:
  Progress(std::FILE* stream, size_t total);
  ~Progress() { close(); }
  Progress(const Progress&) = delete;

  void begin(const std::string& name);
  /// One more is done; outside a terminal, a line says with what result.
  void finish(const std::string& name, const Result& result);
  /// The same with any outcome.
  void finish(const std::string& name, const std::string& outcome);
  /// One more is done, with nothing to say about it.
  void advance();
  /// A line of its own, above the bar.
  void note(const std::string& line);
  /// The same on standard error.
  void warn(const std::string& line);
  /// Takes the bar away for a while: for what is printed elsewhere on the same terminal.
  void hide();
  /// Takes the bar away for good.
  void close();

 private:
  void draw();

  std::FILE* stream_;
  bool terminal_;
  bool drawn_ = false;
  size_t total_, done_ = 0;
  std::string current_;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

}  // namespace kbench::program
