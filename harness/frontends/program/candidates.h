// Candidates that the command line names: files and folders for `kbench run`, and sets for the main
// job. Names of sets and files are escaped and cut (kbench/error.h), ready for tables and messages.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "harness/frontends/program/options.h"
#include "kbench/candidate.h"
#include "kbench/candidate_source.h"
#include "kbench/result.h"
#include "kbench/task.h"

namespace kbench::program {

struct NamedCandidate {
  CandidateSource source;
  std::string name;  ///< as shown in messages and results
};

/// --task and --tasks of a verb that judges candidates.
class CandidateTasks {
 public:
  void add_to(Command app);
  bool given() const { return !selection_.empty(); }
  /// Makes the tasks of its files known, and remembers which tasks it names. Says on standard error
  /// which certificates are not used. Throws Error.
  void read();
  /// The task of a ModelNew that says none itself: the one that is named; empty where several are.
  std::string of_unnamed() const;
  /// Throws Error where `task`, the candidate's, is none of those that are named. It is null where
  /// the candidate cannot be read, of which its judge tells.
  void expect(const Task* task, const std::string& candidate) const;

 private:
  std::string selection_;
  std::vector<const Task*> named_;
};

/// The candidates that arguments name: YAML files, Python files with a ModelNew, folders (every
/// candidate below them), and at most once "-", standard input. A ModelNew that names no task is
/// for `task`. Candidates of one folder argument, or of files in one folder, have one author.
/// Throws Error if a path does not exist, is no manifest or contains none.
std::vector<NamedCandidate> named_candidates(const std::vector<std::string>& words,
                                             const std::string& task = {});
/// The one candidate that a word names: a file's, or that of a folder which holds one. Throws
/// Error, naming the files of a folder that holds several.
NamedCandidate one_candidate(const std::string& word, const std::string& task = {});

/// The name of the candidate set that a folder or a file is.
std::string set_name(const std::string& path);

/// The type to run a candidate in: --dtype, else the one that it is written for, else f32.
DType dtype_for(const std::optional<Candidate>& candidate, const SizeOptions& size);

/// A candidate of a set, not judged yet.
struct SetEntry {
  std::string file;      ///< path
  std::string relative;  ///< path as shown in results
  std::string hash;      ///< of several files, their hashes joined by '+'
  std::string problem;   ///< why it cannot be judged: several files are for the task
};

struct CandidateSet {
  std::string name;
  std::string folder;
  std::map<TaskId, SetEntry> entries;
  bool portable = true;  ///< no kernel is limited to some devices' drivers
  /// Files that belong to no task of this build: malformed, or naming an unknown task. As results
  /// with verdict invalid_candidate, with the place in the message.
  std::vector<Result> unusable;
};

/// The sets of --candidates: paths, or names of shipped sets; if none are given, all shipped sets
/// that are portable. If several files of a set are for one task, only that task fails, and its
/// entry names them. Throws Error if a folder does not exist or holds no candidate, and if two sets
/// have the same name.
std::vector<CandidateSet> read_candidate_sets(const std::vector<std::string>& paths);

}  // namespace kbench::program
