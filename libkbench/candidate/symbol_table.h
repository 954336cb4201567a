// The names that a candidate's expressions can use, and the macros of its shaders.
#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "kbench/candidate.h"
#include "kbench/variables.h"

namespace kbench {

/// Ranges of integers that expressions are checked against.
constexpr int64_t kMaxU32 = std::numeric_limits<uint32_t>::max();
constexpr int64_t kMaxI32 = std::numeric_limits<int32_t>::max();
constexpr int64_t kMinI32 = std::numeric_limits<int32_t>::min();
constexpr int64_t kMaxExact = (int64_t{1} << 53) - 1;
constexpr double kExact = kMaxExact + 1;  ///< integers below are exact doubles

/// Functions an expression may call.
const std::vector<std::string>& expression_functions();

/// The task's type, shape variables and numbers of the device, then constants in the order of their
/// definition. Every kernel has a copy of its own.
class SymbolTable {
 public:
  explicit SymbolTable(const Variables& variables, const DeviceNumbers& device = {},
                       DType dtype = DType::f32);

  /// Evaluates a constant over the names defined so far; a later definition replaces an earlier
  /// one. Throws kParse when the name is a shape variable's.
  void define(const std::string& name, const Sourced& expression);

  /// Variables of repeats with their values, which hold until the next call.
  using Running = std::vector<std::pair<std::string, int64_t>>;
  void set_running(const Running& running);
  /// Whether the name has a meaning without repeats, or is that of a list variable.
  bool knows(const std::string& name) const;

  /// These throw kUnsupported for a number of the device where none is known.
  int64_t integer(const Sourced& expression) const;
  double real(const Sourced& expression) const;
  /// Integer in [low, high]; `what` names it in the error.
  int64_t integer(const Sourced& expression, int64_t low, int64_t high,
                  const std::string& what) const;
  /// An integer in [low, high], or the integers of a list variable whose name is the expression.
  std::vector<int64_t> integers(const Sourced& expression, int64_t low, int64_t high,
                                const std::string& what) const;
  /// The extents of a shape, each of them an integer or a list variable. Throws kParse.
  Shape shape(const std::vector<Sourced>& extents) const;
  /// True when the expression has a decimal point, an exponent or a real name in it: its value is
  /// then a real one, even where it happens to be whole.
  bool is_real(const Sourced& expression) const;
  /// dtype_f32 as KB_DTYPE_F32 and its like, shape variables as KB_<name>, constants under their
  /// own names, in order.
  const std::vector<std::pair<std::string, std::string>>& macros() const { return macros_; }

 private:
  void add(const std::string& name, double value, bool real, const std::string& macro);
  void check_device(const Sourced& expression) const;

  std::map<std::string, double> names_;
  std::set<std::string> variables_;
  std::map<std::string, size_t> lists_;  ///< how many elements
  std::set<std::string> reals_;
  std::vector<std::string> running_;
  std::vector<std::pair<std::string, std::string>> macros_;
};

}  // namespace kbench
