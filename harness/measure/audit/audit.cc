#include "harness/measure/audit/audit.h"

#include <fnmatch.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <ctime>
#include <limits>
#include <vector>

#include "kbench/compare.h"
#include "kbench/error.h"
#include "kbench/version.h"

namespace kbench::audit {
namespace {

class HostEvaluator : public VariantEvaluator {
 public:
  HostEvaluator(const Task& task, const Graph& graph)
      : task_(task),
        graph_(graph),
        half_(is_half(graph.dtype())),
        bounds_(bounds_of(task, graph.dtype())) {}

  void draw(uint64_t seed) override {
    seed_ = seed;
    tensors_ = draw_tensors(graph_, task_.id, seed);
    truth_ = run_reference(graph_, tensors_, {.precision = Precision::f64});
    undefined_ = half_ && std::ranges::any_of(truth_, has_non_finite);
  }

  Deviation deviation(const Graph& variant, const ReferenceOptions& options) override {
    const std::vector<Tensor> got = run_reference(variant, tensors_of(variant), options);
    Deviation deviation;
    for (size_t i = 0; i < truth_.size(); ++i) {
      // In float64 it is to be seen whether a variant computes the same.
      const bool rounds = options.precision != Precision::f64;
      const Comparison found = compare(rounds ? stored(i, got[i]) : got[i], truth_[i], bounds_);
      const double error = found.not_finite > 0 || undefined_
                               ? std::numeric_limits<double>::infinity()
                               : found.max_error;
      deviation.add(error, found.rms_error);
    }
    return deviation;
  }

  bool on_host() const override { return true; }

 private:
  /// The task's tensors, and the other inputs of the variant, drawn on first use.
  NamedTensors tensors_of(const Graph& variant) {
    for (const int id : variant.values_of(Graph::Kind::input)) {
      const Graph::ValueInfo& input = variant.value(id);
      if (tensors_.count(input.name) > 0) continue;
      tensors_.emplace(input.name, draw_tensor(graph_, input, task_.id, seed_));
    }
    return tensors_;
  }
  static bool has_non_finite(const Tensor& truth) {
    return truth.dtype() == DType::f64 &&
           !std::ranges::all_of(truth.data<double>(), [](double x) { return std::isfinite(x); });
  }
  /// An output as it lies in memory.
  Tensor stored(size_t i, const Tensor& output) const {
    return half_ ? output.converted(graph_.stored_type(graph_.outputs()[i]).dtype) : output;
  }

