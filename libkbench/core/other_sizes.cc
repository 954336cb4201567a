// Which sizes beside a preset's a candidate is tried at: found by building the task's graph.
#include "kbench/other_sizes.h"

#include <algorithm>
#include <array>
#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <string_view>

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

/// Odd sizes where they are small or the preset's are odd. Else multiples of four, which kernels
/// that take four values at a time may count on, and of eight only where nothing else fits.
std::vector<int64_t> a_little_larger(int64_t own) {
  std::vector<int64_t> sizes = {own + 2, own + 5, own + 4, own + 8};
  if (own % 2 == 0) sizes = {own + 1, own + 3, own + 5, own + 4, own + 8};
  if (own >= 8 && own % 4 == 0) sizes = {own + (own % 8 == 0 ? 4 : 8), own + 12, own + 16};
  return sizes;
}

/// `apart` differs between a task's variables: a kernel that mixes two of them up would be right
/// where they are equal.
std::vector<int64_t> much_larger(int64_t own, int64_t large, int64_t apart) {
  const int64_t base = own / 64 * 64;
  std::vector<int64_t> sizes = {base + large + apart, base + large + 8, base + large + 16,
                                base + 36};
  std::erase_if(sizes, [&](int64_t size) { return size <= own; });
  return sizes;
}

/// Much larger, else the most of a little, and multiples of eight last.
std::vector<int64_t> as_large_as_fits(int64_t own, int64_t large, int64_t apart) {
  std::vector<int64_t> sizes = much_larger(own, large, apart), little = a_little_larger(own);
  std::ranges::sort(little, std::greater());
  std::stable_partition(little.begin(), little.end(), [](int64_t size) { return size % 8 != 0; });
  sizes.insert(sizes.end(), little.begin(), little.end());
  return sizes;
}

struct Size {
  std::string name;
  int64_t own = 0;
};

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

/// The extents of a convolution's kernel; empty for other operators.
Shape window_of(const OperatorCall& call) {
  if (!call.op->name.starts_with("conv") || call.inputs.size() < 2) return {};
  const Shape& weight = call.inputs[1].shape;
  return {weight.begin() + 2, weight.end()};
}

