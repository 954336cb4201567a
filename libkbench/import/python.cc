// Python as far as kernel files use it.
#include <map>
#include <set>

#include "kbench/error.h"
#include "libkbench/import/cursor.h"

namespace kbench::importing {
namespace {

/// Binary operators by how tightly they bind.
int binding(const Token& token) {
  static const std::map<std::string, int, std::less<>> kLevels = {
      {"or", 1}, {"and", 2}, {"in", 4}, {"is", 4},  {"==", 4}, {"!=", 4}, {"<", 4},  {"<=", 4},
      {">", 4},  {">=", 4},  {"|", 5},  {"^", 6},   {"&", 7},  {"<<", 8}, {">>", 8}, {"+", 9},
      {"-", 9},  {"*", 10},  {"/", 10}, {"//", 10}, {"%", 10}, {"@", 10}};
  if (token.kind != Token::Kind::sign && token.kind != Token::Kind::name) return 0;
  const auto found = kLevels.find(token.text);
  return found == kLevels.end() ? 0 : found->second;
}

class Parser : public TokenCursor {
 public:
  using TokenCursor::TokenCursor;

  Block module() {
    Block block;
    while (!at_end()) statement(block);
    return block;
  }

 private:
  Block suite() {
    Block block;
    want(":");
    if (now().kind == Token::Kind::newline) {
      advance();
      if (now().kind != Token::Kind::indent) {
        stop(ImportObstacle::syntax, now().line, "expected an indented block");
      }
      advance();
      while (now().kind != Token::Kind::dedent && !at_end()) statement(block);
      if (now().kind == Token::Kind::dedent) advance();
    } else {
      simple_line(block);
    }
    return block;
  }

  void statement(Block& block) {
    const Deeper deeper(*this);
    if (now().kind == Token::Kind::newline || now().kind == Token::Kind::indent ||
        now().kind == Token::Kind::dedent) {
      return advance();
    }
    if (take("@")) {  // a decorator: @staticmethod and @torch.no_grad() change nothing here
      skip_line();
      return;
    }
    auto s = std::make_shared<Stmt>();
    s->line = now().line;
    if (now().is("async")) advance();
    if (take("def")) {
      function(*s);
    } else if (take("class")) {
      s->kind = Stmt::Kind::type;
      s->name = now().text;
      advance();
      if (take("(")) arguments(s->targets, nullptr);
      s->body = suite();
    } else if (take("if")) {
      branch(*s);
    } else if (take("for")) {
      s->kind = Stmt::Kind::each;
      s->targets = {target_list()};
      want("in");
      s->value = tuple();
      s->body = suite();
      if (take("else")) suite();
    } else if (take("while")) {
      s->kind = Stmt::Kind::repeat;
      s->value = expression();
      s->body = suite();
    } else if (take("with")) {
      skip_to_colon();
      s->kind = Stmt::Kind::block;
      s->body = suite();
    } else if (take("try")) {
      s->kind = Stmt::Kind::block;
      s->body = suite();
      while (now().is("except") || now().is("finally") || now().is("else")) {
        skip_to_colon();
        suite();
      }
    } else {
      return simple_line(block);
    }
    block.push_back(std::move(s));
  }

  void skip_one() {
    if (now().is("(") || now().is("[") || now().is("{")) {
      int open = 0;
      do {
        open += now().is("(") || now().is("[") || now().is("{");
        open -= now().is(")") || now().is("]") || now().is("}");
        advance();
      } while (open > 0 && !at_end());
    } else {
      advance();
    }
  }
  /// For statements that are not followed: where a suite begins, or the text is cut off.
  void skip_to_colon() {
    while (!now().is(":") && now().kind != Token::Kind::newline && !at_end()) skip_one();
  }
  void skip_line() {
    while (now().kind != Token::Kind::newline && !at_end()) advance();
  }

  void branch(Stmt& s) {
    s.kind = Stmt::Kind::branch;
    s.value = expression();
    s.body = suite();
    const int line = now().line;
    if (take("elif")) {
      const Deeper deeper(*this);
      auto next = std::make_shared<Stmt>();
      next->line = line;
      branch(*next);
      s.other = {next};
    } else if (take("else")) {
      s.other = suite();
    }
  }

  void function(Stmt& s) {
    s.kind = Stmt::Kind::function;
    s.function = std::make_shared<Function>();
    s.name = s.function->name = now().text;
    s.function->line = now().line;
    advance();
    want("(");
    while (!take(")")) {
      Parameter p;
      if (take("*") || take("**")) p.rest = true;
      if (take("/")) {
        take(",");
        continue;
      }
      if (now().kind == Token::Kind::name) {
        p.name = now().text;
        advance();
      }
      if (take(":")) expression();
      if (take("=")) p.fallback = expression();
      if (!p.rest || !p.name.empty()) s.function->parameters.push_back(std::move(p));
      if (!take(",") && !now().is(")")) {
        stop(ImportObstacle::syntax, now().line, "a list of parameters that is not understood");
      }
    }
    if (take("->")) expression();
    s.function->body = suite();
  }

