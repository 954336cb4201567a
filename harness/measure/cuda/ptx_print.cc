#include <algorithm>
#include <map>
#include <string_view>
#include <utility>

#include "harness/measure/cuda/ptx.h"
#include "harness/measure/cuda/ptx_words.h"

namespace kbench::cuda {
namespace {

class Printer {
 public:
  explicit Printer(const PtxModule& module) : module_(module) {
    for (const PtxTargets& each : module.targets) {
      // Where a label has several lists, the shortest; the assembler refuses them.
      const auto at = targets_.try_emplace({each.function, each.label}, each.count).first;
      at->second = std::min(at->second, each.count);
    }
  }

  std::string print() {
    if (!module_.version.empty()) text_ += ".version " + module_.version + " ";
    if (!module_.target.empty()) text_ += ".target " + module_.target + " ";
    text_ += ".address_size 64";
    for (const PtxStatement& each : module_.statements) {
      if (each.kind == StatementKind::directive && each.tokens[0].text == ".section") continue;
      statement(each);
    }
    text_ += "\n";
    return std::move(text_);
  }

 private:
  void statement(const PtxStatement& each) {
    if (each.kind == StatementKind::instruction &&
        each.tokens[each.opcode].text.starts_with("brx.") && each.operands.size() == 2) {
      return indexed_branch(each);
    }
    for (const PtxToken& one : each.tokens) token(one);
    switch (each.kind) {
      case StatementKind::label:
        text_ += ":";
        break;
      case StatementKind::header:
        text_ += is_definition(each) ? " {" : ";";
        break;
      case StatementKind::directive:
      case StatementKind::instruction:
        text_ += ";";
        break;
      case StatementKind::open:
      case StatementKind::close:
        break;
    }
  }

  static bool is_definition(const PtxStatement& header) { return header.function >= 0; }

  /// The assembler does not check that the index is one of the targets: it is clamped.
  void indexed_branch(const PtxStatement& each) {
    const std::string_view label = each.operands.empty() ? "" : each.operands.back().text;
    const auto targets = targets_.find({each.function, label});
    const size_t count = targets == targets_.end() ? 0 : targets->second;
    const size_t index = each.opcode + 1;  // the register's token; the ',' and the label follow
    token({"{", each.line});
    text_ += " .reg .u32 %kb_index; min.u32 %kb_index,";
    token(each.tokens[index]);
    text_ += ", " + std::to_string(count == 0 ? 0 : count - 1) + ";";
    for (size_t i = 0; i < each.tokens.size(); ++i) {
      if (i == index) {
        text_ += " %kb_index";
      } else {
        token(each.tokens[i]);
      }
    }
    text_ += "; }";
  }

  void token(const PtxToken& one) {
    text_ += one.line > line_ ? std::string(static_cast<size_t>(one.line - line_), '\n') : " ";
    line_ = std::max(line_, one.line);
    const std::string_view name = one.text.substr(0, one.text.find('.'));
    if (one.text.starts_with("%") && !is_ptx_special(name)) {
      text_ += "%_";
      text_ += one.text.substr(1);
      return;
    }
    if (one.reg && !one.text.starts_with("%")) text_ += "%$";
    text_ += one.text;
  }

  const PtxModule& module_;
  std::map<std::pair<int, std::string_view>, size_t> targets_;  // of a function's label, how many
  std::string text_;
  int line_ = 1;
};

}  // namespace

std::string print_ptx(const PtxModule& module) { return Printer(module).print(); }

std::string with_own_names(std::string message) {
  for (const auto& [printed, own] : {std::pair{"%_", "%"}, std::pair{"%$", ""}}) {
    for (size_t at = 0; (at = message.find(printed, at)) != std::string::npos;) {
      message.replace(at, 2, own);
      at += std::string_view(own).size();
    }
  }
  return message;
}

}  // namespace kbench::cuda