bool same_call(const OperatorCall& a, const OperatorCall& b) {
  if (a.op != b.op || a.attributes.size() != b.attributes.size()) return false;
  if (window_of(a) != window_of(b)) return false;
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

/// The same computation on larger tensors.
bool only_larger(const Graph& own, const Graph& other) {
  return own.values().size() == other.values().size() &&
         std::equal(own.nodes().begin(), own.nodes().end(), other.nodes().begin(),
                    other.nodes().end(),
                    [](const Graph::Node& a, const Graph::Node& b) {
                      return a.inputs == b.inputs && same_call(a.call, b.call);
                    }) &&
         std::equal(own.values().begin(), own.values().end(), other.values().begin(),
                    [](const Graph::ValueInfo& a, const Graph::ValueInfo& b) {
                      return same_or_larger(a.type.shape, b.type.shape);
                    });
}

class Search {
 public:
  Search(const TaskAt& at, std::span<const Task> suite)
      : at_(at), suite_(suite), own_(build_graph(at, suite)) {
    const auto limit = [](double own, double most) {
      return own > most / kMostGrowth ? kMostGrowth * own : most;
    };
    most_flops_ = limit(own_->flops(), kMostFlops);
    most_bytes_ = limit(bytes_of(*own_), kMostBytes);
    if (rounds_of(*own_) <= kMostRounds) most_rounds_ = kMostRounds;
    if (own_->flops() > kMostOwnFlops) return;
    for (const VariableSpec& spec : find_task(at.task, suite).variables) {
      const auto* own = std::get_if<int64_t>(&own_->variables().at(spec.name));
      const bool differs = spec.smoke != spec.v0 || spec.v0 != spec.v0_1;
      if (own == nullptr || !spec.follows.empty() || !differs) continue;
      if (own_->variables_read().contains(spec.name)) sizes_.push_back({spec.name, *own});
    }
    // The batch grows last, with the budget that is left: it only repeats the same work.
    std::ranges::stable_sort(sizes_, [](const Size& a, const Size& b) {
      const bool batch_a = a.name.starts_with("batch"), batch_b = b.name.starts_with("batch");
      return batch_a != batch_b ? batch_b : a.own > b.own;
    });
  }

  /// Makes every size a little larger, then one after another as large as the budget allows.
  Variables even_set(bool other_way_round, int64_t large) const {
    Variables chosen;
    const std::vector<Size> sizes = in_order(other_way_round);
    for (const Size& size : sizes) {
      if (!accept_one(chosen, size.name, a_little_larger(size.own))) {
        accept(chosen, size.name, 3 * size.own);
      }
    }
    int64_t apart = 0;
    for (const Size& size : sizes) {
      if (chosen.contains(size.name)) {  // Else it is an option, or too much.
        accept_one(chosen, size.name, much_larger(size.own, large, apart));
      }
      apart += 8;
    }
    return chosen;
  }

  /// Makes one size after another as large as the budget allows.
  Variables uneven_set(bool other_way_round, int64_t large) const {
    Variables chosen;
    int64_t apart = 0;
    for (const Size& size : in_order(other_way_round)) {
      accept_one(chosen, size.name, as_large_as_fits(size.own, large, apart));
      apart += 8;
    }
    return chosen;
  }

 private:
  /// In reverse order the batch still comes last.
  std::vector<Size> in_order(bool other_way_round) const {
    std::vector<Size> sizes = sizes_;
    if (other_way_round) {
      std::reverse(sizes.begin(), std::ranges::find_if(sizes, [](const Size& size) {
                     return size.name.starts_with("batch");
                   }));
    }
    return sizes;
  }

  /// The first value that is accepted, if any is.
  bool accept_one(Variables& chosen, const std::string& name,
                  const std::vector<int64_t>& values) const {
    return std::ranges::any_of(values, [&](int64_t value) { return accept(chosen, name, value); });
  }

  /// Sets the variable where the task can be built so, and is not too much work.
  bool accept(Variables& chosen, const std::string& name, int64_t value) const {
    Variables tried = chosen;
    tried[name] = value;
    TaskAt there = at_;
    for (const auto& [changed, to] : tried) there.variables[changed] = to;
    try {
      const auto graph = build_graph(there, suite_);
      if (graph->flops() > most_flops_ || bytes_of(*graph) > most_bytes_) return false;
      if (rounds_of(*graph) > most_rounds_ || !only_larger(*own_, *graph)) return false;
    } catch (const Error&) {  // Sizes that do not go together.
      return false;
    }
    chosen = std::move(tried);
    return true;
  }

  const TaskAt at_;
  std::span<const Task> suite_;
  std::unique_ptr<Graph> own_;
  std::vector<Size> sizes_;  ///< that may change, in the order in which they grow
  double most_flops_ = 0, most_bytes_ = 0;
  int64_t most_rounds_ = std::numeric_limits<int64_t>::max();
};

}  // namespace

std::vector<Variables> other_sizes(const TaskAt& at, std::span<const Task> suite) {
  const Search search(at, suite);
  std::vector<Variables> sets;
  const auto add = [&](const Variables& set) {
    if (!set.empty() && std::ranges::find(sets, set) == sets.end()) sets.push_back(set);
  };
  constexpr int64_t kLarge = 68, kLarger = 132;
  add(search.even_set(false, kLarge));
  add(search.even_set(true, kLarger));
  // Where the budget is small, both sets may be the same: every size a little larger.
  for (const bool other_way_round : {true, false}) {
    if (sets.size() < 2) add(search.uneven_set(other_way_round, kLarge));
  }
  return sets;
}

}  // namespace kbench
