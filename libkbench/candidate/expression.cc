// Expressions over shape variables, parsed by muParser with operators of our own, which are exact
// over integers: muParser's built-in ones compute with reals.
#include <muParser.h>

#include <algorithm>
#include <bit>
#include <cctype>
#include <charconv>
#include <cmath>
#include <optional>
#include <string_view>

#include "kbench/candidate.h"
#include "kbench/candidate_limits.h"
#include "libkbench/base/text.h"
#include "libkbench/candidate/symbol_table.h"

namespace kbench {
namespace {

/// Thrown from muParser's callbacks where a result is undefined.
struct Fault {
  std::string message;
};

bool is_integer(double x) { return std::abs(x) < kExact && x == std::floor(x); }

double integer(double x) {
  if (!is_integer(x)) throw Fault{"is not an integer below 2^53 at every step"};
  return x;
}

int64_t floor_div(int64_t a, int64_t b) {
  if (b == 0) throw Fault{"divides by zero"};
  return a / b - (a % b != 0 && (a < 0) != (b < 0));
}

// Integer rules: every operand and every result is an exact integer.
namespace exact {
int64_t in(double x) { return static_cast<int64_t>(integer(x)); }
double add(double a, double b) { return integer(integer(a) + integer(b)); }
double subtract(double a, double b) { return integer(integer(a) - integer(b)); }
double multiply(double a, double b) { return integer(integer(a) * integer(b)); }
double divide(double a, double b) { return static_cast<double>(floor_div(in(a), in(b))); }
double modulo(double a, double b) {
  return static_cast<double>(in(a)-floor_div(in(a), in(b)) * in(b));
}
}  // namespace exact

// Real rules, for expressions that are not required to be integers.
namespace real {
double finite(double x) {
  if (!std::isfinite(x)) throw Fault{"is not finite"};
  return x;
}
double add(double a, double b) { return finite(a + b); }
double subtract(double a, double b) { return finite(a - b); }
double multiply(double a, double b) { return finite(a * b); }
double divide(double a, double b) {
  if (b == 0) throw Fault{"divides by zero"};
  return finite(a / b);
}
double modulo(double a, double b) {
  if (b == 0) throw Fault{"divides by zero"};
  return finite(a - std::floor(a / b) * b);
}
}  // namespace real

double less(double a, double b) { return a < b; }
double less_equal(double a, double b) { return a <= b; }
double greater(double a, double b) { return a > b; }
double greater_equal(double a, double b) { return a >= b; }
double equal(double a, double b) { return a == b; }
double not_equal(double a, double b) { return a != b; }
double negate(double a) { return -a; }
double identity(double a) { return a; }
double minimum(double a, double b) { return a < b ? a : b; }
double maximum(double a, double b) { return a < b ? b : a; }

double ceil_div(double a, double b) {
  const int64_t n = exact::in(a);
  return static_cast<double>(-floor_div(-n, exact::in(b)));
}
double align(double a, double b) { return exact::multiply(ceil_div(a, b), b); }
double pow2(double a) {
  const int64_t n = exact::in(a);
  if (n < 1) throw Fault{"asks for pow2 of a number below 1"};
  int64_t power = 1;
  while (power < n) power *= 2;
  return integer(static_cast<double>(power));
}

/// How often a can be halved before it is 1.
double log2_floor(double a) {
  const int64_t n = exact::in(a);
  if (n < 1) throw Fault{"asks for log2 of a number below 1"};
  return std::bit_width(static_cast<uint64_t>(n)) - 1;
}
double log2_real(double a) {
  if (!(a > 0)) throw Fault{"asks for log2 of a number that is not positive"};
  return real::finite(std::log2(a));
}
double ceil_log2(double a) {
  const int64_t n = exact::in(a);
  if (n < 1) throw Fault{"asks for ceil_log2 of a number below 1"};
  return std::bit_width(static_cast<uint64_t>(n - 1));
}
double sqrt_real(double a) {
  if (!(a >= 0)) throw Fault{"asks for sqrt of a negative number"};
  return std::sqrt(a);
}
double sqrt_exact(double a) { return integer(sqrt_real(integer(a))); }

/// A decimal number at `text`, independent of the locale.
int read_number(const char* text, int* position, double* value) {
  const std::string_view rest(text);
  if (rest.empty() || !((rest[0] >= '0' && rest[0] <= '9') || rest[0] == '.')) return 0;
  const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), *value);
  if (error == std::errc::result_out_of_range) throw Fault{"holds a number that is out of range"};
  if (error != std::errc()) return 0;
  *position += static_cast<int>(end - rest.data());
  return 1;
}

class Parser : public mu::ParserBase {
 public:
  explicit Parser(bool exact_integers) : exact_(exact_integers) {
    EnableBuiltInOprt(false);
    AddValIdent(read_number);
    InitCharSets();
    InitFun();
    InitConst();
    InitOprt();
  }

