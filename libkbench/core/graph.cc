#include "kbench/graph.h"

#include <algorithm>

#include "kbench/error.h"
#include "libkbench/base/enum_names.h"
#include "libkbench/base/text.h"

namespace kbench {
namespace {

/// Over ten times what the largest task has; a count that was mistyped stops here.
constexpr size_t kMostValues = 50000;

[[noreturn]] void refuse(std::string_view name, const VariableValue& value, const char* wanted) {
  throw Error(ErrorCode::kInvalidArgument, "shape variable '" + std::string(name) + "' is " +
                                               to_string(value) + ", of another type than " +
                                               wanted);
}

}  // namespace

std::string_view name_of(Graph::Kind kind) {
  return name_in<Graph::Kind::intermediate>({"input", "parameter", "constant", "intermediate"},
                                            kind);
}

const TensorType& Value::type() const { return graph_->values()[id_].type; }

int64_t Value::dim(int i) const {
  const int axis = i < 0 ? i + rank() : i;
  if (axis < 0 || axis >= rank()) {
    throw Error(ErrorCode::kShape, "a value of shape " + to_string(shape()) + " has no dimension " +
                                       std::to_string(i));
  }
  return shape()[axis];
}

std::string Module::full_name(const std::string& name) const {
  return prefix_.empty() ? name : prefix_ + "." + name;
}

Value Module::parameter(const std::string& name, Shape shape, Distribution distribution) const {
  return graph_->parameter(full_name(name), std::move(shape), distribution);
}

Module Module::module(const std::string& name) const { return Module(graph_, full_name(name)); }

const VariableValue& Graph::variable(std::string_view name) const {
  const auto it = variables_.find(name);
  if (it == variables_.end()) {
    std::vector<std::string> known;
    for (const auto& [known_name, value] : variables_) known.push_back(known_name);
    throw Error(ErrorCode::kNotFound, "the task has no shape variable '" + std::string(name) + "'" +
                                          suggestion(name, known));
  }
  read_.insert(it->first);
  return it->second;
}

int64_t Graph::operator[](std::string_view name) const {
  const VariableValue& value = variable(name);
  if (const auto* integer = std::get_if<int64_t>(&value)) return *integer;
  refuse(name, value, "the integer that is needed");
}

double Graph::real(std::string_view name) const {
  const VariableValue& value = variable(name);
  if (const auto* integer = std::get_if<int64_t>(&value)) return static_cast<double>(*integer);
  if (const auto* real = std::get_if<double>(&value)) return *real;
  refuse(name, value, "the number that is needed");
}

const std::vector<int64_t>& Graph::list(std::string_view name) const {
  const VariableValue& value = variable(name);
  if (const auto* list = std::get_if<std::vector<int64_t>>(&value)) return *list;
  refuse(name, value, "the list of integers that is needed");
}

std::vector<int64_t> Graph::sizes(std::string_view name) const {
  if (std::holds_alternative<int64_t>(variable(name))) return {(*this)[name]};
  return list(name);
}

Value Graph::add_value(ValueInfo info) {
  const int id = static_cast<int>(values_.size());
  if (values_.size() >= kMostValues) {
    throw Error(ErrorCode::kUnsupported,
                "the graph would have more than " + std::to_string(kMostValues) + " values");
  }
  if (info.name.empty()) {
    const auto before = std::ranges::count(values_, Kind::intermediate, &ValueInfo::kind);
    info.name = "v" + std::to_string(before + 1);
  }
  if (info.type.elements() == 0) {
    throw Error(ErrorCode::kShape,
                info.name + " would be empty: shape " + to_string(info.type.shape));
  }
  values_.push_back(std::move(info));
  return Value(this, id);
}

Value Graph::input(const std::string& name, Shape shape, Distribution distribution, DType dtype) {
  return add_value({name, {dtype, std::move(shape)}, Kind::input, distribution, {}, -1});
}

Value Graph::parameter(const std::string& name, Shape shape, Distribution distribution) {
  return add_value({name, {DType::f32, std::move(shape)}, Kind::parameter, distribution, {}, -1});
}

/// A floating constant's values are those that its stored_type() can hold.
Value Graph::constant(const std::string& name, Tensor data) {
  data = rounded_to(data, dtype_);
  const TensorType type = data.type();
  return add_value({name, type, Kind::constant, {}, std::move(data), -1});
}

void Graph::output(Value value) { outputs_.push_back(value.id()); }

void Graph::rename(Value value, const std::string& name) {
  values_[static_cast<size_t>(value.id())].name = name;
}

std::vector<Value> Graph::apply(const Operator& op, const std::vector<Value>& inputs,
                                Attributes attributes) {
  std::vector<TensorType> types;
  std::vector<int> ids;
  for (const Value& value : inputs) {
    types.push_back(value.type());
    ids.push_back(value.id());
  }
  OperatorCall call = make_call(op, std::move(types), std::move(attributes));
  std::vector<Value> results;
  std::vector<int> outputs;
  for (const TensorType& type : call.outputs) {
    results.push_back(
        add_value({"", type, Kind::intermediate, {}, {}, static_cast<int>(nodes_.size())}));
    outputs.push_back(results.back().id());
  }
  nodes_.push_back({std::move(call), std::move(ids), std::move(outputs)});
  return results;
}

std::vector<int> Graph::values_of(Kind kind) const {
  std::vector<int> ids;
  for (size_t id = 0; id < values_.size(); ++id) {
    if (values_[id].kind == kind) ids.push_back(static_cast<int>(id));
  }
  return ids;
}

std::string Graph::output_name(size_t i) const {
  return outputs_.size() == 1 ? "output" : "output" + std::to_string(i);
}

OperatorCall Graph::stored(OperatorCall call) const {
  for (auto* types : {&call.inputs, &call.outputs}) {
    for (TensorType& type : *types) type = stored(type);
  }
  return call;
}

double Graph::flops() const {
  double total = 0;
  for (const Node& node : nodes_) {
    if (node.call.op->flops) total += node.call.op->flops(node.call);
  }
  return total;
}

double Graph::least_bytes() const {
  double bytes = 0;
  for (const ValueInfo& value : values_) {
    if (value.kind == Kind::intermediate) continue;
    bytes += static_cast<double>(stored(value.type).bytes());
  }
  for (int id : outputs_) bytes += static_cast<double>(stored_type(id).bytes());
  return bytes;
}

}  // namespace kbench
