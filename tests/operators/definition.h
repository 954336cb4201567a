// Every operator once more, as plainly as its formula can be put: element by element, in double,
// counting floating-point operations as it goes and finding extents by walking. This is what shape
// rules, FLOP counts, the reference and the eager kernels are held to; it shares no code with them.
#pragma once

#include <functional>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "kbench/graph.h"

namespace kbench::definitions {

using Index = std::vector<int64_t>;

/// A tensor with its elements in double, whatever its type.
struct Array {
  DType dtype = DType::f32;
  Shape shape;
  std::vector<double> values;

  Array() = default;
  /// Zeros.
  explicit Array(Shape extents, DType type = DType::f32);

  /// Throws std::out_of_range for an index outside the shape.
  double& at(const Index& index) { return values[offset(index)]; }
  double at(const Index& index) const { return values[offset(index)]; }
  TensorType type() const { return {dtype, shape}; }

 private:
  size_t offset(const Index& index) const;
};

/// Calls visit(index) for every index below the shape, in row-major order.
template <class Visit>
void for_each_index(const Shape& shape, Visit visit) {
  for (int64_t extent : shape) {
    if (extent <= 0) return;
  }
  Index index(shape.size(), 0);
  for (;;) {
    visit(static_cast<const Index&>(index));
    size_t d = shape.size();
    while (d > 0 && ++index[d - 1] == shape[d - 1]) index[--d] = 0;
    if (d == 0) return;
  }
}

/// Chooses shapes and elements, the same from the same seed.
class Dice {
 public:
  explicit Dice(uint32_t seed) : engine_(seed) {}

  int64_t between(int64_t lo, int64_t hi);  ///< lo <= n <= hi
  bool coin() { return between(0, 1) == 1; }
  Shape shape(int64_t min_rank, int64_t max_rank);  ///< of extents from 1 to 7

  Array normal(Shape shape, double mean = 0, double deviation = 1);
  Array uniform(Shape shape, double lo, double hi);
  /// lo <= element < hi
  Array integers(Shape shape, int64_t lo, int64_t hi, DType dtype);

 private:
  std::mt19937 engine_;
};

/// What an operator makes of a call, and the floating-point operations it took.
struct Answer {
  std::vector<Array> outputs;
  double flops = 0;
};

using WorkOut = Answer(const OperatorCall& call, const std::vector<Array>& inputs);

struct Definition {
  std::string op;
  /// The attributes are those of a complete call: every one the operator declares is there.
  std::function<WorkOut> work_out;
  double float_error = 1e-5;  ///< of float32 arithmetic, relative to the output's RMS and element
  /// Of the reference, in units of the last place of a number as large as the RMS and the element
  /// together; 0: what is computed in double and rounded once.
  double reference_units = 8;
};

/// The families' tables, one a file.
std::vector<Definition> elementwise_definitions();
std::vector<Definition> shape_definitions();
std::vector<Definition> reduction_definitions();
std::vector<Definition> matmul_definitions();
std::vector<Definition> convolution_definitions();
std::vector<Definition> pooling_definitions();
std::vector<Definition> norm_definitions();
std::vector<Definition> loss_definitions();
std::vector<Definition> recurrent_definitions();

struct Family {
  std::string name;
  std::vector<Definition> (*definitions)();
};
const std::vector<Family>& families();
/// Of the operator of that name.
const Definition& definition_of(std::string_view op);

/// "conv2d(f32 [3, 5, 7], ..., stride=[2])", for a failing test's trace.
std::string text_of(const OperatorCall& call);

}  // namespace kbench::definitions
