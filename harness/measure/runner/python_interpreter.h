// The python3 that translates Triton kernels: which of those on this machine, and what of the file
// system it has to read.
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
  /// Files and folders that it says it needs: itself, its standard library, its packages, its
  /// shared libraries. Never a home.
  std::vector<std::string> readable;
  std::string version;  ///< of the package asked for, where it says so
};

struct PythonSearch {
  std::optional<PythonInterpreter> found;
  std::string
      tried;  ///< those before it, or all, each with the reason: "'/a' has no package b; ..."
};

/// The programs in the order in which they are tried: KBENCH_PYTHON alone where it is set; that of
/// VIRTUAL_ENV, every python3 on PATH, those in /usr/local/bin and /usr/bin.
std::vector<std::string> python_programs();

/// The first of them that has the package; empty: the first that runs. Each is started once, and
/// asked without importing the package: some ten milliseconds.
PythonSearch find_python(const std::string& package);

}  // namespace kbench::runner
