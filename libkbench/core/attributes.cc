#include <algorithm>

#include "kbench/error.h"
#include "kbench/graph.h"

namespace kbench {
namespace {

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

}  // namespace

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
