// Tests a task's check with variants of the task: shortcuts must fail it, honest ones must pass.
// They run on the task's inputs and are compared with its truth.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "harness/measure/audit/shortcuts.h"
#include "kbench/certificate.h"
#include "kbench/graph.h"
#include "kbench/reference.h"
#include "kbench/task.h"

namespace kbench::audit {

/// The difference between a variant and the truth, over all outputs.
struct Deviation {
  double worst = 0;  ///< largest |c - r| / (s + |r|), s being the RMS of the output r; infinite
                     ///< where an integer differs or an element is not finite; in a task of
                     ///< halves also where the truth is not
  double rms = 0;    ///< root mean square of the same over an output's elements; the device finds
                     ///< it for halves alone

  /// Takes an output into account.
  void add(double error, double rms_error) {
    worst = std::max(worst, error);
    rms = std::max(rms, rms_error);
  }

  /// As a multiple of what is tolerated: above 1 it fails.
  double margin(const Bounds& bounds) const {
    return std::max(worst / bounds.relative, rms / bounds.rms);
  }
};

/// One task, with inputs, parameters and truth of one seed at a time. Where the graph is of halves,
/// the tensors are rounded to them, and so is what a variant gives; the truth is not.
class VariantEvaluator {
 public:
  virtual ~VariantEvaluator() = default;
  /// Draws the task's tensors and computes the truth. To be called before deviation().
  virtual void draw(uint64_t seed) = 0;
  /// Throws kOutOfMemory if the variant needs too much memory, kUnsupported if it cannot run here.
  virtual Deviation deviation(const Graph& variant, const ReferenceOptions& options = {}) = 0;
  /// Whether it runs on the host: then ReferenceOptions have an effect, and the truth is in
  /// float64.
  virtual bool on_host() const = 0;
};

/// The CPU reference; the truth is its float64. `task` and `graph` must outlive the evaluator.
std::unique_ptr<VariantEvaluator> make_host_evaluator(const Task& task, const Graph& graph);

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
/// An empty file of such, to be made today on the CPU reference.
CertificateFile new_certificates(Preset preset, DType dtype);
/// The entry of the task's table of dead parts with this variant; null: none.
const Dead* find_dead(const Task& task, const std::string& description);

}  // namespace kbench::audit
