// The table of all operators.
#include <algorithm>
#include <string>

#include "kbench/error.h"
#include "reference/call.h"

namespace kbench::reference {
namespace {

constexpr bool kInPlace = true;

/// Sorted by name.
constexpr Implementation kImplementations[] = {
    {"abs", run_abs, kInPlace},
    {"adaptive_avg_pool2d", run_adaptive_avg_pool2d},
    {"add", run_add, kInPlace},
    {"add_scalar", run_add_scalar, kInPlace},
    {"argmax", run_argmax},
    {"argmin", run_argmin},
    {"avg_pool1d", run_avg_pool},
    {"avg_pool2d", run_avg_pool},
    {"avg_pool3d", run_avg_pool},
    {"batch_norm", run_batch_norm, kInPlace},
    {"cast", run_cast},
    {"cat", run_cat},
    {"clamp", run_clamp, kInPlace},
    {"clamp_max", run_clamp_max, kInPlace},
    {"clamp_min", run_clamp_min, kInPlace},
    {"conv1d", run_conv},
    {"conv2d", run_conv},
    {"conv3d", run_conv},
    {"conv_transpose1d", run_conv_transpose},
    {"conv_transpose2d", run_conv_transpose},
    {"conv_transpose3d", run_conv_transpose},
    {"cos", run_cos, kInPlace},
    {"cross_entropy", run_cross_entropy},
    {"cube", run_cube, kInPlace},
    {"cumprod", run_cumprod, kInPlace},
    {"cumsum", run_cumsum, kInPlace},
    {"div", run_div, kInPlace},
    {"div_scalar", run_div_scalar, kInPlace},
    {"elu", run_elu, kInPlace},
    {"exp", run_exp, kInPlace},
    {"expand", run_expand},
    {"flip", run_flip},
    {"gather", run_gather},
    {"gelu", run_gelu, kInPlace},
    {"group_norm", run_group_norm, kInPlace},
    {"gru", run_gru},
    {"hardsigmoid", run_hardsigmoid, kInPlace},
    {"hardswish", run_hardswish, kInPlace},
    {"index_rows", run_index_rows},
    {"instance_norm", run_instance_norm, kInPlace},
    {"kl_div_batchmean", run_kl_div_batchmean},
    {"layer_norm", run_layer_norm, kInPlace},
    {"leaky_relu", run_leaky_relu, kInPlace},
    {"linear", run_linear},
    {"log", run_log, kInPlace},
    {"log_softmax", run_log_softmax, kInPlace},
    {"logsumexp", run_logsumexp},
    {"lstm", run_lstm},
    {"matmul", run_matmul},
    {"max", run_max},
    {"max_pool1d", run_max_pool},
    {"max_pool2d", run_max_pool},
    {"max_pool3d", run_max_pool},
    {"maximum", run_maximum, kInPlace},
    {"mean", run_mean},
    {"min", run_min},
    {"minimum", run_minimum, kInPlace},
    {"mish", run_mish, kInPlace},
    {"mul", run_mul, kInPlace},
    {"mul_mask", run_mul_mask, kInPlace},
    {"mul_scalar", run_mul_scalar, kInPlace},
    {"neg", run_neg, kInPlace},
    {"norm", run_norm},
    {"pad", run_pad},
    {"permute", run_permute},
    {"relu", run_relu, kInPlace},
    {"roll", run_roll},
    {"round_to", run_round_to, kInPlace},
    {"selu", run_selu, kInPlace},
    {"sigmoid", run_sigmoid, kInPlace},
    {"sin", run_sin, kInPlace},
    {"slice", run_slice},
    {"smooth_l1_loss", run_smooth_l1_loss},
    {"softmax", run_softmax, kInPlace},
    {"softplus", run_softplus, kInPlace},
    {"sqrt", run_sqrt, kInPlace},
    {"square", run_square, kInPlace},
    {"sub", run_sub, kInPlace},
    {"sub_scalar", run_sub_scalar, kInPlace},
    {"sum", run_sum},
    {"tanh", run_tanh, kInPlace},
    {"tril", run_tril},
    {"triplet_margin_loss", run_triplet_margin_loss},
    {"triu", run_triu},
};
static_assert(std::ranges::is_sorted(kImplementations, {}, &Implementation::name));

}  // namespace

const Implementation& find_implementation(std::string_view name) {
  const auto* found = std::ranges::lower_bound(kImplementations, name, {}, &Implementation::name);
  if (found == std::end(kImplementations) || found->name != name) {
    throw Error(ErrorCode::kUnsupported,
                "operator '" + std::string(name) +
                    "' has no CPU implementation; add it to reference/registry.cc");
  }
  return *found;
}

}  // namespace kbench::reference
