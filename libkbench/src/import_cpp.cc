// The C++ of host functions that launch kernels, as far as kernel files use it.
#include <algorithm>
#include <cctype>
#include <map>
#include <set>

#include "kbench/text.h"
#include "libkbench/src/import_cursor.h"

namespace kbench::importing {
namespace {

const std::set<std::string, std::less<>> kBasicTypes = {
    "int",      "float",       "double",       "bool",   "long",    "short",    "char",
    "unsigned", "signed",      "auto",         "void",   "size_t",  "int64_t",  "int32_t",
    "uint32_t", "uint64_t",    "uint8_t",      "int8_t", "int16_t", "uint16_t", "dim3",
    "scalar_t", "half",        "__half",       "float2", "float4",  "ssize_t",  "int4",
    "uint4",    "nv_bfloat16", "__nv_bfloat16"};
const std::set<std::string, std::less<>> kQualifiers = {
    "const", "constexpr", "static", "volatile", "inline", "typename", "register", "struct"};

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

class Parser : public TokenCursor {
 public:
  using TokenCursor::TokenCursor;

  Block body() {
    Block block;
    while (!at_end()) statement(block);
    return block;
  }
  ExprPtr whole() {
    ExprPtr e = comma();
    if (!at_end()) unexpected();
    return e;
  }
  std::vector<Parameter> parameters();

 private:
  [[noreturn]] void unexpected() {
    stop(ImportObstacle::syntax, now().line,
         at_end() ? "the C++ ends too early"
                  : "'" + shown(now().text, 40) + "' is not expected here");
  }
  bool adjacent(size_t n) const {  // the next n tokens are ">" without blanks
    for (size_t k = 0; k < n; ++k) {
      if (!ahead(k).is(">") || (k > 0 && ahead(k).begin != ahead(k - 1).end)) return false;
    }
    return true;
  }

  void statement(Block& block);
  std::shared_ptr<Stmt> one() {
    Block block;
    statement(block);
    auto s = std::make_shared<Stmt>();
    s->kind = Stmt::Kind::block;
    s->body = std::move(block);
    return s;
  }
  Block braced() {
    Block block;
    want("{");
    while (!take("}")) {
      if (at_end()) unexpected();
      statement(block);
    }
    return block;
  }
  /// A type at ahead(0), as text, and where it ends; "" where none is.
  std::string type(size_t& k, bool only_basic) const;
  bool template_list(size_t& k, std::vector<std::string>* parts) const;
  bool declaration(Block& block);

