#include <algorithm>
#include <charconv>
#include <cmath>

#include "libkbench/import/evaluator.h"

namespace kbench::importing {

Value* Evaluator::find(const std::string& name, NameScope& scope) {
  for (NameScope* s = &scope; s; s = s->outer) {
    const auto found = s->names.find(name);
    if (found != s->names.end()) return &found->second;
  }
  return nullptr;
}

Value Evaluator::lookup(const std::string& name, int line, NameScope& scope) {
  if (const Value* known = find(name, scope)) {
    if (known->kind == Value::Kind::poison) throw *known->why;
    return *known;
  }
  if (name == "true" || name == "True") return number_value(truth(true));
  if (name == "false" || name == "False") return number_value(truth(false));
  if (name == "None" || name == "nullptr" || name == "NULL" || name == "c10::nullopt" ||
      name == "std::nullopt" || name == "at::nullopt" || name == "torch::nullopt") {
    return {};
  }
  if (cpp_) {
    if (scope.source) {
      const auto macro = scope.source->macros.find(name);
      if (macro != scope.source->macros.end()) {
        if (++depth_ > kDeepest) stop(ImportObstacle::limits, line, "macros that do not end");
        const Value v = evaluate(*parse_cpp_expression(macro->second), scope);
        --depth_;
        return v;
      }
    }
    if (name.starts_with("cuda") || name.find("::") != std::string::npos || name.starts_with("k")) {
      Value v = opaque_value(name, line);
      if (name == "cudaSuccess") v = number_value(integer(0));
      const size_t at = name.rfind("::k");
      if (at != std::string::npos) v.text = "dtype " + name.substr(at + 3);
      if (v.text == "dtype Float32" || v.text == "dtype Float") v.text = "torch.float32";
      if (v.text == "dtype Half" || v.text == "dtype Float16") v.text = "torch.float16";
      return v;
    }
    if (name == "FLT_MAX") return number_value(real_number(3.402823466e+38));
    if (name == "INFINITY") return opaque_value(name, line);
    stop(ImportObstacle::cpp, line, "the name " + quote(name) + " is not followed");
  }
  const auto type = types_.find(name);
  if (type != types_.end()) {
    Value v;
    v.kind = Value::Kind::type;
    v.text = name;
    v.type = type->second;
    return v;
  }
  Value v;
  v.kind = Value::Kind::builtin;
  v.text = name;
  return v;
}

Value Evaluator::member(const Value& base, const std::string& name, int line) {
  Value method;
  method.kind = Value::Kind::builtin;
  method.line = line;
  switch (base.kind) {
    case Value::Kind::poison:
      throw *base.why;
    case Value::Kind::builtin: {
      if (base.text == "math" && name == "pi") return number_value(real_number(3.141592653589793));
      if ((base.text == "math" || base.text == "torch") && name == "inf")
        return opaque_value("inf", line);
      if (base.text.starts_with('.')) break;
      method.text = base.text + "." + name;
      return method;
    }
    case Value::Kind::object: {
      const auto found = base.object->attributes.find(name);
      if (found != base.object->attributes.end()) {
        if (found->second.kind == Value::Kind::poison) throw *found->second.why;
        return found->second;
      }
      if (base.object->type == "extension") {
        method.kind = Value::Kind::extern_;
        method.text = name;
        method.object = base.object;
        return method;
      }
      if (base.object->declared && this->method(*base.object->declared, name)) {
        method.kind = Value::Kind::function;
        method.function = std::make_shared<Function>(*this->method(*base.object->declared, name));
        method.items = {base};
        return method;
      }
      if (name == "training") return number_value(truth(true));
      if (name == "running_mean" || name == "running_var") {
        stop(ImportObstacle::parameters, line, "the task has no " + name);
      }
      method.text = "." + name;
      method.items = {base};
      return method;
    }
    case Value::Kind::type:
      if (const Function* f = base.type ? this->method(*base.type, name) : nullptr) {
        method.kind = Value::Kind::function;
        method.function = std::make_shared<Function>(*f);
        return method;
      }
      if (name == "apply") {  // of a torch.autograd.Function
        method.kind = Value::Kind::type;
        method.type = base.type;
        method.text = "apply";
        return method;
      }
      return opaque_value(base.text + "." + name, line);
    case Value::Kind::tensor: {
      if (name == "shape") {
        std::vector<Value> items;
        for (const Number& n : base.view.shape) items.push_back(number_value(n));
        return list_value(std::move(items));
      }
      if (name == "ndim")
        return number_value(integer(static_cast<int64_t>(base.view.shape.size())));
      if (name == "is_cuda") return number_value(truth(true));
      if (name == "requires_grad") return number_value(truth(false));
      if (name == "data") return base;
      if (name == "T" || name == "mT") {
        std::vector<Value> args = {base};
        Named none;
        if (const auto v = shape_call("t", args, none, line)) return *v;
        stop(ImportObstacle::torch_operator, line, "." + name + " of more than two dimensions");
      }
      if (name == "dtype") {
        const DType dtype = plan_.buffers[static_cast<size_t>(base.view.buffer)].dtype;
        return opaque_value(
            dtype == DType::f32 ? "torch.float32" : "torch." + std::string(name_of(dtype)), line);
      }
      if (name == "device") return opaque_value("a device", line);
      method.text = "." + name;
      method.items = {base};
      return method;
    }
    case Value::Kind::dim3:
      if (name == "x" || name == "y" || name == "z")
        return base.items[name == "x" ? 0 : name == "y" ? 1 : 2];
      break;
    case Value::Kind::opaque:
      if (name == "type" || name == "index") return opaque_value(base.text + "." + name, line);
      if (name == "multiProcessorCount") {
        plan_.note(line, "the number of multiprocessors is written as 132");
        return number_value(integer(132));
      }
      if (name == "maxThreadsPerBlock") return number_value(integer(1024));
      return opaque_value(base.text + "." + name, line);
    default:
      break;
  }
  method.text = "." + name;
  method.items = {base};
  return method;
}

Value Evaluator::evaluate_number(const Expr& e) {
  std::string t = e.text;
  if (t.size() > 2 && t[0] == '0' && (t[1] | 32) == 'x') {
    int64_t v = 0;
    std::from_chars(t.data() + 2, t.data() + t.size(), v, 16);
    return number_value(integer(v));
  }
  const bool real = t.find_first_of(".eE") != std::string::npos || (cpp_ && (t.back() | 32) == 'f');
  double v = 0;
  const auto read = std::from_chars(t.data(), t.data() + t.size(), v);
  if (read.ec != std::errc() || !std::isfinite(v)) {
    stop(ImportObstacle::syntax, e.line, "the number " + quote(t));
  }
  if (real) return number_value(real_number(v));
  if (std::abs(v) >= 9007199254740992.0)
    stop(ImportObstacle::limits, e.line, "a number that is not below 2^53");
  return number_value(integer(static_cast<int64_t>(v)));
}

Value Evaluator::evaluate(const Expr& e, NameScope& scope) {
  count(e.line);
  if (++depth_ > 4 * kDeepest) stop(ImportObstacle::limits, e.line, "too deep to follow");
  struct Leave {
    int& depth;
    ~Leave() { --depth; }
  } leave{depth_};
  switch (e.kind) {
    case Expr::Kind::number:
      return evaluate_number(e);
    case Expr::Kind::text: {
      if (!e.template_args.empty() && !cpp_) {
        Value v;
        v.kind = Value::Kind::poison;
        v.why = std::make_shared<NotFollowed>(
            NotFollowed{ImportObstacle::python, e.line, "a string with values in it (f\"...\")"});
        return v;
      }
      Value v = text_value(e.text, e.line);
      v.line = e.line;
      return v;
    }
    case Expr::Kind::name: {
      Value v = lookup(e.text, e.line, scope);
      count(e.line, v.weight / 256);  // what the copy costs
      return v;
    }
    case Expr::Kind::unary: {
      const Value v = evaluate(*e.args[0], scope);
      if (e.text == "not") {
        if (v.kind == Value::Kind::number) {
          return number_value(combine("==", v.number, integer(0), cpp_, e.line));
        }
        return number_value(truth(!decide(v, e.line)));
      }
      if (e.text == "-") {
        if (v.kind == Value::Kind::tensor) return emit("neg", {v}, {}, e.line);
        if (v.kind == Value::Kind::opaque) return v;
        const Number n = number(v, "what a sign stands before", e.line);
        if (n.same() && n.sym && n.sym->op.empty()) {
          return number_value(n.real ? real_number(-n.at[0])
                                     : integer(static_cast<int64_t>(-n.at[0])));
        }
        return number_value(negated(n));
      }
      if (e.text == "~") stop(ImportObstacle::cpp, e.line, "the operator '~'");
      return v;  // +x, and *x, &x of what is no pointer
    }
    case Expr::Kind::binary:
      return evaluate_binary(e, scope);
    case Expr::Kind::assign:
      return evaluate_assign(e, scope);
    case Expr::Kind::call:
      return cpp_ ? cpp_call(e, scope) : call(e, scope);
    case Expr::Kind::launch:
      return launch(e, scope);
    case Expr::Kind::member:
      return member(evaluate(*e.args[0], scope), e.text, e.line);
    case Expr::Kind::index:
      return evaluate_index(e, scope);
    case Expr::Kind::list: {
      std::vector<Value> items;
      for (const ExprPtr& item : e.args) {
        if (item->kind == Expr::Kind::star) {
          const Value many = evaluate(*item->args[0], scope);
          if (many.kind != Value::Kind::list)
            stop(ImportObstacle::python, e.line, "what a * unpacks");
          items.insert(items.end(), many.items.begin(), many.items.end());
        } else {
          items.push_back(evaluate(*item, scope));
        }
      }
      return list_value(std::move(items), e.line);
    }
    case Expr::Kind::conditional:
      return evaluate(*e.args[decide(evaluate(*e.args[0], scope), e.line) ? 1 : 2], scope);
    case Expr::Kind::cast:
      return convert(evaluate(*e.args[0], scope), spelled(e.text, scope, e.line), e.line);
    case Expr::Kind::lambda: {
      Value v;
      v.kind = Value::Kind::poison;
      v.why = std::make_shared<NotFollowed>(
          NotFollowed{cpp_ ? ImportObstacle::cpp : ImportObstacle::python, e.line,
                      (e.text.empty() ? "a lambda" : e.text) + std::string(" is not followed")});
      return v;
    }
    case Expr::Kind::slice:
    case Expr::Kind::star:
      stop(ImportObstacle::python, e.line, "a form that is not followed");
  }
  return {};
}

Value Evaluator::evaluate_index(const Expr& e, NameScope& scope) {
  const Value base = evaluate(*e.args[0], scope);
  if (base.kind == Value::Kind::poison) throw *base.why;
  if (base.kind == Value::Kind::tensor) stop(ImportObstacle::layout, e.line, "a part of a tensor");
  if (base.kind == Value::Kind::object && base.object->attributes.contains("0")) {
    const int64_t at = plain(evaluate(*e.args[1], scope), "an index", e.line);
    return member(base, std::to_string(at), e.line);
  }
  if (base.kind != Value::Kind::list || e.args.size() != 2) {
    if (base.kind == Value::Kind::opaque) return opaque_value(base.text + "[]", e.line);
    stop(cpp_ ? ImportObstacle::cpp : ImportObstacle::python, e.line,
         "an index into what was not followed");
  }
  const auto size = static_cast<int64_t>(base.items.size());
  if (e.args[1]->kind == Expr::Kind::slice) {
    const auto& parts = e.args[1]->args;
    if (parts[2]) stop(ImportObstacle::python, e.line, "a slice with a step");
    int64_t from = parts[0] ? plain(evaluate(*parts[0], scope), "an index", e.line) : 0;
    int64_t to = parts[1] ? plain(evaluate(*parts[1], scope), "an index", e.line) : size;
    from = std::clamp<int64_t>(from < 0 ? from + size : from, 0, size);
    to = std::clamp<int64_t>(to < 0 ? to + size : to, from, size);
    return list_value({base.items.begin() + from, base.items.begin() + to});
  }
  int64_t at = plain(evaluate(*e.args[1], scope), "an index", e.line);
  if (at < 0 && !cpp_) at += size;
  if (at < 0 || at >= size) {
    stop(cpp_ ? ImportObstacle::cpp : ImportObstacle::python, e.line, "an index out of range");
  }
  return base.items[static_cast<size_t>(at)];
}

Value Evaluator::evaluate_assign(const Expr& e, NameScope& scope) {
  if (e.text == "++" || e.text == "--") {
    const Value v =
        binary(e.text.substr(0, 1), evaluate(*e.args[0], scope), number_value(integer(1)), e.line);
    assign(*e.args[0], v, scope);
    return v;
  }
  Value v = evaluate(*e.args[1], scope);
  if (e.text != "=") {
    const Value before = evaluate(*e.args[0], scope);
    v = binary(e.text.substr(0, e.text.size() - 1), before, v, e.line);
    if (before.kind == Value::Kind::number && v.kind == Value::Kind::number &&
        !before.number.real) {
      v = number_value(as_integer(v.number));
    }
  }
  assign(*e.args[0], v, scope);
  return v;
}

Value Evaluator::evaluate_binary(const Expr& e, NameScope& scope) {
  if (e.text == "and" || e.text == "or") {
    const Value left = evaluate(*e.args[0], scope);
    if (decide(left, e.line) == (e.text == "or")) return left;
    return evaluate(*e.args[1], scope);
  }
  const Value a = evaluate(*e.args[0], scope);
  const Value b = evaluate(*e.args[1], scope);
  return binary(e.text, a, b, e.line);
}

Value Evaluator::binary(const std::string& op, const Value& a, const Value& b, int line) {
  using Kind = Value::Kind;
  if (a.kind == Kind::poison) throw *a.why;
  if (b.kind == Kind::poison) throw *b.why;
  if (op == "is" || op == "is not") {
    const bool same = a.kind == b.kind && (a.kind != Kind::number || a.number.at == b.number.at);
    return number_value(truth(same == (op == "is")));
  }
  if (op == "==" || op == "!=") {
    if (a.kind == Kind::list && b.kind == Kind::list) {
      Number all = truth(a.items.size() == b.items.size());
      for (size_t i = 0; i < std::min(a.items.size(), b.items.size()); ++i) {
        const Number same =
            number(binary("==", a.items[i], b.items[i], line), "a comparison", line);
        all = combine("*", all, same, cpp_, line);
      }
      return number_value(op == "==" ? all : combine("==", all, integer(0), cpp_, line));
    }
    if (a.kind != Kind::number || b.kind != Kind::number) {
      const bool comparable = (a.kind == Kind::text || a.kind == Kind::opaque ||
                               a.kind == Kind::builtin || a.kind == Kind::none) &&
                              (b.kind == Kind::text || b.kind == Kind::opaque ||
                               b.kind == Kind::builtin || b.kind == Kind::none);
      if (comparable)
        return number_value(
            truth((a.text == b.text && (a.kind == Kind::none) == (b.kind == Kind::none)) ==
                  (op == "==")));
      if (a.kind == Kind::none || b.kind == Kind::none) {
        return number_value(truth((a.kind == b.kind) == (op == "==")));
      }
    }
  }
  if (op == "in" || op == "not in") {
    if (b.kind != Kind::list) stop(ImportObstacle::python, line, "'in' what was not followed");
    bool any = false;
    for (const Value& item : b.items) {
      any = any || decide(binary("==", a, item, line), line);
    }
    return number_value(truth(any == (op == "in")));
  }
  if (a.kind == Kind::text && b.kind == Kind::text && op == "+") {
    Value v = text_value(a.text + b.text, line);
    v.line = a.line;
    return v;
  }
  if (a.kind == Kind::list && b.kind == Kind::list && op == "+") {
    std::vector<Value> items = a.items;
    items.insert(items.end(), b.items.begin(), b.items.end());
    return list_value(std::move(items), line);
  }
  if (a.kind == Kind::list && b.kind == Kind::number && op == "*") {
    const int64_t times = std::max<int64_t>(plain(b, "a count", line), 0);
    if (times > 4096) stop(ImportObstacle::limits, line, "a list repeated more than 4096 times");
    std::vector<Value> items;
    for (int64_t i = 0; i < times; ++i) items.insert(items.end(), a.items.begin(), a.items.end());
    return list_value(std::move(items), line);
  }
  if (a.kind == Kind::tensor || b.kind == Kind::tensor) {
    if (cpp_) stop(ImportObstacle::library_call, line, "'" + op + "' of tensors in host code");
    static const std::map<std::string, std::string> kNames = {
        {"+", "add"}, {"-", "sub"}, {"*", "mul"}, {"/", "div"}, {"@", "matmul"}, {"**", "pow"}};
    const auto name = kNames.find(op);
    if (name == kNames.end()) stop(ImportObstacle::torch_operator, line, "'" + op + "' of tensors");
    std::vector<Value> args = {a, b};
    Named none;
    if (const auto v = operator_call(name->second, args, none, line)) return *v;
    stop(ImportObstacle::torch_operator, line, "'" + op + "' of these operands");
  }
  if (a.kind == Kind::pointer && b.kind == Kind::number) {
    if (b.number.same() && b.number.at[0] == 0) return a;
    stop(ImportObstacle::kernel_parameter, line, "a pointer into the middle of a tensor");
  }
  return number_value(combine(op, number(a, "what stands before '" + op + "'", line),
                              number(b, "what stands behind '" + op + "'", line), cpp_, line));
}

}  // namespace kbench::importing
