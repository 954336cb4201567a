// A candidate to start from: one operator of a task as a kernel, correct and slow, and built-in
// operators for the rest.
#pragma once

#include <span>
#include <string>

#include "kbench/task.h"

namespace kbench {

enum class StarterLanguage { glsl, hlsl, cuda, triton };
std::string_view name_of(StarterLanguage language);  ///< as a manifest names it

struct Starter {
  std::string manifest;     ///< the YAML file, which names `kernel_file`
  std::string kernel_file;  ///< "relu.comp"
  std::string kernel;       ///< its text
  std::string one_file;     ///< the manifest with the kernel's text in it
  std::string replaced;     ///< the operator that the kernel computes
  bool any_size = false;    ///< sizes are expressions: it is correct at other presets too
};

/// Throws kUnsupported where a tensor is too large for what is written.
Starter write_starter(const TaskAt& at, StarterLanguage language,
                      std::span<const Task> suite = tasks());

}  // namespace kbench
