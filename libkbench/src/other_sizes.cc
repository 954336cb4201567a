// Which sizes beside a preset's a candidate is tried at: found by building the task's graph.
#include "kbench/other_sizes.h"

#include <algorithm>
#include <array>
#include <memory>
#include <string>
#include <string_view>

#include "kbench/error.h"

namespace kbench {
namespace {

/// What one run may cost: milliseconds on a software device. The bytes are few as llvmpipe ends the
/// loops of an invocation after 65,535 rounds in all, which plain kernels reach on large tensors.
constexpr double kMostFlops = 2e7, kMostBytes = 1 << 21;
/// Of a task that costs more at the preset already, so many times as much; above so many operations
/// it is left at that.
constexpr double kMostGrowth = 1.5, kMostOwnFlops = 1e8;

/// Odd sizes where they are small or the preset's are odd. Else multiples of four, which kernels
/// that take four values at a time may count on, and of eight only where nothing else fits.
std::vector<int64_t> a_little_more(int64_t own) {
  if (own >= 8 && own % 4 == 0) return {own % 8 == 0 ? 4 : 8, 12, 16};
  return own % 2 == 0 ? std::vector<int64_t>{1, 3, 5, 4, 8} : std::vector<int64_t>{2, 5, 4, 8};
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

/// Attributes that follow sizes; all others are options of the task.
bool follows_sizes(std::string_view attribute) {
  constexpr std::array<std::string_view, 5> kNames = {"shape", "start", "stop", "hidden", "value"};
  return std::ranges::find(kNames, attribute) != kNames.end();
}

/// Of a convolution: how far its kernel reaches in each direction.
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
  Search(const Task& task, Preset preset)
      : task_(task), preset_(preset), own_(build_graph(task, preset)) {
    const auto limit = [](double own, double most) {
      return own > most / kMostGrowth ? kMostGrowth * own : most;
    };
    most_flops_ = limit(own_->flops(), kMostFlops);
    most_bytes_ = limit(bytes_of(*own_), kMostBytes);
    if (own_->flops() > kMostOwnFlops) return;
    for (const VariableSpec& spec : task.variables) {
      const auto* own = std::get_if<int64_t>(&spec.at(preset));
      const bool differs = spec.smoke != spec.v0 || spec.v0 != spec.v0_1;
      if (own == nullptr || !spec.follows.empty() || !differs) continue;
      if (own_->variables_read().contains(spec.name)) sizes_.push_back({spec.name, *own});
    }
    // A larger batch is more of the same: what is left over is for it.
    std::ranges::stable_sort(sizes_, [](const Size& a, const Size& b) {
      const bool batch_a = a.name.starts_with("batch"), batch_b = b.name.starts_with("batch");
      return batch_a != batch_b ? batch_b : a.own > b.own;
    });
  }

  /// Every size a little larger; then, first those that come first, as large as there is room for.
  Variables set(bool other_way_round, int64_t large) const {
    std::vector<Size> sizes = sizes_;
    if (other_way_round) {
      const auto batch = std::ranges::find_if(
          sizes, [](const Size& size) { return size.name.starts_with("batch"); });
      std::reverse(sizes.begin(), batch);
    }
    Variables chosen;
    for (const Size& size : sizes) {
      for (const int64_t more : a_little_more(size.own)) {
        if (accept(chosen, size.name, size.own + more)) break;
      }
      if (!chosen.contains(size.name)) accept(chosen, size.name, 3 * size.own);
    }
    int64_t apart = 0;  // Two sizes that are equal by chance hide what mixes them up.
    for (const Size& size : sizes) {
      const int64_t base = size.own / 64 * 64;
      for (const int64_t step : {large + apart, large + 8, large + 16, int64_t{36}}) {
        if (base + step > size.own && accept(chosen, size.name, base + step)) break;
      }
      apart += 8;
    }
    return chosen;
  }

 private:
  /// Sets the variable where the task can be built so, and is not too much work.
  bool accept(Variables& chosen, const std::string& name, int64_t value) const {
    Variables tried = chosen;
    tried[name] = value;
    try {
      const auto graph = build_graph(task_, preset_, tried);
      if (graph->flops() > most_flops_ || bytes_of(*graph) > most_bytes_) return false;
      if (!only_larger(*own_, *graph)) return false;
    } catch (const Error&) {  // Sizes that do not go together.
      return false;
    }
    chosen = std::move(tried);
    return true;
  }

  const Task& task_;
  Preset preset_;
  std::unique_ptr<Graph> own_;
  std::vector<Size> sizes_;  ///< that may change, in the order in which they grow
  double most_flops_ = 0, most_bytes_ = 0;
};

}  // namespace

std::vector<Variables> other_sizes(const Task& task, Preset preset) {
  const Search search(task, preset);
  std::vector<Variables> sets;
  constexpr int64_t kLarge = 68, kLarger = 132;
  for (const Variables& set : std::array{search.set(false, kLarge), search.set(true, kLarger)}) {
    if (!set.empty() && std::ranges::find(sets, set) == sets.end()) sets.push_back(set);
  }
  return sets;
}

}  // namespace kbench
