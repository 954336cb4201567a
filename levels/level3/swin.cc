// Level 3: Swin networks, which mix tokens within windows, shifted in every other block.
#include <algorithm>
#include <array>
#include <cmath>

#include "kbench/ops.h"
#include "levels/blocks.h"
#include "levels/tables.h"

namespace kbench::levels {
namespace {

// Values are [batch, height, width, channels] between blocks, and [windows, tokens, channels]
// within; a window's tokens and an image's windows count row by row.

constexpr int kStages = 4;
constexpr std::array<int64_t, kStages> kDepths = {2, 2, 6, 2};
int64_t heads_of(int stage) { return int64_t{3} << stage; }

/// How a block's windows lie: 7 x 7, or the whole image where that is no larger.
struct Windows {
  Windows(Value x, bool shifted)
      : extent(std::min({int64_t{7}, x.dim(1), x.dim(2)})),
        shift(shifted && std::min(x.dim(1), x.dim(2)) > 7 ? 3 : 0) {}
  int64_t extent, shift;
};

Value split_windows(Value x, int64_t w) {
  const int64_t n = x.dim(0), rows = x.dim(1) / w, columns = x.dim(2) / w, c = x.dim(3);
  auto y = transpose(reshape(x, {n, rows, w, columns, w, c}), 2, 3);
  return reshape(y, {n * rows * columns, w * w, c});
}

/// Back to an image of that shape.
Value merge_windows(Value x, int64_t w, const Shape& image) {
  auto y = reshape(x, {image[0], image[1] / w, image[2] / w, w, w, image[3]});
  return reshape(transpose(y, 2, 3), image);
}

Value swin_perceptron(Value x, const Module& m) {
  auto y = gelu(linear(x, m.module("fc1"), {.out = 4 * x.dim(-1)}));
  return linear(y, m.module("fc2"), {.out = x.dim(-1)});
}

/// The four tokens of every 2 x 2 square side by side, the square's columns outermost.
Value gather_squares(Value x) {
  const int64_t n = x.dim(0), h = x.dim(1) / 2, w = x.dim(2) / 2, c = x.dim(3);
  auto y = permute(reshape(x, {n, h, 2, w, 2, c}), {0, 1, 3, 4, 2, 5});
  return reshape(y, {n, h, w, 4 * c});
}

using Stage = Value (*)(Value x, const Module& layer, int stage);

void swin(Graph& g, Stage run_stage) {
  auto x = rgb_images(g, g["image_size"]);
  require(x.dim(2) == 224, "patch_embed", x, "the network takes images of 224 x 224");
  x = conv2d(x, g.module("patch_embed.proj"), {.out_channels = 96, .kernel = {4}, .stride = {4}});
  x = layer_norm(permute(x, {0, 2, 3, 1}), g.module("patch_embed.norm"), 1);
  for (int stage = 0; stage < kStages; ++stage) {
    x = run_stage(x, at(g.module("layers"), stage), stage);
  }
  x = mean(layer_norm(x, g.module("norm"), 1), 1, 2, false);
  g.output(linear(x, g.module("head"), {.out = 1000}));
}

// --- Swin MLP
/// One linear map of a window's tokens for each head, the same for the head's channels.
Value spatial_mlp(Value x, const Module& m, int64_t heads) {
  auto y = split_heads(x, heads);
  const Shape shape = y.shape();
  y = flatten(y, 1, 2);
  y = conv1d(y, m, {.out_channels = y.dim(1), .groups = heads});
  return merge_heads(reshape(y, shape));
}

/// Windows are shifted by padding the image with zeros.
Value swin_mlp_block(Value x, const Module& m, int64_t heads, bool shifted) {
  const auto [extent, shift] = Windows(x, shifted);
  auto y = layer_norm(x, m.module("norm1"), 1);
  if (shift > 0) y = pad(pad(y, 1, extent - shift, shift), 2, extent - shift, shift);
  const Shape padded = y.shape();
  y = spatial_mlp(split_windows(y, extent), m.module("spatial_mlp"), heads);
  y = merge_windows(y, extent, padded);
  if (shift > 0) {
    y = slice(y, {.axis = 1, .start = extent - shift, .stop = -shift});
    y = slice(y, {.axis = 2, .start = extent - shift, .stop = -shift});
  }
  x = x + y;
  return x + swin_perceptron(layer_norm(x, m.module("norm2"), 1), m.module("mlp"));
}

Value swin_mlp_stage(Value x, const Module& layer, int stage) {
  for (int64_t i = 0; i < kDepths[stage]; ++i) {
    x = swin_mlp_block(x, at(layer.module("blocks"), i), heads_of(stage), i % 2 == 1);
  }
  if (stage + 1 == kStages) return x;
  const Module merging = layer.module("downsample");
  x = layer_norm(gather_squares(x), merging.module("norm"), 1);
  return linear(x, merging.module("reduction"), {.out = x.dim(-1) / 2, .bias = false});
}

void swin_mlp(Graph& g) { swin(g, swin_mlp_stage); }

// --- Swin Transformer V2
/// What a stage's blocks know of their windows.
struct WindowTables {
  Value coordinates;  ///< [(2w - 1)^2, 2]: offsets between two tokens, on a logarithmic scale
  Value index;        ///< [w^2, w^2]: the row of `coordinates` for each pair of tokens
  Value mask;         ///< [windows, 1, w^2, w^2]: -100 between tokens the shift brought together
};

Tensor log_coordinates(int64_t w) {
  const int64_t side = 2 * w - 1;
  Tensor table(DType::f32, {side * side, 2});
  const auto data = table.data<float>();
  const auto scaled = [&](int64_t position) {
    const float offset = static_cast<float>(position - (w - 1)) / static_cast<float>(w - 1) * 8.0f;
    const double magnitude = std::log2(static_cast<double>(std::abs(offset) + 1.0f)) / 3.0;
    return static_cast<float>(std::copysign(magnitude, offset));
  };
  for (int64_t i = 0; i < side * side; ++i) {
    data[static_cast<size_t>(2 * i)] = scaled(i / side);
    data[static_cast<size_t>(2 * i + 1)] = scaled(i % side);
  }
  return table;
}

Tensor pair_index(int64_t w) {
  const int64_t tokens = w * w;
  Tensor index = constant_data(DType::i64, {tokens, tokens});
  const auto data = index.data<int64_t>();
  for (int64_t a = 0; a < tokens; ++a) {
    for (int64_t b = 0; b < tokens; ++b) {
      const int64_t down = a / w - b / w + w - 1, right = a % w - b % w + w - 1;
      data[static_cast<size_t>(a * tokens + b)] = down * (2 * w - 1) + right;
    }
  }
  return index;
}

/// Rolling the image joins its far edges: tokens of a window see each other only where they lie in
/// the same of three bands, down and across.
Tensor shift_mask(int64_t height, int64_t width, int64_t w, int64_t shift) {
  const int64_t columns = width / w, windows = height / w * columns, tokens = w * w;
  const auto band = [&](int64_t i, int64_t extent) {
    return i < extent - w ? 0 : i < extent - shift ? 1 : 2;
  };
  const auto region = [&](int64_t window, int64_t token) {
    return 3 * band(window / columns * w + token / w, height) +
           band(window % columns * w + token % w, width);
  };
  Tensor mask = constant_data(DType::f32, {windows, 1, tokens, tokens});
  const auto data = mask.data<float>();
  for (int64_t i = 0; i < windows * tokens * tokens; ++i) {
    const int64_t window = i / (tokens * tokens), a = i / tokens % tokens, b = i % tokens;
    data[static_cast<size_t>(i)] = region(window, a) == region(window, b) ? 0.0f : -100.0f;
  }
  return mask;
}

WindowTables window_tables(Graph& g, Value x, int stage) {
  const auto [w, shift] = Windows(x, true);
  const std::string prefix = "layers." + std::to_string(stage) + ".";
  WindowTables tables{g.constant(prefix + "relative_coords_table", log_coordinates(w)),
                      g.constant(prefix + "relative_position_index", pair_index(w)),
                      {}};
  if (shift > 0) {
    tables.mask = g.constant(prefix + "attn_mask", shift_mask(x.dim(1), x.dim(2), w, shift));
  }
  return tables;
}

/// What each head adds to the score of two tokens, by their offset: [heads, tokens, tokens].
Value position_bias(const WindowTables& tables, const Module& m, int64_t heads) {
  auto y = relu(linear(tables.coordinates, at(m, 0), {.out = 512}));
  y = linear(y, at(m, 2), {.out = heads, .bias = false});
  return sigmoid(permute(index_rows(y, tables.index), {2, 0, 1})) * 16.0;
}

/// Attention by cosine within each window of x [windows, tokens, d].
Value window_attention(Value x, const Module& m, int64_t heads, const WindowTables& tables,
                       bool masked) {
  const int64_t tokens = x.dim(1), d = x.dim(2);
  auto q_bias = m.parameter("q_bias", {d}, bias_init()),
       v_bias = m.parameter("v_bias", {d}, bias_init());
  auto projected = linear(x, m.parameter("qkv.weight", {3 * d, d}, weight_init(d)),
                          cat({pad(q_bias, 0, 0, d), v_bias}, 0));
  const auto qkv = chunk(projected, 3, -1);
  auto q = normalize(split_heads(qkv[0], heads), -1), k = normalize(split_heads(qkv[1], heads), -1);
  auto scale =
      exp(clamp_max(m.parameter("logit_scale", {heads, 1, 1}, uniform(2, 6)), std::log(100.0)));
  auto scores = matmul(q, k, {.transpose_b = true}) * scale +
                position_bias(tables, m.module("cpb_mlp"), heads);
  if (masked) {
    const Shape shape = scores.shape();
    scores = reshape(scores, {-1, tables.mask.dim(0), heads, tokens, tokens}) + tables.mask;
    scores = reshape(scores, shape);
  }
  auto y = matmul(softmax(scores, -1), split_heads(qkv[2], heads));
  return linear(merge_heads(y), m.module("proj"), {.out = d});
}

/// Windows are shifted by rolling the image; norms come after what they normalise.
Value swin_v2_block(Value x, const Module& m, int64_t heads, const WindowTables& tables,
                    bool shifted) {
  const auto [extent, shift] = Windows(x, shifted);
  auto y = shift > 0 ? roll(roll(x, 1, -shift), 2, -shift) : x;
  y = window_attention(split_windows(y, extent), m.module("attn"), heads, tables, shift > 0);
  y = merge_windows(y, extent, x.shape());
  if (shift > 0) y = roll(roll(y, 1, shift), 2, shift);
  x = x + layer_norm(y, m.module("norm1"), 1);
  return x + layer_norm(swin_perceptron(x, m.module("mlp")), m.module("norm2"), 1);
}

Value swin_v2_stage(Value x, const Module& layer, int stage) {
  const WindowTables tables = window_tables(*layer.graph(), x, stage);
  for (int64_t i = 0; i < kDepths[stage]; ++i) {
    x = swin_v2_block(x, at(layer.module("blocks"), i), heads_of(stage), tables, i % 2 == 1);
  }
  if (stage + 1 == kStages) return x;
  const Module merging = layer.module("downsample");
  x = linear(gather_squares(x), merging.module("reduction"), {.out = 2 * x.dim(-1), .bias = false});
  return layer_norm(x, merging.module("norm"), 1);
}

void swin_transformer_v2(Graph& g) { swin(g, swin_v2_stage); }

}  // namespace

Tasks level3_swin() {
  return {
      {{3, 29},
       "SwinMLP",
       "transformer",
       {{"batch_size", 1, 10, 10}, {"image_size", 224}},
       swin_mlp},
      {{3, 30},
       "SwinTransformerV2",
       "transformer",
       {{"batch_size", 1, 10, 10}, {"image_size", 224}},
       swin_transformer_v2,
       {},
       {{{"without *clamp_min*"},
         "a guard against a division by 0: no norm of a vector that is drawn comes near it"}}},
  };
}

}  // namespace kbench::levels
