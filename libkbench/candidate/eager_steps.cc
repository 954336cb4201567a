#include "libkbench/candidate/eager_steps.h"

#include "libkbench/base/text.h"
#include "libkbench/core/liveness.h"

namespace kbench {

std::string sizes_read(const Graph& graph) {
  return listed(graph.variables_read(), [&](const std::string& name) {
    return name + "=" + to_string(graph.variables().find(name)->second);
  });
}

std::string dtype_line(const Graph& graph) {
  if (!is_half(graph.dtype())) return "";
  return "dtype: " + std::string(name_of(graph.dtype())) + "\n";
}

EagerSteps::EagerSteps(const Task& task, const Graph& graph, NumberWriter numbers)
    : task_(task),
      graph_(graph),
      numbers_(std::move(numbers)),
      root_(memory_owners(graph)),
      last_use_(last_uses(graph, root_)) {}

void EagerSteps::name_task_buffers() {
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
      throw Error(ErrorCode::kUnsupported, to_string(task_.id) + ": '" + name +
                                               "' is the same memory as another tensor of the "
                                               "task, and no built-in operator copies one");
    }
    taken_.insert(name);
  }
}

std::string EagerSteps::declare_temporary(const TensorType& type) {
  std::string name;
  do name = "t" + std::to_string(next_temporary_++);
  while (!taken_.insert(name).second);
  temps_ += "  " + name + ": {dtype: " + std::string(name_of(graph_.stored(type).dtype)) +
            ", shape: " + numbers_.shape(type.shape) + "}\n";
  return name;
}

EagerSteps::Buffer EagerSteps::temporary(const TensorType& type) {
  auto& free = free_[{type.dtype, type.elements()}];
  if (free.empty()) return {declare_temporary(type), type.shape};
  const Buffer buffer = free.back();
  free.pop_back();
  return buffer;
}

void EagerSteps::free_after(size_t node) {
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

const std::string& EagerSteps::buffer(int id) const {
  return buffers_.at(root_[static_cast<size_t>(id)]).name;
}

std::string EagerSteps::operand(int id) const {
  const Buffer& buffer = buffers_.at(root_[static_cast<size_t>(id)]);
  const Shape& shape = value(id).type.shape;
  if (shape == buffer.shape) return buffer.name;
  return "{name: " + buffer.name + ", shape: " + numbers_.shape(shape) + "}";
}

std::string EagerSteps::operands(const std::vector<int>& ids) const {
  if (ids.size() == 1) return operand(ids[0]);
  return "[" + listed(ids, [&](int id) { return operand(id); }) + "]";
}

std::string EagerSteps::step(const OperatorCall& call, const std::string& in,
                             const std::string& out) const {
  std::string text = "  - {op: " + call.op->name + ", in: " + in + ", out: " + out;
  std::string attributes;
  for (const AttributeSpec& spec : call.op->attributes) {
    const AttributeValue* given = call.attributes.find(spec.name);
    if (given == nullptr || (!spec.required && *given == spec.fallback)) continue;
    attributes += (attributes.empty() ? "" : ", ") + spec.name + ": " + numbers_.attribute(*given);
  }
  if (!attributes.empty()) text += ", attributes: {" + attributes + "}";
  return text + "}\n";
}

void EagerSteps::write(const Replace& replace) {
  name_task_buffers();
  for (size_t n = 0; n < graph_.nodes().size(); ++n) {
    const auto& node = graph_.nodes()[n];
    if (!node.call.op->is_view) {
      for (int id : node.outputs) {
        if (!buffers_.contains(id)) buffers_[id] = temporary(value(id).type);
      }
      const std::string own = replace ? replace(n) : "";
      steps_ += own.empty() ? step(node.call, operands(node.inputs), operands(node.outputs)) : own;
    }
    free_after(n);
  }
  if (steps_.empty()) {
    throw Error(ErrorCode::kUnsupported, to_string(task_.id) + ": the task has no operator to run");
  }
}

}  // namespace kbench