 protected:
  void InitCharSets() override {
    DefineNameChars("0123456789_abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ");
    DefineOprtChars("+-*/%<>=!");
    DefineInfixOprtChars("+-");
  }
  void InitFun() override {
    DefineFun("min", minimum);
    DefineFun("max", maximum);
    DefineFun("ceil_div", ceil_div);
    DefineFun("align", align);
    DefineFun("pow2", pow2);
    DefineFun("log2", exact_ ? log2_floor : log2_real);
    DefineFun("ceil_log2", ceil_log2);
    DefineFun("sqrt", exact_ ? sqrt_exact : sqrt_real);
  }
  void InitConst() override {}
  void InitOprt() override {
    DefineInfixOprt("-", negate);
    DefineInfixOprt("+", identity);
    DefineOprt("+", exact_ ? exact::add : real::add, mu::prADD_SUB);
    DefineOprt("-", exact_ ? exact::subtract : real::subtract, mu::prADD_SUB);
    DefineOprt("*", exact_ ? exact::multiply : real::multiply, mu::prMUL_DIV);
    DefineOprt("/", exact_ ? exact::divide : real::divide, mu::prMUL_DIV);
    DefineOprt("%", exact_ ? exact::modulo : real::modulo, mu::prMUL_DIV);
    DefineOprt("<", less, mu::prCMP);
    DefineOprt("<=", less_equal, mu::prCMP);
    DefineOprt(">", greater, mu::prCMP);
    DefineOprt(">=", greater_equal, mu::prCMP);
    DefineOprt("==", equal, mu::prCMP);
    DefineOprt("!=", not_equal, mu::prCMP);
  }

 private:
  bool exact_;
};

[[noreturn]] void fail(const Sourced& expression, size_t offset, const std::string& message) {
  Location at = expression.at;
  if (at.column > 0) at.column += static_cast<int>(offset);
  fail_parse(at, message);
}

[[noreturn]] void fail(const Sourced& expression, const mu::ParserError& error,
                       const std::map<std::string, double>& names) {
  size_t offset = error.GetPos() >= 0 ? static_cast<size_t>(error.GetPos()) : 0;
  offset = std::min(offset, expression.text.size());
  const std::string where = "in the expression " + quoted(expression.text);
  if (error.GetCode() == mu::ecUNASSIGNABLE_TOKEN && !error.GetToken().empty()) {
    if (names.contains(error.GetToken() + "_0")) {
      fail(expression, offset,
           quoted(error.GetToken()) + " is a list: write " + error.GetToken() +
               "[0] for its first element, " + where);
    }
    std::vector<std::string> known(expression_functions());
    for (const auto& [name, value] : names) known.push_back(name);
    const std::string suggested = suggestion(error.GetToken().substr(0, 60), known);
    // Numbers of the device and those of the task's type are not listed: they would hide the names
    // that belong to the task.
    for (const std::string& name : device_number_names()) std::erase(known, name);
    std::erase_if(known, [](const std::string& name) { return name.starts_with("dtype_"); });
    fail(expression, offset,
         "unknown name " + quoted(error.GetToken()) + " " + where + suggested +
             " (known: " + joined(known) + ")");
  }
  std::string message = error.GetMsg();
  while (!message.empty() && (message.back() == '.' || message.back() == '\n')) message.pop_back();
  fail(expression, offset, message + ", " + where);
}

/// Checks that need no parser: length, characters, nesting.
void check_form(const Sourced& expression) {
  const std::string& text = expression.text;
  if (text.size() > limits::kExpressionBytes) {
    fail(expression, 0,
         "the expression is longer than " + std::to_string(limits::kExpressionBytes) +
             " characters");
  }
  if (text.find_first_not_of(" \t\n") == std::string::npos) {
    fail(expression, 0, "expected an expression, found an empty text");
  }
  const size_t foreign = text.find_first_not_of(
      "0123456789_abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ+-*/%<>=!(),.[] \t\n");
  if (foreign != std::string::npos) {
    fail(expression, foreign,
         quoted(std::string(1, text[foreign])) + " cannot stand in an expression (" + quoted(text) +
             ")");
  }
  size_t depth = 0;
  bool closed_early = false;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '(' && ++depth > limits::kExpressionDepth) {
      fail(expression, i,
           "more than " + std::to_string(limits::kExpressionDepth) +
               " parentheses stand in each other");
    }
    if (text[i] != ')') continue;
    closed_early |= depth == 0;
    if (depth > 0) --depth;
  }
  if (depth > 0 || closed_early) {
    fail(expression, 0,
         "the parentheses of the expression " + quoted(text) +
             " do not match; between [ ] and { } YAML ends a text at a comma: quote it, as in "
             "\"ceil_div(a, b)\"");
  }
}

