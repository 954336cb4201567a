// KernelBench's kernel files (a Python file with `class ModelNew` and inline CUDA) as candidates.
// Nothing is executed: Python and C++ are read as text, and what a file does with a task's tensors
// is followed at all of the task's sizes at once.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kbench/error.h"
#include "kbench/task.h"
#include "kbench/variables.h"

namespace kbench {

/// Reasons that stop an import; one word each, for counting.
enum class ImportObstacle {
  no_model,          ///< no class ModelNew, or no forward in it
  no_cuda,           ///< ModelNew launches no kernel of its own
  syntax,            ///< text that is no Python or no C++
  python,            ///< Python that is not followed
  cpp,               ///< host code that is not followed
  torch_operator,    ///< an operator of PyTorch that no built-in step stands for
  library_call,      ///< work that the host code leaves to PyTorch, cuBLAS, cuDNN and the like
  data_type,         ///< half precision and other types the task does not have
  layout,            ///< a view or stride that a pointer to dense data cannot stand for
  launch,            ///< a launch that is not followed: its count follows from a size, say
  kernel_parameter,  ///< a parameter that no argument of a candidate can be
  device_code,       ///< device code that needs PyTorch's headers
  parameters,        ///< a weight that the task does not have
  sizes,             ///< an output or a shape that is not the task's
  limits,            ///< more work than an import does
};
std::string_view name_of(ImportObstacle obstacle);  ///< "torch_operator"

/// What was found, and where.
struct ImportFinding {
  ImportObstacle obstacle = ImportObstacle::python;  ///< of what stops the import
  Location at;
  std::string message;  ///< one line; what it quotes is escaped (kbench/error.h)
};

struct Imported {
  std::string yaml;                      ///< the candidate's file; empty where something stopped
  std::vector<ImportFinding> obstacles;  ///< what stopped it; empty where there is a candidate
  std::vector<ImportFinding> notes;      ///< what was assumed, or holds at some sizes only
  std::vector<std::string> operators;    ///< built-in operators the candidate uses, in order
  size_t launches = 0;                   ///< launches of kernels of the file's own
};

struct ImportOptions {
  /// Where a size cannot be followed or decides a branch, this preset's is taken, with a note.
  Preset preset = Preset::v0_1;
};

/// Takes time in proportion to the text and the steps it asks for, both limited. Throws
/// kbench::Error only where the task itself cannot be built.
Imported import_kernelbench(const std::string& text, const std::string& file, const Task& task,
                            const ImportOptions& options = {});
/// The task that a path names: ".../level1/19_ReLU.py", "level_1_problem_19_sample_0_kernel.py",
/// "level2_run/problem_12.py"; nothing where it names none.
std::optional<TaskId> task_of_kernel_file(std::string_view path);

}  // namespace kbench
