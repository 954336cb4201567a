#include "harness/measure/cuda/ptx_rules.h"

#include <algorithm>
#include <map>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include "harness/measure/cuda/ptx_declaration.h"
#include "harness/measure/cuda/ptx_state.h"
#include "harness/measure/cuda/ptx_words.h"
#include "kbench/error.h"

namespace kbench::cuda {

namespace {

using Names = std::set<std::string_view>;

std::string name(std::string_view text) { return shown(std::string(text), 100); }

/// Functions that the host would have to provide, and what calls them.
const std::map<std::string_view, const char*>& host_functions() {
  static const std::map<std::string_view, const char*> list = {
      {"vprintf", "calls printf"},
      {"malloc", "calls malloc"},
      {"free", "calls free"},
      {"__assertfail", "calls assert"},
  };
  return list;
}

class Checker {
 public:
  explicit Checker(const PtxModule& module) : module_(module) {
    for (const PtxFunction& function : module.functions) {
      all_functions_.insert(function.name);
      if (!function.external) functions_.insert(function.name);
    }
    for (const PtxTargets& each : module.targets) targets_.insert({each.function, each.label});
  }

  std::optional<PtxViolation> run() {
    for (const PtxStatement& statement : module_.statements) {
      line_ = statement.line;
      if (statement.kind == StatementKind::directive) directive(statement);
      if (statement.kind == StatementKind::header) header(statement);
      if (found_) return found_;
    }
    for (const PtxRegister& each : module_.registers) register_declared(each);
    for (const PtxVariable& each : module_.variables) variable_declared(each);
    if (found_) return found_;
    for (const PtxStatement& statement : module_.statements) {
      line_ = statement.line;
      if (statement.kind == StatementKind::instruction) instruction(statement);
      if (found_) return found_;
    }
    if (const auto kept = kept_state(module_)) {
      refuse(kept->line, "may write to '" + name(kept->variable) +
                             "', a __device__ variable that would keep it from one run to the "
                             "next: " +
                             kept->why);
    }
    if (const auto number = numeric_address(module_)) {
      refuse(number->line, "has an address that is made of numbers alone (" + name(number->name) +
                               "); addresses come as parameters");
    }
    if (!found_) found_ = nameless_;
    return found_;
  }

 private:
  void refuse(int line, std::string message, bool unsupported = false) {
    if (!found_) found_ = PtxViolation{unsupported, line, std::move(message)};
  }
  void refuse(std::string message) { refuse(line_, std::move(message)); }
  void unsupported(std::string message) { refuse(line_, std::move(message), true); }

  // Declarations

  /// Any word with a dot in front that is a directive or a part of a declaration.
  void declaration_words(const PtxStatement& statement) {
    for (const PtxToken& token : statement.tokens) {
      const std::string_view word = token.text;
      if (word[0] != '.' || ptx_type_bytes(word) > 0) continue;
      if (word == ".texref" || word == ".samplerref" || word == ".surfref") {
        return unsupported("declares a texture or surface");
      }
      if (word == ".v2" || word == ".v4" || is_ptx_directive(word)) continue;
      return unsupported("has the PTX directive " + name(word) + ", which is not on the list");
    }
    if (!statement.unread.empty()) {
      unsupported("has the PTX directive " + name(statement.unread) + " where it has no place");
    }
  }

  void directive(const PtxStatement& statement) {
    const auto& tokens = statement.tokens;
    const std::string_view word = tokens[0].text;
    if (word == ".section") {
      const bool debug = tokens.size() > 1 && tokens[1].text.starts_with(".debug");
      if (!debug) unsupported("has a section that is no debug information");
      return;
    }
    if (word == ".pragma") {
      if (tokens.size() != 2 || !is_known_pragma(tokens[1].text)) {
        unsupported("has a .pragma that is not on the list");
      }
      return;
    }
    if (word == ".branchtargets") return;
    declaration_words(statement);
    // The rest of what may begin a directive is part of one.
    size_t first = 0;
    while (first < tokens.size() && is_ptx_linkage(tokens[first].text)) ++first;
    if (!found_ && (first == tokens.size() || !is_ptx_space(tokens[first].text))) {
      unsupported("has the PTX directive " + name(word) + " where it has no place");
    }
  }

