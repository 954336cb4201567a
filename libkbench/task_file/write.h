// Graphs of one computation at several sizes as one task's file.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "kbench/task_file.h"

namespace kbench::written {

struct WrittenFile {
  std::string text;
  /// Variables that stand for numbers which have no expression.
  std::vector<std::string> added;
  /// The task's variables that change what has no expression: only their values at the presets give
  /// the same graph.
  std::vector<std::string> unexplained;
};

/// task_file_text() of several graphs, with what has no expression; `at` is what the first line
/// says of the sizes.
WrittenFile write_file(const Task& task, std::span<const SizedGraph> built,
                       const std::string& at = "");

/// The task's graph at the presets, and at sizes that differ from these in few variables.
class SizesAround {
 public:
  explicit SizesAround(const Task& task);
  const std::vector<SizedGraph>& built() const { return built_; }

 private:
  bool add(Preset preset, const Variables& overrides);
  void vary(Preset preset, const std::vector<int64_t>& steps);
  void vary_together(Preset preset);
  bool may_vary(const VariableSpec& spec) const;

  const Task& task_;
  std::vector<std::unique_ptr<Graph>> graphs_;
  std::vector<SizedGraph> built_;
};

}  // namespace kbench::written
