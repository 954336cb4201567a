// The files of a run. With up to 2.5 million prompts, 9 million samples a task and 9,999 attempts a
// sample, no folder has more than 10,000 entries.
#pragma once

#include <string>

#include "kbench/task.h"
#include "libkbench/base/unique_fd.h"

namespace kbench::generate {

/// Paths inside a run's folder. Reads and creates nothing.
class RunFolder {
 public:
  explicit RunFolder(std::string path);

  const std::string& path() const { return path_; }
  std::string settings() const { return path_ + "/run.yaml"; }
  std::string attempts() const { return path_ + "/attempts.jsonl"; }
  std::string results() const { return path_ + "/results.jsonl"; }
  std::string events() const { return path_ + "/events.jsonl"; }
  std::string confirmed() const { return path_ + "/confirmed.jsonl"; }
  std::string lock() const { return path_ + "/lock"; }
  std::string prompt(const std::string& hash) const;
  std::string transcript(const std::string& model, TaskId task) const;
  std::string candidates(const std::string& model) const;

 private:
  std::string path_;
};

/// Creates a folder and its parents. Throws kIo.
void make_folder(const std::string& path);

/// Holds a run for this process alone.
class RunLock {
 public:
  /// Throws kIo: "RUN is in use: process 4711 is working on it".
  explicit RunLock(const RunFolder& run);

 private:
  UniqueFd fd_;
};

}  // namespace kbench::generate
