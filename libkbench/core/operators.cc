#include <algorithm>

#include "kbench/error.h"
#include "kbench/graph.h"
#include "libkbench/base/text.h"
#include "libkbench/ops/families.h"

namespace kbench {
namespace {

std::vector<const Operator*> all_operators() {
  std::vector<const Operator*> all;
  for (const auto* family : {&elementwise_operators(), &shape_operators(), &reduction_operators(),
                             &matmul_operators(), &convolution_operators(), &pooling_operators(),
                             &norm_operators(), &loss_operators(), &recurrent_operators()}) {
    for (const Operator& op : *family) all.push_back(&op);
  }
  std::sort(all.begin(), all.end(), [](auto* a, auto* b) { return a->name < b->name; });
  return all;
}

std::string call_text(const Operator& op, const std::vector<TensorType>& inputs,
                      const Attributes& attributes) {
  constexpr size_t kShown = 24;  // a recurrent operator of many layers has thousands
  std::string text = op.name + "(";
  for (size_t i = 0; i < std::min(inputs.size(), kShown); ++i) {
    text += (i ? ", " : "") + to_string(inputs[i]);
  }
  if (inputs.size() > kShown) text += ", ... " + std::to_string(inputs.size()) + " inputs";
  for (const auto& [name, value] : attributes) text += ", " + name + "=" + to_string(value);
  return text + ")";
}

/// A number may stand for a real, an integer for a list of one, and a list of one for as many equal
/// values as the operator has dimensions.
bool convert_attribute(const AttributeValue& like, AttributeValue& value) {
  if (const auto* dimensions = std::get_if<std::vector<int64_t>>(&like)) {
    if (const auto* one = std::get_if<int64_t>(&value)) value = std::vector<int64_t>{*one};
    auto* list = std::get_if<std::vector<int64_t>>(&value);
    if (list != nullptr && list->size() == 1 && dimensions->size() > 1) {
      list->resize(dimensions->size(), list->front());
    }
    return list != nullptr;
  }
  if (like.index() == value.index()) return true;
  const auto* integer = std::get_if<int64_t>(&value);
  if (integer == nullptr) return false;
  if (std::holds_alternative<double>(like)) {
    value = static_cast<double>(*integer);
    return true;
  }
  return false;
}

/// The attributes in the order the operator declares them. Throws kShape.
Attributes complete(const Operator& op, const Attributes& given) {
  Attributes result;
  for (const AttributeSpec& spec : op.attributes) {
    const AttributeValue* value = given.find(spec.name);
    if (value == nullptr && spec.required) {
      throw Error(ErrorCode::kShape, "attribute '" + spec.name + "' is missing");
    }
    AttributeValue chosen = value ? *value : spec.fallback;
    if (!convert_attribute(spec.fallback, chosen)) {
      throw Error(ErrorCode::kShape, "attribute '" + spec.name + "' is of another type (" +
                                         to_string(*value) + "; expected like " +
                                         to_string(spec.fallback) + ")");
    }
    result.set(spec.name, std::move(chosen));
  }
  for (const auto& [name, value] : given) {
    if (result.find(name) != nullptr) continue;
    std::vector<std::string> known;
    for (const AttributeSpec& spec : op.attributes) known.push_back(spec.name);
    throw Error(ErrorCode::kShape,
                "there is no attribute '" + name + "'" + suggestion(name, known));
  }
  return result;
}

void require_count(const Operator& op, size_t count) {
  const auto n = static_cast<int>(count);
  require_shape(n >= op.min_inputs && n <= op.max_inputs,
                op.name + " takes " + std::to_string(op.min_inputs) +
                    (op.max_inputs > op.min_inputs ? " to " + std::to_string(op.max_inputs) : "") +
                    " inputs, got " + std::to_string(n));
}

/// At least one element, and a number of bytes that int64 holds.
void require_elements(const TensorType& type) {
  require_shape(type.bytes() > 0, to_string(type) + " is empty");
}

template <class T>
const T& typed(const Attributes& attributes, std::string_view name, const char* kind) {
  const AttributeValue* value = attributes.find(name);
  const T* result = value ? std::get_if<T>(value) : nullptr;
  if (result == nullptr) {
    throw Error(ErrorCode::kInternal,
                "attribute '" + std::string(name) + "' is missing or not " + kind);
  }
  return *result;
}

/// Sorted by name.
constexpr WrittenAs kWritten[] = {
    {"addmm", "matmul, then add"},
    {"amax", "max"},
    {"amin", "min"},
    {"baddbmm", "matmul, then add"},
    {"bmm", "matmul"},
    {"chunk", "a slice for each piece"},
    {"dot", "mul, then sum"},
    {"einsum", "permute and reshape, then matmul"},
    {"embedding", "index_rows of the table and the index"},
    {"flatten", "reshape"},
    {"glu", "two slices, sigmoid of the second, and mul"},
    {"hardtanh", "clamp with lo: -1 and hi: 1"},
    {"l1_loss", "sub, abs, then mean of a reshape to one dimension"},
    {"log1p", "add_scalar with value: 1, then log"},
    {"logsigmoid", "neg, softplus, then neg"},
    {"mm", "matmul"},
    {"mse_loss", "sub, square, then mean of a reshape to one dimension"},
    {"pow", "square, cube, mul or sqrt, as often as the exponent asks"},
    {"reciprocal", "div of data that holds 1 by x"},
    {"relu6", "clamp with lo: 0 and hi: 6"},
    {"rms_norm", "square, mean with keepdim: 1, add_scalar, sqrt, then div"},
    {"rsqrt", "sqrt, then div of data that holds 1 by it"},
    {"scaled_dot_product_attention",
     "matmul with transpose_b: 1, div_scalar, softmax, then matmul"},
    {"silu", "sigmoid, then mul with x"},
    {"softsign", "abs, add_scalar with value: 1, then div of x by it"},
    {"split", "a slice for each piece"},
    {"squeeze", "reshape"},
    {"stack", "reshape of each with an extent of 1, then cat"},
    {"swish", "sigmoid, then mul with x"},
    {"transpose", "permute"},
    {"unsqueeze", "reshape"},
    {"var", "mean with keepdim: 1, sub, square, then mean"},
    {"view", "reshape"},
};

}  // namespace

const std::vector<const Operator*>& operators() {
  static const std::vector<const Operator*> all = all_operators();
  return all;
}

const Operator& find_operator(std::string_view name) {
  const auto& all = operators();
  const auto it = std::lower_bound(all.begin(), all.end(), name,
                                   [](auto* op, std::string_view n) { return op->name < n; });
  if (it != all.end() && (*it)->name == name) return **it;
  const auto* const written = std::ranges::find(kWritten, name, &WrittenAs::name);
  if (written != std::end(kWritten)) {
    throw Error(ErrorCode::kNotFound, "there is no operator '" + std::string(name) + "'; write " +
                                          std::string(written->how));
  }
  std::vector<std::string> known;
  for (const Operator* op : all) known.push_back(op->name);
  throw Error(ErrorCode::kNotFound, "there is no operator '" + std::string(name) + "'" +
                                        suggestion(name, known) +
                                        "; `kbench list --operators` shows all");
}

std::span<const WrittenAs> written_with_operators() { return kWritten; }

OperatorCall make_call(const Operator& op, std::vector<TensorType> inputs, Attributes attributes) {
  OperatorCall call{&op, std::move(inputs), std::move(attributes), {}};
  try {
    require_count(op, call.inputs.size());
    for (const TensorType& type : call.inputs) require_elements(type);
    call.attributes = complete(op, call.attributes);
    call.outputs = op.infer(call);
    for (const TensorType& type : call.outputs) require_elements(type);
  } catch (const Error& e) {
    throw Error(e.code(), call_text(op, call.inputs, call.attributes) + ": " + e.message());
  }
  return call;
}

double least_bytes(const OperatorCall& call) {
  if (call.op->is_view) return 0;
  double bytes = 0;
  for (const auto& type : call.inputs) bytes += static_cast<double>(type.bytes());
  for (const auto& type : call.outputs) bytes += static_cast<double>(type.bytes());
  return bytes;
}

void require_shape(bool condition, const std::string& message) {
  if (!condition) throw Error(ErrorCode::kShape, message);
}

void require_float(const OperatorCall& call, size_t i) {
  require_shape(call.inputs[i].dtype == DType::f32, "input " + std::to_string(i) +
                                                        " must be f32, not " +
                                                        std::string(name_of(call.inputs[i].dtype)));
}

int64_t multiply_add(int64_t a, int64_t b, int64_t c) {
  int64_t result = 0;
  require_shape(
      !__builtin_mul_overflow(a, b, &result) && !__builtin_add_overflow(result, c, &result),
      "the extents are too large");
  return result;
}

int64_t checked_axis(const OperatorCall& call) {
  const int64_t axis = call.attributes.integer("axis");
  const auto rank = static_cast<int64_t>(call.inputs[0].shape.size());
  require_shape(axis >= 0 && axis < rank, "axis " + std::to_string(axis) +
                                              " is outside the input's " + std::to_string(rank) +
                                              " dimensions");
  return axis;
}

double input_elements(const OperatorCall& call) {
  return static_cast<double>(call.inputs[0].elements());
}

double output_elements(const OperatorCall& call) {
  return static_cast<double>(call.outputs[0].elements());
}

Value call_operator(const std::string& name, const std::vector<Value>& inputs,
                    Attributes attributes) {
  return inputs[0].graph()->apply(find_operator(name), inputs, std::move(attributes))[0];
}

void require_for(const std::string& op, const Value& x, bool condition,
                 const std::string& message) {
  if (!condition) {
    throw Error(ErrorCode::kShape, op + "(" + to_string(x.type()) + "): " + message);
  }
}

int normalized_axis(const std::string& op, const Value& x, int axis) {
  require_for(op, x, axis >= -x.rank() && axis < x.rank(),
              "axis " + std::to_string(axis) + " is outside the input's " +
                  std::to_string(x.rank()) + " dimensions");
  return axis < 0 ? axis + x.rank() : axis;
}

int64_t dim_for(const std::string& op, const Value& x, int dimension) {
  return x.shape()[static_cast<size_t>(normalized_axis(op, x, dimension))];
}

std::string to_string(const AttributeValue& value) {
  if (const auto* word = std::get_if<std::string>(&value)) return *word;
  if (const auto* integer = std::get_if<int64_t>(&value)) return to_string(VariableValue(*integer));
  if (const auto* real = std::get_if<double>(&value)) return to_string(VariableValue(*real));
  return to_string(VariableValue(std::get<std::vector<int64_t>>(value)));
}

void Attributes::set(std::string name, AttributeValue value) {
  for (auto& [known, old] : values_) {
    if (known == name) {
      old = std::move(value);
      return;
    }
  }
  values_.emplace_back(std::move(name), std::move(value));
}

const AttributeValue* Attributes::find(std::string_view name) const {
  const auto it = std::find_if(values_.begin(), values_.end(),
                               [&](const auto& entry) { return entry.first == name; });
  return it == values_.end() ? nullptr : &it->second;
}

int64_t Attributes::integer(std::string_view name) const {
  return typed<int64_t>(*this, name, "an integer");
}

double Attributes::real(std::string_view name) const {
  if (const auto* value = find(name)) {
    if (const auto* integer = std::get_if<int64_t>(value)) return static_cast<double>(*integer);
  }
  return typed<double>(*this, name, "a number");
}

const std::vector<int64_t>& Attributes::list(std::string_view name) const {
  return typed<std::vector<int64_t>>(*this, name, "a list");
}

const std::string& Attributes::word(std::string_view name) const {
  return typed<std::string>(*this, name, "a word");
}

}  // namespace kbench
