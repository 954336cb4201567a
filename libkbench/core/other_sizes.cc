// Which sizes beside a preset's a candidate is tried at: found by building the task's graph.
#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <limits>
#include <memory>
#include <random>
#include <string>
#include <string_view>
#include <utility>

#include "kbench/error.h"
#include "kbench/task.h"
#include "libkbench/core/graph_facts.h"

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
/// The least share of the task's own work that a size is timed at.
constexpr double kLeastShare = 0.25;
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

/// Whether these are one task's graphs on other tensors: the same operators with the same options.
bool same_computation(const Graph& own, const Graph& other) {
  return own.values().size() == other.values().size() &&
         std::equal(own.nodes().begin(), own.nodes().end(), other.nodes().begin(),
                    other.nodes().end(), [](const Graph::Node& a, const Graph::Node& b) {
                      return a.inputs == b.inputs && same_call(a.call, b.call);
                    });
}

/// Which extents a set of sizes may give a tensor, beside those that it has: larger ones, or any of
/// little work; or any whose work is a share of the task's own (DrawnWork::a_share).
enum class Extents { larger, any, a_share };

/// Holds the task's graph at its own sizes, and says of other sizes whether they will do.
class SizeSearch {
 public:
  /// An integer variable in which presets differ.
  struct Size {
    std::string name;
    int64_t own = 0;
  };

  SizeSearch(const TaskAt& at, std::span<const Task> suite, Extents extents);

  /// Batch sizes last, the others from the largest down. None where the task is much work at its
  /// own sizes already.
  const std::vector<Size>& sizes() const { return sizes_; }
  /// The values at the task's own sizes, of all variables.
  const Variables& own() const { return own_->variables(); }
  /// Whether the task can be built with `chosen` in place of its own values, computes the same
  /// there, and is little work.
  bool fits(const Variables& chosen) const;
  /// Adds the variable's value to `chosen` where that fits.
  bool accept(Variables& chosen, const std::string& name, int64_t value) const;
  /// The first value that fits, if any does.
  bool accept_one(Variables& chosen, const std::string& name,
                  const std::vector<int64_t>& values) const;

 private:
  const TaskAt at_;
  std::span<const Task> suite_;
  const Extents extents_;
  std::unique_ptr<Graph> own_;
  std::vector<Size> sizes_;
  double most_flops_ = 0, most_bytes_ = 0;
  double least_share_ = 0;  ///< of the task's own FLOPs or bytes
  int64_t most_rounds_ = std::numeric_limits<int64_t>::max();
};

