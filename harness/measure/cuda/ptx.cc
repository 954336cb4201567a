#include "harness/measure/cuda/ptx.h"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <span>
#include <utility>

#include "harness/measure/cuda/ptx_declaration.h"
#include "harness/measure/cuda/ptx_operands.h"
#include "harness/measure/cuda/ptx_tokens.h"
#include "kbench/error.h"

namespace kbench::cuda {
namespace {

constexpr size_t kMostScopes = 256;  // braces in each other

class Parser {
 public:
  explicit Parser(std::string_view text) : lexemes_(read_ptx_lexemes(text)) {
    scopes_.emplace_back();
  }

  PtxModule parse() {
    while (at_ < lexemes_.size()) statement();
    if (function_ >= 0) fail_ptx(lexemes_.back().line, "a function's body does not end");
    return std::move(module_);
  }

 private:
  using Lexemes = std::span<const PtxLexeme>;

  const PtxLexeme& first() const { return lexemes_[at_]; }
  bool is(size_t index, std::string_view text) const {
    return index < lexemes_.size() && lexemes_[index].text == text;
  }
  Lexemes lexemes(size_t begin, size_t end) const {
    return Lexemes(lexemes_).subspan(begin, end - begin);
  }

  void statement() {
    if (is(at_, "{") || is(at_, "}")) return brace();
    if (is(at_, ";")) {
      ++at_;
      return;
    }
    if (first().kind == LexemeKind::modifier) return directive();
    if (first().kind == LexemeKind::name && is(at_ + 1, ":")) return label();
    instruction();
  }

  void brace() {
    PtxStatement& made =
        add(is(at_, "{") ? StatementKind::open : StatementKind::close, at_, at_ + 1);
    if (function_ < 0) {
      fail_ptx(made.line, made.kind == StatementKind::open ? "a '{' outside of any function"
                                                           : "a '}' too many");
    }
    ++at_;
    if (made.kind == StatementKind::open) {
      scopes_.emplace_back();
      if (scopes_.size() > kMostScopes) fail_ptx(made.line, "blocks nested too deep");
      return;
    }
    scopes_.pop_back();
    if (scopes_.size() == 1) function_ = -1;
  }

  void label() {
    if (function_ < 0) fail_ptx(first().line, "a label outside of any function");
    add(StatementKind::label, at_, at_ + 1);
    at_ += 2;
  }

  /// The index of the ';' that ends the statement at `at_`; braces within it belong to it.
  size_t end_of_statement() const {
    size_t nested = 0;
    for (size_t i = at_; i < lexemes_.size(); ++i) {
      if (is(i, ";") && nested == 0) return i;
      if (is(i, "{")) ++nested;
      if (is(i, "}")) {
        if (nested == 0) fail_ptx(lexemes_[i].line, "a '}' too many");
        --nested;
      }
    }
    fail_ptx(first().line, "a statement does not end");
  }

  void instruction() {
    const size_t end = end_of_statement();
    if (function_ < 0) {
      fail_ptx(first().line, quoted_ptx(first().text) + " stands outside of any function");
    }
    PtxStatement made;
    made.kind = StatementKind::instruction;
    made.line = first().line;
    made.function = function_;
    PtxInstructionReader(lexemes(at_, end), module_, [this](std::string_view name) {
      return find(name);
    }).read(made);
    module_.statements.push_back(std::move(made));
    at_ = end + 1;
  }

  // Directives

  void directive() {
    const std::string_view word = first().text;
    if (word == ".version") return set(module_.version, number_or_fail());
    if (word == ".target") return target();
    if (word == ".address_size") return address_size();
    if (word == ".file") return file();
    if (word == ".loc") return location();
    if (word == ".section") return section();
    size_t behind = at_;
    while (behind < lexemes_.size() && is_ptx_linkage(lexemes_[behind].text)) ++behind;
    if (is(behind, ".entry") || is(behind, ".func")) return header(behind);
    const size_t end = end_of_statement();
    PtxStatement& made = add(StatementKind::directive, at_, end);
    if (behind < end && is_ptx_space(lexemes_[behind].text)) declaration(made, end);
    if (word == ".branchtargets") targets(end);
    at_ = end + 1;
  }

  /// What stands behind the directive's word, of that kind; the words are taken.
  std::string_view take(LexemeKind kind, const char* expected) {
    ++at_;
    if (at_ >= lexemes_.size() || lexemes_[at_].kind != kind) {
      fail_ptx(lexemes_[at_ - 1].line,
               std::string(expected) + " is expected behind " + quoted_ptx(lexemes_[at_ - 1].text));
    }
    return lexemes_[at_++].text;
  }
  std::string_view take_number() { return take(LexemeKind::number, "a number"); }
  std::string number_or_fail() { return std::string(take_number()); }
  void set(std::string& member, std::string value) {
    if (!member.empty() || function_ >= 0) {
      fail_ptx(lexemes_[at_ - 1].line, quoted_ptx(value) + " is said where it may not be");
    }
    member = std::move(value);
  }

