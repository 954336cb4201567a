// The operators as free functions over graph values: what a task's definition is written in.
// Semantics are PyTorch's (2.x, training mode) unless said otherwise; each operator's formula
// stands in its definition in libkbench/ops/, and `kbench show TASK` prints it.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "kbench/graph.h"

namespace kbench {

// --- elementwise, one input --------------------------------------------------------------------
Value relu(Value x);                      ///< max(x, 0)
Value leaky_relu(Value x, double slope);  ///< x for x > 0, else slope * x
Value sigmoid(Value x);                   ///< 1 / (1 + exp(-x))
Value gelu(Value x);                      ///< x * Phi(x), exact (erf) form
Value square(Value x);                    ///< x * x
Value sqrt(Value x);

// --- elementwise, two inputs, broadcast as NumPy does --------------------------------------------
Value operator+(Value a, Value b);
Value operator-(Value a, Value b);
Value operator*(Value a, Value b);
Value operator/(Value a, Value b);
// with a number: one input and an attribute "value"
Value operator+(Value a, double b);
Value operator-(Value a, double b);
Value operator*(Value a, double b);
Value operator/(Value a, double b);

// --- shape; views, no kernel ---------------------------------------------------------------------
Value reshape(Value x, Shape shape);  ///< one extent may be -1
Value flatten(Value x, int from = 0, int to = -1);
Value unsqueeze(Value x, int axis);

// --- reductions and scans over one dimension
// -------------------------------------------------------
struct Reduce {
  int axis = -1;
  bool keepdim = false;
};
Value sum(Value x, Reduce options);
Value mean(Value x, Reduce options);
Value argmax(Value x, Reduce options);  ///< i64; the first of equal maxima
Value cumsum(Value x, int axis);
Value softmax(Value x, int axis);

// --- matrix products -----------------------------------------------------------------------------
struct Matmul {
  bool transpose_a = false;  ///< the last two dimensions of a are swapped first
  bool transpose_b = false;
};
/// (..., M, K) x (..., K, N) -> (..., M, N), leading dimensions broadcast.
Value matmul(Value a, Value b, Matmul options = {});
struct Linear {
  int64_t out = 0;
  bool bias = true;
};
/// x W^T + b over the last dimension; creates "weight" [out, in] and "bias" [out] in the module.
Value linear(Value x, const Module& module, Linear options);
/// softmax(q k^T / sqrt(d)) v over the last two dimensions.
Value scaled_dot_product_attention(Value q, Value k, Value v);

// --- convolution and pooling
// -----------------------------------------------------------------------
struct Conv2d {
  int64_t out_channels = 0;
  std::vector<int64_t> kernel;  ///< one extent (square) or two
  std::vector<int64_t> stride = {1};
  std::vector<int64_t> padding = {0};
  std::vector<int64_t> dilation = {1};
  int64_t groups = 1;
  bool bias = true;
};
/// Cross-correlation of x [N, C, H, W]; creates "weight" [out, C/groups, kh, kw] and "bias" [out].
Value conv2d(Value x, const Module& module, Conv2d options);
struct Pool2d {
  std::vector<int64_t> kernel;
  std::vector<int64_t> stride = {};  ///< empty: the kernel's extents
  std::vector<int64_t> padding = {0};
  std::vector<int64_t> dilation = {1};
};
Value max_pool2d(Value x, Pool2d options);

// --- normalisation
// -----------------------------------------------------------------------------------
struct Norm {
  double eps = 1e-5;
  bool affine = true;  ///< creates "weight" drawn from [0.5, 1.5) and "bias" from [-0.5, 0.5)
};
/// Batch statistics over every dimension but 1 (biased variance), as in training.
Value batch_norm(Value x, const Module& module, Norm options = {});
/// Statistics over the last `dims` dimensions.
Value layer_norm(Value x, const Module& module, int dims, Norm options = {});

// --- losses
// -----------------------------------------------------------------------------------------
/// Mean over rows of -log softmax(x)[target]; x [N, C], target i64 [N]; a scalar.
Value cross_entropy(Value x, Value target);

// --- how parameters are drawn
// ----------------------------------------------------------------------
/// uniform(-b, b), b = sqrt(3 / fan_in) rounded to six decimals: keeps activations at unit scale.
Distribution weight_init(int64_t fan_in);

}  // namespace kbench