  ExprPtr comma() {
    ExprPtr e = expression();
    while (take(",")) e = expression();
    return e;
  }
  ExprPtr expression();
  ExprPtr binary(int least);
  ExprPtr unary();
  ExprPtr postfix();
  ExprPtr primary();
  ExprPtr lambda(int line);
  void list(std::vector<ExprPtr>& items, std::string_view close) {
    while (!take(close)) {
      if (at_end()) unexpected();
      items.push_back(now().is("{") ? braces() : expression());
      if (!take(",") && !now().is(close)) unexpected();
    }
  }
  ExprPtr braces() {
    const Deeper deeper(*this);
    auto e = make(Expr::Kind::list, now().line);
    want("{");
    list(e->args, "}");
    return e;
  }
};

/// At k stands "<": whether a list of template arguments ends before a sign that may follow one.
bool Parser::template_list(size_t& k, std::vector<std::string>* parts) const {
  size_t j = k;
  int open = 0, round = 0;
  std::string part;
  std::vector<std::string> found;
  for (size_t most = j + 64; j < most; ++j) {
    const Token& t = ahead(j);
    if (t.kind == Token::Kind::end || t.is(";") || t.is("{") || t.is("<<<") || t.is("&&") ||
        t.is("||")) {
      return false;
    }
    if (t.is("(")) ++round;
    if (t.is(")") && --round < 0) return false;
    if (t.is("<") && ++open == 1) continue;
    if (t.is(">") && round == 0 && --open == 0) break;
    if (t.is(",") && open == 1 && round == 0) {
      found.push_back(part);
      part.clear();
    } else {
      const bool blank =
          !part.empty() && t.kind == Token::Kind::name &&
          (std::isalnum(static_cast<unsigned char>(part.back())) || part.back() == '_');
      part += (blank ? " " : "") + t.text;
    }
  }
  if (open != 0) return false;
  if (!part.empty()) found.push_back(part);
  const Token& next = ahead(j + 1);
  static const std::set<std::string, std::less<>> kFollow = {"(", "<<<", "::", "{", ">",
                                                             ")", ",",   "&",  "*", ";"};
  if (!(next.kind == Token::Kind::name || kFollow.contains(next.text))) return false;
  k = j + 1;
  if (parts) *parts = std::move(found);
  return true;
}

std::string Parser::type(size_t& k, bool only_basic) const {
  size_t j = k;
  std::string text;
  bool basic = false, named = false;
  for (; ahead(j).kind == Token::Kind::name; ++j) {
    const std::string& word = ahead(j).text;
    if (kQualifiers.contains(word)) continue;
    if (kBasicTypes.contains(word)) {
      if (named) break;
      basic = true;
      text += (text.empty() ? "" : " ") + word;
      continue;
    }
    if (basic || named) break;
    named = true;
    text += word;
    size_t next = j + 1;
    if (ahead(next).is("<") && template_list(next, nullptr)) {
      for (size_t i = j + 1; i < next; ++i) text += ahead(i).text;
      j = next - 1;
    }
    while (ahead(j + 1).is("::") && ahead(j + 2).kind == Token::Kind::name) {
      text += "::" + ahead(j + 2).text;
      j += 2;
      next = j + 1;
      if (ahead(next).is("<") && template_list(next, nullptr)) {
        for (size_t i = j + 1; i < next; ++i) text += ahead(i).text;
        j = next - 1;
      }
    }
  }
  if (text.empty()) return "";
  for (; ahead(j).is("*") || ahead(j).is("&") || ahead(j).is("&&") || ahead(j).is("const") ||
         ahead(j).is("__restrict__");
       ++j) {
    if (ahead(j).is("*")) text += "*";
  }
  const std::string plain = text.substr(0, text.find('*'));
  const bool known = basic || plain.starts_with("std::") || plain.starts_with("torch::Tensor") ||
                     plain.starts_with("at::Tensor") || plain.starts_with("c10::") ||
                     plain.ends_with("_t") || plain.starts_with("cuda") || plain == "Tensor";
  if (only_basic && !known) return "";
  k = j;
  return text;
}

bool Parser::declaration(Block& block) {
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

void Parser::statement(Block& block) {
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

ExprPtr Parser::expression() {
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

ExprPtr Parser::binary(int least) {
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

ExprPtr Parser::unary() {
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

ExprPtr Parser::postfix() {
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

ExprPtr Parser::lambda(int line) {
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

ExprPtr Parser::primary() {
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
  const bool basic = kBasicTypes.contains(now().text);
  advance();
  while (basic && now().kind == Token::Kind::name && kBasicTypes.contains(now().text)) {
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

std::vector<Parameter> Parser::parameters() {
  std::vector<Parameter> found;
  std::vector<Token> part;
  int open = 0;
  const auto finish = [&] {
    if (part.empty()) return;
    Parameter p;
    size_t equals = 0;
    while (equals < part.size() && !part[equals].is("=")) ++equals;
    if (equals < part.size()) {
      p.fallback =
          Parser({part.begin() + static_cast<std::ptrdiff_t>(equals) + 1, part.end()}).whole();
      part.resize(equals);
    }
    size_t words = 0;
    for (const Token& t : part) {
      words += t.kind == Token::Kind::name && !kQualifiers.contains(t.text) &&
               t.text != "__restrict__" && t.text != "__restrict" && t.text != "__grid_constant__";
    }
    size_t last = part.size();
    while (last > 0 && part[last - 1].is("]")) {  // float x[]
      while (last > 0 && !part[last - 1].is("[")) --last;
      if (last > 0) --last;
      p.type += "*";
    }
    if (words > 1 && last > 0 && part[last - 1].kind == Token::Kind::name &&
        !kBasicTypes.contains(part[last - 1].text)) {
      p.name = part[--last].text;
    }
    std::string type;
    for (size_t i = 0; i < last; ++i) {
      const Token& t = part[i];
      if (kQualifiers.contains(t.text) || t.text == "__restrict__" || t.text == "__restrict" ||
          t.is("&") || t.text == "__grid_constant__") {
        continue;
      }
      const bool blank =
          !type.empty() && t.kind == Token::Kind::name &&
          (std::isalnum(static_cast<unsigned char>(type.back())) || type.back() == '_');
      type += (blank ? " " : "") + t.text;
    }
    p.type = type + p.type;
    if (p.type != "void" || !p.name.empty()) found.push_back(std::move(p));
    part.clear();
  };
  for (; !at_end(); advance()) {
    open += now().is("(") || now().is("<") || now().is("{") || now().is("[");
    open -= now().is(")") || now().is(">") || now().is("}") || now().is("]");
    if (now().is(",") && open <= 0) {
      finish();
    } else {
      part.push_back(now());
    }
  }
  finish();
  return found;
}

}  // namespace

Block parse_cpp_body(std::vector<Token> tokens) { return Parser(std::move(tokens)).body(); }
ExprPtr parse_cpp_expression(std::vector<Token> tokens) {
  return Parser(std::move(tokens)).whole();
}
std::vector<Parameter> parse_cpp_parameters(const std::vector<Token>& tokens) {
  return Parser(tokens).parameters();
}

}  // namespace kbench::importing
