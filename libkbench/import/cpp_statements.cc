// Statements and declarations.
#include <algorithm>

#include "kbench/error.h"
#include "libkbench/import/cpp.h"

namespace kbench::importing {

Block CppParser::body() {
  Block block;
  while (!at_end()) statement(block);
  return block;
}

void CppParser::unexpected() {
  stop(
      ImportObstacle::syntax, now().line,
      at_end() ? "the C++ ends too early" : "'" + shown(now().text, 40) + "' is not expected here");
}

std::shared_ptr<Stmt> CppParser::one() {
  Block block;
  statement(block);
  auto s = std::make_shared<Stmt>();
  s->kind = Stmt::Kind::block;
  s->body = std::move(block);
  return s;
}

Block CppParser::braced() {
  Block block;
  want("{");
  while (!take("}")) {
    if (at_end()) unexpected();
    statement(block);
  }
  return block;
}

bool CppParser::declaration(Block& block) {
  size_t k = 0;
  const std::string what = type(k, false);
  if (what.empty() || what == "return" || what == "using" || what == "delete") return false;
  if (ahead(k).is("[")) {  // auto [a, b] = ..
    return false;
  }
  const Token& name = ahead(k);
  const Token& next = ahead(k + 1);
  if (name.kind != Token::Kind::name) return false;
  if (!(next.is("=") || next.is("(") || next.is("{") || next.is(";") || next.is(",") ||
        next.is("[") || next.is(":"))) {
    return false;
  }
  for (size_t n = 0; n < k; ++n) advance();
  for (;;) {
    auto s = std::make_shared<Stmt>();
    s->kind = Stmt::Kind::declare;
    s->line = now().line;
    s->text = what;
    while (take("*") || take("&")) {
    }
    s->name = now().text;
    if (now().kind != Token::Kind::name) unexpected();
    advance();
    while (take("[")) {
      while (!now().is("]") && !at_end()) advance();
      want("]");
    }
    if (take("=")) {
      s->value = now().is("{") ? braces() : expression();
    } else if (take("(")) {
      s->constructed = true;
      list(s->arguments, ")");
    } else if (now().is("{")) {
      s->constructed = true;
      s->arguments = braces()->args;
    }
    block.push_back(std::move(s));
    if (take(",")) continue;
    return true;
  }
}

void CppParser::statement(Block& block) {
  const Deeper deeper(*this);
  if (take(";")) return;
  if (now().kind == Token::Kind::directive) return advance();
  auto s = std::make_shared<Stmt>();
  s->line = now().line;
  if (now().is("{")) {
    s->kind = Stmt::Kind::block;
    s->body = braced();
  } else if (take("if")) {
    take("constexpr");
    s->kind = Stmt::Kind::branch;
    want("(");
    s->value = comma();
    want(")");
    s->body = one()->body;
    if (take("else")) s->other = one()->body;
  } else if (take("for")) {
    s->kind = Stmt::Kind::loop;
    want("(");
    s->first = std::make_shared<Stmt>();
    s->first->kind = Stmt::Kind::block;
    s->first->line = s->line;
    if (!take(";")) {
      if (!declaration(s->first->body)) {
        auto e = std::make_shared<Stmt>();
        e->kind = Stmt::Kind::expression;
        e->line = s->line;
        e->value = comma();
        s->first->body.push_back(std::move(e));
      }
      if (take(":")) stop(ImportObstacle::cpp, s->line, "a loop over a range");
      want(";");
    }
    if (!now().is(";")) s->value = comma();
    want(";");
    if (!now().is(")")) s->last = comma();
    want(")");
    s->body = one()->body;
  } else if (take("while")) {
    s->kind = Stmt::Kind::repeat;
    want("(");
    s->value = comma();
    want(")");
    s->body = one()->body;
  } else if (take("return")) {
    s->kind = Stmt::Kind::result;
    if (!now().is(";")) s->value = now().is("{") ? braces() : comma();
    want(";");
  } else if (take("break")) {
    s->kind = Stmt::Kind::leave;
    want(";");
  } else if (take("continue")) {
    s->kind = Stmt::Kind::next;
    want(";");
  } else if (now().is("switch") || now().is("try") || now().is("do") || now().is("throw") ||
             now().is("goto")) {
    if (!now().is("throw")) stop(ImportObstacle::cpp, s->line, "'" + now().text + "' in host code");
    s->kind = Stmt::Kind::unknown;
    s->text = "throw";
    while (!now().is(";") && !at_end()) advance();
    want(";");
  } else if (take("using") || take("typedef")) {
    // A name for a type: "using scalar_t = float".
    if (now().kind == Token::Kind::name && ahead(1).is("=")) {
      s->kind = Stmt::Kind::declare;
      s->text = "using";
      s->name = now().text;
      advance();
      advance();
      size_t k = 0;
      auto e = make(Expr::Kind::text, s->line, type(k, false));
      s->value = e;
    }
    while (!now().is(";") && !at_end()) advance();
    want(";");
    if (s->kind == Stmt::Kind::nothing) return;
  } else if (now().is("auto") && (ahead(1).is("[") || (ahead(1).is("&") && ahead(2).is("[")))) {
    s->kind = Stmt::Kind::assign;
    s->text = "=";
    while (!take("[")) advance();
    auto names = make(Expr::Kind::list, s->line);
    list(names->args, "]");
    s->targets = {names};
    want("=");
    s->value = expression();
    want(";");
  } else if (declaration(block)) {
    want(";");
    return;
  } else {
    s->kind = Stmt::Kind::expression;
    s->value = comma();
    // A macro with a block behind it, or as a whole statement, may stand without ";".
    const bool macro = s->value->kind == Expr::Kind::call &&
                       s->value->args[0]->kind == Expr::Kind::name &&
                       std::none_of(s->value->args[0]->text.begin(), s->value->args[0]->text.end(),
                                    [](char c) { return c >= 'a' && c <= 'z'; });
    if (!take(";") && !macro) want(";");
  }
  block.push_back(std::move(s));
}

Block parse_cpp_body(std::vector<Token> tokens) { return CppParser(std::move(tokens)).body(); }
ExprPtr parse_cpp_expression(std::vector<Token> tokens) {
  return CppParser(std::move(tokens)).whole();
}
std::vector<Parameter> parse_cpp_parameters(const std::vector<Token>& tokens) {
  return CppParser(tokens).parameters();
}

}  // namespace kbench::importing
