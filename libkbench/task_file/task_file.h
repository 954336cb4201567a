// A task's file as parsed: form only, nothing that depends on sizes.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "kbench/candidate.h"
#include "kbench/graph.h"
#include "kbench/task.h"

namespace kbench {

/// "uniform(-1, 1)": a name, its numbers, what follows the drawing.
struct DrawnFrom {
  Location at;
  Distribution::Kind kind = Distribution::Kind::normal;
  /// Uniform from -b to b, b rounded to six decimals: "weights(b)", or "fan_in(n)" with b being
  /// sqrt(3 / n), n at least 1.
  bool weights = false, fan_in = false;
  std::vector<Sourced> numbers;
  Distribution::Then then = Distribution::Then::nothing;
};

/// An input or a parameter; one for each turn of its repeats.
struct DeclaredTensor {
  Sourced name;  ///< "{i}" stands for a number
  std::vector<Repeat> repeats;
  std::vector<Sourced> shape;
  DType dtype = DType::f32;
  DrawnFrom distribution;
};

/// Of all tensors whose values a file says, together.
inline constexpr int64_t kMostDataValues = int64_t{1} << 24;

/// "3*inf": a value, as memory has it, and how often it comes.
struct ValueRun {
  uint64_t bits = 0;
  uint32_t times = 0;
};

/// A tensor whose values the file says.
struct DeclaredData {
  Sourced name;
  std::vector<Sourced> shape;
  DType dtype = DType::f32;
  bool causal = false;           ///< f32: 0 on and below the diagonal, -inf above
  std::vector<ValueRun> values;  ///< else these, in order
  Location at;
};

struct TaskFile {
  std::string path;
  TaskId id;
  std::string title, family;
  std::string module;  ///< what it was made of, for people
  std::vector<VariableSpec> variables;
  std::vector<std::pair<std::string, Sourced>> constants;  ///< named expressions, in order
  std::vector<DeclaredTensor> inputs, parameters;
  std::vector<DeclaredData> data;
  std::vector<Step> operators;
  std::vector<Sourced> outputs;
  Tolerance tolerance;
  std::map<DType, HonestError> honest;
};

/// Throws kParse.
std::shared_ptr<const TaskFile> read_task_file(const std::string& text, const std::string& file);

/// Builds the graph that the file means at the graph's variables. Throws kParse at the step.
void build_graph_of(const TaskFile& file, Graph& graph);

}  // namespace kbench
