// The CPU reference: a graph run operator by operator in float32 or float64.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "kbench/graph.h"
#include "kbench/task.h"
#include "kbench/tensor.h"

namespace kbench {

/// float64 is the truth; float32 is what honest single precision gives.
enum class Precision { f32, f64 };
std::string_view name_of(Precision precision);  ///< "f32", "f64"

using NamedTensors = std::map<std::string, Tensor>;

/// The task's inputs and parameters (as float32 and i64), drawn from the seed; of a graph of halves
/// the float32 that they are once rounded to them.
NamedTensors draw_tensors(const Graph& graph, TaskId task, uint64_t seed);
/// One of them.
Tensor draw_tensor(const Graph& graph, const Graph::ValueInfo& value, TaskId task, uint64_t seed);

struct ReferenceOptions {
  /// How products, convolutions, reductions and scans are added up. Sums of losses and statistics
  /// of a whole batch stay in blocks.
  enum class Summation {
    library,     ///< as is fastest: products by OpenBLAS, reductions in blocks, with more bits
    sequential,  ///< one term after another in the run's precision: the simplest honest kernel
  };
  Precision precision = Precision::f32;
  int threads = 0;  ///< 0: all cores
  Summation summation = Summation::library;
};
/// Runs the graph; returns its outputs in order (f64 tensors for f32 outputs when precision is
/// f64). Tensors are taken from `given`, which must hold every input and parameter; they are
/// converted as needed and an intermediate is freed as soon as its last reader has run. Pass
/// `given` by move to let inputs be freed early too. Throws kNotFound when a tensor is missing,
/// kShape when one has another type than the graph declares.
std::vector<Tensor> run_reference(const Graph& graph, NamedTensors given,
                                  const ReferenceOptions& options = {});
/// Bytes the reference holds at most at once: inputs, parameters and live intermediates.
int64_t reference_peak_bytes(const Graph& graph, Precision precision);

}  // namespace kbench
