// A task at all sizes at once: its presets, and its smallest preset with each variable larger by
// one and by more, which tells variables of equal value apart, and a quotient from a difference.
#pragma once

#include <iterator>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "kbench/graph.h"
#include "kbench/task.h"
#include "libkbench/import/number.h"

namespace kbench::importing {

class Worlds {
 public:
  static constexpr size_t kPresets = std::size(kAllPresets);

  Worlds(const Task& task, Preset primary);
  const Task& task() const { return task_; }
  size_t size() const { return graphs_.size(); }
  size_t primary() const { return primary_; }
  std::string_view preset(size_t world) const;
  const Graph& graph(size_t world) const { return *graphs_[world]; }
  const Graph& graph() const { return *graphs_[primary_]; }

  /// A variable of the task by name: a number, or the numbers of a list; null where there is none.
  const std::vector<Number>* variable(const std::string& name) const;
  bool is_list(const std::string& name) const;
  /// An extent with the expression that gives it, where one is found.
  Number extent(std::vector<double> at) const;
  std::vector<Number> shape(const std::vector<int>& values) const;  ///< of one value id a world
  /// What the expression is in a world; throws kbench::Error.
  double evaluate(const std::string& text, bool real, size_t world) const;
  /// Whether the presets disagree.
  bool differs(const Number& n) const;

 private:
  bool add_world(const std::string& variable, int64_t value);

  const Task& task_;
  std::vector<std::unique_ptr<Graph>> graphs_;
  std::vector<std::map<std::string, double>> names_;
  std::map<std::string, std::vector<Number>> variables_;
  std::vector<std::pair<std::string, Number>> extents_;  ///< integers, candidates for extents
  std::map<std::string, bool> lists_;
  size_t primary_;
};

}  // namespace kbench::importing
