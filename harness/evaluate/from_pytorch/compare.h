// A task's graph beside PyTorch: whether the program that kbench prints of it computes the same,
// and whether the module that it was made of does.
#pragma once

#include <string>

#include "harness/evaluate/from_pytorch/from_pytorch.h"
#include "harness/measure/runner/python_helper.h"
#include "kbench/graph.h"
#include "kbench/task.h"

namespace kbench::from_pytorch {

struct Agreement {
  std::string not_compared = {};  ///< why not; empty if it was
  std::string difference = {};    ///< the first output beyond the task's tolerance; empty: none is
  double worst_error = 0;         ///< largest |c - r| / (s + |r|) of all outputs
};

/// The bytes that a comparison moves: inputs, parameters, and three times the outputs.
int64_t bytes_compared(const Graph& graph);

/// Why a graph is not run beside PyTorch: it is too large. Empty if it is not.
std::string why_not_compared(const Graph& graph);

/// Draws the graph's tensors twice, runs the problem's forward() on them in float64, and compares
/// its outputs with the reference in float64. `given`: the graph's inputs and parameters in the
/// module's order.
Agreement compare_with_module(runner::PythonHelper& python, const Problem& problem,
                              const Given& given, const Task& task, const Graph& graph,
                              double seconds);

/// Draws the graph's tensors and runs pytorch_module()'s `program` on them in float32, on the CPU,
/// in a locked-in python3; compares its outputs with the reference in float64.
Agreement compare_with_pytorch(runner::PythonHelper& python, const std::string& program,
                               const Task& task, const Graph& graph, double seconds = 60);

}  // namespace kbench::from_pytorch
