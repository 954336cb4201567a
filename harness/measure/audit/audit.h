// Holds a task's check against shortcuts and honest variants, one after another.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "harness/measure/audit/variant_evaluator.h"
#include "kbench/certificate.h"
#include "kbench/shortcuts.h"
#include "kbench/task.h"

namespace kbench::audit {

struct AuditOptions {
  uint64_t seed = 24301;
  /// Of inputs, for shortcuts that pass: a trial has 16 samples at least, each on another draw, and
  /// a candidate fails by any of them.
  int draws = 4;
  VariantOptions variants;
  /// Only variants of these kinds, and only those whose description holds this text.
  std::vector<Variant::Kind> kinds = {Variant::Kind::null, Variant::Kind::mutant,
                                      Variant::Kind::subset, Variant::Kind::precision,
                                      Variant::Kind::honest};
  std::string only;
  /// Where there are any: nulls, and variants of these descriptions.
  std::set<std::string> descriptions = {};
};

/// One variant tried.
struct Tried {
  Variant::Kind kind = Variant::Kind::null;
  Margin margin;
  double beyond_share = 0;     ///< share of elements over the tolerance
  bool identical = false;      ///< passes, and equals the task in float64 (on the host only)
  const Dead* dead = nullptr;  ///< the task's own word that it cannot be told from the task
  std::string not_tried;       ///< why, where it was not
};

struct TaskAudit {
  const Task* task = nullptr;
  std::vector<Tried> tried;
  double seconds = 0;
};

TaskAudit audit_task(const Task& task, const Graph& graph, VariantEvaluator& evaluator,
                     const AuditOptions& options = {});
/// A shortcut that passes and is not dead; an honest variant that needs more than half of the
/// tolerance. One that overflows at these sizes is no honest float32 there, and never left.
bool is_left(const Tried& tried);
Certificate certificate_of(const TaskAudit& audit);
/// The entry of the task's table of dead parts that excuses a variant; null: none.
const Dead* find_dead(const Task& task, const std::string& description);

}  // namespace kbench::audit
