// Which sizes beside a preset's a candidate is tried at: found by building the task's graph.
#include "kbench/other_sizes.h"

#include <algorithm>
#include <functional>
#include <string>

#include "libkbench/core/size_search.h"

namespace kbench {
namespace {

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

/// Sizes that grow as far as the search allows.
class GrownSizes {
 public:
  GrownSizes(const TaskAt& at, std::span<const Task> suite) : search_(at, suite, Extents::larger) {}

  /// Makes every size a little larger, then one after another as large as the budget allows.
  Variables even_set(bool other_way_round, int64_t large) const {
    Variables chosen;
    const std::vector<Size> sizes = in_order(other_way_round);
    for (const Size& size : sizes) {
      if (!search_.accept_one(chosen, size.name, a_little_larger(size.own))) {
        search_.accept(chosen, size.name, 3 * size.own);
      }
    }
    int64_t apart = 0;
    for (const Size& size : sizes) {
      if (chosen.contains(size.name)) {  // Else it is an option, or too much.
        search_.accept_one(chosen, size.name, much_larger(size.own, large, apart));
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
      search_.accept_one(chosen, size.name, as_large_as_fits(size.own, large, apart));
      apart += 8;
    }
    return chosen;
  }

 private:
  /// In reverse order the batch still comes last.
  std::vector<Size> in_order(bool other_way_round) const {
    std::vector<Size> sizes = search_.sizes();
    if (other_way_round) {
      std::reverse(sizes.begin(), std::ranges::find_if(sizes, [](const Size& size) {
                     return size.name.starts_with("batch");
                   }));
    }
    return sizes;
  }

  SizeSearch search_;
};

}  // namespace

std::vector<Variables> other_sizes(const TaskAt& at, std::span<const Task> suite) {
  const GrownSizes grown(at, suite);
  std::vector<Variables> sets;
  const auto add = [&](const Variables& set) {
    if (!set.empty() && std::ranges::find(sets, set) == sets.end()) sets.push_back(set);
  };
  constexpr int64_t kLarge = 68, kLarger = 132;
  add(grown.even_set(false, kLarge));
  add(grown.even_set(true, kLarger));
  // Where the budget is small, both sets may be the same: every size a little larger.
  for (const bool other_way_round : {true, false}) {
    if (sets.size() < 2) add(grown.uneven_set(other_way_round, kLarge));
  }
  return sets;
}

}  // namespace kbench
