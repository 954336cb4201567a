// Calls of what the file does not define: Python's own functions and methods, and PyTorch's.
#include <algorithm>
#include <cmath>

#include "kbench/error.h"
#include "libkbench/import/evaluator.h"

namespace kbench::importing {

Value Evaluator::call_builtin(const std::string& path, std::vector<Value>& args, Named& named,
                              int line) {
  if (path.ends_with("load_inline")) return load_inline(args, named, line);
  if (path.ends_with("cpp_extension.load") || path == "load") {
    stop(ImportObstacle::python, line, "kernels in files of their own (cpp_extension.load)");
  }
  if (path == "super" || path == ".__init__") return opaque_value("super()", line);
  if (path.starts_with('.')) {
    const std::string name = path.substr(1);
    Value& self = args[0];
    if (self.kind == Value::Kind::tensor) {
      if (auto v = tensor_call(name, args, named, line)) return *v;
      stop(ImportObstacle::torch_operator, line, "the tensor's method " + quote(name));
    }
    if (self.kind == Value::Kind::list && (name == "numel" || name == "size")) {
      if (name == "numel") {
        return number_value(product(numbers(self, "a size", line), line));
      }
      return number_value(integer(static_cast<int64_t>(self.items.size())));
    }
    if (self.kind == Value::Kind::text) {
      Value v = self;
      if (name == "strip" || name == "lstrip" || name == "rstrip") return v;
      if (name == "replace" && args.size() == 3 && args[1].kind == Value::Kind::text &&
          args[2].kind == Value::Kind::text && !args[1].text.empty()) {
        size_t at = 0;
        while ((at = v.text.find(args[1].text, at)) != std::string::npos) {
          v.text.replace(at, args[1].text.size(), args[2].text);
          at += args[2].text.size();
          count(line);
          if (v.text.size() > (size_t{1} << 22))
            stop(ImportObstacle::limits, line, "a string that grows");
        }
        Value replaced = text_value(std::move(v.text), line);
        replaced.line = v.line;
        return replaced;
      }
      stop(ImportObstacle::python, line, "the string's method " + quote(name));
    }
    if (self.kind == Value::Kind::list) {
      stop(ImportObstacle::python, line, "the list's method " + quote(name));
    }
    if (self.kind == Value::Kind::object) {
      if (auto v = container_call(*self.object, name, {args.begin() + 1, args.end()}, line))
        return *v;
      static const std::vector<std::string> kHarmless = {
          "register_buffer", "to", "cuda", "eval", "train", "reset_parameters", "float"};
      if (name == "register_buffer" || name == "register_parameter") {
        if (args.size() > 2 && args[1].kind == Value::Kind::text)
          self.object->set(args[1].text, args[2]);
        return {};
      }
      if (std::find(kHarmless.begin(), kHarmless.end(), name) != kHarmless.end()) return self;
    }
    return opaque_value(path, line);
  }
  return call_python(path, args, named, line);
}

Value Evaluator::call_python(const std::string& path, std::vector<Value>& args, Named& named,
                             int line) {
  using Kind = Value::Kind;
  const bool torch = path.starts_with("torch.");
  if (path == "range") {
    std::vector<Number> bounds;
    for (const Value& a : args) bounds.push_back(number(a, "a range", line));
    if (bounds.empty() || bounds.size() > 3) stop(ImportObstacle::python, line, "a range");
    bool sized = false;
    std::vector<int64_t> n;
    for (const Number& b : bounds) {
      sized = sized || !(b.sym && b.sym->op.empty() && b.same() &&
                         std::isdigit(static_cast<unsigned char>(b.sym->leaf.back())));
      n.push_back(static_cast<int64_t>(b.value(worlds_.primary())));
    }
    const int64_t from = n.size() > 1 ? n[0] : 0, to = n.size() > 1 ? n[1] : n[0],
                  by = n.size() > 2 ? n[2] : 1;
    std::vector<Value> items;
    if (by == 0) stop(ImportObstacle::python, line, "a range without a step");
    for (int64_t i = from; by > 0 ? i < to : i > to; i += by) {
      if (items.size() > 4096)
        stop(ImportObstacle::limits, line, "a loop of more than 4096 rounds");
      items.push_back(number_value(integer(i)));
    }
    Value v = list_value(std::move(items), line);
    if (sized) v.text = "sized";
    return v;
  }
  if ((path == "enumerate" || path == "zip") && !args.empty()) {
    std::vector<Value> pairs;
    size_t count = 4096;
    for (Value& a : args) {
      if (a.kind == Kind::object && a.object->type == "nn.ModuleList") {
        std::vector<Value> items;
        for (const std::string& n : a.object->order) items.push_back(a.object->attributes[n]);
        a = list_value(std::move(items));
      }
      if (a.kind != Kind::list)
        stop(ImportObstacle::python, line, path + " of what was not followed");
      count = std::min(count, a.items.size());
    }
    for (size_t i = 0; i < count; ++i) {
      std::vector<Value> tuple;
      if (path == "enumerate") tuple.push_back(number_value(integer(static_cast<int64_t>(i))));
      for (const Value& a : args) tuple.push_back(a.items[i]);
      pairs.push_back(list_value(std::move(tuple), line));
    }
    return list_value(std::move(pairs), line);
  }
  if (path == "len" && args.size() == 1) {
    if (args[0].kind == Kind::list)
      return number_value(integer(static_cast<int64_t>(args[0].items.size())));
    if (args[0].kind == Kind::tensor && !args[0].view.shape.empty())
      return number_value(args[0].view.shape[0]);
  }
  if ((path == "int" || path == "float" || path == "math.ceil" || path == "math.floor") &&
      args.size() == 1) {
    if (args[0].kind == Kind::text) return opaque_value(args[0].text, line);
    const Number n = number(args[0], path, line);
    if (path == "int") return number_value(as_integer(n));
    if (path == "float") return number_value(as_real(n));
    return number_value(as_integer(rounded(n, path == "math.ceil")));
  }
  if (path == "bool" && args.size() == 1) return number_value(truth(decide(args[0], line)));
  if ((path == "max" || path == "min") && !args.empty()) {
    const std::vector<Value> all = args.size() == 1 ? args[0].items : args;
    if (all.empty()) stop(ImportObstacle::python, line, path + " of nothing");
    Number n = number(all[0], path, line);
    for (size_t i = 1; i < all.size(); ++i)
      n = combine(path, n, number(all[i], path, line), false, line);
    return number_value(n);
  }
  if (path == "math.prod" && args.size() == 1)
    return number_value(product(numbers(args[0], path, line), line));
  if (path == "math.sqrt" || path == "math.exp" || path == "math.log" || path == "math.pow") {
    const Number n = number(args.at(0), path, line);
    std::vector<double> at;
    for (double v : n.at) {
      at.push_back(path == "math.sqrt"  ? std::sqrt(v)
                   : path == "math.exp" ? std::exp(v)
                   : path == "math.log" ? std::log(v)
                                        : std::pow(v, number(args.at(1), path, line).value(0)));
    }
    for (double v : at) {
      if (!std::isfinite(v)) stop(ImportObstacle::limits, line, "a number that is not finite");
    }
    return number_value(values(at, true));
  }
  if (path == "tuple" || path == "list" || path == "torch.Size" || path.ends_with("_pair") ||
      path.ends_with("_triple") || path.ends_with("_single")) {
    if (args.empty()) return list_value({});
    if (args[0].kind == Kind::list) return args[0];
  }
  if (path == "abs" && args.size() == 1 && args[0].kind == Kind::number &&
      args[0].number.value(0) >= 0)
    return args[0];
  if (path == "isinstance" && args.size() == 2) {
    std::vector<Value> types =
        args[1].kind == Kind::list ? args[1].items : std::vector<Value>{args[1]};
    bool is = false;
    for (const Value& t : types) {
      is = is || (t.text == "int" && args[0].kind == Kind::number && !args[0].number.real) ||
           (t.text == "float" && args[0].kind == Kind::number && args[0].number.real) ||
           ((t.text == "tuple" || t.text == "list") && args[0].kind == Kind::list) ||
           (t.text == "torch.Tensor" && args[0].kind == Kind::tensor);
    }
    return number_value(truth(is));
  }
  if (path == "hasattr" || path == "getattr") {
    if (args.size() < 2 || args[1].kind != Kind::text) stop(ImportObstacle::python, line, path);
    if (path == "getattr") return member(args[0], args[1].text, line);
    return number_value(
        truth(args[0].kind == Kind::object && args[0].object->attributes.contains(args[1].text)));
  }
  if (torch) {
    const size_t dot = path.rfind('.');
    const std::string name = path.substr(dot + 1), room = path.substr(0, dot);
    if (room == "torch.nn" || room == "torch.nn.modules") {
      if (name == "Parameter") {
        if (args.empty()) stop(ImportObstacle::python, line, "a Parameter of nothing");
        if (args[0].kind == Kind::poison) return parameter({}, false);
        if (args[0].kind == Kind::tensor) {
          const PlanBuffer& b = plan_.buffers[static_cast<size_t>(args[0].view.buffer)];
          return parameter(args[0].view.shape, b.shaped);
        }
        return parameter({}, false);
      }
      return make_layer(name, args, named, line);
    }
    if (room == "torch.cuda" || room == "torch.backends" || room == "torch.nn.init")
      return opaque_value(path, line);
    if (room == "torch" || room == "torch.nn.functional" || room == "torch.special" ||
        room == "torch.linalg") {
      if (auto v = make_tensor(name, args, named, line)) return *v;
      if (auto v = tensor_call(name, args, named, line)) return *v;
    }
    for (const Value& a : args) {
      if (a.kind == Kind::tensor) stop(ImportObstacle::torch_operator, line, shown(path, 80));
      if (a.kind == Kind::poison) throw *a.why;
    }
  }
  for (const Value& a : args) {
    if (a.kind == Kind::tensor && path != "print") {
      stop(ImportObstacle::python, line, quote(path) + " of a tensor is not followed");
    }
  }
  return opaque_value(path + "()", line);
}

}  // namespace kbench::importing
