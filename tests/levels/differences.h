// Sizes that are refused although KernelBench's own module takes them, and why.
#pragma once

namespace kbench {

/// A variable of a task, at any value but its own or at the one given.
struct Difference {
  const char* size;
  const char* reason;
};

inline constexpr Difference kDifferences[] = {
    {"1/50 num_classes", "the module takes it and has no such layer"},
    {"1/73 groups", "the original hands it over as output_padding, which the module does not use"},
    {"1/85 groups", "always in_channels"},
    {"1/85 out_channels", "always in_channels: the convolution is depthwise"},
    {"1/94 dim", "the module has no such argument"},
    {"1/95 dim", "the module has no such argument"},
    {"1/96 dim", "the module has no such argument"},
    {"1/98 dim", "the module has no such argument"},
    {"1/99 dim", "the module has no such argument"},
    {"1/100 dim", "the module has no such argument"},
    {"1/95 input_shape=[37]", "targets are drawn below num_classes, 40"},
    {"2/3 sum_weight", "the value before training; the parameter is drawn"},
    {"2/11 groups", "the module does not use it"},
    {"2/19 groups", "the module does not use it"},
    {"2/34 eps=-1.5", "the square root may be of a negative number"},
    {"2/48 scaling_factor", "the module does not use it; the parameter of that name is drawn"},
    {"2/50 scale1", "the value before training; the parameter is drawn"},
    {"2/50 scale2", "the value before training; the parameter is drawn"},
    {"2/58 bias_shape", "the module does not use it"},
    {"2/60 eps=-1.5", "the square root may be of a negative number"},
    {"2/66 dropout_p", "dropout is the identity"},
    {"2/68 constant", "the value before training; the parameter is drawn"},
    {"2/72 bias_shape", "the module does not use it"},
    {"2/83 dropout_p", "dropout is the identity"},
    {"2/84 bn_eps=-1.5", "the square root may be of a negative number"},
    {"2/84 bn_momentum", "running statistics are not kept"},
    {"2/97 bn_eps=-1.5", "the square root may be of a negative number"},
    {"2/97 bn_momentum", "running statistics are not kept"},
    {"3/8 num_classes", "the module has no such layer"},
    {"3/9 batch_size", "input_shape holds it"},
    {"3/17 num_output_features", "the module does not use it"},
    {"3/25 num_classes", "the module has no such layer"},
    {"3/28 dropout", "dropout is the identity"},
    {"3/28 emb_dropout", "dropout is the identity"},
    {"3/33 sequence_length", "the module is called for one step"},
    {"3/35 dropout", "dropout is the identity"},
    {"3/36 dropout", "dropout is the identity"},
    {"3/37 dropout", "dropout is the identity"},
    {"3/38 dropout", "dropout is the identity"},
    {"3/43 attn_pdrop", "dropout is the identity"},
    {"3/43 resid_pdrop", "dropout is the identity"},
    {"3/44 attn_pdrop", "dropout is the identity"},
    {"3/44 resid_pdrop", "dropout is the identity"},
};

}  // namespace kbench
