// An instruction of PTX by its grammar: guard, opcode, operands.
#pragma once

#include <functional>
#include <span>
#include <string_view>

#include "harness/measure/cuda/ptx.h"
#include "harness/measure/cuda/ptx_tokens.h"

namespace kbench::cuda {

class PtxInstructionReader {
 public:
  /// The instruction's words without its ';'. `find` says what a name means where it stands.
  PtxInstructionReader(std::span<const PtxLexeme> words, PtxModule& module,
                       std::function<PtxOperand(std::string_view name)> find)
      : words_(words), module_(module), find_(std::move(find)) {}

  /// Fills in tokens, opcode and operands. Throws kParse for a word too many.
  void read(PtxStatement& made);

 private:
  std::string_view word() const { return at_ < words_.size() ? words_[at_].text : ""; }
  bool at(LexemeKind kind) const { return at_ < words_.size() && words_[at_].kind == kind; }
  bool take(std::string_view text);
  void expect(std::string_view text);
  [[noreturn]] void fail_here() const;
  std::string_view with_modifiers();
  std::vector<PtxOperand> list(std::string_view close);
  PtxOperand operand();
  PtxOperand single();
  PtxOperand named();
  PtxOperand number();
  PtxOperand address();
  int64_t offset();

  std::span<const PtxLexeme> words_;
  PtxModule& module_;
  std::function<PtxOperand(std::string_view)> find_;
  size_t at_ = 0;
  size_t nested_ = 0;
  std::vector<PtxToken> tokens_;
};

}  // namespace kbench::cuda
