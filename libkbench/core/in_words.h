// Sizes, distributions, constants and tolerances in words.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "kbench/task.h"

namespace kbench {

/// "1 call", "3 calls".
std::string counted(size_t n, const char* noun);
/// "preset v0.1", and what is set otherwise: "preset smoke with height=65". Where none is given,
/// the preset nearest by.
std::string sizes_of(const Task& task, const Variables& variables, std::string_view preset = "");
/// The shape variables that the graph read: "batch_size=16, dim=65".
std::string sizes_read(const Graph& graph);
/// "v0.1" of a task in float32, else "v0.1 in f16".
std::string preset_in_words(std::string_view preset, DType dtype);
/// The same; `dtype`: its name, or several, or empty.
std::string preset_in_words(std::string_view preset, std::string_view dtype);
/// What the task's outputs are held to in that type (kbench/compare.h).
std::string rule_in_words(const Task& task, DType dtype);
/// The meaning of each word of to_string(distribution).
std::map<std::string, std::string> meanings_of(const Distribution& distribution);
/// A constant's contents: the two sides of a diagonal, a few values, or a range.
std::string contents_of(const Tensor& data);

}  // namespace kbench
