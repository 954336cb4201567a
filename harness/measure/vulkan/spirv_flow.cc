#include "harness/measure/vulkan/spirv_flow.h"

#include <algorithm>
#include <cstdint>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "harness/measure/vulkan/spirv_names.h"

namespace kbench::vulkan {
namespace {

/// A function's blocks in the module's order; index `blocks.size()` stands for its end.
struct Function {
  struct Block {
    size_t first = 0, last = 0;  ///< instructions behind the label, the last ends the block
    std::vector<size_t> next;
  };
  uint32_t id = 0;
  std::vector<uint32_t> parameters;
  std::vector<Block> blocks;
  std::vector<size_t> meets;  ///< by block: the next that all ways lead through; kNone: none does
};

constexpr size_t kNone = ~size_t{0};

bool is_invocations_own(uint32_t built_in) {
  switch (built_in) {
    case spv::BuiltInLocalInvocationId:
    case spv::BuiltInGlobalInvocationId:
    case spv::BuiltInLocalInvocationIndex:
    case spv::BuiltInSubgroupLocalInvocationId:
    case spv::BuiltInSubgroupId:
      return true;
    default:
      return false;
  }
}

bool is_atomic(uint32_t op) {
  return (op >= spv::OpAtomicLoad && op <= spv::OpAtomicXor) || op == spv::OpAtomicFAddEXT;
}

class Flow {
 public:
  explicit Flow(const SpirvModule& module) : module_(module) { read_functions(); }
  SkippedBarriers find();

 private:
  void read_functions();
  std::vector<size_t> targets(const Function& function,
                              const std::unordered_map<uint32_t, size_t>& labels,
                              size_t last) const;
  static void find_meeting_points(Function& function);
  bool spread(const Function& function);
  bool visit(const Instruction& instruction, bool apart);
  bool mark(uint32_t id) { return id != 0 && differs_.insert(id).second; }
  bool any_differs(const Instruction& instruction, size_t from) const;
  uint32_t root_of(uint32_t pointer) const;
  bool is_divergent(const Function::Block& block) const;
  /// The blocks between this branch and where its ways meet: some invocations may skip them.
  std::vector<char> apart_behind(const Function& function, size_t branch) const;
  bool has_barrier(const Function::Block& block) const;

