// Python and C++ into tokens, as far as kernel files need.
#include <array>
#include <cctype>

#include "kbench/error.h"
#include "libkbench/import/tree.h"
namespace kbench::importing {
namespace {

constexpr size_t kMostTokens = 200000;

bool starts_name(char c) { return std::isalpha(static_cast<unsigned char>(c)) || c == '_'; }
bool goes_on(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; }
bool digit(char c) { return std::isdigit(static_cast<unsigned char>(c)); }

constexpr std::array kPythonSigns = {"**=", "//=", ">>=", "<<=", "->", ":=", "**", "//",
                                     "<<",  ">>",  "<=",  ">=",  "==", "!=", "+=", "-=",
                                     "*=",  "/=",  "%=",  "@=",  "&=", "|=", "^=", "..."};
constexpr std::array kCppSigns = {"<<<", "<<=", "...", "::", "->", "++", "--", "<<",
                                  "<=",  ">=",  "==",  "!=", "&&", "||", "+=", "-=",
                                  "*=",  "/=",  "%=",  "|=", "&=", "^="};

/// What both readers have in common.
class Reader {
 public:
  Reader(const std::string& source, int line) : s_(source), line_(line) {}

 protected:
  bool at(std::string_view text) const { return s_.compare(i_, text.size(), text) == 0; }
  char peek(size_t ahead = 0) const { return i_ + ahead < s_.size() ? s_[i_ + ahead] : '\0'; }
  void add(Token::Kind kind, std::string text, size_t begin, int line) {
    if (tokens_.size() >= kMostTokens) stop(ImportObstacle::limits, line, "the file is too long");
    tokens_.push_back({kind, std::move(text), line, begin, i_, false});
  }
  void name() {
    const size_t begin = i_;
    while (goes_on(peek())) ++i_;
    add(Token::Kind::name, s_.substr(begin, i_ - begin), begin, line_);
  }
  void number(bool separators) {
    const size_t begin = i_;
    while (goes_on(peek()) || peek() == '.' || (separators && peek() == '\'') ||
           ((peek() == '+' || peek() == '-') && (s_[i_ - 1] == 'e' || s_[i_ - 1] == 'E') &&
            !(s_[begin] == '0' && i_ > begin + 1 && (s_[begin + 1] | 32) == 'x'))) {
      ++i_;
      if (i_ >= s_.size()) break;
    }
    std::string text;
    for (size_t k = begin; k < i_; ++k) {
      if (s_[k] != '\'' && s_[k] != '_') text += s_[k];
    }
    add(Token::Kind::number, text, begin, line_);
  }
  template <class Signs>
  void sign(const Signs& signs) {
    const size_t begin = i_;
    for (const char* known : signs) {
      if (at(known)) {
        i_ += std::string_view(known).size();
        add(Token::Kind::sign, known, begin, line_);
        return;
      }
    }
    ++i_;
    add(Token::Kind::sign, s_.substr(begin, 1), begin, line_);
  }
  char escaped() {  // behind the backslash
    const char c = peek();
    ++i_;
    switch (c) {
      case 'n':
        return '\n';
      case 't':
        return '\t';
      case 'r':
        return '\r';
      case '0':
        return '\0';
      default:
        return c;
    }
  }

  const std::string& s_;
  size_t i_ = 0;
  int line_;
  std::vector<Token> tokens_;
};

class PythonReader : public Reader {
 public:
  explicit PythonReader(const std::string& source) : Reader(source, 1) {}

  std::vector<Token> read() {
    indents_ = {0};
    bool fresh = true;
    while (i_ < s_.size()) {
      if (fresh && depth_ == 0) {
        if (!indentation()) continue;
        fresh = false;
      }
      const char c = peek();
      if (c == '\n') {
        if (depth_ == 0 && !tokens_.empty() && tokens_.back().kind != Token::Kind::newline) {
          add(Token::Kind::newline, "", i_, line_);
        }
        ++line_;
        ++i_;
        fresh = depth_ == 0;
      } else if (c == ' ' || c == '\t' || c == '\r' || c == '\f') {
        ++i_;
      } else if (c == '#') {
        while (i_ < s_.size() && peek() != '\n') ++i_;
      } else if (c == '\\' && (peek(1) == '\n' || peek(1) == '\r')) {
        while (peek() != '\n' && i_ < s_.size()) ++i_;
        ++i_;
        ++line_;
      } else if (string_here()) {
        string();
      } else if (starts_name(c) || (c & 0x80)) {
        if (c & 0x80) {
          ++i_;
          continue;
        }
        name();
      } else if (digit(c) || (c == '.' && digit(peek(1)))) {
        number(false);
      } else {
        if (c == '(' || c == '[' || c == '{') ++depth_;
        if ((c == ')' || c == ']' || c == '}') && depth_ > 0) --depth_;
        sign(kPythonSigns);
      }
    }
    add(Token::Kind::newline, "", i_, line_);
    while (indents_.size() > 1) {
      indents_.pop_back();
      add(Token::Kind::dedent, "", i_, line_);
    }
    add(Token::Kind::end, "", i_, line_);
    return std::move(tokens_);
  }

 private:
  /// False where the line has nothing on it.
  bool indentation() {
    size_t column = 0;
    size_t k = i_;
    for (; k < s_.size() && (s_[k] == ' ' || s_[k] == '\t'); ++k) {
      column = s_[k] == '\t' ? column / 8 * 8 + 8 : column + 1;
    }
    if (k >= s_.size() || s_[k] == '\n' || s_[k] == '#' || s_[k] == '\r') {
      while (k < s_.size() && s_[k] != '\n') ++k;
      i_ = k + 1;
      if (k >= s_.size()) i_ = s_.size();
      ++line_;
      return false;
    }
    i_ = k;
    if (column > indents_.back()) {
      if (indents_.size() > kDeepest) stop(ImportObstacle::limits, line_, "too deeply indented");
      indents_.push_back(column);
      add(Token::Kind::indent, "", i_, line_);
    }
    while (column < indents_.back()) {
      indents_.pop_back();
      add(Token::Kind::dedent, "", i_, line_);
    }
    return true;
  }