  void target() {
    set(module_.target, std::string(take(LexemeKind::name, "a name")));
    while (is(at_, ",")) {
      const std::string_view option = take(LexemeKind::name, "a name");
      // Debug information is left out, and textures there are none.
      if (option != "debug" && !option.starts_with("texmode_")) {
        fail_ptx(lexemes_[at_ - 1].line, "'.target' with " + quoted_ptx(option));
      }
    }
  }

  void address_size() {
    const std::string_view bits = take_number();
    if (bits != "64")
      fail_ptx(lexemes_[at_ - 1].line, "addresses of " + quoted_ptx(bits) + " bits");
  }

  /// ".file 1 "k.cu", 1700000000, 4096".
  void file() {
    take_number();
    --at_;
    take(LexemeKind::string, "a string");
    for (int i = 0; i < 2 && is(at_, ","); ++i) take_number();
  }

  /// ".loc 1 4 0, function_name $L__info_string0, inlined_at 1 9 3".
  void location() {
    for (int i = 0; i < 3; ++i) {
      take_number();
      --at_;
    }
    ++at_;
    if (!is(at_, ",") || !is(at_ + 1, "function_name")) return;
    ++at_;
    take(LexemeKind::name, "a label");
    if (is(at_, "+")) take_number();
    if (!is(at_, ",") || !is(at_ + 1, "inlined_at")) {
      fail_ptx(lexemes_[at_ - 1].line, "'inlined_at' is expected behind 'function_name'");
    }
    ++at_;
    for (int i = 0; i < 3; ++i) {
      take_number();
      --at_;
    }
    ++at_;
  }

  /// ".section .debug_info { .b8 1, 2 }".
  void section() {
    const size_t begin = at_;
    if (function_ >= 0) fail_ptx(first().line, "a section inside of a function");
    while (at_ < lexemes_.size() && !is(at_, "{")) ++at_;
    while (at_ < lexemes_.size() && !is(at_, "}")) ++at_;
    if (at_ == lexemes_.size()) fail_ptx(lexemes_[begin].line, "a section does not end");
    add(StatementKind::directive, begin, ++at_);
  }

  /// "A, B, C", of the label in front.
  void targets(size_t end) {
    PtxTargets made{{}, 0, function_};
    const auto& statements = module_.statements;
    if (statements.size() > 1 && statements[statements.size() - 2].kind == StatementKind::label) {
      made.label = statements[statements.size() - 2].tokens[0].text;
    }
    for (size_t i = at_ + 1; i < end; i += 2) {
      const bool fits = lexemes_[i].kind == LexemeKind::name &&
                        (i + 1 == end ? true : is(i + 1, ",") && i + 2 < end);
      if (!fits) fail_ptx(lexemes_[i].line, "'.branchtargets' takes labels");
      ++made.count;
    }
    if (made.label.empty() || made.count == 0) {
      fail_ptx(first().line, "'.branchtargets' without a label");
    }
    module_.targets.push_back(made);
  }

  // Declarations

  void declaration(PtxStatement& made, size_t end) {
    const PtxDeclaration read = read_ptx_declaration(lexemes(at_, end));
    made.unread = read.unread;
    for (const PtxDeclared& one : read.declared) {
      declare(read, one, /*parameter=*/false);
      if (read.space == ".reg") mark(made, one.name);
      if (read.space == ".shared") count_shared(one);
    }
  }

  /// The names of registers are told from others by this mark when the text is printed.
  static void mark(PtxStatement& made, std::string_view name) {
    // Tokens stand in the order of the text.
    const auto at = std::lower_bound(
        made.tokens.begin(), made.tokens.end(), name,
        [](const PtxToken& token, std::string_view n) { return token.text.data() < n.data(); });
    if (at != made.tokens.end() && at->text.data() == name.data()) at->reg = true;
  }

  void declare(const PtxDeclaration& read, const PtxDeclared& one, bool parameter) {
    Scope& scope = scopes_.back();
    if (read.space == ".reg") {
      if (scopes_.size() == 1) fail_ptx(one.line, "a register outside of any function");
      module_.registers.push_back({one.name, one.count, one.line});
      if (one.count > 0) {
        scope.ranges[one.name] = one.count;
      } else {
        scope.names[one.name] = std::nullopt;
      }
      return;
    }
    if (one.name.starts_with("%")) fail_ptx(one.line, quoted_ptx(one.name) + " is no register");
    scope.names[one.name] = module_.variables.size();
    module_.variables.push_back({one.name, read.space, one.size, one.line,
                                 scopes_.size() == 1 ? -1 : function_, parameter, read.external,
                                 one.initial});
  }

  void count_shared(const PtxDeclared& one) {
    uint64_t& total = function_ < 0
                          ? module_.shared_bytes
                          : module_.functions[static_cast<size_t>(function_)].shared_bytes;
    const uint64_t alignment = std::clamp<uint64_t>(one.alignment, 1, 1024);
    total = std::min(kMostPtxBytes, (total + alignment - 1) / alignment * alignment + one.size);
  }

