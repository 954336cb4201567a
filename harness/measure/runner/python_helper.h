// Runs the Python module of a Triton candidate: the one place where a candidate's own code runs on
// the host. It runs in a process of its own without network or GPU, which can write to a scratch
// folder only, and which has ended, with all that it started, before the runner is given any
// memory. The runner forks the helper, which starts that process, before it locks itself in.
//
//   runner --- socket --- helper (forked: kbench's own code) --- python3 (locked in, executed)
#pragma once

#include <sys/types.h>

#include <map>
#include <memory>
#include <string>

#include "harness/measure/process/channel.h"

namespace kbench::runner {

/// What python3 is to run.
struct PythonJob {
  std::string package = {};  ///< that the interpreter must have; empty: none
  std::string script;
  std::map<std::string, std::string> files;  ///< name -> text, in its own folder
  std::string input;                         ///< on its standard input
  double seconds = 30;                       ///< after which it is killed
};

class PythonHelper {
 public:
  /// Forks the helper. To be called while this process has one thread, before it is locked in.
  PythonHelper();
  /// As end().
  ~PythonHelper();
  PythonHelper(const PythonHelper&) = delete;

  /// Returns what the script writes to descriptor 3. Throws kUnsupported if there is no such
  /// python3, the system cannot lock it in, or it exceeds its limits of processes or files;
  /// kTimeout; kCompile with its last line of output if it ends without an answer; kIo if its
  /// scratch folder cannot be removed.
  std::string run(const PythonJob& job);
  /// Ends the helper with all its processes; when it returns, none is left.
  void end();

 private:
  std::unique_ptr<process::Channel> channel_;
  pid_t pid_ = -1;
};

}  // namespace kbench::runner
