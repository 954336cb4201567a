#include "harness/cuda/ptx_rules.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <sstream>
#include <string_view>

#include "harness/cuda/ptx_state.h"
#include "kbench/text.h"

namespace kbench::cuda {
namespace {

using Kind = PtxStatement::Kind;
using Words = std::set<std::string, std::less<>>;

Words words(const char* text) {
  std::istringstream stream(text);
  Words result;
  for (std::string word; stream >> word;) result.insert(word);
  return result;
}

/// Opcodes by what stands in front of the first '.'.
const Words& opcodes() {
  static const Words list = words(
      // integers
      "add addc sub subc mul mul24 mad mad24 madc sad div rem abs neg min max popc clz bfind fns "
      "brev bfe bfi bmsk szext dp4a dp2a "
      // bits, comparisons, moves
      "and or xor not cnot lop3 shf shl shr set setp selp slct mov shfl prmt cvt cvta isspacep "
      // floating point
      "fma rcp sqrt rsqrt sin cos lg2 ex2 tanh testp copysign "
      // several in one word
      "vadd vsub vabsdiff vmin vmax vshl vshr vmad vset vadd2 vsub2 vavrg2 vabsdiff2 vmin2 vmax2 "
      "vset2 vadd4 vsub4 vavrg4 vabsdiff4 vmin4 vmax4 vset4 "
      // memory
      "ld ldu st prefetch prefetchu cp createpolicy applypriority discard atom red "
      // order and agreement
      "bar barrier membar fence mbarrier vote match activemask redux elect nanosleep "
      // matrices
      "mma wmma ldmatrix stmatrix movmatrix wgmma tcgen05 setmaxnreg "
      // clusters
      "mapa getctarank "
      // flow
      "bra brx call ret exit trap");
  return list;
}

/// Why those that are known are refused.
const std::map<std::string, std::string, std::less<>>& refused_opcodes() {
  static const std::map<std::string, std::string, std::less<>> list = {
      {"tex", "reads a texture"},
      {"tld4", "reads a texture"},
      {"txq", "asks for a texture"},
      {"suld", "reads a surface"},
      {"sust", "writes a surface"},
      {"sured", "writes a surface"},
      {"suq", "asks for a surface"},
      {"clusterlaunchcontrol", "takes over other blocks of its grid"},
      {"multimem", "reaches several devices"},
      {"tensormap", "makes a tensor map"},
      {"griddepcontrol", "waits for another grid"},
      {"pmevent", "triggers a performance monitor"},
      {"brkpt", "stops for a debugger"},
  };
  return list;
}

const Words& directives() {
  static const Words list = words(
      ".version .target .address_size .file .loc .section .reg .local .shared .const .global "
      ".param "
      ".pragma .branchtargets .maxntid .reqntid .minnctapersm .maxnctapersm .maxnreg .noreturn "
      ".entry .func .visible .weak .extern .common .align .ptr .space "
      ".reqnctapercluster .explicitcluster .maxclusterrank");
  return list;
}

const Words& registers() {
  static const Words list = words(
      "%tid %ntid %ctaid %nctaid %laneid %warpid %nwarpid %smid %nsmid %lanemask_eq %lanemask_le "
      "%lanemask_lt %lanemask_ge %lanemask_gt %total_smem_size %dynamic_smem_size "
      "%aggr_smem_size");
  return list;
}

/// Of blocks in clusters.
const Words& cluster_registers() {
  static const Words list = words(
      "%clusterid %nclusterid %cluster_ctaid %cluster_nctaid %cluster_ctarank %cluster_nctarank "
      "%is_explicit_cluster");
  return list;
}

/// Where the driver puts a cooperative grid's barrier.
constexpr std::string_view kGridRegisters[] = {"%envreg1", "%envreg2"};

/// What registers that are on no list begin with, for a message that says why.
struct RefusedRegister {
  std::string_view begins;
  const char* why;
};
constexpr RefusedRegister kRefusedRegisters[] = {
    {"%clock", "reads a clock, which candidates may not"},
    {"%globaltimer", "reads a clock, which candidates may not"},
    {"%pm", "reads a performance monitor, which candidates may not"},
    {"%gridid", "reads %gridid, which counts launches"},
};

/// A word and the parts behind its dots: "ld", "volatile", "global".
struct Parts {
  std::string_view base;
  std::vector<std::string_view> modifiers;
  bool has(std::string_view modifier) const {
    return std::find(modifiers.begin(), modifiers.end(), modifier) != modifiers.end();
  }
};

Parts parts_of(std::string_view word) {
  Parts parts;
  size_t end = std::min(word.find('.'), word.size());
  parts.base = word.substr(0, end);
  while (end < word.size()) {
    const size_t begin = end + 1;
    end = std::min(word.find('.', begin), word.size());
    parts.modifiers.push_back(word.substr(begin, end - begin));
  }
  return parts;
}

std::string name(std::string_view text) { return shown(std::string(text), 100); }

bool is_digit(char c) { return c >= '0' && c <= '9'; }

class Checker {
 public:
  Checker(const PtxModule& module, PtxNeeds& needs) : module_(module), needs_(needs) {
    for (const PtxFunction& function : module.functions) {
      if (!function.external) functions_.insert(function.name);
    }
  }

