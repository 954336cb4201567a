// Shows progress: on a terminal what is being waited for, from the second second on, with a bar
// where there are several evaluations; else one line for each.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>

#include "kbench/result.h"

namespace kbench::program {

/// Thread-safe.
class Progress {
 public:
  Progress(std::FILE* stream, size_t total);
  ~Progress() { close(); }
  Progress(const Progress&) = delete;

  void begin(const std::string& name);
  /// The same for an evaluation in this stage of its judge.
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
  /// Draws again each second, as the time goes on.
  void tick(const std::stop_token& stop);

  std::FILE* stream_;
  bool terminal_;
  bool drawn_ = false, hidden_ = false;
  size_t total_, done_ = 0;
  std::string current_;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  std::recursive_mutex mutex_;
  std::condition_variable_any stopped_;
  std::jthread ticker_;  ///< the last member: it ends before the others do
};

}  // namespace kbench::program
