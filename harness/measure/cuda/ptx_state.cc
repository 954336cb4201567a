#include "harness/measure/cuda/ptx_state.h"

#include <algorithm>
#include <map>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include "harness/measure/cuda/ptx_words.h"
#include "kbench/error.h"

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

class Origins {
 public:
  explicit Origins(const PtxModule& module) : module_(module) {
    for (const PtxVariable& each : module.variables) {
      kept_.push_back(each.space == ".global" || each.space == ".const");
    }
  }

  std::optional<NumericAddress> run() {
    for (bool changed = true; changed;) {
      changed = false;
      for (const PtxStatement& each : module_.statements) {
        if (each.kind == StatementKind::instruction) changed = step(each) || changed;
      }
    }
    for (const PtxStatement& each : module_.statements) {
      if (each.kind != StatementKind::instruction) continue;
      if (auto found = access(each)) return found;
    }
    return std::nullopt;
  }

 private:
  using Registers = std::set<std::pair<int, std::string_view>>;

  /// Marks what the instruction may write as made of more than numbers; true where that is new.
  bool step(const PtxStatement& statement) {
    const PtxParts parts = parts_of(statement);
    bool given = false, table = false;
    for (const PtxOperand& operand : statement.operands) {
      origins(statement.function, operand, given, table);
    }
    // A table's contents are numbers of the PTX text.
    const bool loads = parts.base == "ld" || parts.base == "ldu";
    if (loads && table) given = false;
    if (parts.base == "cvta" && (parts.has("shared") || parts.has("local"))) given = true;
    bool changed = false;
    if (given) changed = add(given_, statement);
    if (table && !loads) changed = add(tables_, statement) || changed;
    return changed;
  }

  /// Whether the operand comes from a parameter, a variable or memory; whether it is a table's
  /// address.
  void origins(int function, const PtxOperand& operand, bool& given, bool& table) const {
    switch (operand.kind) {
      case OperandKind::variable:
        given = true;
        table = table || kept_[operand.variable];
        break;
      case OperandKind::reg:
        given = given || given_.contains({function, operand.text});
        table = table || tables_.contains({function, operand.text});
        break;
      case OperandKind::address:
        given = true;
        break;
      case OperandKind::special:
      case OperandKind::name:
      case OperandKind::number:
      case OperandKind::several:
        break;
    }
    for (const PtxOperand& part : operand.parts) origins(function, part, given, table);
  }

  static bool add(Registers& to, const PtxStatement& statement) {
    if (statement.operands.empty()) return false;
    return add(to, statement.function, statement.operands[0]);
  }
  static bool add(Registers& to, int function, const PtxOperand& operand) {
    if (operand.kind == OperandKind::reg) return to.insert({function, operand.text}).second;
    bool changed = false;
    if (operand.kind != OperandKind::several) return changed;
    for (const PtxOperand& part : operand.parts) changed = add(to, function, part) || changed;
    return changed;
  }

  std::optional<NumericAddress> access(const PtxStatement& statement) const {
    const PtxParts parts = parts_of(statement);
    std::vector<std::string_view> spaces;
    for (const std::string_view modifier : parts.modifiers) {
      const bool space = modifier == "global" || modifier == "const" || modifier == "local" ||
                         modifier.starts_with("shared") || modifier.starts_with("param");
      if (space) spaces.push_back(modifier);
    }
    size_t index = 0;
    for (const PtxOperand& operand : statement.operands) {
      if (operand.kind != OperandKind::address) continue;
      const size_t place = index++;
      if (!of_the_device(spaces, place)) continue;
      const PtxOperand& base = operand.parts[0];
      if (base.kind != OperandKind::reg || given_.contains({statement.function, base.text}))
        continue;
      return NumericAddress{std::string(base.text), statement.line};
    }
    return std::nullopt;
  }

  /// The address at that place is of device memory or of no space that is said. A copy names its
  /// spaces in the order of its addresses; the third is of a barrier in shared memory.
  static bool of_the_device(const std::vector<std::string_view>& spaces, size_t place) {
    if (spaces.empty()) return true;
    if (place >= spaces.size() && spaces.size() > 1) return false;
    const std::string_view space = spaces[std::min(place, spaces.size() - 1)];
    return space == "global" || space == "const";
  }

  static PtxParts parts_of(const PtxStatement& statement) {
    return ptx_parts_of(statement.tokens[statement.opcode].text);
  }

  const PtxModule& module_;
  std::vector<bool> kept_;  // of each variable: it outlives a launch
  Registers given_, tables_;
};

}  // namespace

std::optional<KeptState> kept_state(const PtxModule& module) { return Flow(module).run(); }

std::optional<NumericAddress> numeric_address(const PtxModule& module) {
  return Origins(module).run();
}

}  // namespace kbench::cuda
