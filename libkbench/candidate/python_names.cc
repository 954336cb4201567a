#include "libkbench/candidate/python_names.h"

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <utility>
#include <vector>

namespace kbench {
namespace {

/// Goes through a text token by token.
class PythonTokens {
 public:
  struct Token {
    enum class Kind { name, sign, line, end };  ///< line: of a logical line, its end
    Kind kind = Kind::end;
    std::string_view text = {};
  };

  explicit PythonTokens(std::string_view text) : text_(text) { begin_line(); }

  /// Strings are signs of their first character, and numbers are names: neither matters here.
  Token next() {
    for (;;) {
      const char c = at(0);
      if (i_ >= text_.size()) return {};
      if (c == '#') {
        while (i_ < text_.size() && !ends_line(at(0))) ++i_;
      } else if (ends_line(c)) {
        ++i_;
        begin_line();
        if (depth_ > 0 && !begins_definition()) continue;
        depth_ = 0;
        return {Token::Kind::line};
      } else if (c == '\\' && ends_line(at(1))) {
        i_ += at(1) == '\r' && at(2) == '\n' ? 3 : 2;
      } else if (c == '"' || c == '\'') {
        const size_t begin = i_;
        skip_string();
        return {Token::Kind::sign, text_.substr(begin, 1)};
      } else if (goes_on(c)) {
        const size_t begin = i_;
        while (goes_on(at(0))) ++i_;
        const std::string_view name = text_.substr(begin, i_ - begin);
        if ((at(0) == '"' || at(0) == '\'') && is_prefix(name)) continue;  // Of a string.
        return {Token::Kind::name, name};
      } else if (std::isspace(static_cast<unsigned char>(c)) || c == '\0') {
        ++i_;
      } else {
        return {Token::Kind::sign, sign()};
      }
    }
  }

  /// The column in which the present logical line begins.
  size_t indent() const { return indent_; }
  /// How many brackets are open.
  size_t depth() const { return depth_; }

 private:
  static bool ends_line(char c) { return c == '\n' || c == '\r'; }
  static bool goes_on(char c) {
    return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || (c & 0x80) != 0;
  }
  static bool is_prefix(std::string_view name) {
    return name.size() <= 2 && name.find_first_not_of("rRbBuUfFtT") == name.npos;
  }
  char at(size_t ahead) const { return i_ + ahead < text_.size() ? text_[i_ + ahead] : '\0'; }

  /// A backslash keeps a quote from ending a string, in raw ones, too.
  void skip_string() {
    const char quote = at(0);
    const bool triple = at(1) == quote && at(2) == quote;
    const size_t begin = i_ += triple ? 3 : 1;
    while (i_ < text_.size()) {
      if (at(0) == '\\') {
        i_ += at(1) == '\r' && at(2) == '\n' ? 3 : 2;
      } else if (triple ? at(0) == quote && at(1) == quote && at(2) == quote : at(0) == quote) {
        i_ += triple ? 3 : 1;
        return;
      } else if (!triple && ends_line(at(0))) {
        return;
      } else {
        ++i_;
      }
    }
    i_ = std::min(begin, text_.size());  // It is not closed, which Python will say.
  }

  std::string_view sign() {
    const char c = text_[i_];
    if (c == '(' || c == '[' || c == '{') ++depth_;
    if ((c == ')' || c == ']' || c == '}') && depth_ > 0) --depth_;
    const size_t begin = i_++;
    const bool compound =
        at(0) == '=' && std::string_view("=!<>+-*/%@&|^:").find(c) != std::string_view::npos;
    if (compound) ++i_;
    return text_.substr(begin, i_ - begin);
  }

  /// No bracket holds a definition: one that is open here is never closed, which Python will say.
  bool begins_definition() const {
    for (const std::string_view word : {"class", "def"}) {
      if (text_.substr(i_).starts_with(word) && !goes_on(at(word.size()))) return true;
    }
    return false;
  }