  const SpirvModule& module_;
  std::vector<Function> functions_;
  std::unordered_map<uint32_t, size_t> function_of_;  ///< by id
  std::unordered_set<uint32_t> with_barrier_;         ///< functions
  std::unordered_set<uint32_t> differs_;              ///< values, variables, functions' results
};

void Flow::read_functions() {
  const std::vector<Instruction>& all = module_.instructions();
  std::unordered_map<uint32_t, size_t> labels;
  for (size_t i = 0; i < all.size(); ++i) {
    const Instruction& each = all[i];
    if (each.op() == spv::OpFunction) {
      labels.clear();
      function_of_[each.result()] = functions_.size();
      functions_.push_back({.id = each.result(), .parameters = {}, .blocks = {}, .meets = {}});
    }
    if (functions_.empty()) continue;
    Function& function = functions_.back();
    if (each.op() == spv::OpFunctionParameter) function.parameters.push_back(each.result());
    if (each.op() == spv::OpLabel) {
      labels[each.result()] = function.blocks.size();
      function.blocks.push_back({i + 1, i + 1, {}});
    }
    if (!function.blocks.empty()) function.blocks.back().last = i;
    if (each.op() == spv::OpControlBarrier) with_barrier_.insert(function.id);
    if (each.op() != spv::OpFunctionEnd) continue;
    if (!function.blocks.empty()) --function.blocks.back().last;
    for (size_t b = 0; b < function.blocks.size(); ++b) {
      // A label ends the block before it, whose last instruction is the one before the label.
      if (b + 1 < function.blocks.size()) {
        function.blocks[b].last = function.blocks[b + 1].first - 2;
      }
      size_t& last = function.blocks[b].last;
      while (all[last].op() == spv::OpLine || all[last].op() == spv::OpNoLine) --last;
      function.blocks[b].next = targets(function, labels, function.blocks[b].last);
    }
    find_meeting_points(function);
  }
}

std::vector<size_t> Flow::targets(const Function& function,
                                  const std::unordered_map<uint32_t, size_t>& labels,
                                  size_t last) const {
  const Instruction& end = module_.instructions()[last];
  std::vector<uint32_t> ids;
  if (end.op() == spv::OpBranch) ids = {end[0]};
  if (end.op() == spv::OpBranchConditional) ids = {end[1], end[2]};
  if (end.op() == spv::OpSwitch) {
    ids = {end[1]};
    for (size_t i = 3; i < end.size(); i += 2) ids.push_back(end[i]);
  }
  if (ids.empty()) return {function.blocks.size()};
  std::vector<size_t> next;
  for (const uint32_t id : ids) {
    const auto found = labels.find(id);
    if (found != labels.end()) next.push_back(found->second);
  }
  return next;
}

/// Immediate post-dominators, by Cooper, Harvey and Kennedy's iteration over the reversed graph.
void Flow::find_meeting_points(Function& function) {
  const size_t exit = function.blocks.size();
  std::vector<std::vector<size_t>> before(exit + 1);
  for (size_t b = 0; b < exit; ++b) {
    for (const size_t next : function.blocks[b].next) before[next].push_back(b);
  }
  std::vector<size_t> order,
      rank(exit + 1, kNone);  // From the exit, each behind all it comes from.
  std::vector<std::pair<size_t, size_t>> stack = {{exit, 0}};
  std::vector<char> seen(exit + 1, 0);
  seen[exit] = 1;
  while (!stack.empty()) {
    auto& [block, at] = stack.back();
    if (at < before[block].size()) {
      const size_t to = before[block][at++];
      if (!seen[to]) {
        seen[to] = 1;
        stack.emplace_back(to, 0);
      }
      continue;
    }
    rank[block] = order.size();
    order.push_back(block);
    stack.pop_back();
  }
  function.meets.assign(exit + 1, kNone);
  function.meets[exit] = exit;
  const auto common = [&](size_t a, size_t b) {
    while (a != b) {
      while (rank[a] < rank[b]) a = function.meets[a];
      while (rank[b] < rank[a]) b = function.meets[b];
    }
    return a;
  };
  for (bool changed = true; changed;) {
    changed = false;
    for (size_t i = order.size() - 1; i-- > 0;) {
      const size_t block = order[i];
      size_t meets = kNone;
      for (const size_t next : function.blocks[block].next) {
        if (function.meets[next] == kNone) continue;
        meets = meets == kNone ? next : common(meets, next);
      }
      changed = changed || meets != function.meets[block];
      function.meets[block] = meets;
    }
  }
}

uint32_t Flow::root_of(uint32_t pointer) const {
  for (;;) {
    const Instruction* made = module_.definition(pointer);
    const bool part = made != nullptr && (made->op() == spv::OpAccessChain ||
                                          made->op() == spv::OpInBoundsAccessChain);
    if (!part) return pointer;
    pointer = (*made)[2];
  }
}

/// Whether an operand from word `from` on differs between invocations.
bool Flow::any_differs(const Instruction& instruction, size_t from) const {
  size_t ids = instruction.size();
  if (instruction.op() == spv::OpExtInst) from = 4;
  if (instruction.op() == spv::OpCompositeExtract) ids = 3;
  if (instruction.op() == spv::OpVectorShuffle) ids = 4;
  if (instruction.op() == spv::OpLoad) ids = 3;
  for (size_t i = from; i < std::min(ids, instruction.size()); ++i) {
    if (differs_.contains(instruction[i])) return true;
  }
  return false;
}

/// Marks the instruction's result if it differs. `apart`: not all invocations come here.
bool Flow::visit(const Instruction& instruction, bool apart) {
  switch (instruction.op()) {
    case spv::OpLabel:
    case spv::OpSelectionMerge:
    case spv::OpLoopMerge:
      return false;
    case spv::OpStore: {
      const uint32_t to = root_of(instruction[0]);
      const auto storage = module_.storage_class(to);
      const bool own = storage == spv::StorageClassFunction || storage == spv::StorageClassPrivate;
      return own && (apart || any_differs(instruction, 0)) && mark(to);
    }
    case spv::OpFunctionCall: {
      bool changed = false;
      const auto called = function_of_.find(instruction[2]);
      if (called != function_of_.end()) {
        const Function& function = functions_[called->second];
        for (size_t i = 0; i < function.parameters.size(); ++i) {
          if (!differs_.contains(instruction[3 + i])) continue;
          changed = mark(function.parameters[i]) || changed;
        }
        // It may have stored to the caller's variables through pointers.
        for (size_t i = 0; i < function.parameters.size(); ++i) {
          const bool pointer = module_.storage_class(instruction[3 + i]).has_value();
          if (pointer && differs_.contains(function.parameters[i])) {
            changed = mark(root_of(instruction[3 + i])) || changed;
          }
        }
      }
      const bool own = any_differs(instruction, 3) || differs_.contains(instruction[2]);
      return (own && mark(instruction.result())) || changed;
    }
    default:
      break;
  }
  if (instruction.result() == 0 || instruction.result_type() == 0) return false;
  const bool own = is_atomic(instruction.op()) || any_differs(instruction, 2) ||
                   (apart && instruction.op() == spv::OpPhi);
  return own && mark(instruction.result());
}

bool Flow::is_divergent(const Function::Block& block) const {
  const Instruction& end = module_.instructions()[block.last];
  const bool branch = end.op() == spv::OpBranchConditional || end.op() == spv::OpSwitch;
  return branch && differs_.contains(end[0]);
}

std::vector<char> Flow::apart_behind(const Function& function, size_t branch) const {
  std::vector<char> apart(function.blocks.size() + 1, 0);
  const size_t meet = function.meets[branch];
  if (meet == kNone) return apart;
  std::vector<size_t> open = function.blocks[branch].next;
  while (!open.empty()) {
    const size_t block = open.back();
    open.pop_back();
    if (block == meet || block >= function.blocks.size() || apart[block]) continue;
    apart[block] = 1;
    open.insert(open.end(), function.blocks[block].next.begin(), function.blocks[block].next.end());
  }
  return apart;
}

/// Marks what differs in a function; true where something new is.
bool Flow::spread(const Function& function) {
  std::vector<char> apart(function.blocks.size() + 1, 0), joins = apart;
  for (size_t b = 0; b < function.blocks.size(); ++b) {
    if (!is_divergent(function.blocks[b])) continue;
    const std::vector<char> behind = apart_behind(function, b);
    for (size_t i = 0; i < behind.size(); ++i) apart[i] = apart[i] || behind[i];
    if (function.meets[b] != kNone) joins[function.meets[b]] = 1;
  }
  bool changed = false;
  for (size_t b = 0; b < function.blocks.size(); ++b) {
    const Function::Block& block = function.blocks[b];
    for (size_t i = block.first; i <= block.last; ++i) {
      const Instruction& each = module_.instructions()[i];
      const bool phi = each.op() == spv::OpPhi;
      changed = visit(each, apart[b] || (phi && joins[b])) || changed;
      if (each.op() == spv::OpReturnValue && (apart[b] || differs_.contains(each[0]))) {
        changed = mark(function.id) || changed;
      }
    }
  }
  return changed;
}

bool Flow::has_barrier(const Function::Block& block) const {
  for (size_t i = block.first; i <= block.last; ++i) {
    const Instruction& each = module_.instructions()[i];
    if (each.op() == spv::OpFunctionCall && with_barrier_.contains(each[2])) return true;
    if (each.op() != spv::OpControlBarrier) continue;
    const auto scope = module_.constant(each[0]);
    if (!scope || *scope == spv::ScopeWorkgroup) return true;
  }
  return false;
}

SkippedBarriers Flow::find() {
  for (const Instruction& each : module_.instructions()) {
    if (each.op() != spv::OpVariable) continue;
    const auto built_in = module_.decoration(each.result(), spv::DecorationBuiltIn);
    if (built_in && is_invocations_own(*built_in)) mark(each.result());
  }
  for (bool changed = true; changed;) {
    changed = false;
    for (const Function& function : functions_) changed = spread(function) || changed;
  }
  SkippedBarriers found;
  for (const Function& function : functions_) {
    for (size_t b = 0; b < function.blocks.size(); ++b) {
      if (!is_divergent(function.blocks[b])) continue;
      const std::vector<char> apart = apart_behind(function, b);
      for (size_t i = 0; i < function.blocks.size(); ++i) {
        if (!apart[i] || !has_barrier(function.blocks[i])) continue;
        const bool left = function.meets[b] == function.blocks.size();
        (left ? found.behind_return : found.in_branch) = true;
      }
    }
  }
  return found;
}

}  // namespace

SkippedBarriers skipped_barriers(const SpirvModule& module) {
  bool any = false;
  for (const Instruction& each : module.instructions()) {
    any = any || each.op() == spv::OpControlBarrier;
  }
  return any ? Flow(module).find() : SkippedBarriers{};
}

}  // namespace kbench::vulkan
