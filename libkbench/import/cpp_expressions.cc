// Expressions.
#include <algorithm>
#include <cctype>
#include <map>
#include <set>

#include "libkbench/import/cpp.h"

namespace kbench::importing {
namespace {

/// "&&" is "and" in the tree, so that both languages have the same operators.
std::pair<std::string, int> binary_operator(const Token& t) {
  static const std::map<std::string, std::pair<std::string, int>, std::less<>> kLevels = {
      {"||", {"or", 1}}, {"or", {"or", 1}}, {"&&", {"and", 2}}, {"and", {"and", 2}},
      {"|", {"|", 3}},   {"^", {"^", 4}},   {"&", {"&", 5}},    {"==", {"==", 6}},
      {"!=", {"!=", 6}}, {"<", {"<", 7}},   {"<=", {"<=", 7}},  {">", {">", 7}},
      {">=", {">=", 7}}, {"<<", {"<<", 8}}, {"+", {"+", 9}},    {"-", {"-", 9}},
      {"*", {"*", 10}},  {"/", {"/", 10}},  {"%", {"%", 10}}};
  if (t.kind != Token::Kind::sign && t.kind != Token::Kind::name) return {"", 0};
  const auto found = kLevels.find(t.text);
  return found == kLevels.end() ? std::pair<std::string, int>{"", 0} : found->second;
}

}  // namespace

ExprPtr CppParser::whole() {
  ExprPtr e = comma();
  if (!at_end()) unexpected();
  return e;
}

ExprPtr CppParser::comma() {
  ExprPtr e = expression();
  while (take(",")) e = expression();
  return e;
}

void CppParser::list(std::vector<ExprPtr>& items, std::string_view close) {
  while (!take(close)) {
    if (at_end()) unexpected();
    items.push_back(now().is("{") ? braces() : expression());
    if (!take(",") && !now().is(close)) unexpected();
  }
}

ExprPtr CppParser::braces() {
  const Deeper deeper(*this);
  auto e = make(Expr::Kind::list, now().line);
  want("{");
  list(e->args, "}");
  return e;
}

bool CppParser::adjacent(size_t n) const {
  for (size_t k = 0; k < n; ++k) {
    if (!ahead(k).is(">") || (k > 0 && ahead(k).begin != ahead(k - 1).end)) return false;
  }
  return true;
}

ExprPtr CppParser::expression() {
  const Deeper deeper(*this);
  ExprPtr left = binary(1);
  const int line = now().line;
  static const std::set<std::string, std::less<>> kAssign = {
      "=", "+=", "-=", "*=", "/=", "%=", "|=", "&=", "^=", "<<="};
  if (now().kind == Token::Kind::sign && kAssign.contains(now().text)) {
    const std::string op = now().text;
    advance();
    ExprPtr right = now().is("{") ? braces() : expression();
    return make(Expr::Kind::assign, line, op, {left, right});
  }
  if (take("?")) {
    ExprPtr a = expression();
    want(":");
    ExprPtr b = expression();
    return make(Expr::Kind::conditional, line, "", {left, a, b});
  }
  return left;
}

ExprPtr CppParser::binary(int least) {
  ExprPtr left = unary();
  for (;;) {
    const int line = now().line;
    auto [op, level] = binary_operator(now());
    size_t signs = 1;
    if (adjacent(3)) return left;  // >>> ends a launch's configuration
    if (adjacent(2)) op = ">>", level = 8, signs = 2;
    if (level < least || level == 0) return left;
    while (signs-- > 0) advance();
    left = make(Expr::Kind::binary, line, op, {left, binary(level + 1)});
  }
}

ExprPtr CppParser::unary() {
  const Deeper deeper(*this);
  const int line = now().line;
  if (take("!") || take("not")) return make(Expr::Kind::unary, line, "not", {unary()});
  for (const char* op : {"-", "+", "~", "*", "&"}) {
    if (take(op)) return make(Expr::Kind::unary, line, op, {unary()});
  }
  for (const char* op : {"++", "--"}) {
    if (take(op)) return make(Expr::Kind::assign, line, op, {unary()});
  }
  if (now().is("(")) {  // a cast?
    size_t k = 1;
    const std::string what = type(k, true);
    if (!what.empty() && ahead(k).is(")") && !ahead(k + 1).is(")") && !ahead(k + 1).is(";") &&
        !ahead(k + 1).is(",")) {
      for (size_t n = 0; n <= k; ++n) advance();
      return make(Expr::Kind::cast, line, what, {unary()});
    }
  }
  return postfix();
}

ExprPtr CppParser::postfix() {
  ExprPtr e = primary();
  for (;;) {
    const int line = now().line;
    if (take(".") || take("->")) {
      take("template");
      if (now().kind != Token::Kind::name) unexpected();
      e = make(Expr::Kind::member, line, now().text, {e});
      advance();
      size_t k = 0;
      if (now().is("<") && template_list(k, &e->template_args)) {
        for (size_t n = 0; n < k; ++n) advance();
      }
    } else if (take("(")) {
      auto call = make(Expr::Kind::call, line, "", {e});
      list(call->args, ")");
      e = call;
    } else if (take("[")) {
      ExprPtr at = comma();
      want("]");
      e = make(Expr::Kind::index, line, "", {e, at});
    } else if (take("<<<")) {
      auto launch = make(Expr::Kind::launch, line, "", {e});
      while (!adjacent(3)) {
        if (at_end()) unexpected();
        launch->config.push_back(expression());
        if (!take(",") && !adjacent(3)) unexpected();
      }
      for (int n = 0; n < 3; ++n) advance();
      want("(");
      list(launch->args, ")");
      e = launch;
    } else if (take("++") || take("--")) {
      e = make(Expr::Kind::assign, line, before().text, {e});
    } else if (now().is("{") && e->kind == Expr::Kind::name && !e->text.empty() &&
               (e->text == "dim3" || e->text.starts_with("std::vector") ||
                e->text.starts_with("at::IntArrayRef") ||
                e->text.starts_with("torch::IntArrayRef"))) {
      auto call = make(Expr::Kind::call, line, "", {e});
      call->args.push_back(braces());
      if (e->text == "dim3") {
        const auto items = call->args[1]->args;
        call->args.assign({e});
        call->args.insert(call->args.end(), items.begin(), items.end());
      }
      e = call;
    } else {
      return e;
    }
  }
}

ExprPtr CppParser::lambda(int line) {
  want("[");
  while (!take("]")) {
    if (at_end()) unexpected();
    advance();
  }
  if (take("(")) {
    while (!take(")")) {
      if (at_end()) unexpected();
      advance();
    }
  }
  while (!now().is("{")) {
    if (at_end()) unexpected();
    advance();
  }
  auto e = make(Expr::Kind::lambda, line);
  e->body = braced();
  return e;
}

ExprPtr CppParser::primary() {
  const Token t = now();
  if (t.kind == Token::Kind::number) {
    advance();
    return make(Expr::Kind::number, t.line, t.text);
  }
  if (t.kind == Token::Kind::text) {
    auto e = make(Expr::Kind::text, t.line);
    for (; now().kind == Token::Kind::text; advance()) e->text += now().text;
    return e;
  }
  if (take("(")) {
    ExprPtr e = comma();
    want(")");
    return e;
  }
  if (t.is("[")) return lambda(t.line);
  if (t.is("{")) return braces();
  if (t.is("sizeof")) {
    advance();
    want("(");
    std::string what;
    size_t k = 0;
    what = type(k, false);
    while (!take(")")) {
      if (at_end()) unexpected();
      advance();
    }
    auto call = make(Expr::Kind::call, t.line, "", {make(Expr::Kind::name, t.line, "sizeof")});
    call->args.push_back(make(Expr::Kind::text, t.line, what));
    return call;
  }
  take("::");
  if (now().kind != Token::Kind::name) unexpected();
  if (t.text == "static_cast" || t.text == "reinterpret_cast" || t.text == "const_cast") {
    size_t k = 1;
    advance();
    k = 1;
    const std::string what = type(k, false);
    if (!now().is("<") || what.empty() || !ahead(k).is(">")) unexpected();
    for (size_t n = 0; n <= k; ++n) advance();
    want("(");
    ExprPtr value = comma();
    want(")");
    return make(Expr::Kind::cast, t.line, what, {value});
  }
  // unsigned int(x), long long(x)
  auto e = make(Expr::Kind::name, t.line, now().text);
  const bool basic = is_basic_type(now().text);
  advance();
  while (basic && now().kind == Token::Kind::name && is_basic_type(now().text)) {
    e->text += " " + now().text;
    advance();
  }
  for (;;) {
    size_t k = 0;
    if (now().is("<") && template_list(k, &e->template_args)) {
      for (size_t n = 0; n < k; ++n) advance();
    }
    if (!now().is("::") || ahead(1).kind != Token::Kind::name) return e;
    advance();
    e->text += "::" + now().text;
    advance();
  }
}

}  // namespace kbench::importing
