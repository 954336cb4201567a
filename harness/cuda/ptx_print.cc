#include "harness/cuda/ptx_print.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "harness/cuda/ptx_words.h"

namespace kbench::cuda {
namespace {

using Kind = PtxStatement::Kind;

class Printer {
 public:
  explicit Printer(const PtxModule& module) : module_(module) {}

  std::string print() {
    if (!module_.version.empty()) text_ += ".version " + module_.version + " ";
    if (!module_.target.empty()) text_ += ".target " + module_.target + " ";
    text_ += ".address_size 64";
    for (const PtxStatement& each : module_.statements) {
      if (each.kind == Kind::directive && each.tokens[0].text == ".section") continue;
      statement(each);
    }
    text_ += "\n";
    return std::move(text_);
  }

 private:
  void statement(const PtxStatement& each) {
    if (each.kind == Kind::instruction && each.tokens[each.opcode].text.starts_with("brx.")) {
      return indexed_branch(each);
    }
    for (const PtxToken& one : each.tokens) token(one);
    switch (each.kind) {
      case Kind::label:
        text_ += ":";
        break;
      case Kind::header:
        text_ += is_definition(each) ? " {" : ";";
        break;
      case Kind::directive:
      case Kind::instruction:
        text_ += ";";
        break;
      case Kind::open:
      case Kind::close:
        break;
    }
  }

  static bool is_definition(const PtxStatement& header) { return header.function >= 0; }

  /// The assembler does not look whether the index is one of a target.
  void indexed_branch(const PtxStatement& each) {
    size_t count = 0;
    for (const PtxTargets& targets : module_.targets) {
      const bool meant = targets.function == each.function && each.operands.size() == 2 &&
                         targets.label == each.operands[1].text;
      if (meant && (count == 0 || targets.count < count)) count = targets.count;
    }
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
    if (one.text.starts_with("%") && ptx_special(name) == PtxSpecial::none) {
      text_ += "%_";
      text_ += one.text.substr(1);
      return;
    }
    if (one.reg && !one.text.starts_with("%")) text_ += "%$";
    text_ += one.text;
  }

  const PtxModule& module_;
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
