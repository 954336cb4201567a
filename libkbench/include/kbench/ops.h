// The operators as free functions over graph values: what a task's definition is written in.
// Semantics are those of PyTorch 2.x: a function here does what torch's or torch.nn.functional's of
// the same name does, with the defaults that stand there unless said otherwise, on dense row-major
// tensors. An operator's full formula and the PyTorch call it follows stand in its definition in
// libkbench/ops/ (Operator::formula, Operator::follows), and `kbench show TASK` prints them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "kbench/graph.h"

namespace kbench {

// --- elementwise, one input --------------------------------------------------------------------
Value relu(Value x);                      ///< max(x, 0)
Value leaky_relu(Value x, double slope);  ///< x for x > 0, else slope * x
Value sigmoid(Value x);                   ///< 1 / (1 + exp(-x))
Value gelu(Value x);                      ///< x * Phi(x), exact (erf) form
Value tanh(Value x);                      ///< (exp(x) - exp(-x)) / (exp(x) + exp(-x))
Value selu(Value x);  ///< 1.05070099 * (x for x > 0, else 1.67326324 * (exp(x) - 1))
Value elu(Value x, double alpha = 1.0);      ///< x for x > 0, else alpha * (exp(x) - 1)
Value softplus(Value x);                     ///< log(1 + exp(x)), x itself above 20
Value mish(Value x);                         ///< x * tanh(softplus(x))
Value hardsigmoid(Value x);                  ///< min(max(x / 6 + 1 / 2, 0), 1)
Value hardswish(Value x);                    ///< x * hardsigmoid(x)
Value exp(Value x);                          ///< e to the x
Value log(Value x);                          ///< the natural logarithm
Value sin(Value x);                          ///< the sine of an angle in radians
Value cos(Value x);                          ///< its cosine
Value abs(Value x);                          ///< x without its sign
Value operator-(Value x);                    ///< torch.neg
Value clamp_min(Value x, double lo);         ///< max(x, lo)
Value clamp_max(Value x, double hi);         ///< min(x, hi)
Value clamp(Value x, double lo, double hi);  ///< min(max(x, lo), hi): hardtanh, ReLU6
/// x / 2 * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 x^3))), composed as minGPT does.
Value gelu_tanh(Value x);
Value mul_mask(Value x, Value mask);  ///< x * mask, a bool tensor of x's shape
Value square(Value x);                ///< x * x
Value cube(Value x);                  ///< x * x * x
Value sqrt(Value x);                  ///< the square root, NaN for x < 0
/// The nearest value of "float16", "bfloat16", "tf32" or "float8_e4m3", ties to even; of no task,
/// but of what a task's check is held against (harness/measure/audit).
Value round_to(Value x, const std::string& format);

// --- elementwise, two inputs, broadcast as NumPy does --------------------------------------------
// shapes aligned at the right, an extent of 1 repeated; NaN wins a maximum and a minimum
Value operator+(Value a, Value b);
Value operator-(Value a, Value b);
Value operator*(Value a, Value b);
Value operator/(Value a, Value b);
Value maximum(Value a, Value b);
Value minimum(Value a, Value b);
// with a number: one input and an attribute "value"
Value operator+(Value a, double b);
Value operator-(Value a, double b);
Value operator*(Value a, double b);
Value operator/(Value a, double b);

// --- shape; views, no kernel ---------------------------------------------------------------------
Value reshape(Value x, Shape shape);  ///< one extent may be -1
Value flatten(Value x, int from = 0, int to = -1);
Value unsqueeze(Value x, int axis);
Value squeeze(Value x, int axis);  ///< drops a dimension of extent 1

// --- shape; copies ---------------------------------------------------------------------------
Value permute(Value x, std::vector<int64_t> axes);  ///< dimension i of the result is axes[i] of x
Value transpose(Value x, int a, int b);             ///< two dimensions swapped
struct Slice {
  int axis = 0;
  int64_t start = 0;
  int64_t stop = 0;  ///< one past the last; negative counts from the end, 0 is the end itself
  int64_t step = 1;
};
Value slice(Value x, Slice options);
/// The pieces of equal extent along an axis, as torch.chunk gives them; throws kShape where the
/// extent is no multiple of `pieces`.
std::vector<Value> chunk(Value x, int pieces, int axis);
Value cat(const std::vector<Value>& parts, int axis);
/// Zeros before and after, along one axis.
Value pad(Value x, int axis, int64_t before, int64_t after);
Value roll(Value x, int axis, int64_t shift);  ///< element i moves to (i + shift) mod extent
Value flip(Value x, int axis);
Value expand(Value x, Shape shape);  ///< broadcast to a shape, materialised
Value triu(Value x);                 ///< zero below the diagonal of the last two dimensions
Value tril(Value x);                 ///< zero above it
/// Rows of a [rows, columns] table, by an i64 index of any shape: torch.nn.functional.embedding.
Value index_rows(Value table, Value index);

// --- reductions and scans over one dimension ----------------------------------------------------
struct Reduce {
  int axis = -1;
  bool keepdim = false;
};
Value sum(Value x, Reduce options);
Value mean(Value x, Reduce options);       ///< the sum over the extent
Value argmax(Value x, Reduce options);     ///< i64; the first of equal maxima, NaN above all
Value max(Value x, Reduce options);        ///< torch.amax: the value alone; NaN wins
Value min(Value x, Reduce options);        ///< torch.amin: the value alone; NaN wins
Value argmin(Value x, Reduce options);     ///< i64; the first of equal minima, NaN below all
Value logsumexp(Value x, Reduce options);  ///< max + log(sum(exp(x - max)))
Value norm(Value x, Reduce options);       ///< sqrt(sum(x^2)): the 2-norm
/// Over several neighbouring dimensions, first to last, as one.
Value sum(Value x, int first, int last, bool keepdim);
Value mean(Value x, int first, int last, bool keepdim);
Value mean_all(Value x);               ///< a scalar
Value cumsum(Value x, int axis);       ///< y[i] = x[0] + ... + x[i]
Value cumprod(Value x, int axis);      ///< y[i] = x[0] * ... * x[i]
Value softmax(Value x, int axis);      ///< exp(x - max) / sum(exp(x - max))
Value log_softmax(Value x, int axis);  ///< x - max - log(sum(exp(x - max)))
/// x over max(its 2-norm along axis, 1e-12).
Value normalize(Value x, int axis);

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
  Distribution bias_drawn = uniform(-0.5, 0.5);
};
/// x W^T + b over the last dimension; creates "weight" [out, in] and "bias" [out] in the module.
Value linear(Value x, const Module& module, Linear options);
/// The same with weight and bias given, for layers that share or compute them.
Value linear(Value x, Value weight, Value bias);
/// softmax(q k^T / sqrt(d)) v over the last two dimensions.
Value scaled_dot_product_attention(Value q, Value k, Value v);

