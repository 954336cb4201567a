// PTX text taken apart into statements, as far as rules and launches need it: not a compiler.
// "Parallel Thread Execution ISA" (NVIDIA) describes the language.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace kbench::cuda {

struct PtxToken {
  std::string_view text;  ///< of the PTX text, which must outlive it
  int line = 0;
};

/// One statement: a directive, a function's header, an instruction, a label, or a brace alone.
struct PtxStatement {
  enum class Kind { directive, header, instruction, label, open, close };
  Kind kind = Kind::directive;
  int line = 0;
  std::vector<PtxToken> tokens;  ///< without ';' and without a header's '{'
  size_t opcode = 0;             ///< of an instruction: the index behind its guard, "@p"
  int function = -1;             ///< the function it belongs to, -1 outside of any
};

struct PtxParameter {
  std::string name;
  size_t size = 0, alignment = 0;  ///< bytes
};

/// A .entry or a .func.
struct PtxFunction {
  std::string name;
  bool entry = false;
  bool external = false;                 ///< declared only
  std::vector<PtxParameter> parameters;  ///< of an entry
  uint64_t shared_bytes = 0;             ///< declared in its body
  uint32_t max_threads = 0;              ///< .maxntid or .reqntid, multiplied; 0: none said
  std::vector<uint32_t> required_block;  ///< .reqntid
  /// .reqnctapercluster: blocks of a cluster. A kernel that has it gets clusters of that size.
  std::vector<uint32_t> required_cluster;
  int line = 0;
};

struct PtxModule {
  std::vector<PtxStatement> statements;
  std::vector<PtxFunction> functions;
  std::string target;         ///< "sm_90a"
  uint64_t shared_bytes = 0;  ///< declared outside of functions
  const PtxFunction* find_entry(std::string_view name) const;
};

/// Throws kParse with the line (of the text, in a Location without a file) for what no PTX is: a
/// character that cannot stand there, a statement that does not end. The text must outlive the
/// result.
PtxModule parse_ptx(std::string_view text);

/// Bytes of a fundamental type (".f32", ".b64"), 0 when it is none.
size_t ptx_type_bytes(std::string_view type);

}  // namespace kbench::cuda
