// The parser of the C++ of host functions that launch kernels, as far as kernel files use it.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "libkbench/import/cursor.h"

namespace kbench::importing {

/// Throws NotFollowed where the text goes beyond that.
class CppParser : public TokenCursor {
 public:
  using TokenCursor::TokenCursor;

  Block body();
  ExprPtr whole();
  std::vector<Parameter> parameters();

 private:
  [[noreturn]] void unexpected();
  /// The next n tokens are ">" without blanks.
  bool adjacent(size_t n) const;

  void statement(Block& block);
  std::shared_ptr<Stmt> one();
  Block braced();
  /// A type at ahead(0), as text, and where it ends; "" where none is.
  std::string type(size_t& k, bool only_basic) const;
  bool template_list(size_t& k, std::vector<std::string>* parts) const;
  bool declaration(Block& block);

  ExprPtr comma();
  ExprPtr expression();
  ExprPtr binary(int least);
  ExprPtr unary();
  ExprPtr postfix();
  ExprPtr primary();
  ExprPtr lambda(int line);
  void list(std::vector<ExprPtr>& items, std::string_view close);
  ExprPtr braces();
};

/// Whether a word is the name of a type that is known without a declaration.
bool is_basic_type(const std::string& word);

}  // namespace kbench::importing