  void simple_line(Block& block) {
    do {
      if (now().kind == Token::Kind::newline) break;
      block.push_back(simple());
    } while (take(";"));
    if (now().kind == Token::Kind::newline) {
      advance();
    } else if (!at_end()) {
      stop(ImportObstacle::syntax, now().line,
           "'" + shown(now().text, 40) + "' is not expected here");
    }
  }

  std::shared_ptr<Stmt> simple() {
    auto s = std::make_shared<Stmt>();
    s->line = now().line;
    static const std::set<std::string, std::less<>> kIgnored = {
        "import", "from", "assert", "raise", "del", "global", "nonlocal", "pass"};
    if (now().kind == Token::Kind::name && kIgnored.contains(now().text)) {
      // "import torch.nn.functional as F" binds what the name says anyway; see names().
      if (now().is("import") || now().is("from")) {
        imported(*s);
      } else if (now().is("raise")) {
        s->kind = Stmt::Kind::unknown;
        s->text = "raise";
      }
      while (now().kind != Token::Kind::newline && !at_end() && !now().is(";")) {
        advance();
      }
      return s;
    }
    if (take("return")) {
      s->kind = Stmt::Kind::result;
      if (now().kind != Token::Kind::newline && !now().is(";")) s->value = tuple();
      return s;
    }
    if (take("break")) return s->kind = Stmt::Kind::leave, s;
    if (take("continue")) return s->kind = Stmt::Kind::next, s;
    ExprPtr e = tuple();
    if (take(":")) expression();  // an annotation
    static const std::set<std::string, std::less<>> kAugmented = {
        "+=", "-=", "*=", "/=", "//=", "%=", "**=", "@=", ">>=", "<<=", "&=", "|=", "^="};
    if (now().kind == Token::Kind::sign && kAugmented.contains(now().text)) {
      s->kind = Stmt::Kind::assign;
      s->text = now().text;
      s->targets = {e};
      advance();
      s->value = tuple();
      return s;
    }
    s->kind = Stmt::Kind::expression;
    s->value = e;
    while (take("=")) {
      s->kind = Stmt::Kind::assign;
      s->text = "=";
      s->targets.push_back(s->value);
      s->value = tuple();
    }
    return s;
  }

  /// A name for a path: as an assignment of the path's name.
  void imported(Stmt& s) {
    std::string from;
    const bool pick = now().is("from");
    advance();
    const auto path = [&] {
      std::string text;
      while (now().kind == Token::Kind::name || now().is(".") || now().is("...")) {
        if (now().is("import") || now().is("as")) break;
        text += now().text;
        advance();
      }
      return text;
    };
    if (pick) {
      from = path();
      if (!take("import")) return;
      take("(");
    }
    s.kind = Stmt::Kind::block;
    while (now().kind == Token::Kind::name) {
      const int line = now().line;
      std::string what = path();
      std::string name = what.substr(0, what.find('.'));
      std::string meant = pick ? from + "." + what : name;
      if (take("as")) {
        if (!pick) meant = what;
        name = now().text;
        advance();
      }
      auto bind = std::make_shared<Stmt>();
      bind->kind = Stmt::Kind::assign;
      bind->line = line;
      bind->text = "import";
      bind->targets = {make(Expr::Kind::name, line, name)};
      bind->value = make(Expr::Kind::name, line, meant);
      s.body.push_back(std::move(bind));
      if (!take(",")) break;
    }
  }

  ExprPtr target_list() {
    const int line = now().line;
    std::vector<ExprPtr> items = {postfix()};
    if (!now().is(",")) return items[0];
    while (take(",")) {
      if (now().is("in")) break;
      items.push_back(postfix());
    }
    return make(Expr::Kind::list, line, "", std::move(items));
  }

  ExprPtr tuple() {
    const int line = now().line;
    std::vector<ExprPtr> items = {starred()};
    if (!now().is(",")) return items[0];
    while (take(",")) {
      if (now().kind == Token::Kind::newline || now().is("=") || now().is(")") || now().is(":"))
        break;
      items.push_back(starred());
    }
    return make(Expr::Kind::list, line, "", std::move(items));
  }

  ExprPtr starred() {
    const int line = now().line;
    if (take("*")) return make(Expr::Kind::star, line, "", {expression()});
    return expression();
  }

  ExprPtr expression() {
    const Deeper deeper(*this);
    const int line = now().line;
    if (take("lambda")) {
      skip_to_colon();
      want(":");
      expression();
      return make(Expr::Kind::lambda, line, "a lambda");
    }
    ExprPtr value = binary(1);
    if (take("if")) {
      ExprPtr condition = binary(1);
      want("else");
      ExprPtr other = expression();
      return make(Expr::Kind::conditional, line, "", {condition, value, other});
    }
    return value;
  }

