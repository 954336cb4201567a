// Finds the python3 that translates Triton kernels or runs PyTorch, and the files that it has to
// read.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace kbench::runner {

/// Bytes kept of what a python3 prints.
inline constexpr size_t kMostPythonOutput = size_t{1} << 16;

struct PythonInterpreter {
  std::string program;  ///< its path
  /// Files and folders that it needs: itself, its standard library, packages and shared libraries.
  /// Never a user's home.
  std::vector<std::string> readable;
  std::string version;  ///< of the package asked for, or empty
  std::string cuda;  ///< the CUDA that PyTorch was built for, "12.8"; empty: none, or not PyTorch
};

struct PythonSearch {
  std::optional<PythonInterpreter> found;
  /// The others, with reasons: "'/a' has no package b; ...". One that cannot be run is named where
  /// there is no other.
  std::string tried;
};

/// The interpreter that a script starts, as those of version managers do; empty for a program that
/// is no script, or cannot be run. It is run with this process's environment.
std::string interpreter_behind(const std::string& program);

/// The programs in the order in which they are tried: only KBENCH_PYTHON if it is set; else that of
/// VIRTUAL_ENV, every python3 on PATH, those in /usr/local/bin and /usr/bin.
std::vector<std::string> python_programs();

/// The first of them that has the package; the first that runs if `package` is empty. Each is
/// started once, for some ten milliseconds, and does not import the package.
PythonSearch find_python(const std::string& package);

}  // namespace kbench::runner