  static bool is_known_pragma(std::string_view text) {
    constexpr std::string_view kMask = "\"used_bytes_mask ";
    if (text == "\"nounroll\"") return true;
    if (!text.starts_with(kMask)) return false;
    return text.substr(kMask.size()).find_first_not_of("0123456789abcdefABCDEFx\"") ==
           std::string_view::npos;
  }

  void header(const PtxStatement& statement) {
    declaration_words(statement);
    const PtxFunction& function = module_.functions[declared_++];
    if (found_) return;
    const auto host = host_functions().find(function.name);
    constexpr const char* kNoHost = ": there is no host to serve it";
    if (host != host_functions().end()) return unsupported(host->second + std::string(kNoHost));
    // A prototype of what is defined further down is none of these.
    if (!function.external || functions_.contains(function.name)) return;
    unsupported("calls '" + name(function.name) + "', which it does not hold" + kNoHost);
  }

  void register_declared(const PtxRegister& each) {
    line_ = each.line;
    const std::string first = std::string(each.name) + (each.count > 0 ? "1" : "");
    for (const std::string_view word : {each.name, std::string_view(first)}) {
      if (!is_ptx_special(word) && why_ptx_special_is_refused(word).empty()) {
        continue;
      }
      refuse("declares a register by the name of a special one, " + name(word));
    }
  }

  void variable_declared(const PtxVariable& each) {
    line_ = each.line;
    if (each.external && each.space != ".shared") {
      unsupported("takes the variable '" + name(each.name) + "' from elsewhere");
    }
    if (!each.initial.empty()) {
      refuse("gives the variable '" + name(each.name) + "' the address of '" + name(each.initial) +
             "': a kernel takes addresses itself");
    }
    if (each.function >= 0 && module_names().contains(each.name)) {
      refuse("declares '" + name(each.name) + "' within a function and outside of it");
    }
  }

  const Names& module_names() {
    if (module_names_.empty()) {
      module_names_ = all_functions_;
      for (const PtxVariable& each : module_.variables) {
        if (each.function < 0) module_names_.insert(each.name);
      }
    }
    return module_names_;
  }

  // Instructions

  void instruction(const PtxStatement& statement) {
    const std::string_view word = statement.tokens[statement.opcode].text;
    const PtxParts parts = ptx_parts_of(word);
    const std::string_view known = why_ptx_opcode_is_refused(parts.base);
    if (!known.empty()) {
      return unsupported(std::string(known) + " (" + name(parts.base) +
                         "), which no candidate can");
    }
    if (!is_ptx_opcode(parts.base)) {
      return unsupported("has the instruction " + name(parts.base) + ", which is not on the list");
    }
    modifiers(parts, word);
    if (found_) return;
    if (parts.base == "bra") return operands(statement.guard, parts);  // and a label
    if (parts.base == "brx") return indexed_branch(statement, parts);
    if (parts.base == "call") return call(statement, parts);
    operands(statement.operands, parts);
    operands(statement.guard, parts);
  }

  void modifiers(const PtxParts& parts, std::string_view word) {
    if (parts.has("sys") || parts.has("mmio")) {
      return refuse("has system scope (" + name(word) +
                    "): nothing outside of the device takes part; use device scope");
    }
    if (parts.base == "cp" && parts.has("tensor")) {
      return unsupported("copies by a tensor map (" + name(word) +
                         "), which kernels are not given");
    }
  }

  /// "brx.idx %r1, targets": only a register can be held to the number of its targets.
  void indexed_branch(const PtxStatement& statement, const PtxParts& parts) {
    operands(statement.guard, parts);
    const auto& given = statement.operands;
    bool known = given.size() == 2 && given[0].kind == OperandKind::reg &&
                 statement.tokens.size() == statement.opcode + 4;
    known = known && targets_.contains({statement.function, given[1].text});
    if (!known) refuse("has an indexed branch without .branchtargets");
  }

