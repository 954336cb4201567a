// The library between extensions that are compiled with kbench's headers and the installed PyTorch.
#pragma once

#include <functional>
#include <nlohmann/json.hpp>
#include <string>

#include "harness/measure/runner/python_interpreter.h"

namespace kbench::runner {

struct BridgeLibrary {
  std::string bytes;    ///< of a shared library; empty: there is none
  std::string missing;  ///< why; such extensions are compiled as PyTorch does it then
};

/// Runs a job of Python, without any candidate's code, and returns its answer or a failure.
using RunPython = std::function<nlohmann::json(const nlohmann::json& job)>;

/// That of the user's cache, if there is one.
BridgeLibrary kept_bridge(const PythonInterpreter& python);
/// The same; else it is made, which takes half a minute. Several processes may make it at once, and
/// one of theirs is kept.
BridgeLibrary made_bridge(const PythonInterpreter& python, double seconds, const RunPython& run);

}  // namespace kbench::runner
