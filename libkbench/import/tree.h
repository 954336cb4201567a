// What a kernel file's Python and its C++ host code are parsed into: one tree for both languages,
// so that one evaluator follows both.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kbench/import.h"

namespace kbench::importing {

/// Thrown where an import stops, with the reason.
struct NotFollowed {
  ImportObstacle obstacle = ImportObstacle::python;
  int line = 0;
  std::string message;
};
[[noreturn]] void stop(ImportObstacle obstacle, int line, const std::string& message);
/// A text of the file's, for such a message.
std::string quote(const std::string& text);

struct Token {
  enum class Kind { name, number, text, sign, directive, newline, indent, dedent, end };
  Kind kind = Kind::end;
  std::string text;  ///< of a string its value, of a directive the whole line
  int line = 0;
  size_t begin = 0, end = 0;  ///< bytes in the source
  bool formatted = false;     ///< an f-string with braces in it
  bool is(std::string_view sign) const {
    return (kind == Kind::sign || kind == Kind::name) && text == sign;
  }
};
std::vector<Token> python_tokens(const std::string& source);
/// `line` is that of the first character.
std::vector<Token> cpp_tokens(const std::string& source, int line);

struct Expr;
struct Stmt;
using ExprPtr = std::shared_ptr<Expr>;
using Block = std::vector<std::shared_ptr<Stmt>>;

struct Expr {
  enum class Kind {
    number,       ///< text
    text,         ///< text
    name,         ///< text, in C++ qualified
    unary,        ///< text is the operator
    binary,       ///< likewise; "and", "or", "not" for both languages
    call,         ///< args[0] is called
    member,       ///< args[0] . text
    index,        ///< args[0] [args[1], ...]
    list,         ///< args
    conditional,  ///< args: condition, then, else
    lambda,       ///< body
    cast,         ///< text is the type, args[0] the value
    launch,       ///< args[0] the kernel, configuration in `config`, the rest arguments
    slice,        ///< args: from, to, step, any of them null
    star,         ///< *args[0] in a call or a list
    assign,       ///< args[0] text args[1], within a C++ expression; ++ and -- too
  };
  Kind kind = Kind::number;
  int line = 0;
  std::string text;
  std::vector<ExprPtr> args;
  std::vector<ExprPtr> config;
  std::vector<std::pair<std::string, ExprPtr>> keywords;
  std::vector<std::string> template_args;  ///< as written; of a name or member
  Block body;
};

struct Parameter {
  std::string type;  ///< C++ only
  std::string name;
  ExprPtr fallback;
  bool rest = false;  ///< *args and **kwargs
};

struct Function {
  std::string name;
  std::vector<Parameter> parameters;
  std::string result;                       ///< C++: the type it returns
  std::vector<std::string> template_types;  ///< C++: names of its template parameters
  Block body;
  bool cpp = false;
  int line = 0;
};

struct Stmt {
  enum class Kind {
    expression,
    assign,   ///< targets, text is "=" or "+=", value
    declare,  ///< C++: text is the type, name, value or arguments
    branch,   ///< value, body, other
    each,     ///< Python: for targets[0] in value
    loop,     ///< C++: first, value, last
    repeat,   ///< while
    result,   ///< return
    leave,    ///< break
    next,     ///< continue
    block,
    function,
    type,  ///< class: name, bases in targets, body
    nothing,
    unknown,  ///< text says what
  };
  Kind kind = Kind::nothing;
  int line = 0;
  std::string text, name;
  std::vector<ExprPtr> targets;
  ExprPtr value;
  std::vector<ExprPtr> arguments;
  bool constructed = false;  ///< declare: with (..) or {..}
  Block body, other;
  std::shared_ptr<Stmt> first;
  ExprPtr last;
  std::shared_ptr<Function> function;
};

/// The module's statements. What cannot be parsed becomes a statement of kind unknown where it can
/// be told where it ends; else stops.
Block parse_python(const std::vector<Token>& tokens);
/// The statements of a C++ function body, without its braces, and the expression of a macro.
Block parse_cpp_body(std::vector<Token> tokens);
ExprPtr parse_cpp_expression(std::vector<Token> tokens);
std::vector<Parameter> parse_cpp_parameters(const std::vector<Token>& tokens);

/// Deepest nesting of expressions and statements that is read.
inline constexpr int kDeepest = 100;

}  // namespace kbench::importing
