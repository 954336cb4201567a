#include "tests/prompts/expression.h"

#include <cctype>
#include <stdexcept>

namespace kbench::test {
namespace {

class Parser {
 public:
  Parser(const std::string& text, const std::map<std::string, PythonValue>& names)
      : text_(text), names_(names) {}

  PythonValue all() {
    PythonValue value = sum();
    skip();
    if (at_ != text_.size()) fail("what follows");
    return value;
  }

 private:
  [[noreturn]] void fail(const std::string& what) {
    throw std::runtime_error("in '" + text_ + "' at " + std::to_string(at_) + ": " + what);
  }
  void skip() {
    while (at_ < text_.size() && text_[at_] == ' ') ++at_;
  }
  bool take(const std::string& token) {
    skip();
    if (text_.compare(at_, token.size(), token) != 0) return false;
    at_ += token.size();
    return true;
  }
  void expect(const std::string& token) {
    if (!take(token)) fail("no " + token);
  }
  static PythonValue number(int64_t value) {
    PythonValue result;
    result.integer = value;
    return result;
  }

  PythonValue sum() {
    PythonValue left = product();
    for (;;) {
      if (take("+")) {
        const PythonValue right = product();
        if (left.kind == PythonValue::Kind::list) {
          left.list.insert(left.list.end(), right.list.begin(), right.list.end());
        } else {
          left.integer += right.integer;
        }
      } else if (take("-")) {
        left.integer -= product().integer;
      } else {
        return left;
      }
    }
  }

  PythonValue product() {
    PythonValue left = power();
    for (;;) {
      skip();
      if (text_.compare(at_, 2, "**") == 0) fail("a power of a product");
      if (take("//")) {
        const int64_t by = power().integer;
        if (by <= 0 || left.integer % by != 0) fail("a division that leaves a rest");
        left.integer /= by;
      } else if (take("*")) {
        const PythonValue right = power();
        if (left.kind == PythonValue::Kind::list) {
          const std::vector<PythonValue> once = left.list;
          left.list.clear();
          for (int64_t i = 0; i < right.integer; ++i) {
            left.list.insert(left.list.end(), once.begin(), once.end());
          }
        } else {
          left.integer *= right.integer;
        }
      } else {
        return left;
      }
    }
  }

  PythonValue power() {
    PythonValue base = postfix();
    if (!take("**")) return base;
    const int64_t exponent = power().integer;
    int64_t value = 1;
    for (int64_t i = 0; i < exponent; ++i) value *= base.integer;
    return number(value);
  }

  PythonValue postfix() {
    PythonValue value = atom();
    while (take("[")) {
      const int64_t index = sum().integer;
      expect("]");
      if (value.kind != PythonValue::Kind::list) fail("an index into no list");
      const PythonValue element = value.list.at(size_t(index));
      value = element;
    }
    return value;
  }

  PythonValue atom() {
    skip();
    if (take("-")) return number(-atom().integer);
    if (take("(")) {
      PythonValue value = sum();
      expect(")");
      return value;
    }
    if (take("[")) {
      PythonValue list;
      list.kind = PythonValue::Kind::list;
      if (take("]")) return list;
      do list.list.push_back(sum());
      while (take(","));
      expect("]");
      return list;
    }
    if (take("\"")) {
      const size_t end = text_.find('"', at_);
      if (end == std::string::npos) fail("an open text");
      PythonValue value;
      value.kind = PythonValue::Kind::text;
      value.text = text_.substr(at_, end - at_);
      at_ = end + 1;
      return value;
    }
    const size_t begin = at_;
    while (at_ < text_.size() && (std::isalnum(static_cast<unsigned char>(text_[at_])) != 0)) ++at_;
    const std::string word = text_.substr(begin, at_ - begin);
    if (word.empty()) fail("nothing that is a value");
    if (std::isdigit(static_cast<unsigned char>(word[0]))) return number(std::stoll(word));
    const auto found = names_.find(word);
    if (found == names_.end()) fail("unknown name " + word);
    return found->second;
  }

  const std::string& text_;
  const std::map<std::string, PythonValue>& names_;
  size_t at_ = 0;
};

}  // namespace

PythonValue evaluate_python(const std::string& text,
                            const std::map<std::string, PythonValue>& names) {
  return Parser(text, names).all();
}

}  // namespace kbench::test