  /// Blank lines and lines of a comment alone have no indentation of their own.
  void begin_line() {
    for (;;) {
      size_t column = 0;
      for (; at(0) == ' ' || at(0) == '\t' || at(0) == '\f'; ++i_) {
        column = at(0) == '\t' ? (column / 8 + 1) * 8 : at(0) == '\f' ? 0 : column + 1;
      }
      if (at(0) == '#') {
        while (i_ < text_.size() && !ends_line(at(0))) ++i_;
      }
      if (i_ >= text_.size() || !ends_line(at(0))) {
        indent_ = column;
        return;
      }
      ++i_;
    }
  }

  std::string_view text_;
  size_t i_ = 0, indent_ = 0, depth_ = 0;
};

using Token = PythonTokens::Token;

bool opens_scope(std::string_view word) { return word == "class" || word == "def"; }

/// `if`, `try` and the others whose colon is followed by statements of the same scope.
bool opens_block(std::string_view word) {
  constexpr std::string_view kWords[] = {"if",  "elif",   "else",    "for",  "while",
                                         "try", "except", "finally", "with", "async"};
  return std::ranges::find(kWords, word) != std::end(kWords);
}

/// A class or a function.
bool heads_scope(const std::vector<Token>& words) {
  const size_t at = !words.empty() && words[0].text == "async" ? 1 : 0;
  return words.size() > at && opens_scope(words[at].text);
}

/// Whether a statement binds the name.
bool statement_binds(const std::vector<Token>& words, std::string_view name) {
  if (words.empty()) return false;
  const auto is = [&](size_t i, std::string_view text) {
    return i < words.size() && words[i].text == text;
  };
  const std::string_view first = words[0].text;
  if (heads_scope(words)) return is(first == "async" ? 2 : 1, name);
  if (first == "import" || first == "from") {
    // What stands before `as` gets no name of its own.
    for (size_t i = 1; i < words.size(); ++i) {
      if (is(i, name) && !is(i + 1, "as") && !is(i - 1, ".") && !is(i + 1, ".") &&
          !is(i - 1, "from"))
        return true;
    }
    return false;
  }
  // Targets stand before a "=", with an annotation perhaps.
  for (size_t i = 0; i < words.size(); ++i) {
    if (is(i, name) && !is(i - 1, ".") && (is(i + 1, "=") || (i == 0 && is(1, ":")))) return true;
  }
  return false;
}

}  // namespace

std::string_view without_byte_order_mark(std::string_view text) {
  constexpr std::string_view kMark = "\xEF\xBB\xBF";
  return text.starts_with(kMark) ? text.substr(kMark.size()) : text;
}

bool binds_name(std::string_view python, std::string_view name) {
  PythonTokens tokens(without_byte_order_mark(python));
  std::vector<size_t> scopes;  // indentation of the classes and functions that are open
  for (bool more = true; more;) {
    const size_t indent = tokens.indent();
    std::erase_if(scopes, [&](size_t each) { return each >= indent; });
    bool of_module = scopes.empty();
    std::vector<Token> words;  // of a statement, without those in brackets
    for (bool line = true; line;) {
      const bool outside = tokens.depth() == 0;
      const Token token = tokens.next();
      more = token.kind != Token::Kind::end;
      line = more && token.kind != Token::Kind::line;
      const bool block = outside && token.text == ":" && !words.empty() &&
                         opens_block(words.front().text) && !heads_scope(words);
      if (!line || block || (outside && token.text == ";")) {
        if (of_module && statement_binds(words, name)) return true;
        if (heads_scope(words)) {
          scopes.push_back(indent);
          of_module = false;
        }
        words.clear();
        continue;
      }
      // An import's names may stand in brackets.
      const bool imports = !words.empty() && words.front().text == "from";
      if (outside || imports) words.push_back(token);
    }
  }
  return false;
}

}  // namespace kbench
