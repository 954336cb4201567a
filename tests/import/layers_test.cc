// Networks whose layers a method makes, in lists and Sequentials within each other.
#include "tests/import/support.h"

namespace kbench::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr const char* kReluKernel =
    "__global__ void relu_kernel(const float* x, float* y, int n) {\n"
    "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
    "  if (i < n) y[i] = fmaxf(x[i], 0.f);\n}\n"
    "torch::Tensor relu(torch::Tensor x) {\n  auto y = torch::empty_like(x);\n"
    "  const int n = x.numel();\n"
    "  relu_kernel<<<(n + 255) / 256, 256>>>(x.data_ptr<float>(), y.data_ptr<float>(), n);\n"
    "  return y;\n}\n";

size_t steps_of(const Imported& found, const std::string& op) {
  return static_cast<size_t>(std::count(found.operators.begin(), found.operators.end(), op));
}

/// The number of the lines of the candidate that name the parameter.
size_t readers_of(const Imported& found, const std::string& parameter) {
  size_t count = 0;
  for (size_t at = 0; (at = found.yaml.find(parameter, at)) != std::string::npos; ++at) ++count;
  return count;
}

/// RegNet as KernelBench has it: stages appended to a list, a Sequential of Sequentials.
TEST(Layers, ASequentialOfSequentialsMadeByAMethod) {
  const Imported found = imported(
      "3/27",
      kernel_file(kReluKernel, "'relu'",
                  "    def __init__(self, input_channels, stages, block_widths, output_classes):\n"
                  "        super(ModelNew, self).__init__()\n"
                  "        self.stages = stages\n"
                  "        self.block_widths = block_widths\n"
                  "        layers = []\n"
                  "        current_channels = input_channels\n"
                  "        for i in range(stages):\n"
                  "            layers.append(self._make_stage(current_channels, block_widths[i]))\n"
                  "            current_channels = block_widths[i]\n"
                  "        self.feature_extractor = nn.Sequential(*layers)\n"
                  "        self.fc = nn.Linear(block_widths[-1], output_classes)\n"
                  "    def _make_stage(self, in_channels, out_channels):\n"
                  "        return nn.Sequential(\n"
                  "            nn.Conv2d(in_channels, out_channels, kernel_size=3, padding=1),\n"
                  "            nn.BatchNorm2d(out_channels),\n"
                  "            nn.ReLU(),\n"
                  "            nn.Conv2d(out_channels, out_channels, kernel_size=3, padding=1),\n"
                  "            nn.BatchNorm2d(out_channels),\n"
                  "            nn.ReLU(),\n"
                  "            nn.MaxPool2d(kernel_size=2, stride=2))\n"
                  "    def forward(self, x):\n"
                  "        x = self.feature_extractor(x)\n"
                  "        x = torch.mean(ext.relu(x), dim=[2, 3])\n"
                  "        return self.fc(x)\n"));
  ASSERT_EQ(stopped(found), "imported");
  EXPECT_EQ(steps_of(found, "conv2d"), 6u);
  EXPECT_EQ(steps_of(found, "max_pool2d"), 3u);
  for (const char* name : {"feature_extractor.0.0.weight", "feature_extractor.2.4.bias"}) {
    EXPECT_EQ(readers_of(found, name), 1u) << name;
  }
  for (const auto& note : found.notes) EXPECT_THAT(note.message, Not(HasSubstr("''")));
}