  std::optional<PtxViolation> run() {
    for (const PtxStatement& statement : module_.statements) {
      line_ = statement.line;
      if (statement.kind == Kind::directive) directive(statement);
      if (statement.kind == Kind::header) header(statement);
      if (found_) return found_;
    }
    // Registers are declared by now, wherever.
    for (const PtxStatement& statement : module_.statements) {
      line_ = statement.line;
      if (statement.kind == Kind::instruction) instruction(statement);
      if (found_) return found_;
    }
    if (const auto kept = kept_state(module_)) {
      refuse(kept->line, "writes to '" + name(kept->variable) +
                             "', a __device__ variable that would keep it from one run to the "
                             "next: use a temporary");
    }
    return found_;
  }

 private:
  void refuse(int line, std::string message, bool unsupported = false) {
    if (!found_) found_ = PtxViolation{unsupported, line, std::move(message)};
  }
  void refuse(std::string message) { refuse(line_, std::move(message)); }
  void unsupported(std::string message) { refuse(line_, std::move(message), true); }
  static void note(std::string& need, std::string what) {
    if (need.empty()) need = std::move(what);
  }

  /// Any word with a dot in front that is a directive or a part of a declaration.
  void declaration_words(const PtxStatement& statement) {
    for (const PtxToken& token : statement.tokens) {
      const std::string_view word = token.text;
      if (word[0] != '.' || ptx_type_bytes(word) > 0) continue;
      if (directives().contains(word) && word.find("cluster") != std::string_view::npos) {
        note(needs_.cluster, "asks for a cluster of blocks (" + name(word) + ")");
      }
      if (word == ".texref" || word == ".samplerref" || word == ".surfref") {
        return unsupported("declares a texture or surface");
      }
      if (word == ".v2" || word == ".v4" || word == ".const" || word == ".global" ||
          word == ".shared" || word == ".local" || word == ".param" ||
          directives().contains(word)) {
        continue;
      }
      return unsupported("has the PTX directive " + name(word) + ", which is not on the list");
    }
  }

  void directive(const PtxStatement& statement) {
    const std::string_view word = statement.tokens[0].text;
    if (word == ".version" || word == ".target" || word == ".address_size" || word == ".file" ||
        word == ".loc") {
      return;
    }
    if (word == ".section") {
      const bool debug =
          statement.tokens.size() > 1 && statement.tokens[1].text.starts_with(".debug");
      if (!debug) unsupported("has a section that is no debug information");
      return;
    }
    if (word == ".pragma") {
      const bool known = statement.tokens.size() == 2 &&
                         (statement.tokens[1].text == "\"nounroll\"" ||
                          statement.tokens[1].text.starts_with("\"used_bytes_mask "));
      if (!known) unsupported("has a .pragma that is not on the list");
      return;
    }
    if (word == ".branchtargets") return;
    if (word == ".reg") return registers_declared(statement);
    declaration_words(statement);
  }

