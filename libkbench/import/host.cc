// C++ host code: declarations, casts, and the calls of PyTorch's C++ interface that allocate, ask
// for sizes or do nothing to data.
#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "kbench/error.h"
#include "libkbench/import/evaluator.h"

namespace kbench::importing {
namespace {

bool is_integer(const std::string& type) {
  static const std::set<std::string, std::less<>> kTypes = {"int",
                                                            "long",
                                                            "short",
                                                            "char",
                                                            "unsigned",
                                                            "unsigned int",
                                                            "unsigned long",
                                                            "long long",
                                                            "long int",
                                                            "long long int",
                                                            "unsigned long long",
                                                            "size_t",
                                                            "int64_t",
                                                            "int32_t",
                                                            "uint32_t",
                                                            "uint64_t",
                                                            "int16_t",
                                                            "uint16_t",
                                                            "uint8_t",
                                                            "int8_t",
                                                            "ssize_t",
                                                            "std::size_t",
                                                            "std::int64_t",
                                                            "unsigned short"};
  return kTypes.contains(type);
}

bool ignored_macro(const std::string& name) {
  return name.starts_with("TORCH_") || name.starts_with("C10_") || name.starts_with("AT_ASSERT") ||
         name.starts_with("AT_CUDA_CHECK") || name.starts_with("AT_CHECK") ||
         name.starts_with("CHECK") || name.starts_with("CUDA_") || name == "assert" ||
         name == "printf" || name == "fprintf" || name.starts_with("CUDA_CHECK") ||
         name == "gpuErrchk" || name.starts_with("std::cerr");
}

}  // namespace

/// A type with scalar_t and the like replaced.
std::string Evaluator::spelled(const std::string& type, NameScope& scope, int) {
  const size_t star = type.find('*');
  const std::string plain = type.substr(0, star);
  const auto found = scope.types.find(plain);
  if (found == scope.types.end()) return type;
  return found->second + (star == std::string::npos ? "" : type.substr(star));
}

Value Evaluator::convert(const Value& v, const std::string& type, int line) {
  if (v.kind == Value::Kind::pointer && type.find('*') != std::string::npos) {
    Value p = v;
    p.element = type.substr(0, type.find('*'));
    return p;
  }
  if (v.kind == Value::Kind::number) {
    if (is_integer(type)) return number_value(as_integer(v.number));
    if (type == "float" || type == "double") return number_value(as_real(v.number));
    if (type == "bool") return number_value(combine("!=", v.number, integer(0), true, line));
    if (type == "dim3") {
      Value d;
      d.kind = Value::Kind::dim3;
      d.items = {v, number_value(integer(1)), number_value(integer(1))};
      return d;
    }
  }
  if (v.kind == Value::Kind::list && type == "dim3" && !v.items.empty()) {
    Value d;
    d.kind = Value::Kind::dim3;
    d.items = v.items;
    d.items.resize(3, number_value(integer(1)));
    return d;
  }
  return v;
}

void Evaluator::declare(const Stmt& s, NameScope& scope) {
  if (s.text == "using") {
    scope.types[s.name] = s.value ? spelled(s.value->text, scope, s.line) : "";
    return;
  }
  const std::string type = spelled(s.text, scope, s.line);
  Value v;
  if (s.value) {
    v = convert(evaluate(*s.value, scope), type, s.line);
  } else if (type == "dim3") {
    v.kind = Value::Kind::dim3;
    for (const ExprPtr& a : s.arguments)
      v.items.push_back(number_value(as_integer(number(evaluate(*a, scope), "an extent", s.line))));
    v.items.resize(3, number_value(integer(1)));
  } else if (type.starts_with("std::vector") && s.constructed) {
    std::vector<Value> items;
    for (const ExprPtr& a : s.arguments) items.push_back(evaluate(*a, scope));
    v = list_value(std::move(items), s.line);
  } else if (s.constructed && s.arguments.size() == 1) {
    try {
      v = convert(evaluate(*s.arguments[0], scope), type, s.line);
    } catch (const NotFollowed& why) {
      if (is_integer(type) || type == "float" || type == "auto") throw;
      v = opaque_value(type, s.line);  // a guard, a stream
    }
  } else if (is_integer(type) || type == "float" || type == "double" || type == "bool") {
    v = number_value(type == "float" || type == "double" ? real_number(0) : integer(0));
  } else {
    v = opaque_value(type, s.line);
  }
  if (type.starts_with("cublas") || type.starts_with("cudnn")) {
    stop(ImportObstacle::library_call, s.line, "host code calls " + type.substr(0, type.find('H')));
  }
  scope.names[s.name] = std::move(v);
}

Value Evaluator::cpp_call(const Expr& e, NameScope& scope) {
  const Expr& callee = *e.args[0];
  if (callee.kind == Expr::Kind::member) {
    const Value self = evaluate(*callee.args[0], scope);
    if (self.kind == Value::Kind::poison) throw *self.why;
    if (self.kind == Value::Kind::tensor) {
      if (auto v = cpp_tensor_method(self, callee.text, e, scope)) return *v;
      stop(ImportObstacle::library_call, e.line,
           "the tensor's method " + quote(callee.text) + " in host code");
    }
    if (callee.text == "has_value" || callee.text == "defined") return number_value(truth(false));
    if (self.kind == Value::Kind::list) {
      if (callee.text == "size")
        return number_value(integer(static_cast<int64_t>(self.items.size())));
      if (callee.text == "vec" || callee.text == "toVec") return self;
      if (callee.text == "push_back" && callee.args[0]->kind == Expr::Kind::name &&
          e.args.size() == 2) {
        Value* known = find(callee.args[0]->text, scope);
        const Value item = evaluate(*e.args[1], scope);
        if (!known) stop(ImportObstacle::cpp, e.line, "a vector that is not followed");
        std::vector<Value> items = known->items;
        items.push_back(item);
        count(e.line, items.size() / 256);
        *known = list_value(std::move(items), e.line);
        return {};
      }
      if (callee.text == "begin") return number_value(integer(0));
      if (callee.text == "end") {
        return number_value(integer(static_cast<int64_t>(self.items.size())));
      }
      if (callee.text == "erase" && callee.args[0]->kind == Expr::Kind::name &&
          e.args.size() == 2) {
        Value* known = find(callee.args[0]->text, scope);
        const int64_t at = plain(evaluate(*e.args[1], scope), "an index", e.line);
        if (!known || at < 0 || at >= static_cast<int64_t>(known->items.size())) {
          stop(ImportObstacle::cpp, e.line, "an element that the vector does not have");
        }
        std::vector<Value> items = known->items;
        items.erase(items.begin() + at);
        *known = list_value(std::move(items), e.line);
        return {};
      }
      if (callee.text == "back" || callee.text == "front") {
        if (self.items.empty()) stop(ImportObstacle::cpp, e.line, "an element of nothing");
        return callee.text == "back" ? self.items.back() : self.items.front();
      }
    }
    if (self.kind == Value::Kind::opaque || self.kind == Value::Kind::none) {
      return opaque_value(self.text + "." + callee.text, e.line);
    }
    if (self.kind == Value::Kind::number || self.kind == Value::Kind::text)
      return self;  // size_t(x).value()
    stop(ImportObstacle::cpp, e.line, "the method " + quote(callee.text));
  }
  if (callee.kind == Expr::Kind::lambda) {
    NameScope inner = NameScope::inside(scope);
    run_block(callee.body, inner);
    return {};
  }
  if (callee.kind != Expr::Kind::name)
    stop(ImportObstacle::cpp, e.line, "a call that is not followed");
  const std::string& name = callee.text;
  if (scope.extension) {
    for (const auto& source : scope.extension->sources) {
      if (!source->functions.contains(name) && !source->unread.contains(name)) continue;
      std::vector<Value> args;
      for (size_t i = 1; i < e.args.size(); ++i) args.push_back(evaluate(*e.args[i], scope));
      Value v = call_extension(*scope.extension, name, std::move(args), e.line);
      return v;
    }
  }
  if (auto v = cpp_builtin(name, e, scope)) return *v;
  for (size_t i = 1; i < e.args.size(); ++i) {
    const Value v = evaluate(*e.args[i], scope);
    if (v.kind == Value::Kind::tensor || v.kind == Value::Kind::pointer) {
      stop(ImportObstacle::library_call, e.line, "host code calls " + quote(name));
    }
  }
  if (name.starts_with("cublas") || name.starts_with("cudnn") || name.starts_with("cufft")) {
    stop(ImportObstacle::library_call, e.line, "host code calls " + quote(name));
  }
  return opaque_value(name + "()", e.line);
}

std::optional<Value> Evaluator::cpp_builtin(const std::string& name, const Expr& e,
                                            NameScope& scope) {
  const auto arg = [&](size_t i) {
    if (i + 1 >= e.args.size())
      stop(ImportObstacle::cpp, e.line, quote(name) + " with too few arguments");
    return evaluate(*e.args[i + 1], scope);
  };
  const size_t count = e.args.size() - 1;
  if (ignored_macro(name)) return Value();
  if (name.starts_with("AT_DISPATCH_") || name.starts_with("AT_PRIVATE"))
    return dispatch_types(e, scope);
  if (name == "sizeof") {
    const std::string type = spelled(e.args[1]->text, scope, e.line);
    static const std::map<std::string, int, std::less<>> kSizes = {
        {"float", 4},    {"int", 4},          {"double", 8}, {"int64_t", 8},   {"long", 8},
        {"half", 2},     {"__half", 2},       {"char", 1},   {"float4", 16},   {"float2", 8},
        {"unsigned", 4}, {"unsigned int", 4}, {"size_t", 8}, {"long long", 8}, {"bool", 1},
        {"int32_t", 4},  {"uint32_t", 4}};
    const auto found = kSizes.find(type);
    if (found == kSizes.end()) stop(ImportObstacle::cpp, e.line, "the size of " + quote(type));
    return number_value(integer(found->second));
  }
  if (name == "dim3") {
    Value v;
    v.kind = Value::Kind::dim3;
    for (size_t i = 0; i < count && i < 3; ++i)
      v.items.push_back(number_value(as_integer(number(arg(i), "an extent", e.line))));
    v.items.resize(3, number_value(integer(1)));
    return v;
  }
  const std::string plain = name.starts_with("std::")  ? name.substr(5)
                            : name.starts_with("at::") ? name.substr(4)
                                                       : name;
  if ((plain == "min" || plain == "max") && count == 2) {
    return number_value(
        combine(plain, number(arg(0), name, e.line), number(arg(1), name, e.line), true, e.line));
  }
  if (plain == "ceil_div" || name == "at::ceil_div" || name == "c10::ceil_div" ||
      name == "cuda::ceil_div") {
    const Number d = number(arg(1), name, e.line);
    return number_value(
        combine("/",
                combine("-", combine("+", number(arg(0), name, e.line), d, true, e.line),
                        integer(1), true, e.line),
                d, true, e.line));
  }
  if ((plain == "ceil" || plain == "ceilf" || plain == "floor" || plain == "floorf") &&
      count == 1) {
    return number_value(rounded(number(arg(0), name, e.line), plain.starts_with("ceil")));
  }
  if (count == 1 && (plain == "sqrt" || plain == "sqrtf" || plain == "exp" || plain == "log" ||
                     plain == "log2" || plain == "rsqrt")) {
    const Number n = number(arg(0), name, e.line);
    std::vector<double> at;
    for (double v : n.at) {
      at.push_back(plain.starts_with("sqrt") ? std::sqrt(v)
                   : plain == "exp"          ? std::exp(v)
                   : plain == "log2"         ? std::log2(v)
                   : plain == "log"          ? std::log(v)
                                             : 1 / std::sqrt(v));
      if (!std::isfinite(at.back()))
        stop(ImportObstacle::limits, e.line, "a number that is not finite");
    }
    return number_value(values(at, true));
  }
  if (is_integer(name) || name == "float" || name == "double" || name == "bool" ||
      scope.types.contains(name)) {
    if (count == 1) return convert(arg(0), spelled(name, scope, e.line), e.line);
  }
  if (name.starts_with("std::vector") || name.ends_with("IntArrayRef") ||
      name == "std::make_tuple" || name == "std::tuple") {
    std::vector<Value> items;
    for (size_t i = 0; i < count; ++i) items.push_back(arg(i));
    if (items.size() == 1 && items[0].kind == Value::Kind::list) return items[0];
    return list_value(std::move(items));
  }
  if (name == "std::move" && count == 1) return arg(0);
  if (name == "cudaMemset" || name == "cudaMemsetAsync") {
    const Value p = arg(0);
    const Number value = number(arg(1), name, e.line);
    if (p.kind != Value::Kind::pointer || !(value.same() && value.at[0] == 0)) {
      stop(ImportObstacle::library_call, e.line, "host code calls " + quote(name));
    }
    no_sized_loop(e.line);
    plan_.add_fill(use(p.view, e.line), p.view.shape, real_number(0), e.line);
    return Value(number_value(integer(0)));
  }
  static const std::set<std::string, std::less<>> kHarmless = {
      "cudaGetLastError",       "cudaPeekAtLastError",
      "cudaDeviceSynchronize",  "cudaStreamSynchronize",
      "cudaFuncSetAttribute",   "cudaSetDevice",
      "cudaFuncSetCacheConfig", "cudaDeviceSetCacheConfig",
      "cudaGetDevice",          "cudaDeviceSetSharedMemConfig"};
  if (kHarmless.contains(name)) return Value(number_value(integer(0)));
  if (name.starts_with("cuda") && name.find("::") == std::string::npos) {
    if (name == "cudaGetErrorString") return opaque_value(name, e.line);
    stop(ImportObstacle::library_call, e.line, "host code calls " + quote(name));
  }
  const size_t colon = name.rfind("::");
  if (colon != std::string::npos && (name.starts_with("torch::") || name.starts_with("at::"))) {
    const std::string last = name.substr(colon + 2);
    static const std::set<std::string, std::less<>> kMakers = {
        "empty", "zeros", "ones", "full", "empty_like", "zeros_like", "ones_like", "full_like"};
    if (kMakers.contains(last)) {
      std::vector<Value> args;
      for (size_t i = 0; i < count; ++i) args.push_back(arg(i));
      return cpp_allocate(last, args, e.line);
    }
    if (last == "TensorOptions" || last == "dtype" || last == "device" || last == "Device" ||
        last.starts_with("getCurrent") || last.starts_with("getStream") ||
        last.starts_with("OptionalCUDAGuard") || last == "CUDAGuard" || last == "device_of") {
      return opaque_value(name, e.line);
    }
    if (last == "Tensor") return opaque_value(name, e.line);
    stop(ImportObstacle::library_call, e.line, "host code calls " + quote(name));
  }
  return std::nullopt;
}

Value Evaluator::cpp_allocate(const std::string& name, const std::vector<Value>& args, int line) {
  if (args.empty()) stop(ImportObstacle::cpp, line, "torch::" + name + " of nothing");
  for (const Value& a : args) {
    if (a.text.find("loat16") != std::string::npos || a.text.find("Half") != std::string::npos ||
        a.text.find("Int") != std::string::npos || a.text.find("Long") != std::string::npos ||
        a.text.find("Double") != std::string::npos || a.text.find("Byte") != std::string::npos ||
        a.text.find("Bool") != std::string::npos) {
      stop(ImportObstacle::data_type, line, "torch::" + name + " of " + shown(a.text, 40));
    }
  }
  const std::vector<Number> shape = name.ends_with("_like")
                                        ? tensor(args[0], "a tensor", line).view.shape
                                        : numbers(args[0], "a size", line);
  const Value v = temporary(shape, DType::f32);
  if (!name.starts_with("empty")) {
    Number value = real_number(name.starts_with("ones") ? 1 : 0);
    if (name.starts_with("full"))
      value = number(args.size() > 1 ? args[1] : Value(), "what fills a tensor", line);
    no_sized_loop(line);
    plan_.add_fill(v.view.buffer, shape, value, line);
  }
  return v;
}

std::optional<Value> Evaluator::cpp_tensor_method(const Value& self, const std::string& name,
                                                  const Expr& e, NameScope& scope) {
  const size_t rank = self.view.shape.size();
  std::vector<Value> args = {self};
  for (size_t i = 1; i < e.args.size(); ++i) args.push_back(evaluate(*e.args[i], scope));
  if (name == "data_ptr" || name == "data" || name == "const_data_ptr" ||
      name == "mutable_data_ptr") {
    Value p;
    p.kind = Value::Kind::pointer;
    p.view = self.view;
    const auto& types = e.args[0]->template_args;
    p.element = types.empty() ? "" : spelled(types[0], scope, e.line);
    if (p.element == "at::Half" || p.element == "c10::Half" || p.element == "half" ||
        p.element == "__half") {
      stop(ImportObstacle::data_type, e.line, "a pointer to half precision");
    }
    use(self.view, e.line);
    return p;
  }
  if (name == "size")
    return number_value(self.view.shape.at(static_cast<size_t>(axis(args.at(1), rank, e.line))));
  if (name == "sizes") return member(self, "shape", e.line);
  if (name == "stride") {
    if (!self.view.axes.empty())
      stop(ImportObstacle::layout, e.line, "the stride of a transposed view");
    const auto d = static_cast<size_t>(axis(args.at(1), rank, e.line));
    return number_value(product(
        {self.view.shape.begin() + static_cast<std::ptrdiff_t>(d) + 1, self.view.shape.end()},
        e.line));
  }
  static const std::set<std::string, std::less<>> kShape = {
      "numel",   "dim",       "ndimension", "contiguous",  "is_contiguous", "view",    "reshape",
      "flatten", "unsqueeze", "squeeze",    "t",           "transpose",     "permute", "clone",
      "to",      "cuda",      "detach",     "element_size"};
  if (kShape.contains(name)) {
    Named none;
    return shape_call(name, args, none, e.line);
  }
  if (name == "options" || name == "device" || name == "get_device" || name == "scalar_type" ||
      name == "dtype" || name == "type") {
    return opaque_value(
        name == "scalar_type" || name == "dtype" ? "torch.float32" : "tensor." + name, e.line);
  }
  if (name == "is_cuda" || name == "defined" || name == "has_value")
    return number_value(truth(true));
  if (name == "is_sparse" || name == "requires_grad") return number_value(truth(false));
  if (name == "value" || name == "get" || name == "data") return self;
  if (name == "zero_" || name == "fill_") {
    no_sized_loop(e.line);
    plan_.add_fill(
        use(self.view, e.line), self.view.shape,
        name == "zero_" ? real_number(0) : number(args.at(1), "what fills a tensor", e.line),
        e.line);
    return self;
  }
  return std::nullopt;
}

}  // namespace kbench::importing
