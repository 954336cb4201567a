// Candidate sets: folders of candidate files, at most one a task.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "kbench/candidate.h"
#include "kbench/result.h"
#include "kbench/task.h"

namespace kbench::program {

/// A candidate of a set, found but not judged.
struct SetEntry {
  std::string file;      ///< path to open
  std::string relative;  ///< as results name it
  std::string hash;
};

struct CandidateSet {
  std::string name;
  std::string folder;
  std::map<TaskId, SetEntry> entries;
  /// Files that belong to no task of this build: malformed, or naming an unknown task. Verdict
  /// invalid_candidate, with the place in the message.
  std::vector<Result> unusable;
};

/// Reads one set. Throws Error when the folder is not there, holds no candidate, or holds two for
/// one task.
CandidateSet read_candidate_set(const std::string& path);

/// The sets named by --candidates: paths, or names of sets that ship; none: all that ship. Throws
/// Error also when two sets would have one name.
std::vector<CandidateSet> read_candidate_sets(const std::vector<std::string>& paths);

}  // namespace kbench::program