/// ShuffleNet as KernelBench has it: `layers` grows by a loop, and becomes a Sequential. Its height
/// is the same at all presets, and a quarter of it is no difference.
TEST(Layers, UnitsThatALoopAppends) {
  const Imported found = imported(
      "3/26",
      kernel_file(
          kReluKernel, "'relu'",
          "    def __init__(self, num_classes=1000, groups=3, stages_repeats=[3, 7, 3],\n"
          "                 stages_out_channels=[24, 240, 480, 960]):\n"
          "        super(ModelNew, self).__init__()\n"
          "        self.conv1 = nn.Conv2d(3, stages_out_channels[0], kernel_size=3, stride=2,\n"
          "                               padding=1, bias=False)\n"
          "        self.bn1 = nn.BatchNorm2d(stages_out_channels[0])\n"
          "        self.maxpool = nn.MaxPool2d(kernel_size=3, stride=2, padding=1)\n"
          "        self.stage2 = self._make_stage(stages_out_channels[0], stages_out_channels[1],\n"
          "                                       stages_repeats[0], groups)\n"
          "        self.stage3 = self._make_stage(stages_out_channels[1], stages_out_channels[2],\n"
          "                                       stages_repeats[1], groups)\n"
          "        self.stage4 = self._make_stage(stages_out_channels[2], stages_out_channels[3],\n"
          "                                       stages_repeats[2], groups)\n"
          "        self.conv5 = nn.Conv2d(stages_out_channels[3], 1024, kernel_size=1, "
          "bias=False)\n"
          "        self.bn5 = nn.BatchNorm2d(1024)\n"
          "        self.fc = nn.Linear(1024, num_classes)\n"
          "    def _make_stage(self, in_channels, out_channels, repeats, groups):\n"
          "        layers = []\n"
          "        layers.append(Unit(in_channels, out_channels, groups))\n"
          "        for _ in range(1, repeats):\n"
          "            layers.append(Unit(out_channels, out_channels, groups))\n"
          "        return nn.Sequential(*layers)\n"
          "    def forward(self, x):\n"
          "        x = ext.relu(self.bn1(self.conv1(x)))\n"
          "        x = self.maxpool(x)\n"
          "        x = self.stage4(self.stage3(self.stage2(x)))\n"
          "        x = F.relu(self.bn5(self.conv5(x)))\n"
          "        x = F.adaptive_avg_pool2d(x, (1, 1))\n"
          "        return self.fc(x.view(x.size(0), -1))\n",
          "\nclass Unit(nn.Module):\n"
          "    def __init__(self, in_channels, out_channels, groups=3):\n"
          "        super(Unit, self).__init__()\n"
          "        mid = out_channels // 4\n"
          "        self.groups = groups\n"
          "        self.conv1 = nn.Conv2d(in_channels, mid, kernel_size=1, groups=groups, "
          "bias=False)\n"
          "        self.bn1 = nn.BatchNorm2d(mid)\n"
          "        self.conv2 = nn.Conv2d(mid, mid, kernel_size=3, padding=1, groups=mid, "
          "bias=False)\n"
          "        self.bn2 = nn.BatchNorm2d(mid)\n"
          "        self.conv3 = nn.Conv2d(mid, out_channels, kernel_size=1, groups=groups, "
          "bias=False)\n"
          "        self.bn3 = nn.BatchNorm2d(out_channels)\n"
          "        if in_channels == out_channels:\n"
          "            self.shortcut = nn.Sequential()\n"
          "        else:\n"
          "            self.shortcut = nn.Sequential(\n"
          "                nn.Conv2d(in_channels, out_channels, kernel_size=1, bias=False),\n"
          "                nn.BatchNorm2d(out_channels))\n"
          "    def forward(self, x):\n"
          "        out = F.relu(self.bn1(self.conv1(x)))\n"
          "        out = self.bn2(self.conv2(out))\n"
          "        b, c, h, w = out.size()\n"
          "        out = out.view(b, self.groups, c // self.groups, h, w)\n"
          "        out = out.transpose(1, 2).contiguous().view(b, c, h, w)\n"
          "        out = F.relu(self.bn3(self.conv3(out)))\n"
          "        out += self.shortcut(x)\n"
          "        return out\n"));
  ASSERT_EQ(stopped(found), "imported");
  EXPECT_EQ(readers_of(found, "stage3.6.conv3.weight"), 1u);
  EXPECT_EQ(readers_of(found, "stage2.1.conv1.weight"), 1u);
  EXPECT_THAT(found.yaml, Not(HasSubstr("height - ")));
}

}  // namespace
}  // namespace kbench::testing
