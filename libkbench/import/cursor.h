// What the parsers of a kernel file's two languages share: a place in a list of tokens.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kbench/error.h"
#include "libkbench/import/tree.h"

namespace kbench::importing {

inline ExprPtr make(Expr::Kind kind, int line, std::string text = "",
                    std::vector<ExprPtr> args = {}) {
  auto e = std::make_shared<Expr>();
  e->kind = kind;
  e->line = line;
  e->text = std::move(text);
  e->args = std::move(args);
  return e;
}

class TokenCursor {
 public:
  /// The last token is one of kind end: one is added where it is not.
  explicit TokenCursor(std::vector<Token> tokens) : tokens_(std::move(tokens)) {
    if (!tokens_.empty() && tokens_.back().kind == Token::Kind::end) return;
    Token end;
    end.line = tokens_.empty() ? 0 : tokens_.back().line;
    tokens_.push_back(end);
  }

 protected:
  /// As long as it lives what is parsed is one level deeper.
  struct Deeper {
    explicit Deeper(TokenCursor& cursor) : cursor(cursor) {
      if (++cursor.depth_ > kDeepest) {
        stop(ImportObstacle::limits, cursor.now().line, "too deeply nested");
      }
    }
    ~Deeper() { --cursor.depth_; }
    TokenCursor& cursor;
  };

  const Token& now() const { return tokens_[i_]; }
  const Token& before() const { return tokens_[i_ - 1]; }
  const Token& ahead(size_t n) const { return tokens_[std::min(i_ + n, tokens_.size() - 1)]; }
  bool at_end() const { return now().kind == Token::Kind::end; }
  void advance() {
    if (i_ + 1 < tokens_.size()) ++i_;
  }
  bool take(std::string_view sign) {
    if (!now().is(sign)) return false;
    advance();
    return true;
  }
  void want(std::string_view sign) {
    if (take(sign)) return;
    stop(ImportObstacle::syntax, now().line,
         "expected '" + std::string(sign) + "'" +
             (at_end() ? "" : " before '" + shown(now().text, 40) + "'"));
  }

 private:
  std::vector<Token> tokens_;
  size_t i_ = 0;
  int depth_ = 0;
};

}  // namespace kbench::importing
