#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "harness/measure/audit/variant_evaluator.h"
#include "kbench/compare.h"

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
      deviation.add(error, found.rms_error, static_cast<double>(found.wrong), found.elements);
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

}  // namespace kbench::audit
