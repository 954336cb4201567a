// A task's graph beside PyTorch: whether the program that kbench prints of it computes the same.
#pragma once

#include <string>

#include "harness/measure/runner/python_helper.h"
#include "kbench/graph.h"
#include "kbench/task.h"

namespace kbench::from_pytorch {

struct Agreement {
  std::string not_compared = {};  ///< why not; empty if it was
  std::string difference = {};    ///< the first output beyond the task's tolerance; empty: none is
  double worst_error = 0;         ///< largest |c - r| / (s + |r|) of all outputs
};

/// Draws the graph's tensors and runs pytorch_module()'s `program` on them in float32, on the CPU,
/// in a locked-in python3; compares its outputs with the reference in float64.
Agreement compare_with_pytorch(runner::PythonHelper& python, const std::string& program,
                               const Task& task, const Graph& graph, double seconds = 60);

}  // namespace kbench::from_pytorch
