// The process with PyTorch that runs a candidate's ModelNew, as its helper starts and watches it.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <string_view>

#include "harness/measure/runner/python/python_prototype.h"
#include "harness/measure/runner/python_group.h"
#include "harness/measure/runner/python_scratch.h"
#include "libkbench/base/files.h"

namespace kbench::runner {

/// The last words in what a process that has died has printed: where Python says it, what it died
/// of, in which function of the candidate's file and at which line, as "Segmentation fault in
/// forward (line 12)"; else the last line that belongs to no warning. They are untrusted.
std::string last_words_in(std::string_view said);

/// A group of processes of which one has the other end of a channel. Ends with this object, or with
/// this process.
class TorchProcess {
 public:
  /// Throws as PythonPrototype::fork_for().
  TorchProcess(PythonPrototype& prototype, const PythonScratch& scratch, PythonStart start);
  /// Unless end() has, ends it.
  ~TorchProcess() { end(); }
  TorchProcess(const TorchProcess&) = delete;

  pid_t id() const { return group_; }
  /// False if it cannot be ended: a process that outlives this one could disturb what runs next.
  bool end();
  /// Stops all its threads; when it returns, those of the first process stand still.
  void hold();
  void release();
  /// Puts its first thread, which runs Python, on the processors that all such processes share
  /// while their runs are timed: what they take of the host is then alike.
  void share_processors();
  /// To be called a few times a second: ends the group if it takes too much or its first process
  /// has ended, and reads what it prints.
  void watch();
  /// Why it has ended, as far as is known: a limit, the exit status, its last words.
  std::string last_words();
  /// Whether it has ended by a signal that the system or somebody else sent, and not for a limit.
  bool killed() const;

 private:
  const PythonScratch& scratch_;
  pid_t group_ = -1;
  UniqueFd output_;
  std::optional<GroupGuard> guard_;
  std::string said_, too_much_;
};

}  // namespace kbench::runner
