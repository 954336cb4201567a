// PTX text parsed into statements and their operands, as far as rules and launches need it.
// "Parallel Thread Execution ISA" (NVIDIA) describes the language.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

namespace kbench::cuda {

struct PtxToken {
  std::string_view text;  ///< of the PTX text, which must outlive it
  int line = 0;
  bool reg = false;  ///< names a register that is declared
};

/// What an instruction is given.
struct PtxOperand {
  enum class Kind {
    reg,       ///< a register that is declared
    special,   ///< any other name that begins with '%'
    variable,  ///< of a state space, parameters included
    name,      ///< of a function, a label, or of nothing that is declared
    number,
    address,  ///< "[...]": parts are what it is made of
    several   ///< "{...}", "(...)", "a|b": parts
  };
  Kind kind = Kind::number;
  std::string_view text;  ///< a name without ".x", a number
  size_t variable = 0;    ///< index into PtxModule::variables
  int64_t offset = 0;     ///< of "[name+4]"
  std::vector<PtxOperand> parts;
};

/// One statement: a directive, a function's header, an instruction, a label, or a brace alone.
/// Version, target, lines and files are none: they are read, and kept as far as they matter.
struct PtxStatement {
  enum class Kind { directive, header, instruction, label, open, close };
  Kind kind = Kind::directive;
  int line = 0;
  /// Without ';' and without a header's '{'. An opcode is one token with its modifiers, as are a
  /// register and its component.
  std::vector<PtxToken> tokens;
  size_t opcode = 0;                 ///< of an instruction: the index behind its guard, "@p"
  std::vector<PtxOperand> operands;  ///< of an instruction, without its guard
  std::vector<PtxOperand> guard;     ///< of an instruction: none or one
  int function = -1;                 ///< the function it belongs to, -1 outside of any
  std::string_view unread = {};      ///< of a declaration: a word that has no place where it stands
};

using OperandKind = PtxOperand::Kind;
using StatementKind = PtxStatement::Kind;

struct PtxParameter {
  std::string name;
  size_t size = 0, alignment = 0;  ///< bytes
};

/// A variable of a state space, a kernel's or a function's parameters among them.
struct PtxVariable {
  std::string_view name;
  std::string_view space;  ///< ".global"
  uint64_t size = 0;       ///< bytes; 0: the launch says how many
  int line = 0;
  int function = -1;              ///< -1: the module's
  bool parameter = false;         ///< of a .entry
  bool external = false;          ///< .extern
  std::string_view initial = {};  ///< a name in its initial value
};

/// A register, or several: ".reg .b32 %r<9>".
struct PtxRegister {
  std::string_view name;
  uint64_t count = 0;  ///< 0: one, without a number behind its name
  int line = 0;
};

/// ".branchtargets": where an indexed branch may go.
struct PtxTargets {
  std::string_view label;
  size_t count = 0;
  int function = -1;
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
  std::vector<PtxVariable> variables;
  std::vector<PtxRegister> registers;
  std::vector<PtxTargets> targets;
  std::string version;             ///< "8.0"
  std::string target;              ///< "sm_90a"
  uint64_t shared_bytes = 0;       ///< declared outside of functions
  std::deque<std::string> joined;  ///< texts of tokens whose parts stand apart in the PTX text
  const PtxFunction* find_entry(std::string_view name) const;
};

/// Throws kParse with the line (of the text, in a Location without a file) for what no PTX is: a
/// character that cannot stand there, a statement that does not end, a word too many. The text must
/// outlive the result.
PtxModule parse_ptx(std::string_view text);

/// Bytes of a fundamental type (".f32", ".b64"), 0 when it is none.
size_t ptx_type_bytes(std::string_view type);

/// The module's statements as PTX, each on the line that it came from. Comments, lines, files and
/// debug sections are not among them. The names of registers begin with "%_" ("%$" where they began
/// with no '%'), so that none is the name of a special register that the rules do not know, or of a
/// variable. An indexed branch is held to the number of its targets.
std::string print_ptx(const PtxModule& module);

/// A message of the assembler, with registers by the names that their author gave them.
std::string with_own_names(std::string message);

}  // namespace kbench::cuda