  void header(const PtxStatement& statement) {
    declaration_words(statement);
    const PtxFunction& function = module_.functions[declared_++];
    if (!function.external || found_) return;
    static const std::map<std::string, std::string, std::less<>> known = {
        {"vprintf", "calls printf"},
        {"malloc", "calls malloc"},
        {"free", "calls free"},
        {"__assertfail", "calls assert"},
    };
    const auto why = known.find(function.name);
    // A prototype of what is defined further down is none of these.
    if (functions_.contains(function.name)) return;
    unsupported((why == known.end() ? "calls '" + name(function.name) + "', which it does not hold"
                                    : why->second) +
                ": there is no host to serve it");
  }

  /// ".reg .b32 %r<73>;" or ".reg .pred p, q;".
  void registers_declared(const PtxStatement& statement) {
    for (size_t i = 1; i < statement.tokens.size(); ++i) {
      const std::string_view word = statement.tokens[i].text;
      if (word[0] == '.' || word == ",") continue;
      if (word == "<") {  // the number and the '>'
        i += 2;
        continue;
      }
      const bool many = i + 1 < statement.tokens.size() && statement.tokens[i + 1].text == "<";
      for (const RefusedRegister& refused : kRefusedRegisters) {
        // %p0, %p1 are nobody's; %pm0 would hide a monitor.
        if (word.starts_with(refused.begins)) {
          return this->refuse("declares a register by the name of a special one, " + name(word));
        }
      }
      if (registers().contains(word) || cluster_registers().contains(word) ||
          is_grid_register(word)) {
        return refuse("declares a register by the name of a special one, " + name(word));
      }
      (many ? ranges_ : singles_).insert(std::string(word));
    }
  }

  bool declared(std::string_view word) const {
    if (singles_.contains(word)) return true;
    size_t end = word.size();
    while (end > 0 && is_digit(word[end - 1])) {
      --end;
      if (ranges_.contains(word.substr(0, end))) return true;
    }
    return false;
  }

  void instruction(const PtxStatement& statement) {
    const std::string_view word = statement.tokens[statement.opcode].text;
    const Parts parts = parts_of(word);
    const auto known = refused_opcodes().find(parts.base);
    if (known != refused_opcodes().end()) {
      return unsupported(known->second + " (" + name(parts.base) + "), which no candidate can");
    }
    if (!opcodes().contains(parts.base)) {
      return unsupported("has the instruction " + name(parts.base) + ", which is not on the list");
    }
    // Beside shaders on an H200 the kernel went on behind it, milliseconds later, and nobody was
    // told.
    if (parts.base == "trap") note(needs_.trap, "may stop with a trap");
    if (parts.base == "mapa" || parts.base == "getctarank") {
      note(needs_.cluster, "reaches into another block of a cluster (" + name(parts.base) + ")");
    }
    modifiers(parts, word);
    if (found_) return;
    if (parts.base == "call") call(statement);
    for (size_t i = statement.opcode + 1; i < statement.tokens.size() && !found_; ++i) {
      operand(statement, i);
    }
    for (size_t i = 0; i < statement.opcode && !found_; ++i) operand(statement, i);
  }

  void modifiers(const Parts& parts, std::string_view word) {
    if (parts.has("sys") || parts.has("mmio")) {
      return refuse("has system scope (" + name(word) +
                    "): nothing outside of the device takes part; use device scope");
    }
    const bool copy = parts.base == "cp";
    for (const std::string_view modifier : parts.modifiers) {
      // A block's own shared memory is a cluster's too: bulk copies name it so.
      const bool own = (copy || parts.base == "mbarrier" || parts.base == "fence") &&
                       (modifier == "shared::cluster" || modifier == "cluster");
      if (modifier.find("cluster") != std::string_view::npos && !own) {
        note(needs_.cluster, "asks for a cluster (" + name(word) + ")");
      }
    }
    if ((parts.base == "st" || parts.base == "red") && parts.has("async")) {
      note(needs_.cluster, "reaches into another block of a cluster (" + name(word) + ")");
    }
    if (copy && parts.has("tensor")) {
      return unsupported("copies by a tensor map (" + name(word) +
                         "), which kernels are not given");
    }
  }

