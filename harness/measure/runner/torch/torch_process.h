// The process with PyTorch that runs a candidate's ModelNew, as its helper starts and watches it.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "harness/measure/runner/python_group.h"
#include "harness/measure/runner/python_interpreter.h"
#include "harness/measure/runner/python_scratch.h"
#include "libkbench/base/unique_fd.h"

namespace kbench::runner {

/// How a python3 is started.
struct PythonStart {
  std::vector<std::string> arguments;         ///< behind -I -B
  int input = -1;                             ///< its standard input; -1: nothing to read
  int output = -1;                            ///< its standard output and error
  int channel = -1;                           ///< its descriptor 3
  uint64_t host_bytes = 0;                    ///< its memory, at most
  std::vector<std::string> devices = {};      ///< files of the device that it may use
  std::vector<std::string> environment = {};  ///< "NAME=value", beside what each has
};

/// Exit statuses of a process that could not become python3.
inline constexpr int kNoLock = 97, kNoProgram = 98;

/// In a forked process: locks it in, in the scratch folder, and executes python3.
[[noreturn]] void become_python(const PythonInterpreter& python, const PythonScratch& scratch,
                                const PythonStart& start);

/// Which limit a group of processes exceeds, in files or processes; empty for none.
std::string taken_too_much(pid_t group, const PythonScratch& scratch);

/// A group of processes of which one has the other end of a channel. Ends with this object, or with
/// this process.
class TorchProcess {
 public:
  /// Throws kIo.
  TorchProcess(const PythonInterpreter& python, const PythonScratch& scratch, PythonStart start);
  ~TorchProcess();
  TorchProcess(const TorchProcess&) = delete;

  /// Stops all its threads; when it returns, those of the first process stand still.
  void hold();
  void release();
  /// To be called a few times a second: ends the group if it takes too much, and reads what it
  /// prints.
  void watch();
  /// Why it has ended, as far as is known: a limit, the exit status, its last line of output.
  std::string last_words();

 private:
  const PythonScratch& scratch_;
  pid_t group_ = -1;
  UniqueFd output_;
  std::optional<GroupGuard> guard_;
  std::string said_, too_much_;
};

}  // namespace kbench::runner
