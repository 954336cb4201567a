// Triton's translation is the one place where a candidate's own code runs on the host: its Python
// module. It runs in a process of its own, which a runner starts before it locks itself in, without
// network, without the GPU, without a file that it could write outside of a scratch folder, and
// which has ended, with all that it started, before the runner is given any memory.
//
//   runner --- socket --- helper (kbench's own code, forked) --- python3 (locked in, executed)
#pragma once

#include <sys/types.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "harness/measure/process/channel.h"

namespace kbench::runner {

/// What python3 is to run.
struct PythonJob {
  std::string package = {};  ///< that the interpreter has to have; empty: any will do
  std::string script;
  std::vector<std::pair<std::string, std::string>> files;  ///< name -> text, in its own folder
  std::string input;                                       ///< on its standard input
  double seconds = 30;                                     ///< after which it is ended
};

class PythonHelper {
 public:
  /// Forks the helper. To be called while this process has one thread, and before it is locked in.
  PythonHelper();
  /// As end().
  ~PythonHelper();
  PythonHelper(const PythonHelper&) = delete;

  /// What the script writes to descriptor 3. Throws kUnsupported where there is no such python3,
  /// the system cannot hold it in, or it takes more processes or files than it may; kTimeout;
  /// kCompile with its last words when it ends without an answer; kIo when its scratch folder
  /// cannot be removed.
  std::string run(const PythonJob& job);
  /// When it returns no process of the helper is left.
  void end();

 private:
  std::unique_ptr<process::Channel> channel_;
  pid_t pid_ = -1;
};

}  // namespace kbench::runner