  /// "call.uni (result), function, (parameters)": by name, of a function that is here.
  void call(const PtxStatement& statement) {
    size_t i = statement.opcode + 1;
    const auto& tokens = statement.tokens;
    if (i < tokens.size() && tokens[i].text == "(") {
      while (i < tokens.size() && tokens[i].text != ")") ++i;
      i += 2;  // and the comma
    }
    if (i >= tokens.size()) return refuse("has a call of nothing");
    const std::string_view target = tokens[i].text;
    if (functions_.contains(target)) return;
    unsupported("calls '" + name(target) + "', which is no function of its own");
  }

  void operand(const PtxStatement& statement, size_t index) {
    const std::string_view word = statement.tokens[index].text;
    if (word == "[") return address(statement, index);
    if (word[0] != '%') return;
    const std::string_view base = word.substr(0, word.find('.'));
    // As PTX itself reads it: a register that is declared is no special one.
    if (declared(base) || registers().contains(base)) return;
    if (cluster_registers().contains(base)) {
      return note(needs_.cluster, "asks for a cluster (" + name(base) + ")");
    }
    if (is_grid_register(base)) {
      return note(needs_.grid_barrier, "asks for the barrier of a grid (" + name(base) + ")");
    }
    for (const RefusedRegister& refused : kRefusedRegisters) {
      if (base.starts_with(refused.begins)) return refuse(refused.why);
    }
    unsupported("reads the special register " + name(base) + ", which is not on the list");
  }

  /// "[4096]": an address that nobody gave it.
  void address(const PtxStatement& statement, size_t open) {
    const auto& tokens = statement.tokens;
    if (open + 1 >= tokens.size() || !is_digit(tokens[open + 1].text[0])) return;
    const Parts parts = parts_of(tokens[statement.opcode].text);
    // Of shared, local and parameter memory an offset is a place of its own.
    if (parts.has("shared") || parts.has("shared::cta") || parts.has("local") ||
        parts.has("param")) {
      return;
    }
    refuse("has an address that is a number (" + name(tokens[open + 1].text) +
           "); addresses come as parameters");
  }

  static bool is_grid_register(std::string_view word) {
    return std::find(std::begin(kGridRegisters), std::end(kGridRegisters), word) !=
           std::end(kGridRegisters);
  }

  const PtxModule& module_;
  PtxNeeds& needs_;
  Words functions_;         // those defined here
  Words singles_, ranges_;  // registers: %SP, and %r of %r<73>
  size_t declared_ = 0;     // functions whose headers were seen
  int line_ = 0;
  std::optional<PtxViolation> found_;
};

}  // namespace

const std::string& PtxNeeds::any() const {
  if (!cluster.empty()) return cluster;
  return grid_barrier.empty() ? trap : grid_barrier;
}

std::optional<PtxViolation> check_ptx(const PtxModule& module, PtxNeeds& needs) {
  return Checker(module, needs).run();
}

uint64_t static_shared_bytes(const PtxModule& module, const PtxFunction& entry) {
  uint64_t bytes = module.shared_bytes + entry.shared_bytes;
  for (const PtxFunction& function : module.functions) {
    if (!function.entry) bytes += function.shared_bytes;
  }
  return bytes;
}

bool uses_float16(const PtxModule& module) {
  for (const PtxStatement& statement : module.statements) {
    if (statement.kind != Kind::instruction) continue;
    const Parts parts = parts_of(statement.tokens[statement.opcode].text);
    // To convert or carry is not to compute.
    if (parts.base == "cvt" || parts.base == "mov" || parts.base == "ld" || parts.base == "st") {
      continue;
    }
    for (const char* type : {"f16", "f16x2", "bf16", "bf16x2"}) {
      if (parts.has(type)) return true;
    }
  }
  return false;
}

}  // namespace kbench::cuda
