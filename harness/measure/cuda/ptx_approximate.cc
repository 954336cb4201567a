#include "harness/measure/cuda/ptx_approximate.h"

#include <algorithm>
#include <string_view>
#include <vector>

namespace kbench::cuda {
namespace {

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
