#include "libkbench/core/size_search.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "kbench/error.h"
#include "libkbench/core/operator_kinds.h"

namespace kbench {
namespace {

/// The work of one run at most: milliseconds on a software device.
constexpr double kMostFlops = 2e7, kMostBytes = 1 << 21;
/// llvmpipe ends the loops of an invocation after 65,535 rounds in all. A task with more at the
/// preset already has no such kernel there.
constexpr int64_t kMostRounds = 60'000;
/// A task that costs more at the preset already may cost kMostGrowth times that; above
/// kMostOwnFlops it is tried at no other size.
constexpr double kMostGrowth = 1.5, kMostOwnFlops = 1e8;
/// Fewer terms than these make a statistic that is one value's, or badly conditioned.
constexpr int64_t kFewestTerms = 4;

double bytes_of(const Graph& graph) {
  double bytes = 0;
  for (const Graph::ValueInfo& value : graph.values()) {
    bytes += static_cast<double>(value.type.bytes());
  }
  return bytes;
}

/// Rounds of the loops of a plain kernel, an invocation an output or a row: norms and softmax go
/// over a row three times.
int64_t rounds_of(const Graph::Node& node) {
  const OperatorCall& call = node.call;
  const auto outputs = static_cast<double>(call.outputs[0].elements());
  if (is_product(*call.op)) return static_cast<int64_t>(call.op->flops(call) / 2 / outputs);
  if (is_norm(*call.op)) return 3 * terms_of_statistics(node);
  if (const AttributeValue* axis = call.attributes.find("axis")) {
    const bool again = is_one_of(call.op->name, {"softmax", "log_softmax", "logsumexp"});
    const auto along = static_cast<size_t>(std::get<int64_t>(*axis));
    return (again ? 3 : 1) * call.inputs[0].shape.at(along);
  }
  return call.inputs[0].elements() / call.outputs[0].elements();
}

int64_t rounds_of(const Graph& graph) {
  int64_t most = 0;
  for (const Graph::Node& node : graph.nodes()) most = std::max(most, rounds_of(node));
  return most;
}

/// Attributes that follow sizes; all others are options of the task.
bool follows_sizes(std::string_view attribute) {
  constexpr std::array<std::string_view, 5> kNames = {"shape", "start", "stop", "hidden", "value"};
  return std::ranges::find(kNames, attribute) != kNames.end();
}

bool same_call(const OperatorCall& a, const OperatorCall& b) {
  if (a.op != b.op || a.attributes.size() != b.attributes.size()) return false;
  if (is_convolution(*a.op) && convolution_window(a) != convolution_window(b)) return false;
  return std::ranges::all_of(a.attributes, [&](const auto& attribute) {
    const AttributeValue* other = b.attributes.find(attribute.first);
    return other != nullptr && (follows_sizes(attribute.first) || *other == attribute.second);
  });
}

/// Whether no extent of `larger` is less: a longer kernel of a convolution makes its output
/// shorter.
bool same_or_larger(const Shape& own, const Shape& larger) {
  return own.size() == larger.size() && std::equal(own.begin(), own.end(), larger.begin(),
                                                   [](int64_t a, int64_t b) { return a <= b; });
}

bool only_larger(const Graph& own, const Graph& other) {
  return std::equal(own.values().begin(), own.values().end(), other.values().begin(),
                    [](const Graph::ValueInfo& a, const Graph::ValueInfo& b) {
                      return same_or_larger(a.type.shape, b.type.shape);
                    });
}

/// Whether every tensor has as many dimensions, and every statistic is over enough values.
bool is_well_posed(const Graph& own, const Graph& other) {
  const bool same_ranks =
      std::equal(own.values().begin(), own.values().end(), other.values().begin(),
                 [](const Graph::ValueInfo& a, const Graph::ValueInfo& b) {
                   return a.type.shape.size() == b.type.shape.size();
                 });
  return same_ranks && std::ranges::all_of(other.nodes(), [](const Graph::Node& node) {
           return !is_norm(*node.call.op) || terms_of_statistics(node) >= kFewestTerms;
         });
}

}  // namespace

bool same_computation(const Graph& own, const Graph& other) {
  return own.values().size() == other.values().size() &&
         std::equal(own.nodes().begin(), own.nodes().end(), other.nodes().begin(),
                    other.nodes().end(), [](const Graph::Node& a, const Graph::Node& b) {
                      return a.inputs == b.inputs && same_call(a.call, b.call);
                    });
}

SizeSearch::SizeSearch(const TaskAt& at, std::span<const Task> suite, Extents extents)
    : at_(at), suite_(suite), extents_(extents), own_(build_graph(at, suite)) {
  const auto limit = [](double own, double most) {
    return own > most / kMostGrowth ? kMostGrowth * own : most;
  };
  most_flops_ = limit(own_->flops(), kMostFlops);
  most_bytes_ = limit(bytes_of(*own_), kMostBytes);
  if (rounds_of(*own_) <= kMostRounds) most_rounds_ = kMostRounds;
  if (own_->flops() > kMostOwnFlops) return;
  for (const VariableSpec& spec : find_task(at.task, suite).variables) {
    const auto* own = std::get_if<int64_t>(&own_->variables().at(spec.name));
    if (own == nullptr || !spec.follows.empty() || !spec.differs()) continue;
    if (own_->variables_read().contains(spec.name)) sizes_.push_back({spec.name, *own});
  }
  // The batch grows last, with the budget that is left: it only repeats the same work.
  std::ranges::stable_sort(sizes_, [](const Size& a, const Size& b) {
    const bool batch_a = a.name.starts_with("batch"), batch_b = b.name.starts_with("batch");
    return batch_a != batch_b ? batch_b : a.own > b.own;
  });
}

bool SizeSearch::fits(const Variables& chosen) const {
  TaskAt there = at_;
  for (const auto& [changed, to] : chosen) there.variables[changed] = to;
  try {
    const auto graph = build_graph(there, suite_);
    return graph->flops() <= most_flops_ && bytes_of(*graph) <= most_bytes_ &&
           rounds_of(*graph) <= most_rounds_ && same_computation(*own_, *graph) &&
           (extents_ == Extents::larger ? only_larger(*own_, *graph)
                                        : is_well_posed(*own_, *graph));
  } catch (const Error&) {  // Sizes that do not go together.
    return false;
  }
}

bool SizeSearch::accept(Variables& chosen, const std::string& name, int64_t value) const {
  Variables tried = chosen;
  tried[name] = value;
  if (!fits(tried)) return false;
  chosen = std::move(tried);
  return true;
}

bool SizeSearch::accept_one(Variables& chosen, const std::string& name,
                            const std::vector<int64_t>& values) const {
  return std::ranges::any_of(values, [&](int64_t value) { return accept(chosen, name, value); });
}

}  // namespace kbench
