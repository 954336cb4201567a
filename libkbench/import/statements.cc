#include "libkbench/import/evaluator.h"

namespace kbench::importing {
namespace {

constexpr int kMostRounds = 4096;

}  // namespace

Evaluator::Flow Evaluator::run_block(const Block& block, NameScope& scope) {
  for (const auto& s : block) {
    const Flow flow = run_statement(*s, scope);
    if (flow != Flow::on) return flow;
  }
  return Flow::on;
}

Evaluator::Flow Evaluator::run_statement(const Stmt& s, NameScope& scope) {
  count(s.line);
  switch (s.kind) {
    case Stmt::Kind::nothing:
      return Flow::on;
    case Stmt::Kind::expression:
      if (s.value->kind != Expr::Kind::text) evaluate(*s.value, scope);
      return Flow::on;
    case Stmt::Kind::assign: {
      if (s.text == "import") {
        Value v;
        v.kind = Value::Kind::builtin;
        v.text = s.value->text;
        scope.names[s.targets[0]->text] = std::move(v);
        return Flow::on;
      }
      Value value = evaluate(*s.value, scope);
      for (const ExprPtr& target : s.targets) {
        if (s.text != "=") {
          const std::string op = s.text.substr(0, s.text.size() - 1);
          value = binary(op, evaluate(*target, scope), value, s.line);
        }
        assign(*target, value, scope);
      }
      return Flow::on;
    }
    case Stmt::Kind::declare:
      declare(s, scope);
      return Flow::on;
    case Stmt::Kind::branch:
      return run_block(decide(evaluate(*s.value, scope), s.line) ? s.body : s.other, scope);
    case Stmt::Kind::each:
      return run_each(s, scope);
    case Stmt::Kind::loop:
    case Stmt::Kind::repeat:
      return run_loop(s, scope);
    case Stmt::Kind::result:
      result_ = s.value ? evaluate(*s.value, scope) : Value();
      return Flow::result;
    case Stmt::Kind::leave:
      return Flow::leave;
    case Stmt::Kind::next:
      return Flow::next;
    case Stmt::Kind::block:
      return run_block(s.body, scope);
    case Stmt::Kind::function: {
      Value v;
      v.kind = Value::Kind::function;
      v.function = s.function;
      scope.names[s.name] = std::move(v);
      return Flow::on;
    }
    case Stmt::Kind::type:
      return Flow::on;  // collected before
    case Stmt::Kind::unknown:
      stop(cpp_ ? ImportObstacle::cpp : ImportObstacle::python, s.line,
           "at these sizes the file comes to a '" + s.text + "'");
  }
  return Flow::on;
}

Evaluator::Flow Evaluator::run_loop(const Stmt& s, NameScope& outer) {
  NameScope scope = NameScope::inside(outer);
  NameScope& inner = cpp_ ? scope : outer;
  if (s.first) run_block(s.first->body, inner);
  for (int round = 0;; ++round) {
    if (round > kMostRounds)
      stop(ImportObstacle::limits, s.line, "a loop of more than 4096 rounds");
    bool sized = false;
    if (s.value) {
      const Value condition = evaluate(*s.value, inner);
      sized = condition.kind == Value::Kind::number &&
              !(condition.number.sym && condition.number.sym->op.empty());
      if (!decide(condition, s.line)) return Flow::on;
    }
    sized_loops_ += sized;
    const Flow flow = run_block(s.body, inner);
    sized_loops_ -= sized;
    if (flow == Flow::result) return flow;
    if (flow == Flow::leave) return Flow::on;
    if (s.last) evaluate(*s.last, inner);
  }
}

Evaluator::Flow Evaluator::run_each(const Stmt& s, NameScope& scope) {
  Value over = evaluate(*s.value, scope);
  if (over.kind == Value::Kind::poison) throw *over.why;
  if (over.kind == Value::Kind::object && over.object->type == "nn.ModuleList") {
    std::vector<Value> items;
    for (const std::string& name : over.object->order)
      items.push_back(over.object->attributes[name]);
    over = list_value(std::move(items));
  }
  if (over.kind != Value::Kind::list)
    stop(ImportObstacle::python, s.line, "a loop over what was not followed");
  const bool sized = over.text == "sized";
  for (const Value& item : over.items) {
    assign(*s.targets[0], item, scope);
    sized_loops_ += sized;
    const Flow flow = run_block(s.body, scope);
    sized_loops_ -= sized;
    if (flow == Flow::result) return flow;
    if (flow == Flow::leave) break;
  }
  return Flow::on;
}

/// At the top level what is not followed matters once it is used.
void Evaluator::run_module_statement(const Stmt& s, NameScope& scope) {
  try {
    run_statement(s, scope);
  } catch (const NotFollowed& why) {
    Value poison;
    poison.kind = Value::Kind::poison;
    poison.why = std::make_shared<NotFollowed>(why);
    poison_targets(s, poison, scope);
  }
}

/// Marks a name, an attribute or a list that could not be followed as unknown from here on.
void Evaluator::poison_target(const Expr& target, const Value& poison, NameScope& scope) {
  switch (target.kind) {
    case Expr::Kind::name:
      scope.names[target.text] = poison;
      return;
    case Expr::Kind::member:
      try {
        const Value base = evaluate(*target.args[0], scope);
        if (base.object) base.object->set(target.text, poison);
      } catch (const NotFollowed&) {  // of nothing that is known
      }
      return;
    case Expr::Kind::list:
      for (const ExprPtr& item : target.args) {
        if (item) poison_target(*item, poison, scope);
      }
      return;
    case Expr::Kind::index:
      if (target.args[0]) poison_target(*target.args[0], poison, scope);
      return;
    default:
      return;
  }
}

/// Marks everything as unknown that a statement may have set which could not be followed to its
/// end.
void Evaluator::poison_targets(const Stmt& s, const Value& poison, NameScope& scope) {
  for (const ExprPtr& target : s.targets) poison_target(*target, poison, scope);
  for (const auto& inner : s.body) poison_targets(*inner, poison, scope);
  for (const auto& inner : s.other) poison_targets(*inner, poison, scope);
  const bool calls_method = s.kind == Stmt::Kind::expression && s.value &&
                            s.value->kind == Expr::Kind::call &&
                            s.value->args[0]->kind == Expr::Kind::member;
  if (!calls_method) return;
  const Expr& receiver = *s.value->args[0]->args[0];
  Value self;
  try {
    self = evaluate(receiver, scope);
  } catch (const NotFollowed&) {
    return;
  }
  if (self.kind == Value::Kind::list) poison_target(receiver, poison, scope);
  if (self.kind != Value::Kind::object) return;
  if (self.object->type == "nn.Sequential" || self.object->type == "nn.ModuleList") {
    poison_target(receiver, poison, scope);
  } else if (const Function* f = self.object->declared
                                     ? method(*self.object->declared, s.value->args[0]->text)
                                     : nullptr;
             f && !f->parameters.empty() && nested_poisons_ < 8) {
    // self.build(): what the method sets in self.
    NameScope inner;
    inner.outer = &globals_;
    inner.names[f->parameters[0].name] = self;
    ++nested_poisons_;
    for (const auto& statement : f->body) poison_targets(*statement, poison, inner);
    --nested_poisons_;
  }
}

void Evaluator::assign(const Expr& target, Value value, NameScope& scope) {
  switch (target.kind) {
    case Expr::Kind::name: {
      if (cpp_) {
        if (Value* known = find(target.text, scope)) {
          *known = std::move(value);
          return;
        }
      }
      // A size by the name of the task's variable is that variable.
      if (!cpp_ && &scope == &globals_ && value.kind != Value::Kind::builtin) {
        const auto* variable = worlds_.variable(target.text);
        if (variable && value.kind == Value::Kind::number && !worlds_.is_list(target.text)) {
          value = number_value((*variable)[0]);
        } else if (variable && value.kind == Value::Kind::list &&
                   value.items.size() == variable->size()) {
          for (size_t i = 0; i < variable->size(); ++i)
            value.items[i] = number_value((*variable)[i]);
        }
      }
      scope.names[target.text] = std::move(value);
      return;
    }
    case Expr::Kind::list: {
      if (value.kind == Value::Kind::poison) throw *value.why;
      if (value.kind != Value::Kind::list || value.items.size() != target.args.size()) {
        stop(ImportObstacle::python, target.line, "an assignment to several names");
      }
      for (size_t i = 0; i < target.args.size(); ++i)
        assign(*target.args[i], value.items[i], scope);
      return;
    }
    case Expr::Kind::member: {
      const Value base = evaluate(*target.args[0], scope);
      if (base.kind == Value::Kind::object)
        base.object->set(target.text, std::move(value));
      else if (base.kind == Value::Kind::dim3 && target.args[0]->kind == Expr::Kind::name) {
        const size_t i = target.text == "x" ? 0 : target.text == "y" ? 1 : 2;
        if (Value* known = find(target.args[0]->text, scope)) known->items[i] = std::move(value);
      } else if (base.kind == Value::Kind::tensor) {
        stop(ImportObstacle::python, target.line,
             "an assignment to a tensor's " + quote(target.text));
      }
      return;
    }
    case Expr::Kind::index: {
      const Value base = evaluate(*target.args[0], scope);
      if (base.kind == Value::Kind::list && target.args[0]->kind == Expr::Kind::name &&
          target.args[1]) {
        const int64_t at = plain(evaluate(*target.args[1], scope), "an index", target.line);
        Value* known = find(target.args[0]->text, scope);
        const auto size = static_cast<int64_t>(base.items.size());
        const int64_t place = at < 0 ? at + size : at;
        if (known && place >= 0 && place < size) {
          known->items[static_cast<size_t>(place)] = std::move(value);
          return;
        }
      }
      if (base.kind == Value::Kind::opaque) return;
      stop(ImportObstacle::layout, target.line, "an assignment to a part of a tensor");
    }
    case Expr::Kind::unary:  // *p = ..
    default:
      stop(cpp_ ? ImportObstacle::cpp : ImportObstacle::python, target.line,
           "an assignment that is not followed");
  }
}

}  // namespace kbench::importing