// --- convolution and pooling, in 1, 2 or 3 dimensions ------------------------------------------
// Options take one value for all dimensions, or one each.
struct Conv {
  int64_t out_channels = 0;
  std::vector<int64_t> kernel = {1};
  std::vector<int64_t> stride = {1};
  std::vector<int64_t> padding = {0};
  std::vector<int64_t> dilation = {1};
  int64_t groups = 1;
  bool bias = true;
  Distribution bias_drawn = uniform(-0.5, 0.5);
};
/// Cross-correlation of x [N, C, ...] with zero padding, y[n, o, i] = bias[o] + the sum over c and
/// taps u of weight[o, c, u] * x[n, c, i * stride + u * dilation - padding]; creates "weight"
/// [out, C/groups, ...] and "bias" [out].
Value conv1d(Value x, const Module& module, Conv options);
Value conv2d(Value x, const Module& module, Conv options);
Value conv3d(Value x, const Module& module, Conv options);
struct ConvTranspose {
  int64_t out_channels = 0;
  std::vector<int64_t> kernel = {1};
  std::vector<int64_t> stride = {1};
  std::vector<int64_t> padding = {0};
  std::vector<int64_t> output_padding = {0};
  std::vector<int64_t> dilation = {1};
  int64_t groups = 1;
  bool bias = true;
  Distribution bias_drawn = uniform(-0.5, 0.5);
};
/// The gradient of a convolution with respect to its input: x[n, c, i] adds weight[c, o, u] *
/// x[n, c, i] to y[n, o, i * stride + u * dilation - padding]; creates "weight"
/// [C, out/groups, ...] and "bias" [out].
Value conv_transpose1d(Value x, const Module& module, ConvTranspose options);
Value conv_transpose2d(Value x, const Module& module, ConvTranspose options);
Value conv_transpose3d(Value x, const Module& module, ConvTranspose options);
struct Pooling {
  std::vector<int64_t> kernel = {1};
  std::vector<int64_t> stride = {};  ///< empty: the kernel's extents
  std::vector<int64_t> padding = {0};
  std::vector<int64_t> dilation = {1};  ///< max pooling only
  bool ceil_mode = false;               ///< a last window may hang over the end
};
/// The largest of each window; padding never wins, NaN does.
Value max_pool1d(Value x, Pooling options);
Value max_pool2d(Value x, Pooling options);
Value max_pool3d(Value x, Pooling options);
/// The mean of each window. Padding counts as zeros and in the divisor (count_include_pad), what a
/// last window has beyond the padding does not.
Value avg_pool1d(Value x, Pooling options);
Value avg_pool2d(Value x, Pooling options);
Value avg_pool3d(Value x, Pooling options);
/// The mean over output cell i of elements floor(i * in / out) .. ceil((i + 1) * in / out) - 1.
Value adaptive_avg_pool2d(Value x, std::vector<int64_t> output);
/// The mean over all of height and width (and depth), extents kept as 1.
Value global_avg_pool(Value x);

