// What PyTorch's functions and tensor methods say of shapes: conversions, sizes, views.
#include <algorithm>
#include <set>

#include "kbench/error.h"
#include "libkbench/import/evaluator.h"

namespace kbench::importing {

std::optional<Value> Evaluator::shape_call(const std::string& name, std::vector<Value>& args,
                                           Named& named, int line) {
  if (args.empty() || args[0].kind != Value::Kind::tensor) return std::nullopt;
  if (auto v = conversion_call(name, args, line)) return v;
  if (auto v = size_call(name, args, named, line)) return v;
  if (auto v = reshape_call(name, args, named, line)) return v;
  return permute_call(name, args, line);
}

std::optional<Value> Evaluator::conversion_call(const std::string& name,
                                                const std::vector<Value>& args, int line) {
  const Value x = args[0];
  static const std::set<std::string, std::less<>> kSame = {
      "cuda", "detach", "float", "requires_grad_", "data", "to", "type", "type_as", "cpu"};
  if (kSame.contains(name)) {
    for (size_t i = 1; i < args.size(); ++i) {
      if (args[i].text.find("float16") != std::string::npos ||
          args[i].text.find("half") != std::string::npos ||
          args[i].text.find("int") != std::string::npos ||
          args[i].text.find("float64") != std::string::npos ||
          args[i].text.find("double") != std::string::npos) {
        stop(ImportObstacle::data_type, line, "a tensor converted to " + shown(args[i].text, 40));
      }
    }
    if (name == "cpu") stop(ImportObstacle::python, line, "a tensor taken to the host");
    return x;
  }
  if (name == "half" || name == "bfloat16" || name == "double" || name == "int" || name == "long") {
    stop(ImportObstacle::data_type, line, "a tensor converted by ." + name + "()");
  }
  if (name == "contiguous") return dense(x, line);
  if (name == "clone") {
    const Value from = dense(x, line);
    no_sized_loop(line);
    const Value to = temporary(x.view.shape, DType::f32);
    plan_.add_copy(from.view.buffer, to.view.buffer, x.view.shape, line);
    return to;
  }
  return std::nullopt;
}

std::optional<Value> Evaluator::size_call(const std::string& name, const std::vector<Value>& args,
                                          const Named& named, int line) {
  const Value& x = args[0];
  const size_t rank = x.view.shape.size();
  if (name == "is_contiguous") return number_value(truth(x.view.axes.empty()));
  if (name == "numel" || name == "nelement") return number_value(product(x.view.shape, line));
  if (name == "dim" || name == "ndimension")
    return number_value(integer(static_cast<int64_t>(rank)));
  if (name == "element_size") return number_value(integer(4));
  if (name == "size") {
    if (const Value* d = argument_of(args, named, 1, {"dim"})) {
      return number_value(x.view.shape.at(static_cast<size_t>(axis(*d, rank, line))));
    }
    return member(x, "shape", line);
  }
  return std::nullopt;
}

std::optional<Value> Evaluator::reshape_call(const std::string& name,
                                             const std::vector<Value>& args, const Named& named,
                                             int line) {
  const Value& x = args[0];
  const size_t rank = x.view.shape.size();
  if (name == "view" || name == "reshape" || name == "view_as" || name == "reshape_as") {
    std::vector<Number> shape;
    if (name.ends_with("_as") && args.size() == 2) {
      shape = tensor(args[1], "a shape", line).view.shape;
    } else if (args.size() == 2 && args[1].kind == Value::Kind::list) {
      shape = numbers(args[1], "a shape", line);
    } else {
      for (size_t i = 1; i < args.size(); ++i) shape.push_back(number(args[i], "a shape", line));
    }
    const Value from = name.starts_with("reshape") ? dense(x, line) : x;
    return tensor_value(reshaped(from.view, std::move(shape), line));
  }
  if (name == "flatten") {
    const Value* f = argument_of(args, named, 1, {"start_dim"});
    const Value* t = argument_of(args, named, 2, {"end_dim"});
    const auto from = static_cast<size_t>(f ? axis(*f, rank, line) : 0);
    const auto to = static_cast<size_t>(t ? axis(*t, rank, line) : static_cast<int>(rank) - 1);
    if (rank == 0 || from > to) return std::nullopt;
    std::vector<Number> shape(x.view.shape.begin(),
                              x.view.shape.begin() + static_cast<std::ptrdiff_t>(from));
    shape.push_back(product({x.view.shape.begin() + static_cast<std::ptrdiff_t>(from),
                             x.view.shape.begin() + static_cast<std::ptrdiff_t>(to) + 1},
                            line));
    shape.insert(shape.end(), x.view.shape.begin() + static_cast<std::ptrdiff_t>(to) + 1,
                 x.view.shape.end());
    return tensor_value(reshaped(dense(x, line).view, std::move(shape), line));
  }
  if (name == "unsqueeze" || name == "squeeze") {
    std::vector<Number> shape = x.view.shape;
    const Value* d = argument_of(args, named, 1, {"dim"});
    if (name == "unsqueeze") {
      if (!d) return std::nullopt;
      shape.insert(shape.begin() + axis(*d, rank + 1, line), integer(1));
    } else if (d) {
      const int at = axis(*d, rank, line);
      if (shape.empty()) return x;
      if (shape[static_cast<size_t>(at)].same() && shape[static_cast<size_t>(at)].at[0] == 1) {
        shape.erase(shape.begin() + at);
      } else {
        return x;
      }
    } else {
      std::erase_if(shape, [](const Number& n) { return n.same() && n.at[0] == 1; });
    }
    return tensor_value(reshaped(dense(x, line).view, std::move(shape), line));
  }
  return std::nullopt;
}

std::optional<Value> Evaluator::permute_call(const std::string& name,
                                             const std::vector<Value>& args, int line) {
  const Value& x = args[0];
  const size_t rank = x.view.shape.size();
  if (name == "t" || name == "transpose" || name == "permute" || name == "swapaxes") {
    std::vector<int> order(rank);
    for (size_t i = 0; i < rank; ++i) order[i] = static_cast<int>(i);
    if (name == "permute") {
      const std::vector<Value> axes = args.size() == 2 && args[1].kind == Value::Kind::list
                                          ? args[1].items
                                          : std::vector<Value>(args.begin() + 1, args.end());
      if (axes.size() != rank) return std::nullopt;
      for (size_t i = 0; i < rank; ++i) order[i] = axis(axes[i], rank, line);
      std::set<int> all(order.begin(), order.end());
      if (all.size() != rank) stop(ImportObstacle::sizes, line, "a permutation that is none");
    } else if (name == "t") {
      if (rank > 2) return std::nullopt;
      std::reverse(order.begin(), order.end());
    } else {
      if (args.size() != 3) return std::nullopt;
      std::swap(order[static_cast<size_t>(axis(args[1], rank, line))],
                order[static_cast<size_t>(axis(args[2], rank, line))]);
    }
    View v = x.view;
    bool same = true;
    v.axes.clear();
    for (size_t i = 0; i < rank; ++i) {
      const auto from = static_cast<size_t>(order[i]);
      v.shape[i] = x.view.shape[from];
      v.axes.push_back(x.view.axes.empty() ? order[i] : x.view.axes[from]);
      same = same && v.axes.back() == static_cast<int>(i);
    }
    if (same) v.axes.clear();
    return tensor_value(std::move(v));
  }
  return std::nullopt;
}

}  // namespace kbench::importing
