#include "harness/measure/cuda/ptx_operands.h"

#include <algorithm>
#include <iterator>
#include <string>
#include <utility>

namespace kbench::cuda {
namespace {

constexpr size_t kMostNested = 8;  // of vectors and addresses: PTX has two

bool all_of(std::string_view text, std::string_view characters) {
  return text.find_first_not_of(characters) == std::string_view::npos;
}

/// "12", "0x1FU", "0b101", "0f3F800000", "0d3FF0000000000000", "1.5e-3".
bool is_number(std::string_view text) {
  constexpr std::string_view kHex = "0123456789abcdefABCDEF";
  const char kind = text.size() > 1 && text[0] == '0' ? text[1] : '\0';
  const std::string_view digits = text.substr(std::min<size_t>(2, text.size()));
  if (kind == 'f' || kind == 'F') return digits.size() == 8 && all_of(digits, kHex);
  if (kind == 'd' || kind == 'D') return digits.size() == 16 && all_of(digits, kHex);
  const std::string_view plain = text.ends_with("U") ? text.substr(0, text.size() - 1) : text;
  if (kind == 'x' || kind == 'X') return plain.size() > 2 && all_of(plain.substr(2), kHex);
  if (kind == 'b' || kind == 'B') return plain.size() > 2 && all_of(plain.substr(2), "01");
  return all_of(plain, "0123456789.eE+-");
}

bool is_component(std::string_view modifier) {
  constexpr std::string_view kAll[] = {".x", ".y", ".z", ".w", ".r", ".g", ".b", ".a"};
  return std::find(std::begin(kAll), std::end(kAll), modifier) != std::end(kAll);
}

}  // namespace

bool PtxInstructionReader::take(std::string_view text) {
  if (word() != text) return false;
  tokens_.push_back({words_[at_].text, words_[at_].line});
  ++at_;
  return true;
}

void PtxInstructionReader::expect(std::string_view text) {
  if (!take(text)) fail_here();
}

void PtxInstructionReader::fail_here() const {
  const PtxLexeme& last = words_[std::min(at_, words_.size() - 1)];
  if (at_ >= words_.size()) fail_ptx(last.line, "an instruction is not complete");
  fail_ptx(last.line, quoted_ptx(last.text) + " is not expected here");
}

/// The word with the modifiers behind it as one text: the PTX text's own where they stand together,
/// as the assembler reads them with or without blanks between.
std::string_view PtxInstructionReader::with_modifiers() {
  const PtxLexeme& begin = words_[at_++];
  bool together = true;
  size_t end = at_;
  const char* behind = begin.text.data() + begin.text.size();
  for (; end < words_.size() && words_[end].kind == LexemeKind::modifier; ++end) {
    together = together && words_[end].text.data() == behind;
    behind = words_[end].text.data() + words_[end].text.size();
  }
  std::string_view text(begin.text.data(), static_cast<size_t>(behind - begin.text.data()));
  if (!together) {
    std::string joined(begin.text);
    for (size_t i = at_; i < end; ++i) joined += words_[i].text;
    text = module_.joined.emplace_back(std::move(joined));
  }
  at_ = end;
  tokens_.push_back({text, begin.line});
  return text;
}

void PtxInstructionReader::read(PtxStatement& made) {
  if (take("@")) {
    take("!");
    if (!at(LexemeKind::name)) fail_here();
    made.guard.push_back(named());
    if (at_ >= words_.size()) fail_ptx(made.line, "a guard without an instruction");
  }
  if (!at(LexemeKind::name)) fail_here();
  made.opcode = tokens_.size();
  const std::string_view opcode = with_modifiers();
  const bool call = opcode == "call" || opcode.starts_with("call.");
  if (at_ < words_.size()) {
    do {
      if (call && word() == "(") {
        tokens_.push_back({words_[at_].text, words_[at_].line});
        ++at_;
        PtxOperand several{OperandKind::several, "(", 0, 0, {}};
        several.parts = list(")");
        made.operands.push_back(std::move(several));
      } else {
        made.operands.push_back(operand());
      }
    } while (take(","));
  }
  if (at_ < words_.size()) fail_here();
  made.tokens = std::move(tokens_);
}

/// Behind an opening sign, to the closing one.
std::vector<PtxOperand> PtxInstructionReader::list(std::string_view close) {
  std::vector<PtxOperand> all;
  if (take(close)) return all;
  do {
    all.push_back(operand());
  } while (take(","));
  expect(close);
  return all;
}

PtxOperand PtxInstructionReader::operand() {
  PtxOperand one = single();
  if (word() != "|") return one;
  PtxOperand several{OperandKind::several, "|", 0, 0, {}};
  several.parts.push_back(std::move(one));
  while (take("|")) several.parts.push_back(single());
  return several;
}

PtxOperand PtxInstructionReader::single() {
  if (take("{")) {
    PtxOperand several{OperandKind::several, "{", 0, 0, {}};
    if (++nested_ > kMostNested) fail_here();
    several.parts = list("}");
    --nested_;
    return several;
  }
  if (word() == "[") return address();
  if (word() == "!" || word() == "-" || word() == "+" || word() == "~") take(word());
  if (at(LexemeKind::number)) return number();
  if (!at(LexemeKind::name)) fail_here();
  PtxOperand one = named();
  if (word() == "+") one.offset = offset();  // "table+8"
  return one;
}

/// "%r1", "%tid.x".
PtxOperand PtxInstructionReader::named() {
  PtxOperand one = find_(word());
  const size_t begin = at_;
  with_modifiers();
  tokens_.back().reg = one.kind == OperandKind::reg;
  const size_t modifiers = at_ - begin - 1;
  if (modifiers > 1 || (modifiers == 1 && !is_component(words_[begin + 1].text))) {
    at_ = begin + 1;
    fail_here();
  }
  return one;
}

PtxOperand PtxInstructionReader::number() {
  if (!is_number(word())) fail_here();
  PtxOperand one{OperandKind::number, word(), 0, 0, {}};
  take(word());
  return one;
}

/// "[%rd1+4]", "[name]", "[4096]", "[%rd1, {%r1, %r2}]".
PtxOperand PtxInstructionReader::address() {
  PtxOperand made{OperandKind::address, "[", 0, 0, {}};
  if (++nested_ > kMostNested) fail_here();
  expect("[");
  if (at(LexemeKind::number)) {
    made.parts.push_back(number());
  } else {
    if (!at(LexemeKind::name)) fail_here();
    made.parts.push_back(named());
  }
  while (word() == "+") {
    const int64_t more = offset();
    if (__builtin_add_overflow(made.offset, more, &made.offset)) fail_here();
  }
  while (take(",")) made.parts.push_back(operand());
  expect("]");
  --nested_;
  return made;
}

/// "+8", "+-8".
int64_t PtxInstructionReader::offset() {
  expect("+");
  const bool negative = take("-");
  const auto value = at(LexemeKind::number) ? ptx_number(word()) : std::nullopt;
  if (!value || *value > uint64_t{1} << 40) fail_here();
  take(word());
  return negative ? -static_cast<int64_t>(*value) : static_cast<int64_t>(*value);
}

}  // namespace kbench::cuda
