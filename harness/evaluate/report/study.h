// What a report is about: attempts out of runs and results files, and what was asked for.
#pragma once

#include <string>
#include <vector>

#include "kbench/attempt_set.h"
#include "kbench/metrics.h"
#include "kbench/task.h"

namespace kbench::report {

/// A run's folder or a file of results, as it was named.
struct Source {
  std::string path;
  bool is_run = false;
  std::vector<std::string> more = {};  ///< further files of the same results: other shards

  std::vector<std::string> paths() const;
};

/// A model (or, of plain results, a candidate set) that has attempts.
struct Participant {
  uint32_t model = 0;    ///< in Study::attempts
  std::string name;      ///< as shown: with the run's name where two runs have one of this name
  std::string recorded;  ///< as its run calls it
  size_t source = 0;
};

struct Study {
  std::vector<Source> sources;
  std::vector<Participant> participants;
  AttemptSet attempts;
  Confirmations confirmations;
  Scope scope;  ///< tasks and samples asked for, as far as the runs say
  std::string device, preset;
  bool software_device = false;  ///< any of it was timed on one
  int64_t recorded_attempts = 0;
  std::vector<std::string> notes;  ///< what a reader should know of the sources, one line each
};

/// Reads folders of runs (run.yaml, attempts.jsonl, confirmed.jsonl) and files of results. Files
/// whose sets and settings agree and that share no task are shards of one source. `tasks` are those
/// asked about; empty: those the runs were asked to do, or else those that occur.
/// Throws kNotFound for a path that is neither, kIo, and kParse with file and line.
Study read_study(const std::vector<std::string>& paths, const std::vector<TaskId>& tasks);

}  // namespace kbench::report
