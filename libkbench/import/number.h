// Numbers of a kernel file at all sizes at once: a value a size, and the expression that gives it.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "libkbench/import/tree.h"

namespace kbench::importing {

/// An expression over shape variables, as a candidate writes it.
struct Sym {
  std::string op;  ///< "" for a leaf, "ceil_div", "min", "max" for functions
  std::string leaf;
  std::shared_ptr<const Sym> a, b;
  int size = 1;
};
using SymPtr = std::shared_ptr<const Sym>;

struct Number {
  std::vector<double> at;  ///< a value a world (Worlds); one value where all are equal
  SymPtr sym;              ///< null: no expression is known
  bool real = false;
  bool truth = false;  ///< a bool

  bool same() const { return at.size() == 1; }
  double value(size_t world) const { return at.size() == 1 ? at[0] : at[world]; }
};

Number integer(int64_t value);
Number real_number(double value);
Number truth(bool value);
/// A variable's name with its values.
Number variable(const std::string& name, std::vector<double> at, bool real);
/// Values without an expression.
Number values(std::vector<double> at, bool real);

/// + - * / // % ** << >> & | ^ min max and comparisons. "/" divides as C++ does where both are
/// integers and `cpp`; else it is real. Stops where a value is no number below 2^53.
Number combine(const std::string& op, const Number& a, const Number& b, bool cpp, int line);
Number negated(const Number& a);
Number as_integer(const Number& a);  ///< a cast: towards zero
Number as_real(const Number& a);
Number rounded(const Number& a, bool up);  ///< ceil, floor; a real still
std::string text_of(const SymPtr& sym);
std::string literal(double value, bool real);

}  // namespace kbench::importing
