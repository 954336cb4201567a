// Calls of the functions and classes of the file.
#include <algorithm>
#include <utility>

#include "kbench/error.h"
#include "libkbench/import/evaluator.h"

namespace kbench::importing {
namespace {

constexpr int kDeepestCalls = 24;

}  // namespace

const Value* value_of(const Named& all, const std::string& name) {
  for (const auto& [key, value] : all) {
    if (key == name) return &value;
  }
  return nullptr;
}

const Value* argument_of(const std::vector<Value>& args, const Named& named, size_t position,
                         std::initializer_list<const char*> names) {
  for (const char* name : names) {
    if (const Value* value = value_of(named, name)) return value;
  }
  return position < args.size() ? &args[position] : nullptr;
}

const Function* Evaluator::method(const Stmt& type, const std::string& name) const {
  for (const auto& s : type.body) {
    if (s->kind == Stmt::Kind::function && s->name == name) return s->function.get();
  }
  return nullptr;
}

Value Evaluator::call(const Expr& e, NameScope& scope) {
  Value callee = evaluate(*e.args[0], scope);
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
  const bool of_value = callee.kind == Value::Kind::builtin && callee.items.size() == 1 &&
                        e.args[0]->kind == Expr::Kind::member;
  if (!of_value) return call_value(callee, std::move(args), std::move(named), e.line);
  const Expr& receiver = *e.args[0]->args[0];
  if (callee.items[0].kind == Value::Kind::list) {
    const std::string name = callee.text.substr(1);
    callee = Value();  // so that the list is held by the file's names alone
    if (change_list(receiver, name, std::move(args), scope, e.line)) return {};
    stop(ImportObstacle::python, e.line, "the list's method " + quote(name));
  }
  const Value result = call_value(callee, std::move(args), std::move(named), e.line);
  // x.relu_() changes what x is, whether its result is used or not.
  const Value& self = callee.items[0];
  if (forward_ && self.kind == Value::Kind::tensor && result.kind == Value::Kind::tensor &&
      callee.text.ends_with('_') && !callee.text.ends_with("__") &&
      self.view.buffer != result.view.buffer) {
    changed_in_place(self, result);
    if (receiver.kind == Expr::Kind::name || receiver.kind == Expr::Kind::member)
      assign(receiver, result, scope);
  }
  return result;
}

/// append, extend and insert of a Python list, which has to have one name only: a second name would
/// see the change, and values here are copies. False for other methods.
bool Evaluator::change_list(const Expr& receiver, const std::string& name, std::vector<Value> args,
                            NameScope& scope, int line) {
  const size_t takes = name == "insert" ? 2 : 1;
  if (name != "append" && name != "extend" && name != "insert") return false;
  if (args.size() != takes) stop(ImportObstacle::python, line, "the arguments of " + quote(name));
  std::vector<Value> items;
  {
    const Value list = evaluate(receiver, scope);
    if (list.identity.use_count() > 2) {  // this copy and the one that has the name
      stop(ImportObstacle::python, line, "a change of a list that has a second name");
    }
    items = list.items;
  }
  if (name == "append") {
    items.push_back(std::move(args[0]));
  } else if (name == "extend") {
    if (args[0].kind != Value::Kind::list) {
      stop(ImportObstacle::python, line, "what a list is extended by");
    }
    items.insert(items.end(), args[0].items.begin(), args[0].items.end());
  } else {
    const auto size = static_cast<int64_t>(items.size());
    const int64_t at = plain(args[0], "an index", line);
    items.insert(items.begin() + std::clamp<int64_t>(at < 0 ? at + size : at, 0, size),
                 std::move(args[1]));
  }
  count(line, items.size() / 256);
  assign(receiver, list_value(std::move(items), line), scope);
  return true;
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
                               NameScope& outer, int line) {
  count(line);
  if (depth_ > kDeepestCalls * 12) stop(ImportObstacle::limits, line, "calls that do not end");
  NameScope scope = NameScope::inside(outer);
  for (const std::string& t : f.template_types) scope.types.emplace(t, "float");
  size_t next = 0;
  for (const Parameter& p : f.parameters) {
    if (p.rest) {
      std::vector<Value> rest;
      if (next < args.size())
        rest.assign(args.begin() + static_cast<std::ptrdiff_t>(next), args.end());
      next = args.size();
      scope.names[p.name] = list_value(std::move(rest), line);
      continue;
    }
    Value v;
    if (next < args.size()) {
      v = args[next++];
    } else if (const Value* given = value_of(named, p.name)) {
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
  NameScope scope;
  scope.outer = &globals_;
  scope.names[init->parameters[0].name] = v;
  size_t next = 0;
  for (size_t i = 1; i < init->parameters.size(); ++i) {
    const Parameter& p = init->parameters[i];
    Value given;
    if (p.rest) {
      given = list_value({}, line);
    } else if (next < args.size()) {
      given = args[next++];
    } else if (const Value* by_name = value_of(named, p.name)) {
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

}  // namespace kbench::importing
