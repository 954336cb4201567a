// All tasks in one list.
#include <algorithm>
#include <map>
#include <string_view>
#include <variant>

#include "kbench/task.h"
#include "levels/tables.h"
#include "libkbench/base/text.h"
#include "libkbench/scoring/honest_errors.h"
#include "libkbench/scoring/json_field.h"

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

/// What one(task, entry) makes of the tasks in levels/sizes/FILE.
template <class F>
void read_sizes(const std::string& file, const F& one) {
  const std::string name = "levels/sizes/" + file;
  const nlohmann::json json = parse_json(std::string(levels::size_text(file)), name);
  for (const JsonField& entry : JsonField(json, name, "")["tasks"].items()) {
    one(entry["task"].as(parse_task_id), entry);
  }
}

/// From train.json, which has what differs from preset v0.1.
void set_training_sizes(std::vector<Task>& all) {
  std::map<TaskId, Variables> sizes;
  read_sizes("train.json", [&](const TaskId& task, const JsonField& entry) {
    sizes[task] = entry["sizes"].variables();
  });
  for (Task& task : all) {
    const Variables& own = sizes[task.id];
    for (VariableSpec& spec : task.variables) {
      const auto value = own.find(spec.name);
      spec.train = value == own.end() ? spec.v0_1 : value->second;
    }
  }
}

/// What a task's module takes in KernelBench.
struct ModuleInputs {
  std::string init = "[]";  ///< of its constructor, in order
  Variables scalars = {};   ///< of forward(), beside tensors, by name
};

/// Facts of KernelBench's files at 423217d (v0.1), which candidates written for it rely on. Tasks
/// that are missing take nothing.
const ModuleInputs& module_inputs(const TaskId& task) {
  static const auto all = [] {
    std::map<TaskId, ModuleInputs> read;
    read_sizes("init_inputs.json", [&](const TaskId& id, const JsonField& entry) {
      read[id].init = entry["init_inputs"].text();
      if (entry.has("scalars")) read[id].scalars = entry["scalars"].variables();
    });
    return read;
  }();
  static const ModuleInputs none;
  const auto found = all.find(task);
  return found == all.end() ? none : found->second;
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

std::string init_inputs(const TaskId& task) {
  if (!task.own.empty()) {
    return "[" + listed(find_task(task).variables, [](const auto& each) { return each.name; }) +
           "]";
  }
  return module_inputs(task).init;
}

const Variables& forward_scalars(const TaskId& task) { return module_inputs(task).scalars; }

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
