// All tasks in one list.
#include <algorithm>

#include "kbench/task.h"
#include "levels/embedded.h"
#include "levels/tables.h"
#include "libkbench/scoring/honest_errors.h"
#include "libkbench/scoring/task_sizes.h"

namespace kbench {
namespace {

/// From levels/tolerances/.
void add_honest_errors(std::vector<Task>& all, DType half) {
  const std::string file = std::string(name_of(half)) + ".json";
  const std::string text(levels::tolerance_text(file));
  if (text.empty()) return;
  const HonestErrors errors = parse_honest_errors(text, "levels/tolerances/" + file, half);
  for (Task& task : all) {
    const auto found = errors.find(task.id);
    if (found != errors.end()) task.honest[half] = found->second;
  }
}

/// From levels/sizes/, which has what differs from preset v0.1.
void set_training_sizes(std::vector<Task>& all) {
  const std::string_view text = levels::size_text("train.json");
  if (text.empty()) return;  // kbench task sizes is about to write it.
  const TaskSizes sizes = parse_task_sizes(std::string(text), "levels/sizes/train.json");
  for (Task& task : all) {
    const auto at = sizes.find(task.id);
    for (VariableSpec& spec : task.variables) {
      spec.train = spec.v0_1;
      if (at == sizes.end()) continue;
      const auto value = at->second.find(spec.name);
      if (value != at->second.end()) spec.train = value->second;
    }
  }
}

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
  for (const DType half : {DType::f16, DType::bf16}) add_honest_errors(all, half);
  set_training_sizes(all);
  return all;
}

}  // namespace

const std::vector<Task>& tasks() {
  static const std::vector<Task> all = all_tasks();
  return all;
}

}  // namespace kbench
