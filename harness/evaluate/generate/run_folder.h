// A run on disk: which file is where. No folder of it grows over 10,000 entries with up to 2.5
// million prompts, 9 million samples a task and 9,999 attempts a sample.
#pragma once

#include <string>

#include "kbench/task.h"
#include "libkbench/base/unique_fd.h"

namespace kbench::generate {

/// Paths inside a run; nothing is read or made.
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
  /// `model` is a chain's: a model's name, or a relay's.
  std::string transcript(const std::string& model, TaskId task) const;
  std::string candidates(const std::string& model) const;

 private:
  std::string path_;
};

/// Makes a folder and those above it. Throws kIo.
void make_folder(const std::string& path);

/// One process at a time works on a run.
class RunLock {
 public:
  /// Throws kIo: "RUN is in use: process 4711 is working on it".
  explicit RunLock(const RunFolder& run);

 private:
  UniqueFd fd_;
};

}  // namespace kbench::generate
