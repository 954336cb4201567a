// How a run's folder names what belongs to a model, a task and an attempt (docs/models.md).
#pragma once

#include <string>

#include "kbench/task.h"

namespace kbench {

/// "level1_019"; of a task of one's own "own_my_mlp".
std::string run_file_name(const TaskId& task);
/// A model's name as a folder's: what is not [A-Za-z0-9._+-] becomes '_', and one more stands
/// before a leading dot.
std::string run_folder_name(const std::string& model);
/// An attempt's folder, relative to the run: "candidates/coder/level1_019/s03/a2".
std::string run_attempt_folder(const std::string& model, const TaskId& task, int sample,
                               int attempt);

}  // namespace kbench
