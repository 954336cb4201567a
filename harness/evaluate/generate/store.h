// Writes the files of a run. Thread-safe; every member throws kIo.
#pragma once

#include <array>
#include <cstdint>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "harness/evaluate/generate/line_file.h"
#include "kbench/attempt.h"
#include "kbench/episode.h"
#include "kbench/exchange.h"
#include "kbench/result.h"
#include "kbench/task.h"
#include "libkbench/base/files.h"

namespace kbench::generate {

// The files of a run. With up to 2.5 million prompts, 9 million samples a task and 9,999 attempts a
// sample, no folder has more than 10,000 entries.

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

/// results.jsonl with an index by candidate hash, so that identical candidates are judged once.
/// Takes about 50 bytes of memory for each result.
class ResultStore {
 public:
  explicit ResultStore(const std::string& path);
  /// Does nothing if an earlier process wrote this result before it was killed.
  void append(const Result& result);
  /// The result of a candidate at that preset in that dtype, if there is one whose verdict is the
  /// candidate's own.
  std::optional<Result> find(const std::string& hash, Preset preset, DType dtype) const;

 private:
  struct Key {
    uint64_t high = 0, low = 0;
    bool operator==(const Key&) const = default;
  };
  struct KeyHash {
    size_t operator()(const Key& key) const { return key.low; }
  };
  static Key key_of(std::string_view hash);
  void note(std::string_view line, int64_t offset);
  static std::string place_of(const Result& result) { return result.set + '/' + result.candidate; }

  std::string path_;
  mutable std::mutex mutex_;
  ResultWriter writer_;
  std::unordered_map<Key, int64_t, KeyHash> offsets_;
  std::set<std::string> last_places_;  ///< of an earlier process's last results
};

class Store {
 public:
  /// The folder must exist; the caller holds its RunLock.
  explicit Store(RunFolder folder);

  const RunFolder& folder() const { return folder_; }
  ResultStore& results() { return results_; }

  /// Stored once, under its hash.
  void keep_prompt(const std::string& hash, const std::vector<Message>& messages);
  /// `line`: the exchange as JSON. On disk when this returns, so that a paid answer is never asked
  /// for again.
  void keep_exchange(const Exchange& exchange, const std::string& line);
  /// Writes an attempt's files and its answer into the folder `relative`.
  void keep_files(const std::string& relative, const CandidateFiles& files,
                  const std::string& answer) const;
  void keep_feedback(const std::string& relative, const std::string& text) const;
  /// Empty if there is none.
  std::string read_feedback(const std::string& relative) const;
  void keep_attempt(const Attempt& attempt) { attempts_.append(to_json(attempt), false); }

 private:
  /// The mutex that guards writes to that path.
  std::mutex& stripe(const std::string& path);

  RunFolder folder_;
  ResultStore results_;
  LineFile attempts_;
  std::array<std::mutex, 16> stripes_;
};

}  // namespace kbench::generate