  /// "call.uni (result), function, (parameters)": by name, of a function that is here.
  void call(const PtxStatement& statement, const PtxParts& parts) {
    const auto& given = statement.operands;
    const size_t target = !given.empty() && given[0].kind == OperandKind::several ? 1 : 0;
    if (target >= given.size()) return refuse("has a call of nothing");
    const std::string_view called = given[target].text;
    const bool own = given[target].kind == OperandKind::name && functions_.contains(called);
    if (!own) {
      return unsupported("calls '" + name(called) + "', which is no function of its own");
    }
    if (given.size() > target + 2) return unsupported("calls through a pointer");
    operands(statement.guard, parts);
    for (size_t i = 0; i < given.size(); ++i) {
      if (i == target) continue;
      for (const PtxOperand& each : given[i].parts) passed(each, parts);
    }
  }

  /// What a call gives or gets: by the name of a parameter, too.
  void passed(const PtxOperand& one, const PtxParts& parts) {
    const bool parameter = one.kind == OperandKind::variable &&
                           module_.variables[one.variable].space == ".param" &&
                           !module_.variables[one.variable].parameter;
    if (!parameter) operand(one, parts);
  }

  void operands(const std::vector<PtxOperand>& all, const PtxParts& parts) {
    for (const PtxOperand& each : all) {
      if (!found_) operand(each, parts);
    }
  }

  void operand(const PtxOperand& one, const PtxParts& parts) {
    switch (one.kind) {
      case OperandKind::reg:
      case OperandKind::number:
        return;
      case OperandKind::special:
        return special(one.text);
      case OperandKind::variable:
        if (module_.variables[one.variable].space == ".param") parameter_address(one);
        return;
      case OperandKind::name:
        return named(one.text);
      case OperandKind::several:
        return operands(one.parts, parts);
      case OperandKind::address:
        return address(one, parts);
    }
  }

  void special(std::string_view word) {
    if (is_ptx_special(word)) return;
    const std::string_view why = why_ptx_special_is_refused(word);
    if (!why.empty()) return refuse(std::string(why));
    unsupported("reads the special register " + name(word) +
                ", which is not on the list (nor is a register of that name declared there)");
  }

  void named(std::string_view word) {
    if (word == "_" || word == "WARP_SZ") return;
    if (all_functions_.contains(word)) {
      return refuse("takes the address of the function '" + name(word) + "'");
    }
    // Reported only where nothing else is wrong: the assembler would report it too.
    if (!nameless_) {
      nameless_ =
          PtxViolation{false, line_, "names '" + name(word) + "', which is not declared there"};
    }
  }

  /// A kernel's parameters lie among data of the driver, which a pointer could reach.
  void parameter_address(const PtxOperand& one) {
    if (!module_.variables[one.variable].parameter) return;
    refuse("takes the address of its parameter '" + name(one.text) +
           "': a parameter is read by its name");
  }

  void address(const PtxOperand& one, const PtxParts& parts) {
    const PtxOperand& base = one.parts[0];
    for (size_t i = 1; i < one.parts.size(); ++i) operand(one.parts[i], parts);
    if (base.kind == OperandKind::number) return number_address(base, parts);
    const bool parameter =
        base.kind == OperandKind::variable && module_.variables[base.variable].space == ".param";
    if (parts.has("param") || parts.has("param::entry") || parts.has("param::func")) {
      if (base.kind == OperandKind::name) return named(base.text);
      if (!parameter) return refuse("reads parameters by an address that is no parameter's name");
      return within(one, module_.variables[base.variable], parts);
    }
    operand(base, parts);
  }

  /// Before the first parameter and behind the last lies data of the driver.
  void within(const PtxOperand& one, const PtxVariable& variable, const PtxParts& parts) {
    uint64_t bytes = 0;
    for (const std::string_view modifier : parts.modifiers) {
      bytes = std::max<uint64_t>(bytes, ptx_type_bytes("." + std::string(modifier)));
    }
    bytes *= parts.has("v2") ? 2 : parts.has("v4") ? 4 : parts.has("v8") ? 8 : 1;
    const bool inside = one.offset >= 0 && static_cast<uint64_t>(one.offset) <= variable.size &&
                        bytes <= variable.size - static_cast<uint64_t>(one.offset);
    if (!inside) refuse("reads beside its parameter '" + name(variable.name) + "'");
  }

