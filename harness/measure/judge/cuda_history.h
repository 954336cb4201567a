// Which kind of runner a candidate will need, foretold from those parsed before it.
#pragma once

#include <filesystem>
#include <map>
#include <mutex>
#include <string>

#include "kbench/candidate_source.h"

namespace kbench::judge {

/// Whether the candidate that a runner last parsed needed CUDA, by the candidate's folder. A runner
/// opens its device before it is given a candidate, and the judge reads none: a candidate gets a
/// runner of the kind that the last one in its folder needed (in a new folder: the last one of
/// all). If its own runner then says otherwise, it gets another runner. Thread-safe.
class CudaHistory {
 public:
  bool expected(const CandidateSource& candidate) const {
    const std::lock_guard lock(mutex_);
    const auto found = by_folder_.find(folder_of(candidate));
    return found == by_folder_.end() ? last_ : found->second;
  }
  void note(const CandidateSource& candidate, bool needs_cuda) {
    constexpr size_t kMostFolders = 1000;
    const std::lock_guard lock(mutex_);
    if (by_folder_.size() >= kMostFolders) by_folder_.clear();
    by_folder_[folder_of(candidate)] = last_ = needs_cuda;
  }

 private:
  /// Empty for a candidate in memory.
  static std::string folder_of(const CandidateSource& candidate) {
    return std::filesystem::path(candidate.path).lexically_normal().parent_path().string();
  }

  mutable std::mutex mutex_;
  std::map<std::string, bool> by_folder_;
  bool last_ = false;
};

}  // namespace kbench::judge
