// The identity of an evaluation, known before it runs. A resumed run compares it, and the record of
// an unfinished evaluation has it.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "harness/measure/vulkan/snapshot.h"
#include "kbench/graph.h"
#include "kbench/question.h"
#include "kbench/result.h"
#include "kbench/task.h"

namespace kbench::trial {

/// The variables that the task read when the graph was built.
Variables sizes_of(const Graph& graph);

/// The preset for these tasks in that type. "auto" is smoke on a software device, else the largest
/// preset at which every task fits the device, or smoke if none does.
Preset choose_preset(std::string_view name, std::span<const Task* const> tasks,
                     const Variables& overrides, DType dtype,
                     const vulkan::DeviceSnapshot& snapshot);

/// Fills in everything of an experiment but set and candidate. `graph` is the task's. Throws what
/// RecordedTimes::time_of() throws where recorded times are the opponent.
void identify(Experiment& experiment, const TaskAt& at, const Graph& graph,
              const vulkan::DeviceSnapshot& snapshot, const Question& question);

/// The part of it that needs no task: device, settings, version.
void describe_device(Experiment& experiment, const vulkan::DeviceSnapshot& snapshot,
                     const Question& question);

}  // namespace kbench::trial
