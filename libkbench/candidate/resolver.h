// Resolves a candidate against a task's graph: names, expressions and shapes, step by step.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "kbench/candidate.h"
#include "libkbench/base/text.h"
#include "libkbench/candidate/symbol_table.h"

namespace kbench {

/// A number as a device has it: its lowest `size` bytes.
struct NumberBits {
  uint64_t bits = 0;
  size_t size = 0;
};
/// The item must not be an address.
NumberBits number_bits(const PushItem& item, const SymbolTable& scope);

/// An attribute that a step gives to a built-in operator. Throws kParse.
AttributeValue resolve_attribute(const StepAttribute& given, const Operator& op,
                                 const SymbolTable& scope);

/// Of the steps up to `end`, the end of those that are repeated together with the step at `begin`
/// by its repeat `depth`.
size_t end_of_repeat(const std::vector<Step>& steps, size_t begin, size_t end, size_t depth);

class CandidateResolver {
 public:
  CandidateResolver(const Candidate& candidate, const Graph& graph, const DeviceNumbers& device);
  ResolvedCandidate resolve();

 private:
  enum class Phase { setup, dispatch };
  struct StepRange {
    size_t begin, end;
  };

  void add_buffer(BufferSlot slot, const Location& at);
  void add_task_buffers();
  void add_temporaries();
  void add_temporary(const Temporary& temporary, int64_t& total);
  void add_data();
  void resolve_kernels();
  static void resolve_triton(const SymbolTable& scope, ResolvedKernel& resolved);
  void check_repeats(const Step& step) const;
  std::vector<ResolvedStep> resolve_steps(const std::vector<Step>& steps, Phase phase);
  void resolve_range(const std::vector<Step>& steps, StepRange range, Phase phase,
                     std::vector<ResolvedStep>& resolved);
  void add_step(const Step& step, size_t index, Phase phase, std::vector<ResolvedStep>& resolved);
  void count_launch(const Step& step);
  ResolvedStep kernel_step(const Step& step, Phase phase);
  ResolvedNumber number(const Sourced& expression, const SymbolTable& scope) const;
  std::vector<ResolvedUniform> uniforms(const Step& step, const SymbolTable& scope) const;
  void pack_push(const PushItem& item, const SymbolTable& scope, Phase phase,
                 ResolvedStep& resolved);
  void resolve_cuda(const Step& step, const SymbolTable& scope, Phase phase,
                    ResolvedStep& resolved);
  void pack_argument(const PushItem& item, const SymbolTable& scope, Phase phase,
                     ResolvedStep& resolved);
  ResolvedStep operator_step(const Step& step, Phase phase);
  int read(const Sourced& name, Phase phase) const;
  int written(const Sourced& name, Phase phase) const;
  TensorType operand_type(const Operand& operand, int buffer) const;
  void check_operator_outputs(const Step& step, Phase phase, const ResolvedStep& resolved) const;
  void check_complete();

  /// Notes the buffers of a step with an error as touched, so that others do not miss it.
  void touch_all(const Step& step, Phase phase);
  /// The buffer of that name, as one that a step of this phase may touch.
  int buffer(const Sourced& name, Phase phase) const;
  void touch(int buffer, Phase phase);

  const Candidate& candidate_;
  const Graph& graph_;
  SymbolTable scope_;
  std::vector<SymbolTable> kernel_scopes_;
  std::map<std::string, int> kernel_indices_;
  std::map<std::string, int> names_;
  std::set<int> touched_;           ///< buffers that some earlier step may have written
  std::set<int> dispatch_touched_;  ///< the same, by steps of dispatch alone
  std::set<int> used_kernels_;
  SymbolTable::Running running_;
  FileErrors errors_;
  size_t launches_ = 0, repeated_bytes_ = 0;  ///< of repeated steps, each time counted
  ResolvedCandidate result_;
};

}  // namespace kbench
