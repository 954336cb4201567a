// Candidate sets: folders of candidate files, one a task. Names of sets and files come out escaped
// and cut (kbench/text.h), fit for tables and messages.
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
  std::string hash;      ///< of several, theirs joined by '+'
  std::string problem;   ///< why it cannot be judged: there are several files for the task
};

struct CandidateSet {
  std::string name;
  std::string folder;
  std::map<TaskId, SetEntry> entries;
  bool portable = true;  ///< no candidate has a kernel that only some devices' drivers take
  /// Files that belong to no task of this build: malformed, or naming an unknown task. Verdict
  /// invalid_candidate, with the place in the message.
  std::vector<Result> unusable;
};

/// Reads one set. Several candidates for one task fail that task alone: its entry says which files
/// they are. Throws Error when the folder is not there or holds no candidate.
CandidateSet read_candidate_set(const std::string& path);

/// The sets named by --candidates: paths, or names of sets that ship; none: all that ship and are
/// portable. Throws
/// Error also when two sets would have one name.
std::vector<CandidateSet> read_candidate_sets(const std::vector<std::string>& paths);

}  // namespace kbench::program
