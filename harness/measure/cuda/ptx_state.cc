#include "harness/measure/cuda/ptx_state.h"

#include <algorithm>
#include <map>
#include <string_view>
#include <utility>

#include "harness/measure/cuda/ptx_words.h"
#include "kbench/text.h"

namespace kbench::cuda {
namespace {

/// A register of a function -> the variable whose address it may hold. By its name alone, wherever
/// in the function it is declared.
using Holders = std::map<std::pair<int, std::string_view>, std::string_view>;

class Flow {
 public:
  explicit Flow(const PtxModule& module) : module_(module) {}

  std::optional<KeptState> run() {
    if (std::none_of(module_.variables.begin(), module_.variables.end(), is_kept)) {
      return std::nullopt;
    }
    // Until nothing more is reached: code may jump back.
    for (bool changed = true; changed;) {
      changed = false;
      for (const PtxStatement& statement : module_.statements) {
        if (statement.kind == StatementKind::instruction) changed = step(statement) || changed;
        if (found_) return found_;
      }
    }
    return std::nullopt;
  }

 private:
  static bool is_kept(const PtxVariable& variable) {
    return variable.space == ".global" || variable.space == ".const";  // wherever it is declared
  }

  /// The variable whose address a register or a name may be; empty for none.
  std::string_view held(int function, const PtxOperand& operand) const {
    if (operand.kind == OperandKind::variable) {
      const PtxVariable& variable = module_.variables[operand.variable];
      return is_kept(variable) ? variable.name : std::string_view{};
    }
    if (operand.kind != OperandKind::reg) return {};
    const auto known = holders_.find({function, operand.text});
    return known == holders_.end() ? std::string_view{} : known->second;
  }

  /// The same of an operand with all its parts.
  std::string_view held_within(int function, const PtxOperand& operand) const {
    std::string_view variable = held(function, operand);
    for (const PtxOperand& part : operand.parts) {
      if (variable.empty()) variable = held_within(function, part);
    }
    return variable;
  }

  /// One instruction; true when a register came to hold an address that it did not before.
  bool step(const PtxStatement& statement) {
    const std::string_view opcode = statement.tokens[statement.opcode].text;
    const PtxParts parts = ptx_parts_of(opcode);
    for (const PtxOperand& guard : statement.guard) {
      const std::string_view variable = held_within(statement.function, guard);
      if (!variable.empty()) return find(variable, statement, "a condition hangs on its address");
    }
    const bool loads = is_load(parts);
    std::string_view variable;  // whose address goes into the result
    size_t among = 0;           // operands that hold one
    for (size_t i = 0; i < statement.operands.size(); ++i) {
      const PtxOperand& operand = statement.operands[i];
      const std::string_view here = held_within(statement.function, operand);
      if (here.empty()) continue;
      // What is written without being read; a load's is its value.
      const bool result = i == 0 && operand.kind == OperandKind::reg && writes_first(parts);
      if (result) continue;
      if (loads && i == 1 && is_plain_address(statement.function, operand)) continue;
      if (loads || !carries(parts, statement, i)) {
        return find(here, statement, "its address is given to " + shown(std::string(opcode), 60));
      }
      variable = here;
      ++among;
    }
    if (variable.empty()) return false;
    // The sum of two addresses, shifted so, would tell bits of one.
    if (among > 1 && parts.base != "selp") {
      return find(variable, statement, "its address is added to an address");
    }
    return holders_.try_emplace({statement.function, statement.operands[0].text}, variable).second;
  }

  /// Its second operand is the address that it reads from.
  static bool is_load(const PtxParts& parts) { return parts.base == "ld" || parts.base == "ldu"; }

  /// Of those that may hold an address in another operand: the first is written and not read.
  static bool writes_first(const PtxParts& parts) {
    constexpr std::string_view kReadFirst[] = {
        "st", "red", "bra", "brx", "bar", "barrier", "call", "nanosleep", "setmaxnreg", "tcgen05"};
    return std::find(std::begin(kReadFirst), std::end(kReadFirst), parts.base) ==
           std::end(kReadFirst);
  }

  /// "[table+4]", "[%rd1]": nothing but one address.
  bool is_plain_address(int function, const PtxOperand& operand) const {
    if (operand.kind != OperandKind::address || operand.parts.empty()) return false;
    for (size_t i = 1; i < operand.parts.size(); ++i) {
      if (!held_within(function, operand.parts[i]).empty()) return false;
    }
    return true;
  }

  /// The instruction's operand at `index` goes into its result, a register, as an address with
  /// something added.
  static bool carries(const PtxParts& parts, const PtxStatement& statement, size_t index) {
    const bool wide = parts.has("u64") || parts.has("s64") || parts.has("b64") ||
                      (parts.base == "mad" && parts.has("wide"));
    const bool plain = statement.operands[0].kind == OperandKind::reg &&
                       statement.operands[index].kind != OperandKind::address &&
                       statement.operands[index].kind != OperandKind::several;
    if (!wide || !plain || parts.has("sat") || is_signed(statement, index)) return false;
    const std::string_view base = parts.base;
    if (base == "mov" || base == "cvta") return index == 1;
    if (base == "add") return index == 1 || index == 2;
    if (base == "sub") return index == 1;
    if (base == "mad") return index == 3 && !parts.has("hi");
    if (base == "selp") return index == 1 || index == 2;
    return false;
  }

  /// "-%rd1": less an address is none.
  static bool is_signed(const PtxStatement& statement, size_t index) {
    const std::string_view name = statement.operands[index].text;
    for (size_t i = statement.opcode + 1; i + 1 < statement.tokens.size(); ++i) {
      const PtxToken& next = statement.tokens[i + 1];
      const bool sign = statement.tokens[i].text == "-" || statement.tokens[i].text == "~" ||
                        statement.tokens[i].text == "!";
      if (sign && next.text == name) return true;
    }
    return false;
  }

  bool find(std::string_view variable, const PtxStatement& statement, std::string why) {
    found_ = KeptState{std::string(variable), statement.line, std::move(why)};
    return false;
  }

  const PtxModule& module_;
  Holders holders_;
  std::optional<KeptState> found_;
};

}  // namespace

std::optional<KeptState> kept_state(const PtxModule& module) { return Flow(module).run(); }

}  // namespace kbench::cuda
