// Which kind of runner a candidate will need, foretold from those parsed before it.
#pragma once

#include <filesystem>
#include <map>
#include <mutex>
#include <string>

#include "harness/measure/runner/runner_kind.h"
#include "kbench/candidate_source.h"

namespace kbench::judge {

/// What a candidate needs of its runner.
struct Needs {
  runner::RunnerKind kind = runner::RunnerKind::vulkan;
  bool python = false;  ///< that its Python helper lives, which ends with the first build
  bool operator==(const Needs&) const = default;
};

/// What the candidate that a runner last parsed needed, by the candidate's folder. A runner opens
/// its device before it is given a candidate, and the judge reads none: a candidate gets a runner
/// of the kind that the last one in its folder needed (in a new folder: the last one of all). If
/// its own runner then says otherwise, it gets another runner. Thread-safe.
class NeedsHistory {
 public:
  Needs expected(const CandidateSource& candidate) const {
    if (candidate.path.ends_with(".py")) return {runner::RunnerKind::torch, true};  // a ModelNew
    const std::lock_guard lock(mutex_);
    const auto found = by_folder_.find(folder_of(candidate));
    return found == by_folder_.end() ? last_ : found->second;
  }
  void note(const CandidateSource& candidate, Needs needs) {
    constexpr size_t kMostFolders = 1000;
    const std::lock_guard lock(mutex_);
    if (by_folder_.size() >= kMostFolders) by_folder_.clear();
    by_folder_[folder_of(candidate)] = last_ = needs;
  }

 private:
  /// Empty for a candidate in memory.
  static std::string folder_of(const CandidateSource& candidate) {
    return std::filesystem::path(candidate.path).lexically_normal().parent_path().string();
  }

  mutable std::mutex mutex_;
  std::map<std::string, Needs> by_folder_;
  Needs last_;
};

}  // namespace kbench::judge
