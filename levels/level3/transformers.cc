// Level 3: attention, and the transformers built on it.
#include <cmath>
#include <limits>

#include "kbench/ops.h"
#include "levels/blocks.h"
#include "levels/tables.h"

namespace kbench::levels {
namespace {

/// Multi-head self-attention over the tokens of x [batch, tokens, d].
Value self_attention(Value x, const Module& m, int64_t heads) {
  const int64_t d = x.dim(-1);
  auto projected = linear(x, m.parameter("in_proj_weight", {3 * d, d}, weight_init(d)),
                          m.parameter("in_proj_bias", {3 * d}, bias_init()));
  const auto qkv = chunk(projected, 3, -1);
  auto y = scaled_dot_product_attention(split_heads(qkv[0], heads), split_heads(qkv[1], heads),
                                        split_heads(qkv[2], heads));
  return linear(merge_heads(y), m.module("out_proj"), {.out = d});
}

/// Attention and a two-layer perceptron, each added to its input and then normalised.
Value encoder_layer(Value x, const Module& m, int64_t heads, int64_t hidden) {
  x = layer_norm(x + self_attention(x, m.module("self_attn"), heads), m.module("norm1"), 1);
  auto y = relu(linear(x, m.module("linear1"), {.out = hidden}));
  y = linear(y, m.module("linear2"), {.out = x.dim(-1)});
  return layer_norm(x + y, m.module("norm2"), 1);
}

/// A learned token before those of x [batch, tokens, d].
Value with_class_token(Value x, Value token) {
  return cat({expand(token, {x.dim(0), 1, x.dim(2)}), x}, 1);
}

/// Cuts the image into squares of p x p. The original does not bring the channels of a square
/// together: a token is p * p * channels elements in the order channel, row and column of squares.
Value patches(Value img, int64_t p) {
  require(p > 0 && img.dim(2) % p == 0 && img.dim(3) % p == 0, "patches", img,
          "extents must be multiples of patch_size, " + std::to_string(p));
  const int64_t n = img.dim(0), c = img.dim(1), rows = img.dim(2) / p, columns = img.dim(3) / p;
  auto squares = transpose(reshape(img, {n, c, rows, p, columns, p}), 3, 4);
  return reshape(squares, {n, rows * columns, p * p * c});
}

void vision_transformer(Graph& g) {
  const int64_t size = g["image_size"], patch = g["patch_size"], dim = g["dim"];
  auto x = patches(g.input("img", {2, g["channels"], size, size}), patch);
  const int64_t tokens = x.dim(1) + 1;
  x = linear(x, g.module("patch_to_embedding"), {.out = dim});
  x = with_class_token(x, g.parameter("cls_token", {1, 1, dim}, uniform(-1, 1)));
  x = x + g.parameter("pos_embedding", {1, tokens, dim}, uniform(-1, 1));
  // The original hands its encoder the batch where it expects the tokens: each token attends to
  // those at its own place in the other images.
  x = transpose(x, 0, 1);
  for (int64_t i = 0; i < g["depth"]; ++i) {
    x = encoder_layer(x, at(g.module("transformer.layers"), i), g["heads"], g["mlp_dim"]);
  }
  x = squeeze(slice(x, {.axis = 0, .stop = 1}), 0);
  x = gelu(linear(x, g.module("mlp_head.0"), {.out = g["mlp_dim"]}));
  g.output(linear(x, g.module("mlp_head.3"), {.out = g["num_classes"]}));
}

void vision_attention(Graph& g) {
  auto image = g.input("x", {g["batch_size"], g["embed_dim"], g["image_height"], g["image_width"]});
  auto x = transpose(flatten(image, 2), 1, 2);
  x = layer_norm(self_attention(x, g.module("attn"), g["num_heads"]) + x, g.module("norm"), 1);
  g.output(reshape(transpose(x, 1, 2), image.shape()));
}

/// The whole image becomes one token, beside the class token.
void convolutional_vision_transformer(Graph& g) {
  const int64_t dim = g["embed_dim"];
  auto x = g.input("x", {g["batch_size"], g["in_channels"], g["image_size"], g["image_size"]});
  require_rgb(x);
  x = conv2d(x, g.module("conv1"), {.out_channels = dim, .kernel = {4}, .stride = {4}});
  require(x.dim(2) == 8 && x.dim(3) == 8, "linear", x,
          "the module takes 8 x 8 patches, those of an image of 32 x 32");
  x = linear(flatten(x, 1), g.module("linear_proj"), {.out = dim});
  x = with_class_token(unsqueeze(x, 1), g.parameter("cls_token", {1, 1, dim}, uniform(-1, 1)));
  for (int64_t i = 0; i < 6; ++i) {
    x = encoder_layer(x, at(g.module("transformer_layers"), i), g["num_heads"], 4 * dim);
  }
  x = squeeze(slice(x, {.axis = 1, .stop = 1}), 1);
  g.output(linear(x, g.module("fc_out"), {.out = g["num_classes"]}));
}

/// Added to scores: -inf where the key comes after the query. The original's mask is made for
/// max_seqlen tokens and cut.
Value causal_mask(Graph& g, int64_t tokens) {
  const int64_t most = g["max_seqlen"];
  require(tokens <= most,
          std::to_string(tokens) + " tokens are more than max_seqlen, " + std::to_string(most));
  Tensor mask = constant_data(DType::f32, {tokens, tokens});
  const auto data = mask.data<float>();
  for (int64_t i = 0; i < tokens * tokens; ++i) {
    const bool later = i % tokens > i / tokens;
    data[static_cast<size_t>(i)] = later ? -std::numeric_limits<float>::infinity() : 0.0f;
  }
  return g.constant("mask", mask);
}

/// GPT's attention before its output projection; `weigh` turns scores into weights.
Value causal_attention(Value x, const Module& m, int64_t heads, Value (*weigh)(Value)) {
  const auto qkv = chunk(linear(x, m.module("c_attn"), {.out = 3 * x.dim(-1)}), 3, -1);
  auto q = split_heads(qkv[0], heads), k = split_heads(qkv[1], heads);
  auto scores =
      matmul(q, k, {.transpose_b = true}) * (1.0 / std::sqrt(static_cast<double>(q.dim(-1))));
  auto weights = weigh(scores + causal_mask(*m.graph(), x.dim(1)));
  return merge_heads(matmul(weights, split_heads(qkv[2], heads)));
}

Value softmax_over_keys(Value scores) { return softmax(scores, -1); }

Value gpt_attention(Value x, const Module& m, int64_t heads) {
  auto y = causal_attention(x, m, heads, softmax_over_keys);
  return linear(y, m.module("c_proj"), {.out = x.dim(-1)});
}

void min_gpt_causal_attention(Graph& g) {
  auto x = g.input("x", {g["batch_size"], g["seq_len"], g["n_embd"]});
  g.output(gpt_attention(x, g.module(""), g["n_head"]));
}

void mini_gpt_block(Graph& g) {
  const int64_t d = g["n_embd"];
  auto x = g.input("x", {g["batch_size"], g["seq_len"], d});
  x = x + gpt_attention(layer_norm(x, g.module("ln_1"), 1), g.module("attn"), g["n_head"]);
  auto y = linear(layer_norm(x, g.module("ln_2"), 1), g.module("mlp.c_fc"), {.out = 4 * d});
  g.output(x + linear(gelu_tanh(y), g.module("mlp.c_proj"), {.out = d}));
}

/// ReLU in place of softmax; the output projection is never applied.
void relu_self_attention(Graph& g) {
  const int64_t d = g["n_embd"];
  auto x = g.input("x", {g["batch_size"], g["max_seqlen"], d});
  g.output(causal_attention(x, g.module(""), g["n_head"], relu));
  unused_linear(g.module("c_proj"), d, d);
}

}  // namespace

Tasks level3_transformers() {
  return {
      {{3, 28},
       "VisionTransformer",
       "transformer",
       {{"image_size", 64, 224, 224},
        {"patch_size", 16},
        {"num_classes", 10},
        {"dim", 64, 512, 512},
        {"depth", 2, 6, 6},
        {"heads", 4, 8, 8},
        {"mlp_dim", 128, 2048, 2048},
        {"channels", 3},
        {"dropout", 0.0},
        {"emb_dropout", 0.0}},
       vision_transformer,
       {},
       {},
       "the encoder is handed the batch where it expects the tokens, so class tokens attend to "
       "class tokens alone, which are the same parameters for every image; and only they are read"},
      {{3, 31},
       "VisionAttention",
       "transformer",
       {{"embed_dim", 32, 128, 128},
        {"num_heads", 4},
        {"batch_size", 2},
        {"num_channels", 32, 128, 128},
        {"image_height", 8, 128, 128},
        {"image_width", 10, 128, 128}},
       vision_attention,
       {1e-5,
        "honest float32 is off by 1e-06 at most, and what is rounded to fewer bits by 2e-05"}},
      {{3, 32},
       "ConvolutionalVisionTransformer",
       "transformer",
       {{"batch_size", 2, 10, 10},
        {"image_size", 32},
        {"embed_dim", 128},
        {"in_channels", 3},
        {"num_heads", 4},
        {"num_classes", 64, 1000, 1000}},
       convolutional_vision_transformer,
       {2e-5,
        "honest float32 is off by 2e-06 at most, and what is rounded to fewer bits by 3e-05"}},
      {{3, 43},
       "MinGPTCausalAttention",
       "transformer",
       {{"batch_size", 2, 128, 128},
        {"max_seqlen", 32, 1024, 1024},
        {"seq_len", 24, 512, 512},
        {"n_embd", 48, 768, 768},
        {"n_head", 4, 8, 8},
        {"attn_pdrop", 0.0},
        {"resid_pdrop", 0.0}},
       min_gpt_causal_attention},
      {{3, 44},
       "MiniGPTBlock",
       "transformer",
       {{"batch_size", 2, 128, 128},
        {"max_seqlen", 32, 1024, 1024},
        {"seq_len", 24, 512, 512},
        {"n_embd", 48, 768, 768},
        {"n_head", 4, 8, 8},
        {"attn_pdrop", 0.0},
        {"resid_pdrop", 0.0}},
       mini_gpt_block},
      {{3, 50},
       "ReLUSelfAttention",
       "transformer",
       {{"batch_size", 2, 16, 16},
        {"max_seqlen", 32, 1024, 1024},
        {"n_embd", 48, 768, 768},
        {"n_head", 4, 12, 12}},
       relu_self_attention,
       {},
       {{{"parameter c_proj.weight", "parameter c_proj.bias"},
         "the original never uses it for what it returns"}}},
  };
}

}  // namespace kbench::levels
