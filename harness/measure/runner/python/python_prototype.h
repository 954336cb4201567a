// A python3 that has imported a package and forks the processes that are to have it: importing
// PyTorch takes seconds, forking a process that has it some milliseconds.
#pragma once

#include <sys/types.h>

#include <memory>
#include <mutex>
#include <string>

#include "harness/measure/process/channel.h"
#include "harness/measure/process/child_process.h"
#include "harness/measure/runner/python_group.h"
#include "harness/measure/runner/python_interpreter.h"
#include "harness/measure/runner/python_scratch.h"

namespace kbench::runner {

/// It runs python/prototype.py, and nothing of a candidate. Thread-safe.
class PythonPrototype {
 public:
  /// Starts it and does not wait. Throws as process::ChildProcess does.
  PythonPrototype(const PythonInterpreter& python, const std::string& package);

  /// Forks a process that is locked in, in the scratch folder, and runs the script: a child of this
  /// process, which must be a subreaper, and the leader of its process group. Waits until the
  /// package is imported. Throws kUnsupported if that fails, or the system cannot lock a process
  /// in; kIo if there is no process.
  pid_t fork_for(const PythonStart& start, const PythonScratch& scratch);

  /// Whether it can fork no more: somebody has ended it.
  bool ended();

 private:
  std::mutex mutex_;
  PythonInterpreter python_;
  std::string package_;
  std::pair<UniqueFd, UniqueFd> ends_;
  process::ChildProcess process_;
  process::Channel channel_;
};

std::string_view prototype_script();  ///< prototype.py

}  // namespace kbench::runner
