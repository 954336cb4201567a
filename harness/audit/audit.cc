#include "harness/audit/audit.h"

#include <fnmatch.h>

#include <algorithm>
#include <chrono>
#include <cmath>

#include "kbench/error.h"

namespace kbench::audit {
namespace {

/// A variant that differs from the task by no more than this in float64 computes the same.
constexpr double kIdentical = 1e-9;
/// Of the tolerance: an honest variant must pass with a factor of two to spare.
constexpr double kHonestShare = 0.5;

bool wanted(const Variant& variant, const AuditOptions& options) {
  return std::find(options.kinds.begin(), options.kinds.end(), variant.kind) !=
             options.kinds.end() &&
         variant.description.find(options.only) != std::string::npos;
}

/// The task itself in float32, where that is not the truth already.
std::vector<Tried> plain_float32(Bench& bench, const Graph& graph, double tolerance) {
  if (!bench.on_host()) return {};
  std::vector<Tried> all;
  const auto add = [&](const char* description, const ReferenceOptions& options) {
    Tried tried;
    tried.kind = Variant::Kind::honest;
    tried.margin = {"plain", description, bench.deviation(graph, options).worst / tolerance};
    all.push_back(std::move(tried));
  };
  add("the CPU reference in float32", {});
  ReferenceOptions sequential;
  sequential.summation = ReferenceOptions::Summation::sequential;
  add("the CPU reference in float32, one term after another", sequential);
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

TaskAudit audit_task(const Task& task, const Graph& graph, Bench& bench,
                     const AuditOptions& options) {
  const auto start = std::chrono::steady_clock::now();
  TaskAudit audit;
  audit.task = &task;
  const double tolerance = task.tolerance.relative;
  std::vector<Variant> variants = shortcuts(graph, options.variants);
  for (Variant& each : honest_variants(graph, options.variants)) {
    variants.push_back(std::move(each));
  }
  std::erase_if(variants, [&](const Variant& each) { return !wanted(each, options); });

  for (const Variant& variant : variants) {
    Tried tried;
    tried.kind = variant.kind;
    tried.margin = {variant.rule, variant.description, 0};
    tried.dead = find_dead(task, variant.description);
    audit.tried.push_back(std::move(tried));
  }
  for (int draw = 0; draw < options.draws; ++draw) {
    bench.draw(options.seed + static_cast<uint64_t>(draw));
    for (size_t i = 0; i < variants.size(); ++i) {
      Tried& tried = audit.tried[i];
      const bool honest = tried.kind == Variant::Kind::honest;
      if (!tried.not_tried.empty()) continue;
      if (draw > 0 && !honest && tried.margin.margin > 1e3) continue;
      try {
        const std::unique_ptr<Graph> built = variants[i].build();
        const Deviation deviation = bench.deviation(*built);
        const double margin = deviation.worst / tolerance;
        if (draw == 0 || (honest ? margin > tried.margin.margin : margin < tried.margin.margin)) {
          tried.margin.margin = margin;
          tried.beyond_share = deviation.beyond_share;
        }
        if (bench.on_host() && margin <= 1 && draw == 0 && !honest) {
          tried.identical =
              bench.deviation(*built, {.precision = Precision::f64}).worst < kIdentical;
        }
      } catch (const Error& e) {
        if (e.code() != ErrorCode::kOutOfMemory && e.code() != ErrorCode::kUnsupported) throw;
        tried.not_tried = e.what();
      }
    }
    if (std::find(options.kinds.begin(), options.kinds.end(), Variant::Kind::honest) !=
            options.kinds.end() &&
        options.only.empty()) {
      for (Tried& each : plain_float32(bench, graph, tolerance)) {
        audit.tried.push_back(std::move(each));
      }
    }
  }
  audit.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return audit;
}

Certificate certificate_of(const TaskAudit& audit) {
  Certificate certificate;
  certificate.task = audit.task->id;
  certificate.tolerance = audit.task->tolerance.relative;
  for (const Tried& tried : audit.tried) {
    KindTally& tally = certificate.kinds[tried.kind];
    const bool honest = tried.kind == Variant::Kind::honest;
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
    // A formula that overflows at these sizes is no honest float32 there.
    if (honest && std::isinf(margin)) continue;
    const bool nearer = !tally.nearest ||
                        (honest ? margin > tally.nearest->margin : margin < tally.nearest->margin);
    if (nearer) tally.nearest = tried.margin;
    if (honest ? margin > kHonestShare : margin <= 1) tally.left.push_back(tried.margin);
  }
  return certificate;
}

}  // namespace kbench::audit