/// "list[2]" as "list_2 ", so that the characters behind it keep their places.
std::string without_brackets(const Sourced& expression) {
  std::string text = expression.text;
  for (size_t open = text.find('['); open != std::string::npos; open = text.find('[')) {
    const size_t close = text.find_first_not_of("0123456789", open + 1);
    const bool element = open > 0 && is_word_character(text[open - 1]) && close > open + 1 &&
                         close != std::string::npos && text[close] == ']';
    if (!element) {
      fail(expression, open,
           "'[' stands behind a list's name only, with a number in it, as in layers[2] (" +
               quoted(expression.text) + ")");
    }
    text[open] = '_';
    text[close] = ' ';
  }
  const size_t lone = text.find(']');
  if (lone != std::string::npos) {
    fail(expression, lone, "']' closes nothing in the expression " + quoted(expression.text));
  }
  return text;
}

/// Defines only the names that the expression uses: defining all costs more than parsing.
void define_names(const std::string& text, const std::map<std::string, double>& names,
                  Parser& parser) {
  for (size_t i = 0; i < text.size();) {
    size_t end = i;
    while (end < text.size() && is_word_character(text[end])) ++end;
    if (end > i && !std::isdigit(static_cast<unsigned char>(text[i]))) {
      const auto name = names.find(text.substr(i, end - i));
      if (name != names.end()) parser.DefineConst(name->first, name->second);
    }
    i = std::max(end, i + 1);
  }
}

/// The value of a text that is just a decimal integer or a name, as most are.
std::optional<double> simple_value(const std::string& text,
                                   const std::map<std::string, double>& names) {
  const auto name = names.find(text);
  if (name != names.end()) return name->second;
  constexpr size_t kExactDigits = 15;
  if (text.size() > kExactDigits) return std::nullopt;
  int64_t value = 0;
  const char* end = text.data() + text.size();
  const auto [read, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc() || read != end) return std::nullopt;
  return static_cast<double>(value);
}

double evaluate(const Sourced& expression, const std::map<std::string, double>& names,
                bool exact_integers) {
  check_form(expression);
  const std::string text = without_brackets(expression);
  if (const auto value = simple_value(text, names)) return *value;
  try {
    Parser parser(exact_integers);
    define_names(text, names, parser);
    parser.SetExpr(text);
    int results = 0;
    const double* values = parser.Eval(results);
    if (results != 1) {
      fail(expression, 0, quoted(expression.text) + " is more than one expression");
    }
    return values[0];
  } catch (const mu::ParserError& error) {
    fail(expression, error, names);
  } catch (const Fault& fault) {
    fail(expression, 0, "the expression " + quoted(expression.text) + " " + fault.message);
  }
}

}  // namespace

int64_t evaluate_integer(const Sourced& expression, const std::map<std::string, double>& names) {
  const double value = evaluate(expression, names, true);
  if (!is_integer(value)) {
    fail(expression, 0,
         "the expression " + quoted(expression.text) + " must be an integer, but is " +
             number_text(value));
  }
  return static_cast<int64_t>(value);
}

double evaluate_real(const Sourced& expression, const std::map<std::string, double>& names) {
  const double value = evaluate(expression, names, false);
  if (!std::isfinite(value)) {
    fail(expression, 0, "the expression " + quoted(expression.text) + " is not finite");
  }
  return value;
}

const std::vector<std::string>& expression_functions() {
  static const std::vector<std::string> names = {"min",  "max",  "ceil_div",  "align",
                                                 "pow2", "log2", "ceil_log2", "sqrt"};
  return names;
}

const std::vector<std::string>& device_number_names() {
  static const std::vector<std::string> names = {"subgroup_size",
                                                 "min_subgroup_size",
                                                 "max_subgroup_size",
                                                 "max_compute_shared_memory_size",
                                                 "max_compute_work_group_invocations",
                                                 "max_compute_work_group_size_0",
                                                 "max_compute_work_group_size_1",
                                                 "max_compute_work_group_size_2",
                                                 "max_compute_work_group_count_0",
                                                 "max_compute_work_group_count_1",
                                                 "max_compute_work_group_count_2",
                                                 "max_push_constants_size",
                                                 "max_storage_buffer_range",
                                                 "min_storage_buffer_offset_alignment",
                                                 "cooperative_matrix_nv"};
  return names;
}

std::map<std::string, double> expression_names(const Variables& variables) {
  std::map<std::string, double> names;
  for (const auto& [given, value] : variables) {
    std::string name = given;
    for (char& c : name) {
      if (!std::isalnum(static_cast<unsigned char>(c))) c = '_';
    }
    if (const auto* list = std::get_if<std::vector<int64_t>>(&value)) {
      for (size_t i = 0; i < list->size(); ++i) {
        names[name + "_" + std::to_string(i)] = static_cast<double>((*list)[i]);
      }
    } else if (const auto* whole = std::get_if<int64_t>(&value)) {
      names[name] = static_cast<double>(*whole);
    } else {
      names[name] = std::get<double>(value);
    }
  }
  return names;
}

}  // namespace kbench
