// A built-in operator as a candidate's step: operands, attributes and the shape rule.
#include <algorithm>
#include <variant>

#include "kbench/candidate_limits.h"
#include "libkbench/base/text.h"
#include "libkbench/candidate/resolver.h"

namespace kbench {
namespace {

int64_t integer_or_flag(const Sourced& value, const SymbolTable& scope) {
  if (value.text == "true") return 1;
  if (value.text == "false") return 0;
  return scope.integer(value, -limits::kAttribute, limits::kAttribute, "an attribute");
}

}  // namespace

/// A buffer that an operator writes.
int CandidateResolver::written(const Sourced& name, Phase phase) const {
  const int target = buffer(name, phase);
  const BufferSlot& slot = result_.buffers[static_cast<size_t>(target)];
  if (slot.kind != BufferSlot::Kind::temporary && slot.kind != BufferSlot::Kind::output) {
    fail_parse(name.at, "a step cannot write to '" + name.text +
                            "'; only outputs and temporaries can be written");
  }
  if (phase == Phase::dispatch && slot.setup) {
    fail_parse(name.at, "'" + name.text + "' is written by setup; dispatch can only read it");
  }
  return target;
}

/// A buffer that an operator reads.
int CandidateResolver::read(const Sourced& name, Phase phase) const {
  const int source = buffer(name, phase);
  const auto kind = result_.buffers[static_cast<size_t>(source)].kind;
  if ((kind == BufferSlot::Kind::temporary || kind == BufferSlot::Kind::output) &&
      !touched_.contains(source)) {
    fail_parse(name.at, "'" + name.text + "' is read before any step has written it");
  }
  return source;
}

/// As operators know it: what the task stores as halves is of f32 to them.
TensorType CandidateResolver::operand_type(const Operand& operand, int buffer) const {
  TensorType type = result_.buffers[static_cast<size_t>(buffer)].type;
  const DType real = graph_.dtype();
  if (real != DType::f32 && type.dtype == DType::f32) {
    fail_parse(operand.name.at, "'" + operand.name.text + "' is " + to_string(type) +
                                    "; a built-in step of a task in " + std::string(name_of(real)) +
                                    " takes " + std::string(name_of(real)));
  }
  if (type.dtype == real) type.dtype = DType::f32;
  if (!operand.shape) return type;
  Shape shape = scope_.shape(*operand.shape);
  int64_t elements = 1;
  for (const int64_t one : shape) {
    if (__builtin_mul_overflow(elements, one, &elements)) elements = -1;
  }
  if (elements != type.elements()) {
    fail_parse(operand.name.at, "'" + operand.name.text + "' is " + to_string(type) +
                                    "; it cannot be read as " + to_string(shape) +
                                    ", which has another number of elements");
  }
  type.shape = std::move(shape);
  return type;
}

AttributeValue resolve_attribute(const StepAttribute& given, const Operator& op,
                                 const SymbolTable& scope) {
  const auto spec = std::find_if(op.attributes.begin(), op.attributes.end(),
                                 [&](const AttributeSpec& s) { return s.name == given.name; });
  if (spec == op.attributes.end()) {
    std::vector<std::string> known;
    for (const AttributeSpec& s : op.attributes) known.push_back(s.name);
    fail_parse(given.at, "operator '" + op.name + "' has no attribute " + quoted(given.name) +
                             suggestion(given.name.substr(0, 60), known) +
                             " (allowed: " + (known.empty() ? "none" : joined(known)) + ")");
  }
  if (std::holds_alternative<std::vector<int64_t>>(spec->fallback)) {
    std::vector<int64_t> list;
    for (const Sourced& value : given.values) {
      if (value.text == "true" || value.text == "false") {
        list.push_back(value.text == "true");
        continue;
      }
      for (const int64_t one :
           scope.integers(value, -limits::kAttribute, limits::kAttribute, "an attribute")) {
        list.push_back(one);
      }
    }
    return list;
  }
  if (given.is_list) {
    fail_parse(given.at,
               "attribute '" + given.name + "' of '" + op.name + "' takes one value, no list");
  }
  const Sourced& value = given.values.at(0);
  if (std::holds_alternative<std::string>(spec->fallback)) return value.text;
  if (std::holds_alternative<double>(spec->fallback)) return scope.real(value);
  return integer_or_flag(value, scope);
}

void CandidateResolver::check_operator_outputs(const Step& step, Phase phase,
                                               const ResolvedStep& resolved) const {
  const auto& outputs = resolved.call.outputs;
  if (outputs.size() != step.out.size()) {
    fail_parse(step.at, "operator '" + step.op + "' has " + std::to_string(outputs.size()) +
                            (outputs.size() == 1 ? " output" : " outputs") + ", but 'out' names " +
                            std::to_string(step.out.size()));
  }
  for (size_t i = 0; i < outputs.size(); ++i) {
    const Sourced& name = step.out[i].name;
    const auto position = resolved.bind.begin() + static_cast<std::ptrdiff_t>(step.in.size() + i);
    const int target = written(name, phase);
    if (std::find(resolved.bind.begin(), position, target) != position) {
      fail_parse(name.at, "a built-in step cannot write to '" + name.text +
                              "', which it also reads or writes elsewhere; use a temporary");
    }
    const TensorType type = operand_type(step.out[i], target);
    if (type != outputs[i]) {
      fail_parse(name.at, "operator '" + step.op + "' gives " + to_string(outputs[i]) + ", but '" +
                              name.text + "' is " + to_string(type));
    }
  }
}

ResolvedStep CandidateResolver::operator_step(const Step& step, Phase phase) {
  ResolvedStep resolved;
  resolved.kind = step.kind;
  resolved.at = step.at;
  const Operator& op = find_operator(step.op);
  std::vector<TensorType> inputs;
  for (const Operand& operand : step.in) {
    const int source = read(operand.name, phase);
    resolved.bind.push_back(source);
    inputs.push_back(operand_type(operand, source));
  }
  for (const Operand& operand : step.out) resolved.bind.push_back(buffer(operand.name, phase));
  Attributes attributes;
  for (const StepAttribute& given : step.attributes) {
    attributes.set(given.name, resolve_attribute(given, op, scope_));
  }
  try {
    resolved.call = make_call(op, std::move(inputs), std::move(attributes));
  } catch (const Error& error) {
    fail_parse(step.at, error.message());
  }
  check_operator_outputs(step, phase, resolved);
  for (int touched : resolved.bind) touch(touched, phase);
  return resolved;
}

}  // namespace kbench
