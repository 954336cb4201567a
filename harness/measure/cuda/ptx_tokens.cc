#include "harness/measure/cuda/ptx_tokens.h"

#include <algorithm>
#include <charconv>

#include "kbench/error.h"

namespace kbench::cuda {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool begins_name(char c) { return is_letter(c) || c == '_' || c == '$' || c == '%'; }
bool is_word(char c) { return is_letter(c) || is_digit(c) || c == '_'; }

class Lexer {
 public:
  explicit Lexer(std::string_view text) : text_(text) {}

  std::vector<PtxLexeme> all() {
    std::vector<PtxLexeme> lexemes;
    while (skip()) {
      const size_t begin = at_;
      const int line = line_;
      const LexemeKind kind = next();
      lexemes.push_back({kind, text_.substr(begin, at_ - begin), line});
    }
    return lexemes;
  }

 private:
  char at(size_t index) const { return index < text_.size() ? text_[index] : '\0'; }

  LexemeKind next() {
    const char c = text_[at_];
    if (c == '"') {
      string();
      return LexemeKind::string;
    }
    if (begins_name(c)) {
      for (++at_; is_word(at(at_)) || at(at_) == '$';) ++at_;
      return LexemeKind::name;
    }
    if (is_digit(c)) {
      number();
      return LexemeKind::number;
    }
    if (c == '.' && is_word(at(at_ + 1))) {
      modifier();
      return LexemeKind::modifier;
    }
    if (std::string_view("{}()[]<>;:,@!|=+-*/&^~?").find(c) == std::string_view::npos) {
      fail_ptx(line_, "'" + shown(std::string(1, c)) + "' stands in no PTX");
    }
    ++at_;
    return LexemeKind::sign;
  }

  /// Over blanks and comments; false at the end.
  bool skip() {
    for (; at_ < text_.size(); ++at_) {
      const char c = text_[at_];
      if (c == '\n') {
        ++line_;
      } else if (text_.substr(at_, 2) == "//") {
        at_ = std::min(text_.find('\n', at_), text_.size()) - 1;
      } else if (text_.substr(at_, 2) == "/*") {
        const size_t end = text_.find("*/", at_ + 2);
        if (end == std::string_view::npos) fail_ptx(line_, "a comment does not end");
        line_ += static_cast<int>(std::count(text_.begin() + static_cast<ptrdiff_t>(at_),
                                             text_.begin() + static_cast<ptrdiff_t>(end), '\n'));
        at_ = end + 1;
      } else if (c != ' ' && c != '\t' && c != '\r') {
        return true;
      }
    }
    return false;
  }

  /// With "::" in it.
  void modifier() {
    for (++at_; is_word(at(at_));) {
      while (is_word(at(at_))) ++at_;
      if (text_.substr(at_, 2) == "::" && is_word(at(at_ + 2))) at_ += 2;
    }
  }

  /// "12", "0x1F", "0f3F800000", "1.5e-3".
  void number() {
    const size_t begin = at_;
    bool decimal = true;
    for (; is_word(at(at_)); ++at_) {
      const bool exponent = (at(at_) == 'e' || at(at_) == 'E') && at_ > begin;
      if (exponent && decimal && (at(at_ + 1) == '-' || at(at_ + 1) == '+')) ++at_;
      decimal = decimal && (is_digit(at(at_)) || exponent);
    }
    if (decimal && at(at_) == '.' && !is_letter(at(at_ + 1)) && at(at_ + 1) != '_') {
      for (++at_; is_word(at(at_)); ++at_) {
        const bool exponent = at(at_) == 'e' || at(at_) == 'E';
        if (exponent && (at(at_ + 1) == '-' || at(at_ + 1) == '+')) ++at_;
      }
    }
  }

  void string() {
    const size_t end = text_.find_first_of("\"\n\\", at_ + 1);
    if (end == std::string_view::npos || text_[end] != '"') {
      fail_ptx(line_, "a string does not end");
    }
    at_ = end + 1;
  }

  std::string_view text_;
  size_t at_ = 0;
  int line_ = 1;
};

}  // namespace

std::vector<PtxLexeme> read_ptx_lexemes(std::string_view text) { return Lexer(text).all(); }

std::optional<uint64_t> ptx_number(std::string_view text) {
  int base = 10;
  if (text.starts_with("0x") || text.starts_with("0X")) {
    base = 16;
    text.remove_prefix(2);
  }
  if (text.ends_with("U")) text.remove_suffix(1);
  if (base == 10 && text.size() > 1 && text[0] == '0') return std::nullopt;  // octal
  uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  if (text.empty() || error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::string quoted_ptx(std::string_view text) { return "'" + shown(std::string(text), 100) + "'"; }

void fail_ptx(int line, const std::string& message) {
  throw Error(ErrorCode::kParse, {"", line, 0}, "PTX: " + message);
}

}  // namespace kbench::cuda
