#include "harness/measure/trial/experiment.h"

#include <algorithm>
#include <charconv>
#include <optional>

#include "harness/measure/trial/slab_layout.h"
#include "kbench/certificate.h"
#include "kbench/version.h"
#include "libkbench/core/own_tasks.h"
#include "libkbench/scoring/settings.h"

namespace kbench::trial {

namespace {

/// What a speedup is against, the number included: another number is another experiment.
std::string baseline_name(const TaskAt& at, const Question& question) {
  const std::optional<RecordedTimes>& recorded = question.recorded;
  if (!recorded) return name_of(question.opponent);
  char text[32];
  const char* end = std::to_chars(text, text + sizeof text, recorded->time_of(at)).ptr;
  return std::string(text, static_cast<size_t>(end - text)) + " ms, " + recorded->label();
}

}  // namespace

Variables sizes_of(const Graph& graph) {
  Variables sizes;
  for (const std::string& name : graph.variables_read()) {
    sizes[name] = graph.variables().find(name)->second;
  }
  return sizes;
}

Preset choose_preset(std::string_view name, std::span<const Task* const> tasks,
                     const Variables& overrides, DType dtype,
                     const vulkan::DeviceSnapshot& snapshot) {
  if (name != "auto") return preset_from_name(name);
  if (snapshot.software()) return Preset::smoke;
  for (const Preset preset : {Preset::v0_1, Preset::v0}) {
    const bool all_fit = std::all_of(tasks.begin(), tasks.end(), [&](const Task* task) {
      return required_bytes(*build_graph(task_at(task->id, preset, overrides, dtype)), snapshot) <=
             snapshot.device_local_bytes;
    });
    if (all_fit) return preset;
  }
  return Preset::smoke;
}

void identify(Experiment& experiment, const TaskAt& at, const Graph& graph,
              const vulkan::DeviceSnapshot& snapshot, const Question& question) {
  static_cast<TaskAt&>(experiment) = at;
  experiment.variables = sizes_of(graph);
  experiment.task_name = find_task(at.task).name;
  experiment.baseline = baseline_name(at, question);
  experiment.certificate = certification(at);
  describe_device(experiment, snapshot, question);
}

void describe_device(Experiment& experiment, const vulkan::DeviceSnapshot& snapshot,
                     const Question& question) {
  experiment.device = snapshot.name;
  experiment.driver = snapshot.driver;
  experiment.device_uuid = vulkan::to_string(snapshot.device_uuid);
  experiment.software_device = snapshot.software();
  experiment.settings = settings_text(question);
  if (!experiment.task.own.empty()) {  // Another file of that name is another task.
    experiment.settings += " task=" + meaning_text(experiment.task.meaning);
  }
  experiment.version = version();
}

}  // namespace kbench::trial
