// What the constructor of each task's module takes, in KernelBench's order: facts of its files at
// 423217d (v0.1), which candidates written for it rely on.
#include <algorithm>
#include <string_view>
#include <variant>
#include <vector>

#include "kbench/task.h"
#include "kbench/variables.h"
#include "libkbench/base/text.h"

namespace kbench {
namespace {

struct Entry {
  TaskId task;
  std::string_view inputs;
};

/// Sorted by task. Those that are missing take nothing.
const Entry kEntries[] = {
    {{1, 31}, "[1.0]"},
    {{1, 33}, "[features]"},
    {{1, 34}, "[features]"},
    {{1, 35}, "[features, num_groups]"},
    {{1, 36}, "[features]"},
    {{1, 40}, "[(features, dim1, dim2)]"},
    {{1, 41}, "[kernel_size, stride, padding, dilation, return_indices]"},
    {{1, 42}, "[kernel_size, stride, padding, dilation]"},
    {{1, 43}, "[kernel_size, stride, padding, dilation]"},
    {{1, 44}, "[kernel_size, stride, padding]"},
    {{1, 45}, "[kernel_size]"},
    {{1, 46}, "[kernel_size, stride, padding]"},
    {{1, 47}, "[reduce_dim]"},
    {{1, 48}, "[1]"},
    {{1, 49}, "[1]"},
    {{1, 50}, "[num_classes]"},
    {{1, 51}, "[1]"},
    {{1, 52}, "[dim]"},
    {{1, 53}, "[1]"},
    {{1, 54}, "[in_channels, out_channels, kernel_size]"},
    {{1, 55}, "[in_channels, out_channels, kernel_size]"},
    {{1, 56}, "[in_channels, out_channels, kernel_size]"},
    {{1, 57}, "[in_channels, out_channels, kernel_size]"},
    {{1, 58}, "[in_channels, out_channels, kernel_size]"},
    {{1, 59}, "[in_channels, out_channels, kernel_size]"},
    {{1, 60}, "[in_channels, out_channels, kernel_size]"},
    {{1, 61}, "[in_channels, out_channels, kernel_size]"},
    {{1, 62}, "[in_channels, out_channels, kernel_size]"},
    {{1, 63}, "[in_channels, out_channels, kernel_size]"},
    {{1, 64}, "[in_channels, out_channels, kernel_size]"},
    {{1, 65}, "[in_channels, out_channels, kernel_size]"},
    {{1, 66}, "[in_channels, out_channels, kernel_size]"},
    {{1, 67}, "[in_channels, out_channels, kernel_size]"},
    {{1, 68}, "[in_channels, out_channels, (kernel_depth, kernel_width, kernel_height)]"},
    {{1, 69}, "[in_channels, out_channels, kernel_size]"},
    {{1, 70}, "[in_channels, out_channels, kernel_size]"},
    {{1, 71}, "[in_channels, out_channels, kernel_size]"},
    {{1, 72}, "[in_channels, out_channels, kernel_size, stride, padding, output_padding, groups]"},
    {{1, 73}, "[in_channels, out_channels, kernel_size, stride, padding, groups]"},
    {{1, 74}, "[in_channels, out_channels, kernel_size, stride, padding, dilation]"},
    {{1, 75}, "[in_channels, out_channels, kernel_size, stride, padding, dilation, groups]"},
    {{1, 76}, "[in_channels, out_channels, kernel_size, stride, dilation]"},
    {{1, 77}, "[in_channels, out_channels, kernel_size, stride, padding, dilation]"},
    {{1, 78}, "[in_channels, out_channels, kernel_size, stride, padding]"},
    {{1, 79}, "[in_channels, out_channels, kernel_size, stride, padding, dilation]"},
    {{1, 80}, "[in_channels, out_channels, kernel_size, stride, padding, dilation]"},
    {{1, 81}, "[in_channels, out_channels, kernel_size, stride, padding, dilation]"},
    {{1, 82}, "[in_channels, kernel_size, stride, padding]"},
    {{1, 83}, "[in_channels, kernel_size, stride, padding, dilation]"},
    {{1, 84}, "[in_channels, out_channels, kernel_size, stride, padding]"},
    {{1, 85},
     "[in_channels, out_channels, kernel_size_h, kernel_size_w, stride_h, stride_w, padding_h, "
     "padding_w, dilation_h, dilation_w, groups]"},
    {{1, 86}, "[in_channels, out_channels, kernel_size, stride, padding, dilation]"},
    {{1, 87}, "[in_channels, out_channels]"},
    {{1, 89}, "[dim]"},
    {{1, 90}, "[dim]"},
    {{1, 91}, "[dim]"},
    {{1, 92}, "[dim]"},
    {{1, 93}, "[dim]"},
    {{1, 99}, "[1.0]"},
    {{2, 1}, "[in_channels, out_channels, kernel_size, bias_shape]"},
    {{2, 2},
     "[in_channels, out_channels, kernel_size, stride, padding, output_padding, bias_shape, "
     "scaling_factor]"},
    {{2, 3},
     "[in_channels, out_channels, kernel_size, stride, padding, output_padding, sum_weight, "
     "norm_shape, pool_kernel_size]"},
    {{2, 4}, "[in_channels, out_channels, kernel_size]"},
    {{2, 5}, "[in_channels, out_channels, kernel_size, bias_shape]"},
    {{2, 6}, "[in_channels, out_channels, kernel_size, pool_kernel_size]"},
    {{2, 7}, "[in_channels, out_channels, kernel_size, bias_shape]"},
    {{2, 8}, "[in_channels, out_channels, kernel_size, divisor, pool_size, bias_shape, sum_dim]"},
    {{2, 9}, "[in_features, out_features, subtract_value, multiply_value]"},
    {{2, 10},
     "[in_channels, out_channels, kernel_size, stride, padding, maxpool_kernel_size, "
     "maxpool_stride, hardtanh_min, hardtanh_max]"},
    {{2, 11}, "[in_channels, out_channels, kernel_size, stride, padding, groups, num_groups]"},
    {{2, 12}, "[in_features, out_features, multiplier, negative_slope]"},
    {{2, 13}, "[in_channels, out_channels, kernel_size, stride, padding, scaling_factor]"},
    {{2, 14}, "[input_size, hidden_size, scaling_factor]"},
    {{2, 15}, "[in_channels, out_channels, kernel_size, stride, padding]"},
    {{2, 16},
     "[in_channels, out_channels, kernel_size, stride, padding, output_padding, add_value, scale]"},
    {{2, 17}, "[in_channels, out_channels, kernel_size, divide_by]"},
    {{2, 18}, "[in_features, out_features]"},
    {{2, 19}, "[in_channels, out_channels, kernel_size, stride, groups, num_groups]"},
    {{2, 20},
     "[in_channels, out_channels, kernel_size, stride, padding, output_padding, bias_shape]"},
    {{2, 21}, "[in_channels, out_channels, kernel_size, num_groups, bias_shape, scale_shape]"},
    {{2, 22}, "[input_size, hidden_size, scale_factor, clamp_min, clamp_max]"},
    {{2, 23}, "[in_channels, out_channels, kernel_size, num_groups]"},
    {{2, 24}, "[in_channels, out_channels, kernel_size, dim]"},
    {{2, 25}, "[in_channels, out_channels, kernel_size]"},
    {{2, 26},
     "[in_channels, out_channels, kernel_size, stride, padding, output_padding, bias_shape]"},
    {{2, 27}, "[in_channels, out_channels, kernel_size]"},
    {{2, 28}, "[in_features, out_features]"},
    {{2, 29}, "[in_features, out_features]"},
    {{2, 30}, "[in_features, out_features, num_groups, hardtanh_min, hardtanh_max]"},
    {{2, 31},
     "[in_channels, out_channels, kernel_size, constant_value, bias_shape, scaling_factor]"},
    {{2, 32}, "[in_channels, out_channels, kernel_size, scale_factor]"},
    {{2, 33}, "[in_features, out_features, scale_shape]"},
    {{2, 34},
     "[in_channels, out_channels, kernel_size, stride, padding, bias, eps, scaling_factor]"},
    {{2, 35}, "[in_channels, out_channels, kernel_size, subtract_value, pool_kernel_size]"},
    {{2, 36},
     "[in_channels, out_channels, kernel_size, stride, padding, output_padding, bias_shape]"},
    {{2, 37}, "[in_features, out_features, num_groups, bias_shape]"},
    {{2, 38},
     "[in_channels, out_channels, kernel_size, stride, padding, output_padding, pool_kernel_size, "
     "clamp_min, clamp_max]"},
    {{2, 39}, "[in_features, out_features, scale_shape]"},
    {{2, 40}, "[in_features, out_features, scaling_factor]"},
    {{2, 41}, "[in_features, out_features]"},
    {{2, 42}, "[in_channels, out_channels, kernel_size, bias_shape]"},
    {{2, 43}, "[in_channels, out_channels, kernel_size, stride, padding]"},
    {{2, 44},
     "[in_channels, out_channels, kernel_size, stride, padding, output_padding, multiplier]"},
    {{2, 45}, "[input_size, hidden_size, output_size]"},
    {{2, 46},
     "[in_channels, out_channels, kernel_size, subtract1_value, subtract2_value, "
     "kernel_size_pool]"},
    {{2, 47}, "[in_channels, out_channels, kernel_size]"},
    {{2, 48}, "[in_channels, out_channels, kernel_size, scaling_factor, bias_shape]"},
    {{2, 49}, "[in_channels, out_channels, kernel_size, stride, padding, output_padding]"},
    {{2, 50},
     "[in_channels, out_channels, kernel_size, stride, padding, scale1, scale2, bias_shape]"},
    {{2, 51}, "[in_features, out_features]"},
    {{2, 52}, "[in_channels, out_channels, kernel_size]"},
    {{2, 53}, "[in_features, out_features, scaling_factor, hardtanh_min, hardtanh_max]"},
    {{2, 54}, "[in_channels, out_channels, kernel_size, multiplier_shape]"},
    {{2, 55}, "[in_features, out_features, kernel_size, scale_factor]"},
    {{2, 56}, "[input_size, hidden_size]"},
    {{2, 57}, "[in_channels, out_channels, kernel_size]"},
    {{2, 58}, "[in_channels, out_channels, kernel_size, stride, padding, bias_shape]"},
    {{2, 59}, "[in_features, out_features, scaling_factor]"},
    {{2, 60}, "[in_channels, out_channels, kernel_size, stride, padding, groups, eps]"},
    {{2, 61}, "[in_channels, out_channels, kernel_size, groups, bias]"},
    {{2, 62}, "[input_size, hidden_size, num_groups]"},
    {{2, 63}, "[in_features, out_features, divisor]"},
    {{2, 64}, "[in_features, out_features]"},
    {{2, 65}, "[in_channels, out_channels, kernel_size, pool_kernel_size]"},
    {{2, 66}, "[in_features, out_features, dropout_p]"},
    {{2, 67}, "[in_channels, out_channels, kernel_size]"},
    {{2, 68}, "[in_features, out_features, constant]"},
    {{2, 69}, "[in_channels, out_channels, kernel_size]"},
    {{2, 70}, "[input_size, hidden_size, scaling_factor]"},
    {{2, 71}, "[in_channels, out_channels, kernel_size, divisor]"},
    {{2, 72}, "[in_channels, out_channels, kernel_size, stride, padding, bias_shape]"},
    {{2, 73}, "[in_channels, out_channels, kernel_size, scaling_factor]"},
    {{2, 74},
     "[in_channels, out_channels, kernel_size, stride, padding, output_padding, multiplier_shape]"},
    {{2, 75}, "[in_features, out_features, num_groups, bias_shape]"},
    {{2, 76}, "[in_features, out_features, bias_shape]"},
    {{2, 77}, "[in_channels, out_channels, kernel_size, scale_factor]"},
    {{2, 78}, "[in_channels, out_channels, kernel_size, stride, padding]"},
    {{2, 79}, "[in_channels, out_channels, kernel_size, multiplier_shape, clamp_min, clamp_max]"},
    {{2, 80}, "[in_features, out_features, max_dim]"},
    {{2, 81}, "[in_features, out_features]"},
    {{2, 82},
     "[in_channels, out_channels, kernel_size, scaling_factor, bias_shape, pool_kernel_size]"},
    {{2, 83}, "[in_channels, out_channels, kernel_size, groups, min_value, max_value, dropout_p]"},
    {{2, 84}, "[in_features, out_features, bn_eps, bn_momentum, scale_shape]"},
    {{2, 85},
     "[in_channels, out_channels, kernel_size, num_groups, scale_shape, maxpool_kernel_size, "
     "clamp_min, clamp_max]"},
    {{2, 86}, "[input_size, output_size, divisor]"},
    {{2, 87}, "[in_channels, out_channels, kernel_size, subtract_value_1, subtract_value_2]"},
    {{2, 88}, "[in_features, out_features, num_groups, multiply_weight_shape]"},
    {{2, 89},
     "[in_channels, out_channels, kernel_size, stride, padding, output_padding, pool_kernel_size, "
     "pool_stride, pool_padding]"},
    {{2, 90}, "[in_channels, out_channels, kernel_size, sum_tensor_shape]"},
    {{2, 91},
     "[in_channels, out_channels, kernel_size, stride, padding, output_padding, bias_shape, "
     "scaling_factor]"},
    {{2, 92}, "[in_channels, out_channels, kernel_size, groups]"},
    {{2, 93}, "[in_channels, out_channels, kernel_size, stride, add_value, multiply_value]"},
    {{2, 94}, "[in_features, out_features, bias_shape, num_groups]"},
    {{2, 95}, "[in_features, out_features, add_value_shape]"},
    {{2, 96},
     "[in_channels, out_channels, kernel_size, stride, padding, scale, maxpool_kernel_size]"},
    {{2, 97}, "[in_features, out_features, bn_eps, bn_momentum, bias_shape, divide_value]"},
    {{2, 98}, "[in_features, out_features, pool_kernel_size, scale_factor]"},
    {{2, 99}, "[in_features, out_features]"},
    {{2, 100}, "[in_channels, out_channels, kernel_size, stride, padding, min_value, divisor]"},
    {{3, 1}, "[input_size, layer_sizes, output_size]"},
    {{3, 2}, "[input_size, hidden_layer_sizes, output_size]"},
    {{3, 3}, "[input_size, hidden_layer_sizes, output_size]"},
    {{3, 4}, "[num_classes]"},
    {{3, 5}, "[num_classes]"},
    {{3, 6}, "[in_channels, out_1x1, reduce_3x3, out_3x3, reduce_5x5, out_5x5, pool_proj]"},
    {{3, 7}, "[num_classes]"},
    {{3, 8}, "[in_channels, out_channels, stride]"},
    {{3, 9}, "[num_classes]"},
    {{3, 10}, "[layers, num_classes]"},
    {{3, 11}, "[num_classes]"},
    {{3, 12}, "[num_classes]"},
    {{3, 13}, "[num_input_features, num_output_features]"},
    {{3, 14}, "[num_layers, num_input_features, growth_rate]"},
    {{3, 15}, "[32, num_classes]"},
    {{3, 16}, "[32, num_classes]"},
    {{3, 17}, "[num_input_features, squeeze_channels, expand1x1_channels, expand3x3_channels]"},
    {{3, 18}, "[num_classes]"},
    {{3, 19}, "[num_classes, input_channels, alpha]"},
    {{3, 20}, "[num_classes]"},
    {{3, 21}, "[in_channels, out_channels, kernel_size, stride, expand_ratio]"},
    {{3, 22}, "[num_classes]"},
    {{3, 23}, "[num_classes]"},
    {{3, 24}, "[num_classes]"},
    {{3, 25}, "[input_channels, out_channels, groups]"},
    {{3, 26}, "[num_classes]"},
    {{3, 27}, "[input_channels, stages, block_widths, output_classes]"},
    {{3, 28},
     "[image_size, patch_size, num_classes, dim, depth, heads, mlp_dim, channels, dropout, "
     "emb_dropout]"},
    {{3, 31}, "[embed_dim, num_heads]"},
    {{3, 32}, "[num_classes, embed_dim, num_heads]"},
    {{3, 33}, "[input_size, hidden_size, output_size]"},
    {{3, 34}, "[input_size, hidden_size, output_size]"},
    {{3, 35}, "[input_size, hidden_size, num_layers, output_size, dropout]"},
    {{3, 36}, "[input_size, hidden_size, num_layers, output_size, dropout]"},
    {{3, 37}, "[input_size, hidden_size, num_layers, output_size, dropout]"},
    {{3, 38}, "[input_size, hidden_size, num_layers, output_size, dropout]"},
    {{3, 39}, "[input_size, hidden_size, num_layers]"},
    {{3, 40}, "[input_size, hidden_size, num_layers]"},
    {{3, 41}, "[input_size, hidden_size, num_layers]"},
    {{3, 42}, "[input_size, hidden_size, num_layers]"},
    {{3, 43}, "[n_embd, n_head, attn_pdrop, resid_pdrop, max_seqlen]"},
    {{3, 44}, "[n_embd, n_head, attn_pdrop, resid_pdrop, max_seqlen]"},
    {{3, 45}, "[in_channels, out_channels, features]"},
    {{3, 46}, "[num_clusters, feature_size, ghost_clusters]"},
    {{3, 47}, "[num_clusters, feature_size, ghost_clusters]"},
    {{3, 48}, "[batch_size, seq_length, n_heads, d_head, d_state, block_len]"},
    {{3, 49}, "[batch_size, seq_length, n_heads, d_head, d_state, block_len]"},
    {{3, 50}, "[n_embd, n_head, max_seqlen]"},
};

}  // namespace

std::string init_inputs(const TaskId& task) {
  if (!task.own.empty()) {
    return "[" + listed(find_task(task).variables, [](const auto& each) { return each.name; }) +
           "]";
  }
  const auto found = std::ranges::lower_bound(kEntries, task, {}, &Entry::task);
  return found != std::end(kEntries) && found->task == task ? std::string(found->inputs) : "[]";
}

std::string init_inputs_text(const TaskId& task, const Variables& variables) {
  std::string text = init_inputs(task), lists;
  const std::vector<std::string_view> words = words_in(text);
  for (const auto& [name, value] : variables) {
    const auto* numbers = std::get_if<std::vector<int64_t>>(&value);
    if (numbers == nullptr || std::ranges::find(words, name) == words.end()) continue;
    lists += (lists.empty() ? " with " : ", ") + name + " = (";
    for (size_t i = 0; i < numbers->size(); ++i) {
      lists += (i > 0 ? ", " : "") + std::to_string((*numbers)[i]);
    }
    lists += numbers->size() == 1 ? ",)" : ")";
  }
  return text + lists;
}

}  // namespace kbench
