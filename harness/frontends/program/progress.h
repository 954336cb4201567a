// Shows progress: a bar on a terminal, else one line for each evaluation.
#pragma once

#include <chrono>
#include <cstdio>
#include <string>
#include <string_view>

#include "kbench/result.h"

namespace kbench::program {

/// Not thread-safe.
class Progress {
 public:
  Progress(std::FILE* stream, size_t total);
  ~Progress() { close(); }
  Progress(const Progress&) = delete;

  void begin(const std::string& name);
  /// The same for an evaluation in this stage: says so if it waits for the device.
  void begin(const std::string& name, std::string_view stage);
  /// One more is done; without a terminal, prints its result.
  void finish(const std::string& name, const Result& result);
  /// The same with any outcome.
  void finish(const std::string& name, const std::string& outcome);
  /// One more is done; prints nothing about it.
  void advance();
  /// Prints a line above the bar.
  void note(const std::string& line);
  /// The same on standard error.
  void warn(const std::string& line);
  /// Removes the bar for a while, so that something else can print on the terminal.
  void hide();
  /// Removes the bar for good.
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
