// Starts a python3 that is locked in, and says which limit its group of processes exceeds.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

#include "harness/measure/runner/python_interpreter.h"
#include "harness/measure/runner/python_scratch.h"

namespace kbench::runner {

/// How a python3 is started.
struct PythonStart {
  std::string name = "script.py";         ///< of its script: in tracebacks, and its command line
  int script = -1;                        ///< read from its start, however long it is
  int input = -1;                         ///< its standard input; -1: nothing to read
  int output = -1;                        ///< its standard output and error
  int channel = -1;                       ///< its descriptor 3
  uint64_t host_bytes = 0;                ///< its memory, at most
  std::vector<std::string> devices = {};  ///< files of the device that it may use
  std::vector<std::string> environment = {};  ///< "NAME=value", beside what each has
};

/// Exit statuses of a process that could not become python3.
inline constexpr int kNoLock = 97, kNoProgram = 98;

/// In a forked process: locks it in, in the scratch folder, and executes python3.
[[noreturn]] void become_python(const PythonInterpreter& python, const PythonScratch& scratch,
                                const PythonStart& start);

/// Which limit a group of processes exceeds, in files or processes; empty for none.
std::string taken_too_much(pid_t group, const PythonScratch& scratch);

}  // namespace kbench::runner