SizeSearch::SizeSearch(const TaskAt& at, std::span<const Task> suite, Extents extents)
    : at_(at), suite_(suite), extents_(extents), own_(build_graph(at, suite)) {
  const auto limit = [](double own, double most) {
    return own > most / kMostGrowth ? kMostGrowth * own : most;
  };
  most_flops_ = limit(own_->flops(), kMostFlops);
  most_bytes_ = limit(bytes_of(*own_), kMostBytes);
  if (rounds_of(*own_) <= kMostRounds) most_rounds_ = kMostRounds;
  if (extents == Extents::a_share) {
    most_flops_ = own_->flops();
    most_bytes_ = bytes_of(*own_);
    least_share_ = kLeastShare;
  } else if (own_->flops() > kMostOwnFlops) {
    return;
  }
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
    const double flops = graph->flops(), bytes = bytes_of(*graph);
    return flops <= most_flops_ && bytes <= most_bytes_ &&
           (flops >= least_share_ * own_->flops() || bytes >= least_share_ * bytes_of(*own_)) &&
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

using Size = SizeSearch::Size;

/// Grows one size after another as far as the search allows; with `even` all of them a little
/// first. In reverse order the batch still comes last.
Variables grown(const SizeSearch& search, bool reverse, int64_t large, bool even) {
  Variables chosen;
  std::vector<Size> sizes = search.sizes();
  if (reverse) {
    std::reverse(sizes.begin(), std::ranges::find_if(sizes, [](const Size& size) {
                   return size.name.starts_with("batch");
                 }));
  }
  for (const Size& size : sizes) {
    if (even && !search.accept_one(chosen, size.name, a_little_larger(size.own))) {
      search.accept_one(chosen, size.name, {3 * size.own});
    }
  }
  int64_t apart = 0;
  for (const Size& size : sizes) {
    if (!even) {
      search.accept_one(chosen, size.name, as_large_as_fits(size.own, large, apart));
    } else if (chosen.contains(size.name)) {  // Else it is an option, or too much.
      search.accept_one(chosen, size.name, much_larger(size.own, large, apart));
    }
    apart += 8;
  }
  return chosen;
}

/// Beyond this many graphs the draw ends with what it has: networks take a millisecond each.
constexpr int kMostGraphs = 300;

/// What is drawn for the sizes of a set.
enum class Kind { prime, odd, even, quads, with_one, beyond_64, aligned };
constexpr std::array kLittleKinds = {Kind::prime, Kind::odd,      Kind::even,
                                     Kind::quads, Kind::with_one, Kind::beyond_64};
constexpr std::array kShareKinds = {Kind::odd, Kind::quads, Kind::aligned, Kind::even};

class Draw {
 public:
  Draw(const SizeSearch& search, uint64_t seed, DrawnWork work, const SizesAllowed& allowed)
      : search_(search), random_(seed), work_(work), allowed_(allowed) {}

  Variables set(int turn) {
    const std::span<const Kind> kinds = work_ == DrawnWork::little
                                            ? std::span<const Kind>(kLittleKinds)
                                            : std::span<const Kind>(kShareKinds);
    return set(kinds[static_cast<size_t>(turn) % kinds.size()]);
  }
  bool spent() const { return graphs_ >= kMostGraphs; }

 private:
  Variables set(Kind kind) {
    Variables chosen;
    std::vector<Size> sizes = search_.sizes();
    std::ranges::shuffle(sizes, random_);
    bool first = true;
    for (const Size& size : sizes) {
      const bool one_is_taken = kind == Kind::with_one && !first;
      move(chosen, size, one_is_taken ? Kind::odd : kind, first);
      first = false;
    }
    return broken(chosen) == 0 ? chosen : Variables();
  }

  int64_t between(int64_t low, int64_t high) {
    return std::uniform_int_distribution<int64_t>(low, high)(random_);
  }

  int64_t value(Kind kind, bool first) {
    constexpr std::array<int64_t, 30> kPrimes = {2,  3,  5,  7,  11, 13,  17,  19,  23,  29,
                                                 31, 37, 41, 43, 47, 53,  59,  61,  67,  71,
                                                 73, 79, 83, 89, 97, 101, 103, 107, 109, 113};
    switch (kind) {
      case Kind::prime:
        return kPrimes[static_cast<size_t>(between(0, std::ssize(kPrimes) - 1))];
      case Kind::odd:
        return 2 * between(1, 64) + 1;
      case Kind::even:
        return 4 * between(1, 32) + 2;
      case Kind::quads:
        return 8 * between(1, 16) + 4;
      case Kind::with_one:
        return 1;
      case Kind::beyond_64:
        return first ? 2 * between(33, 130) + 1 : between(2, 40);
      case Kind::aligned:
        return 64 * between(1, 4);
    }
    return 1;
  }

  /// A value of the kind below the variable's own. The logarithm of the share is uniform.
  int64_t share_of(int64_t own, Kind kind) {
    const double share = std::pow(kLeastShare, std::uniform_real_distribution<>(0, 1)(random_));
    const auto near = static_cast<int64_t>(share * static_cast<double>(own));
    const int64_t step = kind == Kind::odd     ? 2
                         : kind == Kind::even  ? 4
                         : kind == Kind::quads ? 8
                                               : 64;
    const int64_t offset = kind == Kind::aligned ? 0 : step / 2;
    return std::max<int64_t>(near / step * step + offset, 1);
  }

  /// What is tried for the variable, in this order.
  std::vector<int64_t> values_for(const Size& size, Kind kind, bool first) {
    constexpr int kDraws = 6;
    std::vector<int64_t> values;
    for (int draw = 0; draw < kDraws; ++draw) {
      values.push_back(work_ == DrawnWork::little ? value(kind, first) : share_of(size.own, kind));
    }
    if (work_ == DrawnWork::a_share) {
      values.push_back(size.own - between(1, std::max<int64_t>(size.own / 8, 1)));
      for (const int64_t part : {2, 4}) values.push_back(size.own / part);
      return values;
    }
    if (kind != Kind::with_one) std::ranges::sort(values, std::greater());
    for (const int64_t near : {between(1, 3), between(4, 9)}) values.push_back(size.own + near);
    for (const int64_t times : {3, 2}) values.push_back(times * size.own);
    // What a candidate asks for is mostly a multiple of a power of two.
    for (int64_t power = 8; allowed_ && power <= 256; power *= 2) {
      values.push_back(power * (2 * between(0, 1) + 1));
    }
    return values;
  }

  int broken(const Variables& chosen) const {
    if (!allowed_) return 0;
    Variables all = search_.own();
    for (const auto& [name, to] : chosen) all[name] = to;
    return allowed_(all);
  }

  /// Gives the variable another value. Of small ones many fit, of large ones few; where sizes are
  /// bound to each other (heads that divide a width) multiples of its own do.
  void move(Variables& chosen, const Size& size, Kind kind, bool first) {
    const int before = broken(chosen);
    for (const int64_t to : values_for(size, kind, first)) {
      if (to == size.own || to < 1 || spent()) continue;
      Variables tried = chosen;
      tried[size.name] = to;
      const int after = broken(tried);
      if (after > before || (before > 0 && after == before)) continue;
      ++graphs_;
      if (!search_.fits(tried)) continue;
      chosen = std::move(tried);
      return;
    }
  }

  const SizeSearch& search_;
  std::mt19937_64 random_;
  const DrawnWork work_;
  const SizesAllowed& allowed_;
  int graphs_ = 0;
};

}  // namespace

std::vector<Variables> other_sizes(const TaskAt& at, std::span<const Task> suite) {
  const SizeSearch search(at, suite, Extents::larger);
  std::vector<Variables> sets;
  const auto add = [&](const Variables& set) {
    if (!set.empty() && std::ranges::find(sets, set) == sets.end()) sets.push_back(set);
  };
  constexpr int64_t kLarge = 68, kLarger = 132;
  add(grown(search, false, kLarge, /*even=*/true));
  add(grown(search, true, kLarger, /*even=*/true));
  // Where the budget is small, both sets may be the same: every size a little larger.
  for (const bool reverse : {true, false}) {
    if (sets.size() < 2) add(grown(search, reverse, kLarge, /*even=*/false));
  }
  return sets;
}

std::vector<Variables> drawn_sizes(const TaskAt& at, uint64_t seed, int count, DrawnWork work,
                                   const SizesAllowed& allowed, std::span<const Task> suite) {
  const SizeSearch search(at, suite, work == DrawnWork::little ? Extents::any : Extents::a_share);
  Draw draw(search, seed, work, allowed);
  std::vector<Variables> sets;
  // A second round where one of the first gave what there was already.
  for (int turn = 0; turn < 2 * count && std::ssize(sets) < count && !draw.spent(); ++turn) {
    Variables set = draw.set(turn);
    if (!set.empty() && std::ranges::find(sets, set) == sets.end()) sets.push_back(std::move(set));
  }
  return sets;
}

}  // namespace kbench
