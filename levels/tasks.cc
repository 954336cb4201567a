// All tasks in one list.
#include <algorithm>

#include "kbench/task.h"
#include "levels/tables.h"

namespace kbench {
namespace {

std::vector<Task> all_tasks() {
  using namespace levels;
  std::vector<Task> all;
  for (auto table : {level1_activations,
                     level1_attention,
                     level1_convolutions,
                     level1_losses,
                     level1_matmuls,
                     level1_norms,
                     level1_pooling,
                     level1_reductions,
                     level1_scans,
                     level1_transposed_convolutions,
                     level2_gemm_norms,
                     level2_gemms,
                     level2_image_convolutions,
                     level2_image_transposed_convolutions,
                     level2_volume_convolutions,
                     level2_volume_transposed_convolutions,
                     level3_aggregation,
                     level3_convnets,
                     level3_densenets,
                     level3_inception,
                     level3_mlps,
                     level3_mobilenets,
                     level3_recurrent,
                     level3_resnets,
                     level3_shufflenets,
                     level3_squeezenets,
                     level3_state_space,
                     level3_swin,
                     level3_transformers,
                     level3_vgg}) {
    for (Task& task : table()) all.push_back(std::move(task));
  }
  std::sort(all.begin(), all.end(), [](const Task& a, const Task& b) { return a.id < b.id; });
  return all;
}

}  // namespace

const std::vector<Task>& tasks() {
  static const std::vector<Task> all = all_tasks();
  return all;
}

}  // namespace kbench
