#include "harness/cuda/ptx.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>
#include <optional>

#include "kbench/error.h"
#include "kbench/text.h"

namespace kbench::cuda {
namespace {

constexpr uint64_t kMostBytes = uint64_t{1} << 40;  // of one variable: more is no memory at all

[[noreturn]] void fail(int line, const std::string& message) {
  throw Error(ErrorCode::kParse, {"", line, 0}, "PTX: " + message);
}

bool is_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         c == '$' || c == '%' || c == '.';
}

class Tokens {
 public:
  explicit Tokens(std::string_view text) : text_(text) {}

  std::vector<PtxToken> all() {
    std::vector<PtxToken> tokens;
    while (skip()) {
      const size_t begin = at_;
      const int line = line_;
      const char c = text_[at_];
      if (c == '"') {
        string();
      } else if (is_word(c)) {
        word();
      } else if (std::string_view("{}()[]<>;:,@!|=+-*/&^~?").find(c) != std::string_view::npos) {
        ++at_;
      } else {
        fail(line, "'" + shown(std::string(1, c)) + "' stands in no PTX");
      }
      tokens.push_back({text_.substr(begin, at_ - begin), line});
    }
    return tokens;
  }

 private:
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
        if (end == std::string_view::npos) fail(line_, "a comment does not end");
        line_ += static_cast<int>(std::count(text_.begin() + static_cast<ptrdiff_t>(at_),
                                             text_.begin() + static_cast<ptrdiff_t>(end), '\n'));
        at_ = end + 1;
      } else if (c != ' ' && c != '\t' && c != '\r') {
        return true;
      }
    }
    return false;
  }
  /// With "::" in it: ".shared::cta".
  void word() {
    while (at_ < text_.size()) {
      if (text_.substr(at_, 2) == "::") {
        at_ += 2;
      } else if (is_word(text_[at_])) {
        ++at_;
      } else {
        return;
      }
    }
  }
  void string() {
    const size_t end = text_.find_first_of("\"\n\\", at_ + 1);
    if (end == std::string_view::npos || text_[end] != '"') fail(line_, "a string does not end");
    at_ = end + 1;
  }

  std::string_view text_;
  size_t at_ = 0;
  int line_ = 1;
};

bool is(const PtxToken& token, std::string_view text) { return token.text == text; }

/// Directives that end with their line.
bool ends_with_line(std::string_view word) {
  constexpr std::string_view kWords[] = {".version", ".target", ".address_size", ".file", ".loc"};
  return std::find(std::begin(kWords), std::end(kWords), word) != std::end(kWords);
}

bool is_linkage(std::string_view word) {
  constexpr std::string_view kWords[] = {".visible", ".extern", ".weak", ".common"};
  return std::find(std::begin(kWords), std::end(kWords), word) != std::end(kWords);
}

