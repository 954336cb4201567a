// The lists of allowed instructions, directives and special registers of PTX. What is on none is
// refused by its name.
#pragma once

#include <algorithm>
#include <string_view>
#include <vector>

namespace kbench::cuda {

/// A word and the parts behind its dots: "ld", "volatile", "global".
struct PtxParts {
  std::string_view base;
  std::vector<std::string_view> modifiers;
  bool has(std::string_view modifier) const {
    return std::find(modifiers.begin(), modifiers.end(), modifier) != modifiers.end();
  }
};
PtxParts ptx_parts_of(std::string_view word);

/// By what stands in front of an opcode's first '.'.
bool is_ptx_opcode(std::string_view base);
/// Of one that is known and refused: "reads a texture". Else empty.
std::string_view why_ptx_opcode_is_refused(std::string_view base);

/// ".maxntid": a directive, or a part of one.
bool is_ptx_directive(std::string_view word);

/// Whether kernels may read the special register of that name, given without ".x".
bool is_ptx_special(std::string_view name);
/// Of a special register that is known and refused: "reads a clock, ...". Else empty.
std::string_view why_ptx_special_is_refused(std::string_view name);

}  // namespace kbench::cuda
