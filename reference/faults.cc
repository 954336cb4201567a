#include "reference/faults.h"

#include <algorithm>
#include <cmath>
#include <functional>

#include "kbench/error.h"
#include "kbench/reference.h"
#include "reference/executor.h"

namespace kbench::reference {
namespace {

constexpr uint64_t kSeeds[] = {1, 2};

struct Counts {
  int64_t nans = 0, infinite = 0;
};

Counts counts_of(const Tensor& tensor) {
  Counts counts;
  const auto count = [&](auto values) {
    for (const auto value : values) {
      counts.nans += std::isnan(value) ? 1 : 0;
      counts.infinite += std::isinf(value) ? 1 : 0;
    }
  };
  if (tensor.dtype() == DType::f32) count(tensor.data<float>());
  if (tensor.dtype() == DType::f64) count(tensor.data<double>());
  return counts;
}

/// Which operator makes NaN, or infinite values, of values that are none: by value, the node that
/// made those which it holds; -1: it holds none, -2: they were given.
class Origins {
 public:
  explicit Origins(const Graph& graph)
      : graph_(graph),
        nan_(graph.values().size(), kNone),
        infinite_(graph.values().size(), kNone) {}

  /// To be called for given values, and for every result when it is made.
  void see(int id, const Tensor& tensor) {
    const Counts counts = counts_of(tensor);
    if (counts.nans > 0) nan_[size_t(id)] = origin(id, nan_);
    if (counts.infinite > 0) infinite_[size_t(id)] = origin(id, infinite_);
  }

  /// "sqrt of x (operator 1 of 3) makes them"
  std::string nan_in_words(int id) const {
    const int node = nan_[size_t(id)];
    std::string text = in_words(node);
    if (node < 0) return text;
    for (const int operand : graph_.node(node).inputs) {
      if (infinite_[size_t(operand)] == kNone) continue;
      return text + " of infinite values" +
             (infinite_[size_t(operand)] < 0
                  ? ", which a tensor has"
                  : ", of which " + in_words(infinite_[size_t(operand)]));
    }
    return text;
  }
  std::string infinite_in_words(int id) const { return in_words(infinite_[size_t(id)]); }

 private:
  static constexpr int kNone = -1, kGiven = -2;

  int origin(int id, const std::vector<int>& known) const {
    const int producer = graph_.value(id).producer;
    if (producer < 0) return kGiven;
    for (const int operand : graph_.node(producer).inputs) {
      if (known[size_t(operand)] != kNone) return known[size_t(operand)];
    }
    return producer;
  }

  std::string in_words(int node) const {
    if (node < 0) return "a tensor that the task is given has them";
    std::string operands;
    for (const int id : graph_.node(node).inputs) {
      operands += (operands.empty() ? "" : ", ") + graph_.value(id).name;
    }
    return graph_.node(node).call.op->name + " of " + operands + " (operator " +
           std::to_string(node + 1) + " of " + std::to_string(graph_.nodes().size()) +
           ") makes them";
  }

  const Graph& graph_;
  std::vector<int> nan_, infinite_;
};

bool same_values(const Tensor& a, const Tensor& b) {
  return a.dtype() == DType::f64 && std::ranges::equal(a.data<double>(), b.data<double>());
}

}  // namespace

ValueFaults faults_of_values(const Graph& graph, const TaskId& task) {
  ValueFaults faults;
  std::vector<Tensor> before;
  for (const uint64_t seed : kSeeds) {
    Origins origins(graph);
    const std::vector<Tensor> outputs =
        run_seen(graph, draw_tensors(graph, task, seed),
                 [&](int id, const Tensor& tensor) { origins.see(id, tensor); });
    for (size_t i = 0; i < outputs.size() && faults.not_a_number.empty(); ++i) {
      const Counts counts = counts_of(outputs[i]);
      const int id = graph.outputs()[i];
      const std::string of = " of " + std::to_string(outputs[i].elements()) + " elements: ";
      if (counts.nans > 0) {
        faults.not_a_number = graph.output_name(i) + " is NaN at " + std::to_string(counts.nans) +
                              of + origins.nan_in_words(id);
      } else if (counts.infinite > 0 && before.empty()) {
        faults.suspicious.push_back(graph.output_name(i) + " is infinite at " +
                                    std::to_string(counts.infinite) + of +
                                    origins.infinite_in_words(id));
      }
      if (before.empty() || !same_values(outputs[i], before[i])) continue;
      const auto values = outputs[i].data<double>();
      const bool zero = std::ranges::all_of(values, [](double value) { return value == 0; });
      faults.suspicious.push_back(graph.output_name(i) +
                                  (zero ? " is always 0" : " is the same for all draws") +
                                  ", whatever is computed");
    }
    before = outputs;
  }
  return faults;
}

std::string not_a_number(const Task& task) {
  constexpr double kMostFlops = 1e9, kMostBytes = 1e8;
  if (task.file.empty()) return "";
  const auto graph = build_graph(task, Preset::smoke);
  if (graph->flops() > kMostFlops || graph->least_bytes() > kMostBytes) return "";
  return faults_of_values(*graph, task.id).not_a_number;
}

void require_numbers(const Task& task) {
  const std::string found = not_a_number(task);
  if (found.empty()) return;
  throw Error(ErrorCode::kInvalidArgument,
              to_string(task.id) + ": its right values are no numbers: " + found);
}

}  // namespace kbench::reference
