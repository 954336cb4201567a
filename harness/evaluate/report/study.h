// The input of a report: attempts from runs and results files, and what was asked for.
#pragma once

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "kbench/attempt.h"
#include "kbench/baseline.h"
#include "kbench/metrics.h"
#include "kbench/result.h"
#include "kbench/task.h"

namespace kbench::report {

/// A run's folder or a results file, as given.
struct Source {
  std::string path;
  bool is_run = false;
  std::vector<std::string> more = {};  ///< more files of the same results: other shards

  std::vector<std::string> paths() const;
};

/// A model that has answered (for plain results: a candidate set).
struct Participant {
  uint32_t model = 0;    ///< index in Study::attempts
  std::string name;      ///< as shown: with the run's name if two runs have a model of this name
  std::string recorded;  ///< its name in its run
  size_t source = 0;
};

struct Study {
  std::vector<Source> sources;
  std::vector<Participant> participants;
  AttemptSet attempts;
  Confirmations confirmations;
  MetricScope scope;  ///< tasks and samples asked for, as far as known
  std::string device, preset;
  /// By device, the best rates that results or a run's settings record. The judge does not measure
  /// them for every result, so a device may be missing.
  std::map<std::string, Roofline> rooflines;
  DType dtype = DType::f32;      ///< of all of it
  bool software_device = false;  ///< some results are from one
  int64_t recorded_attempts = 0;
  std::vector<std::string> notes;  ///< remarks on the sources, one line each

  /// Else there are files of results only, and the participants are candidate sets.
  bool has_runs() const { return std::ranges::any_of(sources, &Source::is_run); }
};

/// Which sample and attempt each result of a file is. A run's candidate has both in its path,
/// s03/a2; other candidates of one set and task are a sample each, in the order of their results.
class ResultSamples {
 public:
  struct Place {
    int sample = 1, attempt = 1;
    bool operator==(const Place&) const = default;
  };
  Place of(const Result& result);

 private:
  std::map<std::pair<std::string, TaskId>, std::vector<std::string>> candidates_;
};

/// Reads run folders (run.yaml, attempts.jsonl, confirmed.jsonl) and results files. Files with
/// equal sets and settings that share no task are shards of one source. `tasks`: those asked about;
/// empty: those the runs were asked for, else those that occur. `dtype`, `preset`: only results in
/// and at it; empty: all. Throws kNotFound for a path that is neither, kIo, kParse with file and
/// line, and kInvalidArgument, with paths and values, where there are several presets or dtypes.
Study read_study(const std::vector<std::string>& paths, const std::vector<TaskId>& tasks,
                 const std::string& dtype = "", const std::string& preset = "");

}  // namespace kbench::report