  // Functions

  void header(size_t kind) {
    const size_t begin = at_;
    if (function_ >= 0) fail_ptx(first().line, "a function inside another");
    size_t end = begin;
    while (end < lexemes_.size() && !is(end, ";") && !is(end, "{")) ++end;
    if (end == lexemes_.size()) fail_ptx(first().line, "a statement does not end");
    PtxFunction made;
    made.line = first().line;
    made.entry = is(kind, ".entry");
    made.external = is(end, ";");
    function_ = static_cast<int>(module_.functions.size());
    scopes_.emplace_back();
    PtxStatement& statement = add(StatementKind::header, begin, end);
    at_ = kind + 1;
    if (!made.entry && is(at_, "(")) parameters(end, made, statement);
    if (at_ >= end || lexemes_[at_].kind != LexemeKind::name || is_renamed(at_)) {
      fail_ptx(made.line, "a function without a name");
    }
    made.name = std::string(lexemes_[at_++].text);
    if (at_ < end && is(at_, "(")) parameters(end, made, statement);
    statement.unread = read_ptx_limits(lexemes(at_, end), made);
    at_ = end + 1;
    if (made.external) {
      scopes_.pop_back();
      statement.function = function_ = -1;
    }
    module_.functions.push_back(std::move(made));
  }

  bool is_renamed(size_t index) const { return lexemes_[index].text.starts_with("%"); }

  /// A parenthesised list; `at_` goes behind it.
  void parameters(size_t end, PtxFunction& made, PtxStatement& statement) {
    const size_t open = at_;
    size_t begin = open + 1;
    for (size_t i = begin; i < end; ++i) {
      const bool close = is(i, ")");
      if (!close && !is(i, ",")) continue;
      if (i > begin) {
        const PtxDeclaration read = read_ptx_parameter(lexemes(begin, i));
        if (!read.unread.empty() && statement.unread.empty()) statement.unread = read.unread;
        for (const PtxDeclared& one : read.declared) {
          declare(read, one, made.entry);
          if (read.space == ".reg") mark(statement, one.name);
          if (!made.entry) continue;
          made.parameters.push_back({std::string(one.name), one.size, one.alignment});
        }
      } else if (!close || i > open + 1) {
        fail_ptx(lexemes_[i].line, "a parameter is missing");
      }
      begin = i + 1;
      if (!close) continue;
      at_ = begin;
      return;
    }
    fail_ptx(lexemes_[open].line, "a list of parameters does not end");
  }

  // Names

  /// What is declared in one pair of braces: a variable's index, or nothing for a register.
  struct Scope {
    std::map<std::string_view, std::optional<size_t>> names;
    std::map<std::string_view, uint64_t> ranges;
  };

  /// As the assembler finds it: what is declared so far, from the inside to the outside.
  PtxOperand find(std::string_view name) const {
    for (auto scope = scopes_.rbegin(); scope != scopes_.rend(); ++scope) {
      const auto known = scope->names.find(name);
      if (known != scope->names.end()) {
        if (!known->second) return {OperandKind::reg, name, 0, 0, {}};
        return {OperandKind::variable, name, *known->second, 0, {}};
      }
      if (in_range(*scope, name)) return {OperandKind::reg, name, 0, 0, {}};
    }
    return {name.starts_with("%") ? OperandKind::special : OperandKind::name, name, 0, 0, {}};
  }

  static bool in_range(const Scope& scope, std::string_view name) {
    constexpr size_t kMostDigits = 20;
    for (size_t end = name.size(); end > 1 && name[end - 1] >= '0' && name[end - 1] <= '9';) {
      if (name.size() - --end > kMostDigits) return false;
      const auto range = scope.ranges.find(name.substr(0, end));
      if (range == scope.ranges.end()) continue;
      const auto index = ptx_number(name.substr(end));
      if (index && *index < range->second) return true;
    }
    return false;
  }

  PtxStatement& add(StatementKind kind, size_t begin, size_t end) {
    PtxStatement made;
    made.kind = kind;
    made.line = lexemes_[begin].line;
    for (size_t i = begin; i < end; ++i) {
      made.tokens.push_back({lexemes_[i].text, lexemes_[i].line});
    }
    made.function = function_;
    return module_.statements.emplace_back(std::move(made));
  }

  std::vector<PtxLexeme> lexemes_;
  size_t at_ = 0;
  int function_ = -1;
  std::vector<Scope> scopes_;  // the module's first
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
  const auto bits = ptx_number(type.substr(2));
  constexpr std::array<uint64_t, 5> kBits = {8, 16, 32, 64, 128};
  if (!bits || std::find(kBits.begin(), kBits.end(), *bits) == kBits.end()) return 0;
  return static_cast<size_t>(*bits / 8);
}

}  // namespace kbench::cuda
