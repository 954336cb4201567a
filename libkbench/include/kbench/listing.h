// A task's graph as text: operators in words, or a program for PyTorch. Blocks that repeat stand
// there once, in a loop.
#pragma once

#include <string>

#include "kbench/graph.h"
#include "kbench/task.h"

namespace kbench {

/// The task for a prompt: every input, parameter and output by name with shape and type, the names
/// that expressions can use with their values, the operators in order, the tolerance. Blocks that
/// repeat stand there once, in a loop that says exactly what changes from pass to pass.
std::string folded_listing(const Task& task, const Graph& graph);
/// The same computation as a Python module for torch 1.13 or later, loops and all. It has
/// `forward(INPUTS..., p)`, with constants `forward(INPUTS..., p, c)`, which returns the outputs in
/// order; p and c map names to tensors.
std::string pytorch_code(const Task& task, const Graph& graph);
/// pytorch_code(), and behind it a class ModelNew that computes the same, as a candidate: made with
/// any arguments, with the task's constants and parameters, whose values are not the task's;
/// parameters_by_name() maps their names to them.
std::string pytorch_module(const Task& task, const Graph& graph);
/// pytorch_code(), and behind it what KernelBench's files have: a class Model, get_inputs() and
/// get_init_inputs(), which draw as the task does.
std::string pytorch_problem(const Task& task, const Graph& graph);

}  // namespace kbench
