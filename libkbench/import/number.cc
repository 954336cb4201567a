#include "libkbench/import/number.h"

#include <algorithm>
#include <charconv>
#include <cmath>

namespace kbench::importing {
namespace {

constexpr int kMostSym = 60;

SymPtr leaf(std::string text) {
  auto s = std::make_shared<Sym>();
  s->leaf = std::move(text);
  return s;
}

SymPtr node(std::string op, SymPtr a, SymPtr b) {
  if (!a || !b || a->size + b->size > kMostSym) return nullptr;
  auto s = std::make_shared<Sym>();
  s->op = std::move(op);
  s->size = a->size + b->size + 1;
  s->a = std::move(a);
  s->b = std::move(b);
  return s;
}

int level(const Sym& s) {
  if (s.op.empty()) return s.leaf.starts_with('-') ? 0 : 4;
  if (s.op == "ceil_div" || s.op == "min" || s.op == "max") return 4;
  if (s.op == "+" || s.op == "-") return 2;
  if (s.op == "*" || s.op == "/" || s.op == "%") return 3;
  return 1;
}

bool divides(const SymPtr& s) {
  return s &&
         (s->op == "/" || s->op == "ceil_div" || s->op == "%" || divides(s->a) || divides(s->b));
}

/// n of (n + d - 1), where that is what s is.
SymPtr before_rounding(const SymPtr& s, const SymPtr& d) {
  if (!s || !d || s->op.empty()) return nullptr;
  const std::string one = "1", divisor = text_of(d);
  if (s->op == "-" && text_of(s->b) == one && s->a->op == "+") {
    if (text_of(s->a->b) == divisor) return s->a->a;
    if (text_of(s->a->a) == divisor) return s->a->b;
  }
  if (s->op == "+") {
    if (s->b->op == "-" && text_of(s->b->b) == one && text_of(s->b->a) == divisor) return s->a;
    int64_t plus = 0, by = 0;
    const std::string right = text_of(s->b);
    const auto read = [](const std::string& t, int64_t& v) {
      return std::from_chars(t.data(), t.data() + t.size(), v).ptr == t.data() + t.size();
    };
    if (read(right, plus) && read(divisor, by) && plus == by - 1) return s->a;
  }
  return nullptr;
}

double whole(double v, int line) {
  if (!std::isfinite(v) || std::abs(v) >= 9007199254740992.0) {
    stop(ImportObstacle::limits, line, "a number that is not below 2^53");
  }
  return v;
}

double compute(const std::string& op, double a, double b, bool real, bool cpp, int line) {
  if (op == "+") return a + b;
  if (op == "-") return a - b;
  if (op == "*") return a * b;
  if (op == "min") return std::min(a, b);
  if (op == "max") return std::max(a, b);
  if (op == "<") return a < b;
  if (op == "<=") return a <= b;
  if (op == ">") return a > b;
  if (op == ">=") return a >= b;
  if (op == "==") return a == b;
  if (op == "!=") return a != b;
  if (op == "**") return std::pow(a, b);
  if (op == "/" || op == "//" || op == "%") {
    if (b == 0) stop(ImportObstacle::limits, line, "a division by zero");
    if (real && op == "/") return a / b;
    const double quotient = cpp ? std::trunc(a / b) : std::floor(a / b);
    return op == "%" ? a - quotient * b : quotient;
  }
  const auto x = static_cast<int64_t>(whole(a, line)), y = static_cast<int64_t>(whole(b, line));
  if (op == "<<" || op == ">>") {
    if (y < 0 || y > 52 || x < 0) stop(ImportObstacle::limits, line, "a shift out of range");
    return op == "<<" ? std::ldexp(a, static_cast<int>(y)) : static_cast<double>(x >> y);
  }
  if (op == "&") return static_cast<double>(x & y);
  if (op == "|") return static_cast<double>(x | y);
  if (op == "^") return static_cast<double>(x ^ y);
  stop(ImportObstacle::python, line, "the operator '" + op + "'");
}

void settle(Number& n) {
  if (n.at.size() > 1 &&
      std::all_of(n.at.begin(), n.at.end(), [&](double v) { return v == n.at[0]; })) {
    n.at.erase(n.at.begin() + 1, n.at.end());
  }
}

}  // namespace

std::string literal(double value, bool real) {
  char text[64];
  if (!real) {
    const auto end = std::to_chars(text, text + sizeof text, static_cast<int64_t>(value));
    return {text, end.ptr};
  }
  const auto end = std::to_chars(text, text + sizeof text, value);
  std::string s(text, end.ptr);
  if (s.find_first_of(".en") == std::string::npos) s += ".0";
  return s;
}

Number integer(int64_t value) {
  const auto v = static_cast<double>(value);
  return {{v}, leaf(literal(v, false)), false, false};
}
Number real_number(double value) { return {{value}, leaf(literal(value, true)), true, false}; }
Number truth(bool value) { return {{value ? 1.0 : 0.0}, leaf(value ? "1" : "0"), false, true}; }
Number variable(const std::string& name, std::vector<double> at, bool real) {
  Number n{std::move(at), leaf(name), real, false};
  settle(n);
  return n;
}
Number values(std::vector<double> at, bool real) {
  Number n{std::move(at), nullptr, real, false};
  settle(n);
  if (n.same()) n.sym = leaf(literal(n.at[0], real));
  return n;
}

Number combine(const std::string& op, const Number& a, const Number& b, bool cpp, int line) {
  const bool compares =
      op == "<" || op == "<=" || op == ">" || op == ">=" || op == "==" || op == "!=";
  Number r;
  r.real = !compares && (a.real || b.real || (op == "/" && !cpp));
  r.truth = compares;
  const size_t n = std::max(a.at.size(), b.at.size());
  bool negative = false;
  for (size_t w = 0; w < n; ++w) {
    const double x = a.value(w), y = b.value(w);
    negative = negative || x < 0 || y < 0;
    double v = compute(op, x, y, r.real, cpp, line);
    if (!r.real) v = whole(v, line);
    r.at.push_back(v);
  }
  settle(r);
  // What depends on no size is a plain number, also where it was computed.
  const bool plain = a.sym && b.sym && a.sym->op.empty() && b.sym->op.empty() && a.same() &&
                     b.same() &&
                     a.sym->leaf.find_first_not_of("-0123456789.e+") == std::string::npos &&
                     b.sym->leaf.find_first_not_of("-0123456789.e+") == std::string::npos;
  if (plain) {
    r.sym = leaf(literal(r.at[0], r.real));
    return r;
  }
  // A real quotient of integers with a division in it would divide as reals do.
  if (r.real && ((!a.real && divides(a.sym)) || (!b.real && divides(b.sym)))) return r;
  const bool division = op == "/" || op == "//" || op == "%";
  if (division && !r.real && negative) return r;
  if (op == "//" || (op == "/" && !r.real)) {
    if (const SymPtr up = before_rounding(a.sym, b.sym)) {
      r.sym = node("ceil_div", up, b.sym);
    } else {
      r.sym = node("/", a.sym, b.sym);
    }
    if (b.sym && b.sym->leaf == "1") r.sym = a.sym;
  } else if (op == "<<" && b.same()) {
    r.sym = node("*", a.sym, leaf(literal(std::ldexp(1.0, static_cast<int>(b.at[0])), false)));
  } else if (op == ">>" && b.same() && !negative) {
    r.sym = node("/", a.sym, leaf(literal(std::ldexp(1.0, static_cast<int>(b.at[0])), false)));
  } else if (op == "*" && ((a.sym && a.sym->leaf == "1") || (b.sym && b.sym->leaf == "1"))) {
    r.sym = a.sym && a.sym->leaf == "1" ? b.sym : a.sym;
  } else if ((op == "+" || op == "-") && b.sym && b.sym->leaf == "0") {
    r.sym = a.sym;
  } else if (op == "+" && a.sym && a.sym->leaf == "0") {
    r.sym = b.sym;
  } else if (op != "**" && op != "&" && op != "|" && op != "^" && op != "<<" && op != ">>" &&
             !(r.real && op == "%")) {
    r.sym = node(op, a.sym, b.sym);
  }
  if (!r.sym && r.same() && a.same() && b.same()) r.sym = leaf(literal(r.at[0], r.real));
  return r;
}

Number negated(const Number& a) {
  return combine("-", a.real ? real_number(0) : integer(0), a, true, 0);
}

Number as_integer(const Number& a) {
  if (!a.real) {
    Number r = a;
    r.truth = false;
    return r;
  }
  Number r;
  for (double v : a.at) r.at.push_back(whole(std::trunc(v), 0));
  bool exact = true;
  for (size_t w = 0; w < a.at.size(); ++w) exact = exact && r.at[w] == a.at[w];
  if (r.same()) r.sym = leaf(literal(r.at[0], false));
  // ceil(n / 256.0): see rounded().
  if (!r.same() && exact && a.sym && (a.sym->op == "ceil_div")) r.sym = a.sym;
  return r;
}

Number as_real(const Number& a) {
  Number r = a;
  r.real = true;
  r.truth = false;
  if (!a.real && divides(a.sym)) r.sym = nullptr;
  if (!a.real && r.same() && a.sym && a.sym->op.empty() &&
      a.sym->leaf.find_first_not_of("-0123456789") == std::string::npos) {
    r.sym = leaf(literal(r.at[0], true));
  }
  return r;
}

Number rounded(const Number& a, bool up) {
  if (!a.real) return as_real(a);
  Number r;
  r.real = true;
  for (double v : a.at) r.at.push_back(up ? std::ceil(v) : std::floor(v));
  if (r.same()) {
    r.sym = leaf(literal(r.at[0], true));
  } else if (up && a.sym && a.sym->op == "/") {
    // Of integers, be they written as reals.
    auto integral = [](const SymPtr& s) {
      if (s && s->op.empty() && s->leaf.ends_with(".0"))
        return leaf(s->leaf.substr(0, s->leaf.size() - 2));
      return s;
    };
    r.sym = node("ceil_div", integral(a.sym->a), integral(a.sym->b));
  }
  settle(r);
  return r;
}

std::string text_of(const SymPtr& sym) {
  if (!sym) return "?";
  if (sym->op.empty()) return sym->leaf;
  if (level(*sym) == 4) return sym->op + "(" + text_of(sym->a) + ", " + text_of(sym->b) + ")";
  const int own = level(*sym);
  const bool left = level(*sym->a) < own, right = level(*sym->b) <= own &&
                                                  !(sym->op == "+" && level(*sym->b) == own) &&
                                                  !(sym->op == "*" && sym->b->op == "*");
  return (left ? "(" + text_of(sym->a) + ")" : text_of(sym->a)) + " " + sym->op + " " +
         (right ? "(" + text_of(sym->b) + ")" : text_of(sym->b));
}

}  // namespace kbench::importing
