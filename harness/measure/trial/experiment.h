// What identifies an evaluation before it has run: what a resumed run compares, and what the record
// of one that could not be finished says.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "harness/measure/vulkan/snapshot.h"
#include "kbench/candidate.h"
#include "kbench/evaluate.h"
#include "kbench/graph.h"
#include "kbench/result.h"
#include "kbench/task.h"

namespace kbench::trial {

/// The variables a graph was built from, of those its task read.
Variables sizes_of(const Graph& graph);

/// The preset a selection runs at. "auto" is smoke on a software device; else the largest one at
/// which every task fits the device, or smoke when none does. A named preset is taken as it is.
Preset choose_preset(std::string_view name, std::span<const Task* const> tasks,
                     const Variables& overrides, const vulkan::DeviceSnapshot& snapshot);

/// Fills in everything of an experiment but set and candidate. `graph` is the task's. Throws what
/// RecordedTimes::time_of() throws where recorded times are the opponent.
void identify(Experiment& experiment, const TaskAt& at, const Graph& graph,
              const vulkan::DeviceSnapshot& snapshot, const EvaluateOptions& options);

/// The part of it that needs no task: device, settings, version.
void describe_device(Experiment& experiment, const vulkan::DeviceSnapshot& snapshot,
                     const EvaluateOptions& options);

/// Canonical text of the options that change what a result means.
std::string settings_text(const EvaluateOptions& options);

}  // namespace kbench::trial