  const Task& task_;
  const Graph& graph_;
  const bool half_;
  const Bounds bounds_;
  uint64_t seed_ = 0;
  NamedTensors tensors_;
  std::vector<Tensor> truth_;
  bool undefined_ = false;  ///< a task of halves has no finite value somewhere
};

}  // namespace

std::unique_ptr<VariantEvaluator> make_host_evaluator(const Task& task, const Graph& graph) {
  return std::make_unique<HostEvaluator>(task, graph);
}

namespace {

/// A variant that differs by no more than this from the task in float64 computes the same.
constexpr double kIdentical = 1e-9;
constexpr uint64_t kSeed = 24301;
/// Draws of inputs on which a shortcut that passes is tried. (A trial has at least 16 samples, each
/// with its own draw, and a candidate must pass on all.)
constexpr int kDraws = 4;
/// The share of the tolerance that an honest variant may need.
constexpr double kHonestShare = 0.5;

bool wants(const AuditOptions& options, VariantKind kind) {
  return std::ranges::find(options.kinds, kind) != options.kinds.end();
}

bool wanted(const Variant& variant, const AuditOptions& options) {
  return wants(options, variant.kind) &&
         variant.description.find(options.only) != std::string::npos &&
         (options.descriptions.empty() || variant.kind == VariantKind::null ||
          options.descriptions.contains(variant.description));
}

/// A shortcut that has passed so far.
bool may_still_fail(const Tried& tried) {
  return tried.kind != VariantKind::honest && tried.not_tried.empty() && tried.margin.margin <= 1;
}

/// Tries a variant on the current draw, and keeps the largest margin of all draws.
void try_variant(VariantEvaluator& evaluator, const Variant& variant, const Bounds& bounds,
                 Tried& tried) {
  ReferenceOptions options;
  if (tried.margin.rule == kRunningRule) {
    options.summation = ReferenceOptions::Summation::sequential;
  }
  try {
    const std::unique_ptr<Graph> graph = variant.build();
    const Deviation deviation = evaluator.deviation(*graph, options);
    const double margin = deviation.margin(bounds);
    if (margin >= tried.margin.margin) {
      tried.margin.margin = margin;
      tried.deviation = deviation;
    }
    tried.identical = false;
    if (evaluator.on_host() && may_still_fail(tried)) {
      tried.identical =
          evaluator.deviation(*graph, {.precision = Precision::f64}).worst < kIdentical;
    }
  } catch (const Error& e) {
    if (e.code() != ErrorCode::kOutOfMemory && e.code() != ErrorCode::kUnsupported) throw;
    tried.not_tried = e.what();
  }
}

/// The task itself in float32, unless that is the truth.
std::vector<Tried> plain_float32(VariantEvaluator& evaluator, const Graph& graph,
                                 const Bounds& bounds) {
  std::vector<Tried> all;
  const auto add = [&](const char* description, const ReferenceOptions& options) {
    const Deviation deviation = evaluator.deviation(graph, options);
    all.push_back({.kind = VariantKind::honest,
                   .margin = {kPlainRule, description, deviation.margin(bounds)},
                   .deviation = deviation});
  };
  if (!evaluator.on_host()) {
    if (is_half(graph.dtype())) add("the eager kernels in float32, rounded once", {});
    return all;
  }
  add("the CPU reference in float32", {});
  // The order of float32 sums changes far less than rounding the result to a half.
  if (is_half(graph.dtype())) return all;
  add("the CPU reference in float32, one term after another",
      {.summation = ReferenceOptions::Summation::sequential});
  return all;
}

}  // namespace

const Dead* find_dead(const Task& task, const std::string& description) {
  for (const Dead& dead : task.dead) {
    for (const std::string& pattern : dead.variants) {
      if (fnmatch(pattern.c_str(), description.c_str(), 0) == 0) return &dead;
    }
  }
  return nullptr;
}

TaskAudit audit_task(const Task& task, const Graph& graph, VariantEvaluator& evaluator,
                     const AuditOptions& options) {
  const auto start = std::chrono::steady_clock::now();
  TaskAudit audit;
  audit.task = &task;
  audit.dtype = graph.dtype();
  const Bounds bounds = bounds_of(task, graph.dtype());
  std::vector<Variant> variants = variants_of(graph);
  std::erase_if(variants, [&](const Variant& each) { return !wanted(each, options); });

  for (const Variant& variant : variants) {
    audit.tried.push_back({.kind = variant.kind,
                           .margin = {variant.rule, variant.description, 0},
                           .dead = find_dead(task, variant.description)});
  }
  // In halves an honest variant's error differs from draw to draw, and the largest sets the task's
  // tolerance: it is tried on all of them.
  const bool honest_again = is_half(graph.dtype());
  for (int draw = 0; draw < kDraws; ++draw) {
    std::vector<size_t> now;
    for (size_t i = 0; i < variants.size(); ++i) {
      const bool honest = variants[i].kind == VariantKind::honest;
      const bool again = honest && honest_again && audit.tried[i].not_tried.empty();
      if (draw == 0 || again || may_still_fail(audit.tried[i])) now.push_back(i);
    }
    if (now.empty()) break;
    evaluator.draw(kSeed + static_cast<uint64_t>(draw));
    for (const size_t i : now) try_variant(evaluator, variants[i], bounds, audit.tried[i]);
    if (draw > 0 || !options.only.empty() || !wants(options, VariantKind::honest)) continue;
    for (Tried& each : plain_float32(evaluator, graph, bounds)) {
      audit.tried.push_back(std::move(each));
    }
  }
  audit.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return audit;
}

bool is_left(const Tried& tried) {
  if (!tried.not_tried.empty() || tried.dead != nullptr) return false;
  const double margin = tried.margin.margin;
  if (tried.kind != VariantKind::honest) return margin <= 1;
  return margin > kHonestShare && !std::isinf(margin);
}

CertificateFile new_certificates(Preset preset, DType dtype) {
  const std::time_t now = std::time(nullptr);
  char today[16];
  std::strftime(today, sizeof today, "%Y-%m-%d", std::gmtime(&now));
  return {preset, dtype, "CPU reference", "held to float64", today, version(), {}};
}

Certificate certificate_of(const TaskAudit& audit) {
  Certificate certificate;
  certificate.task = audit.task->id;
  certificate.tolerance = bounds_of(*audit.task, audit.dtype).relative;
  for (const Tried& tried : audit.tried) {
    KindTally& tally = certificate.kinds[tried.kind];
    const bool honest = tried.kind == VariantKind::honest;
    if (!tried.not_tried.empty()) {
      ++tally.no_room;
      continue;
    }
    ++tally.tried;
    if (tried.dead != nullptr) {
      ++tally.dead;
      continue;
    }
    const double margin = tried.margin.margin;
    // A formula that overflows at these sizes is not honest there.
    if (honest && std::isinf(margin)) continue;
    const bool nearer = !tally.nearest ||
                        (honest ? margin > tally.nearest->margin : margin < tally.nearest->margin);
    if (nearer) tally.nearest = tried.margin;
    if (is_left(tried)) tally.left.push_back(tried.margin);
  }
  return certificate;
}

}  // namespace kbench::audit