  bool string_here() const {
    size_t k = i_;
    while (k < s_.size() && k < i_ + 2 &&
           std::string_view("rRbBuUfF").find(s_[k]) != std::string_view::npos) {
      ++k;
    }
    return k < s_.size() && (s_[k] == '"' || s_[k] == '\'');
  }

  void string() {
    const size_t begin = i_;
    const int line = line_;
    bool raw = false, format = false;
    for (; peek() != '"' && peek() != '\''; ++i_) {
      raw = raw || (peek() | 32) == 'r';
      format = format || (peek() | 32) == 'f';
    }
    const char quote = peek();
    const std::string three(3, quote);
    const bool triple = at(three);
    i_ += triple ? 3 : 1;
    std::string text;
    while (true) {
      if (i_ >= s_.size() || (!triple && peek() == '\n')) {
        stop(ImportObstacle::syntax, line, "a string that does not end");
      }
      if (triple ? at(three) : peek() == quote) break;
      if (peek() == '\n') ++line_;
      if (peek() == '\\' && i_ + 1 < s_.size()) {
        ++i_;
        if (peek() == '\n') {
          ++line_;
          ++i_;
          if (raw)
            text += "\\\n";
          else
            text += "";
        } else if (raw) {
          text += '\\';
          text += s_[i_++];
        } else if (std::string_view("ntr0\\'\"").find(peek()) != std::string_view::npos) {
          text += escaped();
        } else {
          text += '\\';
          text += s_[i_++];
        }
      } else {
        text += s_[i_++];
      }
    }
    i_ += triple ? 3 : 1;
    // "a" "b" is one string.
    add(Token::Kind::text, text, begin, line);
    tokens_.back().formatted = format && text.find_first_of("{}") != std::string::npos;
  }

  size_t depth_ = 0;
  std::vector<size_t> indents_;
};

class CppReader : public Reader {
 public:
  using Reader::Reader;

  std::vector<Token> read() {
    bool fresh = true;
    while (i_ < s_.size()) {
      const char c = peek();
      if (c == '\n') {
        ++line_;
        ++i_;
        fresh = true;
      } else if (c == ' ' || c == '\t' || c == '\r' || c == '\\' || (c & 0x80)) {
        ++i_;
      } else if (at("//")) {
        while (i_ < s_.size() && peek() != '\n') ++i_;
      } else if (at("/*")) {
        comment();
      } else if (c == '#' && fresh) {
        directive();
      } else if (at("R\"")) {
        raw();
      } else if (c == '"' || c == '\'') {
        string(c);
        fresh = false;
      } else if (starts_name(c)) {
        name();
        fresh = false;
      } else if (digit(c) || (c == '.' && digit(peek(1)))) {
        number(true);
        fresh = false;
      } else {
        sign(kCppSigns);
        fresh = false;
      }
    }
    add(Token::Kind::end, "", i_, line_);
    return std::move(tokens_);
  }

 private:
  void comment() {
    const int line = line_;
    i_ += 2;
    while (!at("*/")) {
      if (i_ >= s_.size()) stop(ImportObstacle::syntax, line, "a comment that does not end");
      if (peek() == '\n') ++line_;
      ++i_;
    }
    i_ += 2;
  }

  void directive() {
    const size_t begin = i_;
    const int line = line_;
    std::string text;
    while (i_ < s_.size() && peek() != '\n') {
      if (peek() == '\\' && (peek(1) == '\n' || (peek(1) == '\r' && peek(2) == '\n'))) {
        i_ += peek(1) == '\n' ? 2 : 3;
        ++line_;
        text += ' ';
      } else if (at("//")) {
        while (i_ < s_.size() && peek() != '\n') ++i_;
      } else {
        text += s_[i_++];
      }
    }
    add(Token::Kind::directive, text, begin, line);
  }

  void raw() {
    const size_t begin = i_, open = s_.find('(', i_);
    const int line = line_;
    const size_t close = open == std::string::npos
                             ? open
                             : s_.find(")" + s_.substr(i_ + 2, open - i_ - 2) + "\"", open);
    if (close == std::string::npos)
      stop(ImportObstacle::syntax, line, "a string that does not end");
    const std::string text = s_.substr(open + 1, close - open - 1);
    i_ = close + (open - begin - 2) + 2;
    for (char c : text) line_ += c == '\n';
    add(Token::Kind::text, text, begin, line);
  }

  void string(char quote) {
    const size_t begin = i_++;
    std::string text;
    while (peek() != quote) {
      if (i_ >= s_.size() || peek() == '\n') {
        stop(ImportObstacle::syntax, line_, "a string that does not end");
      }
      if (peek() == '\\') {
        ++i_;
        text += escaped();
      } else {
        text += s_[i_++];
      }
    }
    ++i_;
    add(Token::Kind::text, text, begin, line_);
  }
};

}  // namespace

void stop(ImportObstacle obstacle, int line, const std::string& message) {
  throw NotFollowed{obstacle, line, message};
}

std::string quote(const std::string& text) { return "'" + shown(text, 60) + "'"; }

std::vector<Token> python_tokens(const std::string& source) { return PythonReader(source).read(); }
std::vector<Token> cpp_tokens(const std::string& source, int line) {
  return CppReader(source, line).read();
}

}  // namespace kbench::importing
