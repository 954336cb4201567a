// Declarations of PTX by their grammar: variables, parameters, registers, and what stands behind a
// function's name.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "harness/measure/cuda/ptx.h"
#include "harness/measure/cuda/ptx_tokens.h"

namespace kbench::cuda {

/// Sizes of variables end here: no device has as much memory.
inline constexpr uint64_t kMostPtxBytes = uint64_t{1} << 40;

/// One of those that a declaration declares: "name[132] = {1, 2}", "%r<9>".
struct PtxDeclared {
  std::string_view name;
  int line = 0;
  uint64_t size = 0, alignment = 0;  ///< bytes
  uint64_t count = 0;                ///< of registers that share a name
  std::string_view initial;          ///< a name in its initial value
};

struct PtxDeclaration {
  std::string_view space;  ///< ".global", ".reg"
  bool external = false;
  std::vector<PtxDeclared> declared;
  /// A modifier that has no place where it stands; what follows it has not been read.
  std::string_view unread;
};

bool is_ptx_linkage(std::string_view word);
/// ".global": a state space, or ".reg".
bool is_ptx_space(std::string_view word);

/// ".visible .global .align 4 .b8 name[24] = {1, 2}, more", without its ';'. Throws kParse for a
/// word too many.
PtxDeclaration read_ptx_declaration(std::span<const PtxLexeme> words);
/// ".param .u64 .ptr .global .align 16 name": one of a list.
PtxDeclaration read_ptx_parameter(std::span<const PtxLexeme> words);
/// ".maxntid 16, 8 .minnctapersm 2", behind a function's parameters. What it says goes into
/// `function`; a word that has no place there comes back, or nothing.
std::string_view read_ptx_limits(std::span<const PtxLexeme> words, PtxFunction& function);

}  // namespace kbench::cuda
