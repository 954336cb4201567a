// A task's graph written out as a candidate of built-in steps, one for each node.
#include <map>
#include <set>
#include <string>
#include <vector>

#include "kbench/candidate.h"
#include "libkbench/base/text.h"
#include "libkbench/core/graph_facts.h"
#include "libkbench/core/in_words.h"

namespace kbench {
namespace {

/// Assigns buffers to values and writes the steps.
class EagerSteps {
 public:
  EagerSteps(const Task& task, const Graph& graph)
      : task_(task),
        graph_(graph),
        root_(memory_owners(graph)),
        last_use_(last_uses(graph, root_)) {}

  /// Throws kUnsupported for a task that no steps can compute.
  void write() {
    name_task_buffers();
    for (size_t n = 0; n < graph_.nodes().size(); ++n) {
      const auto& node = graph_.nodes()[n];
      if (!node.call.op->is_view) {
        for (int id : node.outputs) {
          if (!buffers_.contains(id)) buffers_[id] = temporary(value(id).type);
        }
        steps_ += step(node);
      }
      free_after(node, static_cast<int>(n));
    }
    if (steps_.empty()) {
      throw Error(ErrorCode::kUnsupported,
                  to_string(task_.id) + ": the task has no operator to run");
    }
  }

  const std::string& steps() const { return steps_; }
  const std::string& temps() const { return temps_; }  ///< their declarations

 private:
  struct Buffer {
    std::string name;
    Shape shape;  ///< as declared
  };

  const Graph::ValueInfo& value(int id) const { return graph_.value(id); }

  void name_task_buffers() {
    for (size_t i = 0; i < graph_.values().size(); ++i) {
      const auto& info = graph_.values()[i];
      if (info.kind == Graph::Kind::intermediate) continue;
      buffers_[static_cast<int>(i)] = {info.name, info.type.shape};
      taken_.insert(info.name);
    }
    for (size_t i = 0; i < graph_.outputs().size(); ++i) {
      const int id = graph_.outputs()[i];
      const std::string name = graph_.output_name(i);
      const Buffer buffer{name, value(id).type.shape};
      if (!buffers_.emplace(root_[static_cast<size_t>(id)], buffer).second) {
        throw Error(ErrorCode::kUnsupported, to_string(task_.id) + ": '" + name +
                                                 "' is the same memory as another tensor of the "
                                                 "task, and no built-in operator copies one");
      }
      taken_.insert(name);
    }
  }

  /// One that is free, or a new one.
  Buffer temporary(const TensorType& type) {
    auto& free = free_[{type.dtype, type.elements()}];
    if (!free.empty()) {
      const Buffer buffer = free.back();
      free.pop_back();
      return buffer;
    }
    std::string name;
    do name = "t" + std::to_string(next_temporary_++);
    while (!taken_.insert(name).second);
    temps_ += "  " + name + ": {dtype: " + std::string(name_of(graph_.stored(type).dtype)) +
              ", shape: " + to_string(type.shape) + "}\n";
    return {name, type.shape};
  }

  void free_after(const Graph::Node& node, int number) {
    std::set<int> touched;
    for (const auto* ids : {&node.inputs, &node.outputs}) {
      for (int id : *ids) touched.insert(root_[static_cast<size_t>(id)]);
    }
    for (int root : touched) {
      const auto& info = value(root);
      if (last_use_[static_cast<size_t>(root)] != number) continue;
      if (info.kind != Graph::Kind::intermediate) continue;
      free_[{info.type.dtype, info.type.elements()}].push_back(buffers_.at(root));
    }
  }

  std::string operand(int id) const {
    const Buffer& buffer = buffers_.at(root_[static_cast<size_t>(id)]);
    const Shape& shape = value(id).type.shape;
    if (shape == buffer.shape) return buffer.name;
    return "{name: " + buffer.name + ", shape: " + to_string(shape) + "}";
  }

  std::string operands(const std::vector<int>& ids) const {
    if (ids.size() == 1) return operand(ids[0]);
    return "[" + listed(ids, [&](int id) { return operand(id); }) + "]";
  }

  std::string step(const Graph::Node& node) const {
    const OperatorCall& call = node.call;
    std::string attributes;
    for (const AttributeSpec& spec : call.op->attributes) {
      const AttributeValue* given = call.attributes.find(spec.name);
      if (given == nullptr || (!spec.required && *given == spec.fallback)) continue;
      attributes += (attributes.empty() ? "" : ", ") + spec.name + ": " + to_string(*given);
    }
    return "  - {op: " + call.op->name + ", in: " + operands(node.inputs) +
           ", out: " + operands(node.outputs) +
           (attributes.empty() ? "" : ", attributes: {" + attributes + "}") + "}\n";
  }

  const Task& task_;
  const Graph& graph_;
  std::vector<int> root_;
  std::vector<int> last_use_;
  std::map<int, Buffer> buffers_;  ///< root -> buffer
  std::map<std::pair<DType, int64_t>, std::vector<Buffer>> free_;
  std::set<std::string> taken_;
  std::string temps_, steps_;
  int next_temporary_ = 0;
};

}  // namespace

std::string eager_candidate_yaml(const Task& task, const Graph& graph) {
  EagerSteps written(task, graph);
  written.write();
  const std::string dtype =
      is_half(graph.dtype()) ? "dtype: " + std::string(name_of(graph.dtype())) + "\n" : "";
  return "# The eager baseline of " + to_string(task.id) + " (" + task.name +
         ") as a candidate: one built-in operator a step.\n# Shapes are those of " +
         sizes_read(graph) + ".\nkbench: 1\ntask: " + to_string(task.id) + "\n" + dtype +
         "name: eager\n" + (written.temps().empty() ? "" : "temps:\n" + written.temps()) +
         "dispatch:\n" + written.steps();
}

}  // namespace kbench
