#include <algorithm>

#include "libkbench/import/evaluator.h"

namespace kbench::importing {
namespace {

constexpr size_t kMostFollowed = 100000;
constexpr size_t kMostWeight = 65536;  // values in a list
constexpr size_t kTextWeight = 64;     // bytes of text that count as one value
constexpr int kMostNesting = 64;

}  // namespace

void Object::set(const std::string& name, Value value) {
  if (!attributes.contains(name)) order.push_back(name);
  attributes[name] = std::move(value);
}

Value number_value(Number n) {
  Value v;
  v.kind = Value::Kind::number;
  v.number = std::move(n);
  return v;
}
Value text_value(std::string text, int line) {
  Value v;
  v.kind = Value::Kind::text;
  v.weight = 1 + text.size() / kTextWeight;
  if (v.weight > kMostWeight) stop(ImportObstacle::limits, line, "a text of more than 4 MiB");
  v.text = std::move(text);
  return v;
}
Value list_value(std::vector<Value> items, int line) {
  Value v;
  v.kind = Value::Kind::list;
  for (const Value& item : items) {
    v.weight += item.weight;
    v.nesting = std::max(v.nesting, item.nesting + 1);
  }
  if (v.weight > kMostWeight) {
    stop(ImportObstacle::limits, line, "a list of more than 65536 values");
  }
  if (v.nesting > kMostNesting) {
    stop(ImportObstacle::limits, line, "lists that lie more than 64 deep in each other");
  }
  v.items = std::move(items);
  v.identity = std::make_shared<const int>(0);
  return v;
}
Value tensor_value(View view) {
  Value v;
  v.kind = Value::Kind::tensor;
  v.view = std::move(view);
  return v;
}
Value opaque_value(std::string text, int line) {
  Value v;
  v.kind = Value::Kind::opaque;
  v.text = std::move(text);
  v.line = line;
  return v;
}

Evaluator::Evaluator(const Worlds& worlds, Plan& plan, std::string file)
    : worlds_(worlds), plan_(plan), file_(std::move(file)) {}

void Evaluator::count(int line, size_t steps) {
  steps_ += steps;
  if (steps_ > kMostFollowed) stop(ImportObstacle::limits, line, "too long to follow");
}

void Evaluator::no_sized_loop(int line) const {
  if (sized_loops_ > 0) {
    stop(ImportObstacle::launch, line, "a launch in a loop whose count follows from a size");
  }
}

const Value& Evaluator::tensor(const Value& v, const std::string& what, int line) {
  if (v.kind == Value::Kind::poison) throw *v.why;
  if (v.kind == Value::Kind::tensor) return v;
  if (v.kind == Value::Kind::opaque) {
    stop(cpp_ ? ImportObstacle::library_call : ImportObstacle::torch_operator, line,
         quote(v.text) + " is not followed");
  }
  stop(cpp_ ? ImportObstacle::cpp : ImportObstacle::python, line,
       what + " is no tensor that was followed");
}

Number Evaluator::number(const Value& v, const std::string& what, int line) {
  if (v.kind == Value::Kind::poison) throw *v.why;
  if (v.kind == Value::Kind::number) return v.number;
  if (v.kind == Value::Kind::list && v.items.size() == 1) return number(v.items[0], what, line);
  stop(cpp_ ? ImportObstacle::cpp : ImportObstacle::python, line,
       what + (v.kind == Value::Kind::opaque ? ": " + quote(v.text) + " is not followed"
                                             : " is no number that was followed"));
}

std::vector<Number> Evaluator::numbers(const Value& v, const std::string& what, int line) {
  if (v.kind != Value::Kind::list) return {number(v, what, line)};
  std::vector<Number> all;
  for (const Value& item : v.items) all.push_back(number(item, what, line));
  return all;
}

int64_t Evaluator::plain(const Value& v, const std::string& what, int line) {
  const Number n = number(v, what, line);
  if (!n.same()) plan_.only_here(line, what + " follows from a size");
  return static_cast<int64_t>(n.value(worlds_.primary()));
}

int Evaluator::axis(const Value& v, size_t rank, int line) {
  int64_t a = plain(v, "a dimension", line);
  if (a < 0) a += static_cast<int64_t>(rank);
  if (a < 0 || a >= static_cast<int64_t>(std::max<size_t>(rank, 1))) {
    stop(ImportObstacle::sizes, line, "a dimension that the tensor does not have");
  }
  return static_cast<int>(a);
}

bool Evaluator::decide(const Value& v, int line) {
  switch (v.kind) {
    case Value::Kind::none:
      return false;
    case Value::Kind::number: {
      bool differs = false;
      for (size_t w = 0; w < Worlds::kPresets; ++w) {
        differs = differs || (v.number.value(w) != 0) != (v.number.value(0) != 0);
      }
      if (differs) plan_.only_here(line, "a branch that presets take differently");
      return v.number.value(worlds_.primary()) != 0;
    }
    case Value::Kind::text:
      return !v.text.empty();
    case Value::Kind::list:
      return !v.items.empty();
    case Value::Kind::poison:
      throw *v.why;
    case Value::Kind::opaque:
      stop(cpp_ ? ImportObstacle::cpp : ImportObstacle::python, line,
           "a condition on " + quote(v.text) + " is not followed");
    case Value::Kind::tensor:
      if (!cpp_) stop(ImportObstacle::python, line, "a condition on a tensor's values");
      return true;
    default:
      return true;
  }
}

}  // namespace kbench::importing
