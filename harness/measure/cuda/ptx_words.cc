#include "harness/measure/cuda/ptx_words.h"

#include <algorithm>
#include <map>
#include <set>
#include <sstream>
#include <string>

namespace kbench::cuda {
namespace {

using WordList = std::set<std::string, std::less<>>;

WordList words(const char* text) {
  std::istringstream stream(text);
  WordList result;
  for (std::string word; stream >> word;) result.insert(word);
  return result;
}

/// Opcodes by what stands in front of the first '.'.
const WordList& opcodes() {
  static const WordList list = words(
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
const std::map<std::string_view, std::string_view>& refused_opcodes() {
  static const std::map<std::string_view, std::string_view> list = {
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

const WordList& directives() {
  static const WordList list = words(
      ".version .target .address_size .file .loc .section .reg .local .shared .const .global "
      ".param "
      ".pragma .branchtargets .maxntid .reqntid .minnctapersm .maxnctapersm .maxnreg .noreturn "
      ".entry .func .visible .weak .extern .common .align .ptr .space "
      ".reqnctapercluster .explicitcluster .maxclusterrank");
  return list;
}

const WordList& registers() {
  static const WordList list = words(
      "%tid %ntid %ctaid %nctaid %laneid %warpid %nwarpid %smid %nsmid %lanemask_eq %lanemask_le "
      "%lanemask_lt %lanemask_ge %lanemask_gt %total_smem_size %dynamic_smem_size "
      "%aggr_smem_size "
      "%clusterid %nclusterid %cluster_ctaid %cluster_nctaid %cluster_ctarank %cluster_nctarank "
      "%is_explicit_cluster");
  return list;
}

/// What such registers begin with; numbers and parts of one may follow: %pm3, %clock_hi.
struct RefusedRegister {
  std::string_view begins;
  std::string_view why;
};
constexpr RefusedRegister kRefusedRegisters[] = {
    {"%clock", "reads a clock, which candidates may not"},
    {"%globaltimer", "reads a clock, which candidates may not"},
    {"%pm", "reads a performance monitor, which candidates may not"},
    {"%gridid", "reads %gridid, which counts launches"},
    {"%envreg",
     "reads a register that the driver fills (%envreg), as the barrier of a grid does, which no "
     "launch gives: end the kernel there, and launch another"},
};

}  // namespace

PtxParts ptx_parts_of(std::string_view word) {
  PtxParts parts;
  size_t end = std::min(word.find('.'), word.size());
  parts.base = word.substr(0, end);
  while (end < word.size()) {
    const size_t begin = end + 1;
    end = std::min(word.find('.', begin), word.size());
    parts.modifiers.push_back(word.substr(begin, end - begin));
  }
  return parts;
}

bool is_ptx_opcode(std::string_view base) { return opcodes().contains(base); }

std::string_view why_ptx_opcode_is_refused(std::string_view base) {
  const auto known = refused_opcodes().find(base);
  return known == refused_opcodes().end() ? std::string_view{} : known->second;
}

bool is_ptx_directive(std::string_view word) { return directives().contains(word); }

bool is_ptx_special(std::string_view name) { return registers().contains(name); }

std::string_view why_ptx_special_is_refused(std::string_view name) {
  for (const RefusedRegister& refused : kRefusedRegisters) {
    if (!name.starts_with(refused.begins)) continue;
    const std::string_view rest = name.substr(refused.begins.size());
    if (rest.empty() || rest[0] == '_' || (rest[0] >= '0' && rest[0] <= '9')) return refused.why;
  }
  return {};
}

}  // namespace kbench::cuda