  ExprPtr binary(int least) {
    ExprPtr left = unary();
    for (;;) {
      const int line = now().line;
      std::string op = now().text;
      int level = binding(now());
      if (now().is("not") && ahead(1).is("in")) level = 4, op = "not in";
      if (level < least || level == 0) return left;
      advance();
      if (op == "not in") advance();
      if (op == "is" && take("not")) op = "is not";
      ExprPtr right = binary(level + 1);
      left = make(Expr::Kind::binary, line, op, {left, right});
    }
  }

  ExprPtr unary() {
    const Deeper deeper(*this);
    const int line = now().line;
    if (take("not")) return make(Expr::Kind::unary, line, "not", {binary(3)});
    for (const char* op : {"-", "+", "~"}) {
      if (take(op)) return make(Expr::Kind::unary, line, op, {unary()});
    }
    ExprPtr base = postfix();
    if (take("**")) return make(Expr::Kind::binary, line, "**", {base, unary()});
    return base;
  }

  ExprPtr postfix() {
    ExprPtr e = primary();
    for (;;) {
      const int line = now().line;
      if (take(".")) {
        e = make(Expr::Kind::member, line, now().text, {e});
        advance();
      } else if (take("(")) {
        auto call = make(Expr::Kind::call, line, "", {e});
        arguments(call->args, &call->keywords);
        e = call;
      } else if (take("[")) {
        e = make(Expr::Kind::index, line, "", {e});
        while (!take("]")) {
          e->args.push_back(subscript());
          if (!take(",") && !now().is("]")) {
            stop(ImportObstacle::syntax, now().line, "expected ']'");
          }
        }
      } else {
        return e;
      }
    }
  }

  ExprPtr subscript() {
    const int line = now().line;
    std::vector<ExprPtr> parts(3);
    if (!now().is(":")) parts[0] = starred();
    if (!now().is(":")) return parts[0];
    for (size_t i = 1; i < 3 && take(":"); ++i) {
      if (!now().is(":") && !now().is("]") && !now().is(",")) parts[i] = expression();
    }
    return make(Expr::Kind::slice, line, "", std::move(parts));
  }

  void arguments(std::vector<ExprPtr>& args,
                 std::vector<std::pair<std::string, ExprPtr>>* keywords) {
    while (!take(")")) {
      const int line = now().line;
      if (now().kind == Token::Kind::name && ahead(1).is("=")) {
        const std::string name = now().text;
        advance();
        advance();
        ExprPtr value = expression();
        if (keywords) keywords->emplace_back(name, value);
      } else if (take("**")) {
        expression();
        stop(ImportObstacle::python, line, "a call with **keywords");
      } else {
        args.push_back(starred());
        if (now().is("for")) args.back() = comprehension(line);
      }
      if (!take(",") && !now().is(")")) stop(ImportObstacle::syntax, now().line, "expected ')'");
    }
  }

  /// Up to the bracket that ends it; what it gives is not followed.
  ExprPtr comprehension(int line) {
    while (!now().is(")") && !now().is("]") && !at_end()) skip_one();
    return make(Expr::Kind::lambda, line, "a comprehension");
  }

  ExprPtr primary() {
    const Token& t = now();
    switch (t.kind) {
      case Token::Kind::number:
        advance();
        return make(Expr::Kind::number, t.line, t.text);
      case Token::Kind::name:
        advance();
        return make(Expr::Kind::name, t.line, t.text);
      case Token::Kind::text: {
        auto e = make(Expr::Kind::text, t.line);
        for (; now().kind == Token::Kind::text; advance()) {
          e->text += now().text;
          if (now().formatted) e->template_args = {"f"};
        }
        return e;
      }
      default:
        break;
    }
    const int line = t.line;
    if (take("(")) {
      std::vector<ExprPtr> items;
      bool many = false;
      while (!take(")")) {
        items.push_back(starred());
        if (now().is("for")) items.back() = comprehension(line);
        many = now().is(",");
        if (!take(",") && !now().is(")")) stop(ImportObstacle::syntax, now().line, "expected ')'");
      }
      if (items.size() == 1 && !many) return items[0];
      return make(Expr::Kind::list, line, "", std::move(items));
    }
    if (take("[")) {
      std::vector<ExprPtr> items;
      while (!take("]")) {
        items.push_back(starred());
        if (now().is("for")) items.back() = comprehension(line);
        if (!take(",") && !now().is("]")) stop(ImportObstacle::syntax, now().line, "expected ']'");
      }
      return make(Expr::Kind::list, line, "", std::move(items));
    }
    if (now().is("{")) {
      skip_one();
      return make(Expr::Kind::lambda, line, "a dictionary");
    }
    if (take("...")) return make(Expr::Kind::name, line, "Ellipsis");
    stop(ImportObstacle::syntax, line, "'" + shown(t.text, 40) + "' is not expected here");
  }
};

}  // namespace

Block parse_python(const std::vector<Token>& tokens) { return Parser(tokens).module(); }

}  // namespace kbench::importing