// --- normalisation ------------------------------------------------------------------------------
struct Norm {
  double eps = 1e-5;
  bool affine = true;  ///< creates "weight" drawn from [0.5, 1.5) and "bias" from [-0.5, 0.5)
};
// All are (x - mean) / sqrt(var + eps) * weight + bias with the biased variance (over n).
/// Batch statistics over every dimension but 1, as in training; no running ones.
Value batch_norm(Value x, const Module& module, Norm options = {});
/// Statistics of each sample and channel over the rest.
Value instance_norm(Value x, const Module& module, Norm options = {.affine = false});
/// Statistics of each sample over a group of channels and the rest.
Value group_norm(Value x, const Module& module, int64_t groups, Norm options = {});
/// Statistics over the last `dims` dimensions.
Value layer_norm(Value x, const Module& module, int dims, Norm options = {});

// --- losses -------------------------------------------------------------------------------------
/// Mean over rows of -log softmax(x)[target]; x [N, C], target i64 [N]; a scalar.
Value cross_entropy(Value x, Value target);
/// Mean of 0.5 d^2 for |d| < 1, |d| - 0.5 beyond; d = x - target.
Value smooth_l1_loss(Value x, Value target);
/// Sum of target * (log target - log_input), zero where target is, over the extent of dimension 0:
/// kl_div with reduction "batchmean".
Value kl_div_batchmean(Value log_input, Value target);
/// Mean over rows of max(|a - p| - |a - n| + margin, 0), 2-norms of differences with 1e-6 added.
Value triplet_margin_loss(Value anchor, Value positive, Value negative, double margin);

// --- recurrent layers ---------------------------------------------------------------------------
struct Recurrent {
  int64_t hidden = 0;
  int64_t layers = 1;
  bool bidirectional = false;
  bool batch_first = true;
};
/// Values of a recurrent layer: output of the last layer at every step, and the last hidden (and,
/// for an LSTM, cell) state of every layer and direction.
struct RecurrentValues {
  Value output, hidden, cell;
};
/// As torch.nn.LSTM and torch.nn.GRU, without dropout; the gates' equations stand in
/// libkbench/ops/recurrent.cc. Creates "weight_ih_l0", "weight_hh_l0", "bias_ih_l0", "bias_hh_l0",
/// ..., "..._reverse".
RecurrentValues lstm(Value x, Value h0, Value c0, const Module& module, Recurrent options);
RecurrentValues gru(Value x, Value h0, const Module& module, Recurrent options);

// --- how parameters are drawn -------------------------------------------------------------------
/// uniform(-b, b), b = sqrt(3 / fan_in) rounded to six decimals: keeps activations at unit scale.
Distribution weight_init(int64_t fan_in);

}  // namespace kbench
