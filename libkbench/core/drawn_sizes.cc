// Sizes drawn at random: in the neighbourhood of a preset's, and of every kind that a kernel may
// have overlooked.
#include <algorithm>
#include <array>
#include <random>
#include <utility>

#include "kbench/other_sizes.h"
#include "libkbench/core/size_search.h"

namespace kbench {
namespace {

using Size = SizeSearch::Size;

/// Beyond this many graphs the draw ends with what it has: networks take a millisecond each.
constexpr int kMostGraphs = 300;

/// What is drawn for the sizes of a set.
enum class Kind { prime, odd, even, quads, with_one, beyond_64 };
constexpr std::array kKinds = {Kind::prime, Kind::odd,      Kind::even,
                               Kind::quads, Kind::with_one, Kind::beyond_64};

class Draw {
 public:
  Draw(const SizeSearch& search, uint64_t seed, const SizesAllowed& allowed)
      : search_(search), random_(seed), allowed_(allowed) {}

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

  bool spent() const { return graphs_ >= kMostGraphs; }

 private:
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
    }
    return 1;
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
    constexpr int kDraws = 6;
    std::vector<int64_t> values;
    for (int draw = 0; draw < kDraws; ++draw) values.push_back(value(kind, first));
    if (kind != Kind::with_one) std::ranges::sort(values, std::greater());
    for (const int64_t near : {between(1, 3), between(4, 9)}) values.push_back(size.own + near);
    for (const int64_t times : {3, 2}) values.push_back(times * size.own);
    // What a candidate asks for is mostly a multiple of a power of two.
    for (int64_t power = 8; allowed_ && power <= 256; power *= 2) {
      values.push_back(power * (2 * between(0, 1) + 1));
    }
    const int before = broken(chosen);
    for (const int64_t to : values) {
      if (to == size.own || spent()) continue;
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
  const SizesAllowed& allowed_;
  int graphs_ = 0;
};

}  // namespace

std::vector<Variables> drawn_sizes(const TaskAt& at, uint64_t seed, int count,
                                   const SizesAllowed& allowed, std::span<const Task> suite) {
  const SizeSearch search(at, suite, Extents::any);
  Draw draw(search, seed, allowed);
  std::vector<Variables> sets;
  // A second round where one of the first gave what there was already.
  for (int turn = 0; turn < 2 * count && std::ssize(sets) < count && !draw.spent(); ++turn) {
    Variables set = draw.set(kKinds[static_cast<size_t>(turn) % kKinds.size()]);
    if (!set.empty() && std::ranges::find(sets, set) == sets.end()) sets.push_back(std::move(set));
  }
  return sets;
}

}  // namespace kbench