  /// "[4096]": an address that is a number, not one that the kernel was given.
  void number_address(const PtxOperand& base, const PtxParts& parts) {
    // Of shared and local memory an offset is a place of its own.
    const bool own = parts.has("shared") || parts.has("shared::cta") || parts.has("local");
    if (own && !parts.has("global")) return;
    refuse("has an address that is a number (" + name(base.text) +
           "); addresses come as parameters");
  }

  const PtxModule& module_;
  Names functions_;      // those defined here
  Names all_functions_;  // and those declared
  Names module_names_;
  std::set<std::pair<int, std::string_view>> targets_;  // labels of .branchtargets, by function
  size_t declared_ = 0;                                 // functions whose headers were seen
  int line_ = 0;
  std::optional<PtxViolation> found_;
  std::optional<PtxViolation> nameless_;
};

bool is_one_of(std::string_view word, std::initializer_list<std::string_view> words) {
  return std::ranges::find(words, word) != words.end();
}

/// ".approx" as a whole part of "ex2.approx.ftz.f32".
bool has_part(std::string_view opcode, std::string_view part) {
  for (size_t at = opcode.find(part); at != opcode.npos; at = opcode.find(part, at + 1)) {
    const size_t end = at + part.size();
    if (end == opcode.size() || opcode[end] == '.') return true;
  }
  return false;
}

std::string_view base_of(std::string_view opcode) { return opcode.substr(0, opcode.find('.')); }

/// The opcodes of the instructions.
std::vector<std::string_view> opcodes_of(const PtxModule& module) {
  std::vector<std::string_view> opcodes;
  for (const PtxStatement& statement : module.statements) {
    if (statement.kind != StatementKind::instruction) continue;
    opcodes.push_back(statement.tokens[statement.opcode].text);
  }
  return opcodes;
}

}  // namespace

std::optional<PtxViolation> check_ptx(const PtxModule& module) { return Checker(module).run(); }

uint64_t static_shared_bytes(const PtxModule& module, const PtxFunction& entry) {
  uint64_t bytes = module.shared_bytes + entry.shared_bytes;
  for (const PtxFunction& function : module.functions) {
    if (!function.entry) bytes += function.shared_bytes;
  }
  return bytes;
}

bool uses_float16(const PtxModule& module) {
  for (const PtxStatement& statement : module.statements) {
    if (statement.kind != StatementKind::instruction) continue;
    const PtxParts parts = ptx_parts_of(statement.tokens[statement.opcode].text);
    // Converting and moving is not computing.
    if (parts.base == "cvt" || parts.base == "mov" || parts.base == "ld" || parts.base == "st") {
      continue;
    }
    for (const char* type : {"f16", "f16x2", "bf16", "bf16x2"}) {
      if (parts.has(type)) return true;
    }
  }
  return false;
}

std::string approximate_functions(const PtxModule& module) {
  const std::vector<std::string_view> opcodes = opcodes_of(module);
  const bool flushes = std::ranges::any_of(opcodes, [](std::string_view opcode) {
    return is_one_of(base_of(opcode), {"add", "sub", "mul", "fma"}) && has_part(opcode, ".ftz");
  });
  std::vector<std::string_view> found;
  for (const std::string_view opcode : opcodes) {
    const bool ordinary = is_one_of(base_of(opcode), {"ex2", "rcp", "rsqrt"});
    const bool approximate = has_part(opcode, ".approx") || has_part(opcode, ".full");
    if (!approximate || (ordinary && !flushes)) continue;
    if (std::ranges::find(found, opcode) == found.end()) found.push_back(opcode);
  }
  std::string text;
  for (const std::string_view opcode : found) {
    text += (text.empty() ? "" : ", ") + std::string(opcode);
  }
  return text;
}

}  // namespace kbench::cuda
