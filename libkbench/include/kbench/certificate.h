// What an audit of a task found: by how much its cheapest shortcut fails, by how much its worst
// honest variant passes, and what is left. docs/certificate.md says how they are made.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kbench/result.h"
#include "kbench/task.h"
#include "kbench/variables.h"

namespace kbench {

/// What a variant of a task is: a computation that is not quite the task's.
enum class VariantKind {
  null,       ///< does none of the work: zeros, a constant, the output for other inputs
  mutant,     ///< leaves a part of the work out: an operator, half the steps, every second element
  subset,     ///< takes sums, means and statistics over all but 1/4 to 1/32 of the terms
  precision,  ///< does all of it on operands, intermediates or sums of fewer bits
  honest,     ///< does all of it in float32, in another order or by another formula; in a task
              ///< of halves also with values stored in the type between operators
};
std::string_view name_of(VariantKind kind);  ///< "null", "mutant", ...
/// All of them, in order.
inline constexpr VariantKind kVariantKinds[] = {VariantKind::null, VariantKind::mutant,
                                                VariantKind::subset, VariantKind::precision,
                                                VariantKind::honest};

/// One variant, and its worst error as a multiple of the tolerance: above 1 it fails.
struct Margin {
  std::string rule, description;
  double margin = 0;  ///< infinite where integers differ or an element is not finite
};

/// All variants of one kind.
struct KindTally {
  int tried = 0;
  int dead = 0;     ///< excused by a proof that stands beside the task
  int no_room = 0;  ///< not tried: memory or a limit of the device was short
  /// Of shortcuts that are not dead the one nearest to passing; of honest variants to failing.
  std::optional<Margin> nearest;
  /// Shortcuts that pass and are not dead; honest variants that need over half of the tolerance.
  std::vector<Margin> left;
};

struct Certificate {
  TaskId task;
  double tolerance = 0;  ///< of an element: Bounds::relative
  std::map<VariantKind, KindTally> kinds;

  /// No null and no mutant passes, and no honest variant needs more than half of the tolerance.
  bool values() const;
  /// A sum over all but a part of 1/4 to 1/32 of its terms passes: what is left out is less than
  /// what the tolerance must allow to honest float32.
  bool subset_within_noise() const;
  /// values(), and nothing computed in fewer bits passes.
  bool precision() const;
};

/// The certificates of one preset in one precision.
struct CertificateFile {
  Preset preset = Preset::smoke;
  DType dtype = DType::f32;  ///< of kTaskDTypes
  std::string device, driver, date, kbench;
  std::vector<Certificate> tasks;
};
std::string to_json(const CertificateFile& file);
/// Throws kParse naming the task and the field.
CertificateFile parse_certificates(const std::string& json, const std::string& name);

/// The certificates in this build (levels/certificates/).
const CertificateFile& certificates(Preset preset, DType dtype = DType::f32);
/// Null where there is none of the task, or at sizes of no preset.
const Certificate* lookup_certificate(const TaskAt& at);

/// The words that certification() returns.
inline constexpr std::string_view kCertifiedPrecision = "precision";
inline constexpr std::string_view kCertifiedValues = "values";  ///< but not in precision
inline constexpr std::string_view kNotCertified = "none";
inline constexpr std::string_view kTrivialTask = "trivial";
inline constexpr std::string_view kUntried = "untried";  ///< there is no certificate
inline bool is_certified(std::string_view word) {
  return word == kCertifiedValues || word == kCertifiedPrecision;
}
/// One of these, by the certificates that this build carries or by the one given; kUntried where
/// there is none of the task at these sizes. An Experiment's own field does not count.
std::string_view certification(const TaskAt& at);
std::string_view certification(const Task& task, const Certificate& certificate);
/// What a pass is worth where the certificate is this word. Throws kInvalidArgument for any other.
std::string_view explain_certificate(std::string_view word);

/// kbench's tasks that collapse, in order: their outputs can be known without their inputs
/// (Task::trivial), or a known rewriting (known_algebra()) was measured to be twice as fast as the
/// eager baseline or more. A speedup there says little of kernels: scores are given with and
/// without them.
const std::vector<TaskId>& collapsing_tasks();
bool collapses(const TaskId& task);

// Allowed algebra: tasks that can be computed exactly with fewer operations than their operators
// take, by exchanging a product and a sum or by folding factors into a weight. Such a candidate
// passes; a speedup on such a task should be compared with the best known one.

/// The best rewriting known of a task.
struct Algebra {
  TaskId task;
  std::string how;               ///< a sentence or two
  std::string candidate;         ///< as a candidate file (YAML) of built-in steps
  std::vector<Result> measured;  ///< against the eager baseline, one a device and preset
};

/// The rewritings in this build (levels/algebra/), by level and number.
const std::vector<Algebra>& known_algebra();
const Algebra* lookup_algebra(TaskId task);  ///< null where none is known
/// Its measurement with the largest speedup at the preset in the type; null where it was not
/// measured.
const Result* best_measured(const Algebra& algebra, Preset preset, DType dtype);

}  // namespace kbench
