// What a run writes. Any thread may call; every member throws kIo.
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
#include "harness/evaluate/generate/run_folder.h"
#include "kbench/attempt.h"
#include "kbench/episode.h"
#include "kbench/exchange.h"
#include "kbench/result.h"

namespace kbench::generate {

/// results.jsonl with an index by candidate, so that identical candidates are judged once. Some 50
/// bytes of memory a result.
class ResultStore {
 public:
  explicit ResultStore(const std::string& path);
  /// But where an earlier process had written just this before it was killed.
  void append(const Result& result);
  /// The verdict on a candidate's files at that preset, where there is one that is the candidate's
  /// own.
  std::optional<Result> find(const std::string& hash, Preset preset) const;

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
  std::set<std::string> last_places_;  ///< of the last results an earlier process wrote
};

class Store {
 public:
  /// The run's folder must be there, and locked by the caller.
  explicit Store(RunFolder folder);

  const RunFolder& folder() const { return folder_; }
  ResultStore& results() { return results_; }

  /// Kept once, by its hash.
  void keep_prompt(const std::string& hash, const std::vector<Message>& messages);
  /// On disk when this returns: what was paid for is never asked for again.
  /// `line`: its JSON.
  void keep_exchange(const Exchange& exchange, const std::string& line);
  /// An attempt's files and its answer, in the folder that `relative` names.
  void keep_files(const std::string& relative, const CandidateFiles& files,
                  const std::string& answer) const;
  void keep_feedback(const std::string& relative, const std::string& text) const;
  /// Empty where there is none.
  std::string read_feedback(const std::string& relative) const;
  void keep_attempt(const Attempt& attempt) { attempts_.append(to_json(attempt), false); }

 private:
  /// Held while a file of that path is written.
  std::mutex& stripe(const std::string& path);

  RunFolder folder_;
  ResultStore results_;
  LineFile attempts_;
  std::array<std::mutex, 16> stripes_;
};

}  // namespace kbench::generate
