// Tests a task's check with variants of the task: shortcuts must fail it, honest ones must pass.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "harness/measure/audit/shortcuts.h"
#include "harness/measure/audit/variant_evaluator.h"
#include "kbench/certificate.h"
#include "kbench/task.h"

namespace kbench::audit {

struct AuditOptions {
  /// Only variants of these kinds, whose description contains `only`.
  std::vector<VariantKind> kinds = {VariantKind::null, VariantKind::mutant, VariantKind::subset,
                                    VariantKind::precision, VariantKind::honest};
  std::string only;
  /// If not empty, only nulls and variants of these descriptions.
  std::set<std::string> descriptions = {};
};

/// Margin::rule of the task itself, computed in float32; in a task of halves its outputs are
/// rounded once, at the end.
inline constexpr const char* kPlainRule = "plain";

/// The outcome of one variant.
struct Tried {
  VariantKind kind = VariantKind::null;
  Margin margin;
  Deviation deviation = {};    ///< of the draw with the largest margin
  bool identical = false;      ///< it passes, and equals the task in float64 (on the host only)
  const Dead* dead = nullptr;  ///< the task declares that it computes the same
  std::string not_tried = {};  ///< why it was not tried, or empty
};

struct TaskAudit {
  const Task* task = nullptr;
  DType dtype = DType::f32;
  std::vector<Tried> tried;
  double seconds = 0;
};

/// Tries a shortcut that passes on further draws of the inputs, as a trial would; those that fail
/// once have failed.
TaskAudit audit_task(const Task& task, const Graph& graph, VariantEvaluator& evaluator,
                     const AuditOptions& options = {});
/// Whether the variant is a finding: a shortcut that passes and is not dead, or an honest variant
/// that needs more than half of the tolerance. An honest variant that overflows at these sizes is
/// not.
bool is_left(const Tried& tried);
Certificate certificate_of(const TaskAudit& audit);
/// The entry of the task's table of dead parts with this variant; null: none.
const Dead* find_dead(const Task& task, const std::string& description);

}  // namespace kbench::audit
