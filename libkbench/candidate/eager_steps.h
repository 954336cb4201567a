// A task's graph as steps of a candidate: assigns buffers to values and writes a step for each
// node.
#pragma once

#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "kbench/candidate.h"
#include "kbench/task.h"

namespace kbench {

/// The shape variables that the graph read: "batch_size=16, dim=65".
std::string sizes_read(const Graph& graph);
/// The manifest's line that says a graph's type, "dtype: f16\n"; empty for f32.
std::string dtype_line(const Graph& graph);

/// How numbers are written.
struct NumberWriter {
  std::function<std::string(const Shape&)> shape;
  std::function<std::string(const AttributeValue&)> attribute;
};

/// Assigns buffers to values and writes one step a node.
class EagerSteps {
 public:
  EagerSteps(const Task& task, const Graph& graph, NumberWriter numbers);

  /// The steps of a node in place of its operator's step; "" keeps the operator's.
  using Replace = std::function<std::string(size_t node)>;
  /// Throws kUnsupported for a task that no steps can compute.
  void write(const Replace& replace = nullptr);

  const std::string& steps() const { return steps_; }
  const std::string& temps() const { return temps_; }  ///< their declarations
  // --- for `replace`
  /// The buffer that a value lies in.
  const std::string& buffer(int value) const;
  /// Declares another temporary under a name that is free.
  std::string declare_temporary(const TensorType& type);
  /// A step of the operator with other operands than its node's, as they stand in the step.
  std::string step(const OperatorCall& call, const std::string& in, const std::string& out) const;
  std::string operands(const std::vector<int>& values) const;

 private:
  struct Buffer {
    std::string name;
    Shape shape;  ///< as declared
  };

  const Graph::ValueInfo& value(int id) const { return graph_.value(id); }
  void name_task_buffers();
  Buffer temporary(const TensorType& type);
  void free_after(size_t node);
  std::string operand(int id) const;

  const Task& task_;
  const Graph& graph_;
  NumberWriter numbers_;
  std::vector<int> root_;
  std::vector<int> last_use_;
  std::map<int, Buffer> buffers_;  ///< root -> buffer
  std::map<std::pair<DType, int64_t>, std::vector<Buffer>> free_;
  std::set<std::string> taken_;
  std::string temps_, steps_;
  int next_temporary_ = 0;
};

}  // namespace kbench
