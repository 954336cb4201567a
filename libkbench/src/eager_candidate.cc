// A task's graph written out as a candidate of built-in steps.
#include <algorithm>
#include <map>
#include <set>
#include <variant>

#include "kbench/candidate.h"
#include "libkbench/src/liveness.h"

namespace kbench {
namespace {

/// Assigns buffers to values and writes one step a node.
class EagerWriter {
 public:
  EagerWriter(const Task& task, const Graph& graph) : task_(task), graph_(graph) {}
  std::string write();

 private:
  struct Buffer {
    std::string name;
    Shape shape;  ///< as declared
  };

  const Graph::ValueInfo& value(int id) const { return graph_.values()[static_cast<size_t>(id)]; }
  void name_task_buffers();
  Buffer temporary(const TensorType& type);
  void free_after(size_t node);
  std::string operand(int id) const;
  std::string operands(const std::vector<int>& ids) const;
  std::string step(const Graph::Node& node) const;

  const Task& task_;
  const Graph& graph_;
  const std::vector<int> root_ = memory_owners(graph_);
  const std::vector<int> last_use_ = last_uses(graph_, root_);
  std::map<int, Buffer> buffers_;  ///< root -> buffer
  std::map<std::pair<DType, int64_t>, std::vector<Buffer>> free_;
  std::set<std::string> taken_;
  std::string temps_;
  int next_temporary_ = 0;
};

void EagerWriter::name_task_buffers() {
  for (size_t i = 0; i < graph_.values().size(); ++i) {
    const auto& info = graph_.values()[i];
    if (info.kind == Graph::Kind::intermediate) continue;
    buffers_[static_cast<int>(i)] = {info.name, info.type.shape};
    taken_.insert(info.name);
  }
  for (size_t i = 0; i < graph_.outputs().size(); ++i) {
    const int id = graph_.outputs()[i];
    const std::string name = graph_.output_name(i);
    const bool added =
        buffers_.emplace(root_[static_cast<size_t>(id)], Buffer{name, value(id).type.shape}).second;
    if (!added) {
      throw Error(ErrorCode::kUnsupported,
                  to_string(task_.id) + ": '" + name +
                      "' is the same memory as another tensor of the task, and no built-in "
                      "operator copies one");
    }
    taken_.insert(name);
  }
}

EagerWriter::Buffer EagerWriter::temporary(const TensorType& type) {
  auto& free = free_[{type.dtype, type.elements()}];
  if (!free.empty()) {
    const Buffer buffer = free.back();
    free.pop_back();
    return buffer;
  }
  std::string name;
  do name = "t" + std::to_string(next_temporary_++);
  while (!taken_.insert(name).second);
  temps_ += "  " + name + ": {dtype: " + std::string(name_of(type.dtype)) +
            ", shape: " + to_string(type.shape) + "}\n";
  return {name, type.shape};
}

void EagerWriter::free_after(size_t node) {
  std::set<int> touched;
  for (const auto* ids : {&graph_.nodes()[node].inputs, &graph_.nodes()[node].outputs}) {
    for (int id : *ids) touched.insert(root_[static_cast<size_t>(id)]);
  }
  for (int root : touched) {
    const auto& info = value(root);
    if (last_use_[static_cast<size_t>(root)] != static_cast<int>(node)) continue;
    if (info.kind != Graph::Kind::intermediate) continue;
    free_[{info.type.dtype, info.type.elements()}].push_back(buffers_.at(root));
  }
}

std::string EagerWriter::operand(int id) const {
  const Buffer& buffer = buffers_.at(root_[static_cast<size_t>(id)]);
  const Shape& shape = value(id).type.shape;
  if (shape == buffer.shape) return buffer.name;
  return "{name: " + buffer.name + ", shape: " + to_string(shape) + "}";
}

std::string EagerWriter::operands(const std::vector<int>& ids) const {
  if (ids.size() == 1) return operand(ids[0]);
  std::string text;
  for (int id : ids) text += (text.empty() ? "" : ", ") + operand(id);
  return "[" + text + "]";
}

std::string EagerWriter::step(const Graph::Node& node) const {
  std::string text = "  - {op: " + node.call.op->name + ", in: " + operands(node.inputs) +
                     ", out: " + operands(node.outputs);
  std::string attributes;
  for (const AttributeSpec& spec : node.call.op->attributes) {
    const AttributeValue* given = node.call.attributes.find(spec.name);
    if (given == nullptr || (!spec.required && *given == spec.fallback)) continue;
    attributes += (attributes.empty() ? "" : ", ") + spec.name + ": " + to_string(*given);
  }
  if (!attributes.empty()) text += ", attributes: {" + attributes + "}";
  return text + "}\n";
}

std::string EagerWriter::write() {
  name_task_buffers();
  std::string steps;
  for (size_t n = 0; n < graph_.nodes().size(); ++n) {
    const auto& node = graph_.nodes()[n];
    if (!node.call.op->is_view) {
      for (int id : node.outputs) {
        if (!buffers_.contains(id)) buffers_[id] = temporary(value(id).type);
      }
      steps += step(node);
    }
    free_after(n);
  }
  if (steps.empty()) {
    throw Error(ErrorCode::kUnsupported, to_string(task_.id) + ": the task has no operator to run");
  }
  std::string sizes;
  for (const std::string& name : graph_.variables_read()) {
    sizes +=
        (sizes.empty() ? "" : ", ") + name + "=" + to_string(graph_.variables().find(name)->second);
  }
  return "# The eager baseline of " + to_string(task_.id) + " (" + task_.name +
         ") as a candidate: one built-in operator a step.\n# Shapes are those of " + sizes +
         ".\nkbench: 1\ntask: " + to_string(task_.id) + "\nname: eager\n" +
         (temps_.empty() ? "" : "temps:\n" + temps_) + "dispatch:\n" + steps;
}

}  // namespace

std::string eager_candidate_yaml(const Task& task, const Graph& graph) {
  return EagerWriter(task, graph).write();
}

}  // namespace kbench