std::optional<uint64_t> number(std::string_view text) {
  int base = 10;
  if (text.starts_with("0x") || text.starts_with("0X")) {
    base = 16;
    text.remove_prefix(2);
  }
  if (text.ends_with("U")) text.remove_suffix(1);
  uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  if (text.empty() || error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

/// A variable of a ".shared .align 4 .b8 name[132]" or of a parameter list.
struct Variable {
  std::string name;
  uint64_t size = 0, alignment = 0;
};

Variable read_variable(const std::vector<PtxToken>& tokens, size_t begin, size_t end) {
  Variable variable;
  uint64_t element = 0, count = 1;
  for (size_t i = begin; i < end; ++i) {
    const std::string_view word = tokens[i].text;
    const auto value_at = [&, line = tokens[i].line](size_t at) -> uint64_t {
      const auto value = at < end ? number(tokens[at].text) : std::nullopt;
      if (!value) fail(line, "a number is expected behind '" + shown(std::string(word)) + "'");
      return *value;
    };
    if (word == ".align") {
      // Of a pointer's target where .ptr came before: not of the parameter itself.
      const bool target = std::any_of(tokens.begin() + static_cast<ptrdiff_t>(begin),
                                      tokens.begin() + static_cast<ptrdiff_t>(i),
                                      [](const PtxToken& token) { return is(token, ".ptr"); });
      const uint64_t alignment = value_at(++i);
      if (!target) variable.alignment = alignment;
    } else if (word == ".v2" || word == ".v4") {
      count *= word == ".v2" ? 2 : 4;
    } else if (word == "[") {
      if (i + 1 < end && is(tokens[i + 1], "]")) {
        count = 0;  // extern: the launch says how much
      } else {
        const uint64_t extent = value_at(++i);
        if (__builtin_mul_overflow(count, extent, &count)) count = kMostBytes;
      }
    } else if (word == "=") {
      break;
    } else if (const size_t bytes = ptx_type_bytes(word)) {
      element = bytes;
    } else if (word[0] != '.' && word != "]") {
      variable.name = std::string(word);
    }
  }
  if (variable.alignment == 0) variable.alignment = std::max<uint64_t>(element, 1);
  if (__builtin_mul_overflow(element, count, &variable.size) || variable.size > kMostBytes) {
    variable.size = kMostBytes;
  }
  return variable;
}

class Parser {
 public:
  explicit Parser(std::string_view text) : tokens_(Tokens(text).all()) {}

  PtxModule parse() {
    while (at_ < tokens_.size()) statement();
    if (depth_ > 0) fail(tokens_.back().line, "a function's body does not end");
    return std::move(module_);
  }

 private:
  using Kind = PtxStatement::Kind;

  void statement() {
    const PtxToken& first = tokens_[at_];
    if (is(first, "{") || is(first, "}")) return brace();
    if (is(first, ";")) {
      ++at_;
      return;
    }
    if (ends_with_line(first.text)) return line_directive();
    if (at_ + 1 < tokens_.size() && is(tokens_[at_ + 1], ":") && first.text[0] != '.') {
      add(Kind::label, at_, at_ + 1);
      at_ += 2;
      return;
    }
    const size_t begin = at_;
    bool header = false;
    for (size_t i = begin; i < tokens_.size(); ++i) {
      if (is_linkage(tokens_[i].text)) continue;
      header = is(tokens_[i], ".entry") || is(tokens_[i], ".func");
      break;
    }
    const bool section = is(first, ".section");
    size_t nested = 0;
    for (; at_ < tokens_.size(); ++at_) {
      const PtxToken& token = tokens_[at_];
      if (is(token, ";") && nested == 0) break;
      if (is(token, "{") && header) break;
      if (is(token, "{")) ++nested;
      if (is(token, "}")) {
        if (nested == 0) fail(token.line, "a '}' too many");
        --nested;
        if (section && nested == 0) {
          ++at_;
          add(Kind::directive, begin, at_);
          return;
        }
      }
    }
    if (at_ == tokens_.size()) fail(first.line, "a statement does not end");
    if (header) {
      function(begin, at_, is(tokens_[at_], ";"));
    } else {
      add(first.text[0] == '.' ? Kind::directive : Kind::instruction, begin, at_);
    }
    ++at_;
  }

  void brace() {
    if (is(tokens_[at_], "{")) {
      if (function_ < 0) fail(tokens_[at_].line, "a '{' outside of any function");
      ++depth_;
      add(Kind::open, at_, at_ + 1);
    } else {
      if (depth_ == 0) fail(tokens_[at_].line, "a '}' too many");
      add(Kind::close, at_, at_ + 1);
      if (--depth_ == 0) function_ = -1;
    }
    ++at_;
  }

  void line_directive() {
    const size_t begin = at_;
    const int line = tokens_[begin].line;
    while (at_ < tokens_.size() && tokens_[at_].line == line && !is(tokens_[at_], ";")) ++at_;
    if (is(tokens_[begin], ".target") && at_ > begin + 1 && module_.target.empty()) {
      module_.target = std::string(tokens_[begin + 1].text);
    }
    add(Kind::directive, begin, at_);
  }

  void add(Kind kind, size_t begin, size_t end) {
    PtxStatement made;
    made.kind = kind;
    made.line = tokens_[begin].line;
    made.tokens.assign(tokens_.begin() + static_cast<ptrdiff_t>(begin),
                       tokens_.begin() + static_cast<ptrdiff_t>(end));
    made.function = function_;
    if (kind == Kind::instruction && is(made.tokens[0], "@")) {
      made.opcode = made.tokens.size() > 1 && is(made.tokens[1], "!") ? 3 : 2;
      if (made.opcode >= made.tokens.size()) fail(made.line, "a guard without an instruction");
    }
    if (kind == Kind::directive) count_shared(made);
    module_.statements.push_back(std::move(made));
  }

  void count_shared(const PtxStatement& directive) {
    size_t first = 0;
    while (first < directive.tokens.size() && is_linkage(directive.tokens[first].text)) ++first;
    if (first == directive.tokens.size() || !is(directive.tokens[first], ".shared")) return;
    uint64_t& total = function_ < 0
                          ? module_.shared_bytes
                          : module_.functions[static_cast<size_t>(function_)].shared_bytes;
    // One directive may declare several, separated by commas outside of braces.
    size_t begin = first + 1, nested = 0;
    for (size_t i = begin; i <= directive.tokens.size(); ++i) {
      const bool end = i == directive.tokens.size();
      if (!end && is(directive.tokens[i], "{")) ++nested;
      if (!end && is(directive.tokens[i], "}")) --nested;
      if (!end && !(is(directive.tokens[i], ",") && nested == 0)) continue;
      Variable variable = read_variable(directive.tokens, begin, i);
      // The type stands in front of the first alone.
      if (variable.size == 0 && begin > first + 1) variable.size = kMostBytes;
      const uint64_t alignment = std::clamp<uint64_t>(variable.alignment, 1, 1024);
      total = std::min(kMostBytes, (total + alignment - 1) / alignment * alignment + variable.size);
      begin = i + 1;
    }
  }

  void function(size_t begin, size_t end, bool declared) {
    PtxFunction made;
    made.line = tokens_[begin].line;
    made.external = declared;
    size_t i = begin;
    while (is_linkage(tokens_[i].text)) ++i;
    made.entry = is(tokens_[i], ".entry");
    ++i;
    if (!made.entry && i < end && is(tokens_[i], "("))
      i = list(i, end, nullptr);  // what it returns
    if (i >= end) fail(made.line, "a function without a name");
    made.name = std::string(tokens_[i++].text);
    if (i < end && is(tokens_[i], "(")) i = list(i, end, made.entry ? &made.parameters : nullptr);
    limits(i, end, made);
    if (function_ >= 0) fail(made.line, "a function inside another");
    module_.functions.push_back(std::move(made));
    const int index = static_cast<int>(module_.functions.size()) - 1;
    if (!declared) {
      function_ = index;
      depth_ = 1;
    }
    add(Kind::header, begin, end);
  }

  /// A parenthesised list of parameters; the index behind it.
  size_t list(size_t open, size_t end, std::vector<PtxParameter>* parameters) {
    size_t begin = open + 1;
    for (size_t i = begin; i < end; ++i) {
      const bool close = is(tokens_[i], ")");
      if (!close && !is(tokens_[i], ",")) continue;
      if (parameters && i > begin) {
        const Variable variable = read_variable(tokens_, begin, i);
        parameters->push_back({variable.name, variable.size, variable.alignment});
      }
      begin = i + 1;
      if (close) return begin;
    }
    fail(tokens_[open].line, "a list of parameters does not end");
  }

  void limits(size_t begin, size_t end, PtxFunction& made) const {
    for (size_t i = begin; i < end; ++i) {
      const bool required = is(tokens_[i], ".reqntid");
      const bool cluster = is(tokens_[i], ".reqnctapercluster");
      if (!required && !cluster && !is(tokens_[i], ".maxntid")) continue;
      std::vector<uint32_t> extents;
      uint64_t threads = 1;
      for (++i; i < end && (is(tokens_[i], ",") || number(tokens_[i].text)); ++i) {
        if (is(tokens_[i], ",")) continue;
        const uint64_t extent = std::min<uint64_t>(*number(tokens_[i].text), UINT32_MAX);
        extents.push_back(static_cast<uint32_t>(extent));
        threads = std::min<uint64_t>(threads * extent, UINT32_MAX);
      }
      --i;
      if (cluster) {
        made.required_cluster = std::move(extents);
        continue;
      }
      made.max_threads = static_cast<uint32_t>(threads);
      if (required) made.required_block = std::move(extents);
    }
  }

  std::vector<PtxToken> tokens_;
  size_t at_ = 0;
  size_t depth_ = 0;
  int function_ = -1;
  PtxModule module_;
};

}  // namespace

const PtxFunction* PtxModule::find_entry(std::string_view name) const {
  for (const PtxFunction& function : functions) {
    if (function.entry && function.name == name) return &function;
  }
  return nullptr;
}

PtxModule parse_ptx(std::string_view text) { return Parser(text).parse(); }

size_t ptx_type_bytes(std::string_view type) {
  if (type == ".pred") return 1;
  if (type == ".f16x2" || type == ".bf16x2") return 4;
  if (type == ".bf16") return 2;
  if (type.size() < 3 || type[0] != '.') return 0;
  if (std::string_view("bsuf").find(type[1]) == std::string_view::npos) return 0;
  const auto bits = number(type.substr(2));
  constexpr std::array<uint64_t, 5> kBits = {8, 16, 32, 64, 128};
  if (!bits || std::find(kBits.begin(), kBits.end(), *bits) == kBits.end()) return 0;
  return static_cast<size_t>(*bits / 8);
}

}  // namespace kbench::cuda
