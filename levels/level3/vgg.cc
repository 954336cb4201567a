// Level 3: plain stacks of convolutions, AlexNet and VGG.
#include <array>

#include "kbench/ops.h"
#include "levels/blocks.h"
#include "levels/tables.h"

namespace kbench::levels {
namespace {

/// Three linear layers over all of the features.
Value classifier(Value x, const std::array<Module, 3>& layers, int64_t classes) {
  x = relu(linear(flatten(x, 1), layers[0], {.out = 4096}));
  x = relu(linear(x, layers[1], {.out = 4096}));
  return linear(x, layers[2], {.out = classes});
}

void alexnet(Graph& g) {
  const Pool pool = {.kernel = {3}, .stride = {2}};
  auto x = rgb_images(g, 224);
  x = relu(conv2d(x, g.module("conv1"),
                  {.out_channels = 96, .kernel = {11}, .stride = {4}, .padding = {2}}));
  x = max_pool2d(x, pool);
  x = relu(conv2d(x, g.module("conv2"), {.out_channels = 256, .kernel = {5}, .padding = {2}}));
  x = max_pool2d(x, pool);
  x = relu(conv2d(x, g.module("conv3"), {.out_channels = 384, .kernel = {3}, .padding = {1}}));
  x = relu(conv2d(x, g.module("conv4"), {.out_channels = 384, .kernel = {3}, .padding = {1}}));
  x = relu(conv2d(x, g.module("conv5"), {.out_channels = 256, .kernel = {3}, .padding = {1}}));
  x = max_pool2d(x, pool);
  g.output(classifier(x, {g.module("fc1"), g.module("fc2"), g.module("fc3")}, g["num_classes"]));
}

/// 3x3 convolutions with ReLU, then half of height and width. Entries of `features` are counted
/// on in `index`.
Value vgg_stage(Value x, const Module& features, int64_t& index, int64_t channels, int depth) {
  for (int i = 0; i < depth; ++i, index += 2) {
    x = relu(
        conv2d(x, at(features, index), {.out_channels = channels, .kernel = {3}, .padding = {1}}));
  }
  ++index;
  return max_pool2d(x, {.kernel = {2}});
}

void vgg(Graph& g, const std::array<int, 5>& depths) {
  const Module features = g.module("features"), head = g.module("classifier");
  const std::array<int64_t, 5> channels = {64, 128, 256, 512, 512};
  auto x = rgb_images(g, 224);
  int64_t index = 0;
  for (size_t i = 0; i < 5; ++i) x = vgg_stage(x, features, index, channels[i], depths[i]);
  g.output(classifier(x, {at(head, 0), at(head, 3), at(head, 6)}, g["num_classes"]));
}

void vgg16(Graph& g) { vgg(g, {2, 2, 3, 3, 3}); }
void vgg19(Graph& g) { vgg(g, {2, 2, 4, 4, 4}); }

}  // namespace

Tasks level3_vgg() {
  return {
      {{3, 5},
       "AlexNet",
       "convnet",
       {{"batch_size", 1, 10, 1024}, {"num_classes", 64, 1000, 1000}},
       alexnet},
      {{3, 11},
       "VGG16",
       "convnet",
       {{"batch_size", 1, 10, 10}, {"num_classes", 64, 1000, 1000}},
       vgg16},
      {{3, 12},
       "VGG19",
       "convnet",
       {{"batch_size", 1, 10, 10}, {"num_classes", 64, 1000, 1000}},
       vgg19},
  };
}

}  // namespace kbench::levels
