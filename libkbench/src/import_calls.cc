// Calls, of the file's functions, classes and extensions.
#include <algorithm>
#include <cmath>

#include "kbench/text.h"
#include "libkbench/src/import_evaluator.h"

namespace kbench::importing {
namespace {

constexpr int kDeepestCalls = 24;

const Value* named(const Named& all, const std::string& name) {
  for (const auto& [key, value] : all) {
    if (key == name) return &value;
  }
  return nullptr;
}

}  // namespace

const Function* Evaluator::method(const Stmt& type, const std::string& name) const {
  for (const auto& s : type.body) {
    if (s->kind == Stmt::Kind::function && s->name == name) return s->function.get();
  }
  return nullptr;
}

Value Evaluator::call(const Expr& e, Scope& scope) {
  const Value callee = evaluate(*e.args[0], scope);
  std::vector<Value> args;
  Named named;
  // What a call gets matters once it is used: torch.empty(.., device=x.device) needs no device.
  const auto argument = [&](const Expr& a) {
    try {
      return evaluate(a, scope);
    } catch (const NotFollowed& why) {
      if (why.obstacle == ImportObstacle::limits) throw;
      Value poison;
      poison.kind = Value::Kind::poison;
      poison.why = std::make_shared<NotFollowed>(why);
      return poison;
    }
  };
  for (size_t i = 1; i < e.args.size(); ++i) {
    if (e.args[i]->kind == Expr::Kind::star) {
      const Value many = evaluate(*e.args[i]->args[0], scope);
      if (many.kind != Value::Kind::list) stop(ImportObstacle::python, e.line, "what a * unpacks");
      args.insert(args.end(), many.items.begin(), many.items.end());
    } else {
      args.push_back(argument(*e.args[i]));
    }
  }
  for (const auto& [name, value] : e.keywords) named.emplace_back(name, argument(*value));
  return call_value(callee, std::move(args), std::move(named), e.line);
}

Value Evaluator::call_value(const Value& callee, std::vector<Value> args, Named named, int line) {
  switch (callee.kind) {
    case Value::Kind::poison:
      throw *callee.why;
    case Value::Kind::function:
      args.insert(args.begin(), callee.items.begin(), callee.items.end());
      return call_function(*callee.function, std::move(args), std::move(named), globals_, line);
    case Value::Kind::extern_:
      if (!named.empty()) stop(ImportObstacle::python, line, "an extension called with names");
      return call_extension(*callee.object, callee.text, std::move(args), line);
    case Value::Kind::type:
      if (callee.text == "apply") {
        args.insert(args.begin(), opaque_value("a context", line));
        const Function* f = method(*callee.type, "forward");
        if (!f) stop(ImportObstacle::python, line, "a class without forward");
        return call_function(*f, std::move(args), std::move(named), globals_, line);
      }
      return instantiate(callee.type, std::move(args), std::move(named), line);
    case Value::Kind::object:
      if (callee.object->declared) {
        const Function* f = method(*callee.object->declared, "forward");
        if (!f) stop(ImportObstacle::python, line, "a class without forward");
        args.insert(args.begin(), callee);
        return call_function(*f, std::move(args), std::move(named), globals_, line);
      }
      if (callee.object->type == "extension")
        stop(ImportObstacle::python, line, "an extension that is called");
      return apply_layer(*callee.object, std::move(args), line);
    case Value::Kind::builtin:
      args.insert(args.begin(), callee.items.begin(), callee.items.end());
      return call_builtin(callee.text, args, named, line);
    case Value::Kind::opaque:
      for (const Value& v : args) {
        if (v.kind == Value::Kind::tensor && !callee.text.starts_with("a context")) {
          stop(ImportObstacle::python, line, quote(callee.text) + " is not followed");
        }
      }
      return opaque_value(callee.text + "()", line);
    default:
      stop(ImportObstacle::python, line, "a call of what was not followed");
  }
}

Value Evaluator::call_function(const Function& f, std::vector<Value> args, Named named,
                               Scope& outer, int line) {
  count(line);
  if (depth_ > kDeepestCalls * 12) stop(ImportObstacle::limits, line, "calls that do not end");
  Scope scope;
  scope.outer = &outer;
  scope.extension = outer.extension;
  scope.source = outer.source;
  scope.types = outer.types;
  for (const std::string& t : f.template_types) scope.types.emplace(t, "float");
  size_t next = 0;
  for (const Parameter& p : f.parameters) {
    if (p.rest) {
      Value rest = list_value({});
      if (next < args.size())
        rest.items.assign(args.begin() + static_cast<std::ptrdiff_t>(next), args.end());
      next = args.size();
      scope.names[p.name] = std::move(rest);
      continue;
    }
    Value v;
    if (next < args.size()) {
      v = args[next++];
    } else if (const Value* given = importing::named(named, p.name)) {
      v = *given;
    } else if (p.fallback) {
      v = evaluate(*p.fallback, scope);
    } else {
      stop(f.cpp ? ImportObstacle::cpp : ImportObstacle::python, line,
           quote(f.name) + " is called without " + quote(p.name));
    }
    scope.names[p.name] = f.cpp ? convert(v, spelled(p.type, scope, line), line) : v;
  }
  if (next < args.size()) {
    stop(f.cpp ? ImportObstacle::cpp : ImportObstacle::python, line,
         quote(f.name) + " is called with " + std::to_string(args.size()) +
             " arguments and takes " + std::to_string(f.parameters.size()));
  }
  const bool before = std::exchange(cpp_, f.cpp);
  struct Restore {
    bool& cpp;
    bool value;
    int& depth;
    ~Restore() {
      cpp = value;
      depth -= 12;
    }
  } restore{cpp_, before, depth_};
  depth_ += 12;
  result_ = Value();
  run_block(f.body, scope);
  return std::exchange(result_, Value());
}

Value Evaluator::call_extension(const Object& extension, const std::string& name,
                                std::vector<Value> args, int line) {
  std::string wanted = name;
  for (const auto& source : extension.sources) {
    const auto bound = source->bound.find(name);
    if (bound != source->bound.end()) wanted = bound->second;
  }
  const NotFollowed* unread = nullptr;
  for (const auto& source : extension.sources) {
    const auto found = source->functions.find(wanted);
    if (found == source->functions.end()) {
      const auto why = source->unread.find(wanted);
      if (why != source->unread.end()) unread = &why->second;
      continue;
    }
    for (const auto& f : found->second) {
      if (args.size() > f->parameters.size() && f != found->second.back()) continue;
      Scope scope;
      scope.extension = &extension;
      scope.source = source.get();
      const bool before = std::exchange(cpp_, true);
      struct Restore {
        bool& cpp;
        bool value;
        ~Restore() { cpp = value; }
      } restore{cpp_, before};
      for (const auto& s : source->constants) {
        try {
          run_statement(*s, scope);
        } catch (const NotFollowed&) {  // a constant that nobody may ask for
        }
      }
      return call_function(*f, std::move(args), {}, scope, line);
    }
  }
  if (unread) throw *unread;
  stop(ImportObstacle::cpp, line, "the extension has no function " + quote(name));
}

Value Evaluator::load_inline(const std::vector<Value>& args, const Named& named, int line) {
  Value v;
  v.kind = Value::Kind::object;
  v.object = std::make_shared<Object>();
  v.object->type = "extension";
  const auto take = [&](const char* name, size_t position, bool device) {
    const Value* given = importing::named(named, name);
    if (!given && args.size() > position) given = &args[position];
    if (!given) return;
    const std::vector<Value> texts =
        given->kind == Value::Kind::list ? given->items : std::vector<Value>{*given};
    for (const Value& t : texts) {
      if (t.kind == Value::Kind::poison) throw *t.why;
      if (t.kind == Value::Kind::none) continue;
      if (t.kind != Value::Kind::text) {
        stop(ImportObstacle::python, line, std::string(name) + " is no string that was followed");
      }
      v.object->sources.push_back(
          std::make_shared<CudaSource>(take_apart(t.text, t.line > 0 ? t.line : line, device)));
    }
  };
  take("cuda_sources", 2, true);
  take("cpp_sources", 1, false);
  if (const Value* flags = importing::named(named, "extra_cuda_cflags")) {
    for (const Value& flag : flags->items) {
      v.object->fast_math =
          v.object->fast_math || flag.text.find("use_fast_math") != std::string::npos;
    }
  }
  if (v.object->sources.empty())
    stop(ImportObstacle::no_cuda, line, "load_inline without a source");
  return v;
}

Value Evaluator::instantiate(const std::shared_ptr<Stmt>& type, std::vector<Value> args,
                             Named named, int line) {
  Value v;
  v.kind = Value::Kind::object;
  v.object = std::make_shared<Object>();
  v.object->type = type->name;
  v.object->declared = type;
  const Function* init = method(*type, "__init__");
  if (!init) return v;
  if (init->parameters.empty()) stop(ImportObstacle::python, line, "an __init__ without self");
  Scope scope;
  scope.outer = &globals_;
  scope.names[init->parameters[0].name] = v;
  size_t next = 0;
  for (size_t i = 1; i < init->parameters.size(); ++i) {
    const Parameter& p = init->parameters[i];
    Value given;
    if (p.rest) {
      given = list_value({});
    } else if (next < args.size()) {
      given = args[next++];
    } else if (const Value* by_name = importing::named(named, p.name)) {
      given = *by_name;
    } else if (p.fallback) {
      given = evaluate(*p.fallback, scope);
    } else {
      given.kind = Value::Kind::poison;
      given.why = std::make_shared<NotFollowed>(
          NotFollowed{ImportObstacle::python, init->line,
                      "nothing says what " + quote(p.name) + " of __init__ is"});
    }
    scope.names[p.name] = std::move(given);
  }
  // As at the top level: what is not followed matters once it is used.
  if (depth_ > kDeepestCalls * 12) stop(ImportObstacle::limits, line, "calls that do not end");
  depth_ += 12;
  for (const auto& s : init->body) run_module_statement(*s, scope);
  depth_ -= 12;
  return v;
}

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
      if (auto v = tensor_call(name, args, named, true, line)) return *v;
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
        return v;
      }
      stop(ImportObstacle::python, line, "the string's method " + quote(name));
    }
    if (self.kind == Value::Kind::object) {
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
    Value v = list_value({});
    if (by == 0) stop(ImportObstacle::python, line, "a range without a step");
    for (int64_t i = from; by > 0 ? i < to : i > to; i += by) {
      if (v.items.size() > 4096)
        stop(ImportObstacle::limits, line, "a loop of more than 4096 rounds");
      v.items.push_back(number_value(integer(i)));
    }
    if (sized) v.text = "sized";
    return v;
  }
  if ((path == "enumerate" || path == "zip") && !args.empty()) {
    Value v = list_value({});
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
      v.items.push_back(list_value(std::move(tuple)));
    }
    return v;
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
      if (auto v = tensor_call(name, args, named, false, line)) return *v;
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
