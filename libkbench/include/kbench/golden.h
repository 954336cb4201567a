// Golden files: what PyTorch computes in float64 for a task at given sizes and seed, as sampled
// elements and a checksum. docs/golden.md gives the format.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "kbench/graph.h"
#include "kbench/reference.h"
#include "kbench/task.h"
#include "kbench/tensor.h"

namespace kbench {

struct GoldenOutput {
  TensorType type;
  double rms = 0, std = 0, absmax = 0;
  double checksum = 0;        ///< sum of value[i] * w[i]
  double checksum_scale = 0;  ///< sum of |value[i] * w[i]|
  double float32_error = 0;   ///< max |float32 - float64| / rms of PyTorch's own float32 run
  std::vector<int64_t> index;
  std::vector<double> value;
};
struct GoldenTensor {
  std::string name;
  std::string kind;  ///< "input", "param" or "scalar"
  TensorType type;
  Distribution distribution;
  double value = 0;  ///< of a scalar
};
/// `preset` is empty: `variables` has all of the task's. Where `dtype` is f16 or bf16 the module
/// ran on draws, and on constants of its own, that were rounded to it; `tensors` and `outputs` are
/// of f32 then too, as in the graph.
struct GoldenRecord : TaskAt {
  std::string name;
  uint64_t seed = 0;
  std::vector<GoldenTensor> tensors;
  std::vector<GoldenOutput> outputs;
};

/// How a tensor is drawn.
struct GoldenDraw {
  Distribution distribution;
  DrawKey key;
};

/// Reads a golden file (.json, or .json.zst). Throws kIo, or kParse naming record and field.
std::vector<GoldenRecord> load_golden(const std::string& path);

/// Throws kShape when the graph's inputs and parameters are not exactly the record's (name, shape,
/// element type), or a scalar of the record has another value in the graph.
void check_golden_tensors(const GoldenRecord& record, const Graph& graph);
/// Draws an input or parameter of the graph as the record says, rounded to the record's dtype; the
/// record must have it.
Tensor draw_golden(const GoldenRecord& record, const Graph::ValueInfo& value);
/// Its distribution and key where these are all that drawing takes, so that a device can draw it:
/// nothing of halves.
std::optional<GoldenDraw> golden_draw(const GoldenRecord& record, const Graph::ValueInfo& value);
/// Checks all, and draws them.
NamedTensors draw_golden(const GoldenRecord& record, const Graph& graph);

/// The result of comparing computed outputs with a record.
struct GoldenCheck {
  bool passed = true;
  double worst = 0;     ///< largest error over its bound: 1 is the limit
  std::string message;  ///< of the first failure: output, index, expected and got
};
/// A float32 run passes where |mine - value| <= 32 * max(float32_error, 2e-6) * rms for every
/// listed element and the checksum differs by at most (that factor + 1e-6) * checksum_scale; a
/// float64 run with 1e-7 in place of float32_error. Integer outputs match exactly.
GoldenCheck check_golden(const GoldenRecord& record, const std::vector<Tensor>& outputs,
                         Precision precision);

// NumPy's .npy files (format version 1.0), for handing tensors to other programs.

/// Writes f32, f64, i64, u8 or bool. Throws kIo with the path.
void write_npy(const std::string& path, const Tensor& tensor);

}  // namespace kbench
