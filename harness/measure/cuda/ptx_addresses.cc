#include "harness/measure/cuda/ptx_addresses.h"

#include <algorithm>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include "harness/measure/cuda/ptx_words.h"

namespace kbench::cuda {
namespace {

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

std::optional<NumericAddress> numeric_address(const PtxModule& module) {
  return Origins(module).run();
}

}  // namespace kbench::cuda
