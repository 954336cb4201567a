// Folds exact repeats.
#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "libkbench/listing/blocks.h"

namespace kbench::listing {
namespace {

/// Lines that a fold must save, as its header and definitions take some.
constexpr size_t kWorth = 4;
/// Gives up after so many folds of one graph did not fit.
constexpr int kMostRefused = 40;
/// How many folds are compared by the names in them, which is slow.
constexpr size_t kMostRanked = 200;

struct Fold {
  size_t start = 0, period = 0, count = 0;
  size_t saved = 0;
};

/// Folds exact repeats, the largest first.
class Folder {
 public:
  Folder(const Graph& graph, Body root, const std::function<bool(const Body&)>& fits)
      : graph_(graph), fits_(fits), root_(std::move(root)) {
    for (const Item& item : root_) next_kind_ = std::max(next_kind_, item.kind + 1);
  }

  Body run() {
    fold_all({});
    return std::move(root_);
  }

 private:
  /// All bodies at this place of the tree: the root, or every pass of the loop reached by item
  /// path[0] of the root, item path[1] of its body, and so on.
  std::vector<Body*> bodies_at(const std::vector<size_t>& path) {
    std::vector<Body*> bodies = {&root_};
    for (const size_t item : path) {
      std::vector<Body*> below;
      for (Body* body : bodies) {
        for (Body& pass : (*body)[item].passes) below.push_back(&pass);
      }
      bodies = std::move(below);
    }
    return bodies;
  }

  /// Makes the best fold that fits; false if there is none.
  bool fold_one(const std::vector<size_t>& path) {
    const Body before = root_;
    for (const Fold& fold : candidates(*bodies_at(path).front())) {
      apply(bodies_at(path), fold);
      if (fits_(root_)) return true;
      root_ = before;
      if (++refusals_ > kMostRefused) return false;
    }
    return false;
  }

  void fold_all(const std::vector<size_t>& path) {
    while (fold_one(path)) {
    }
    if (refusals_ > kMostRefused) return;
    for (size_t i = 0; i < bodies_at(path).front()->size(); ++i) {
      const Item& item = bodies_at(path).front()->at(i);
      if (item.passes.empty() || has_gaps(item)) continue;
      std::vector<size_t> inside = path;
      inside.push_back(i);
      fold_all(inside);
    }
  }

  static bool has_gaps(const Item& loop) {
    return std::any_of(loop.passes.begin(), loop.passes.end(), [](const Body& pass) {
      return std::any_of(pass.begin(), pass.end(), [](const Item& item) { return item.absent; });
    });
  }

  /// The folds that save enough, the best first.
  std::vector<Fold> candidates(const Body& body) const {
    const size_t n = body.size();
    std::vector<size_t> lines(n + 1, 0);
    for (size_t i = 0; i < n; ++i) {
      lines[i + 1] = lines[i] + (body[i].passes.empty() ? 1 : 1 + lines_of(body[i].passes[0]));
    }
    std::vector<Fold> found;
    const auto consider = [&](size_t start, size_t period, size_t count) {
      if (count < 2) return;
      const Fold fold{start, period, count, (count - 1) * (lines[start + period] - lines[start])};
      if (fold.saved >= kWorth) found.push_back(fold);
    };
    for (size_t period = 1; period <= n / 2; ++period) {
      for (size_t i = 0; i + period < n;) {
        size_t equal = 0;
        while (i + period + equal < n && body[i + equal].kind == body[i + equal + period].kind) {
          ++equal;
        }
        for (size_t turn = 0; turn <= equal && turn < period; ++turn) {
          const size_t count = (equal + period - turn) / period;
          for (size_t skip = 0; skip <= 1; ++skip) {
            for (size_t less = 0; less <= 1 && count >= skip + less; ++less) {
              consider(i + turn + skip * period, period, count - skip - less);
            }
          }
        }
        i += equal + 1;
      }
    }
    // Comparing names is slow: only for the best.
    std::stable_sort(found.begin(), found.end(),
                     [](const Fold& a, const Fold& b) { return a.saved > b.saved; });
    if (found.size() > kMostRanked) found.resize(kMostRanked);
    std::vector<std::pair<double, Fold>> ranked;
    for (const Fold& fold : found) {
      ranked.emplace_back(double(fold.saved) * neatness(body, fold), fold);
    }
    std::stable_sort(ranked.begin(), ranked.end(),
                     [](const auto& a, const auto& b) { return a.first > b.first; });
    found.clear();
    for (const auto& [worth, fold] : ranked) found.push_back(fold);
    return found;
  }

  /// 1 if the passes differ by one number in the parameters' names that goes up by one, less for
  /// any other series: a fold should begin where a module begins.
  double neatness(const Body& body, const Fold& fold) const {
    std::set<std::vector<std::string>> all;
    for (size_t i = 0; i < fold.period; ++i) {
      if (body[fold.start + i].node < 0) continue;
      const auto& inputs = graph_.node(body[fold.start + i].node).inputs;
      for (size_t k = 0; k < inputs.size(); ++k) {
        std::vector<std::vector<std::string>> numbers;
        for (size_t pass = 0; pass < fold.count; ++pass) {
          const int node = body[fold.start + pass * fold.period + i].node;
          const int id = graph_.node(node).inputs[k];
          const Graph::ValueInfo& value = graph_.value(id);
          if (value.kind == Graph::Kind::intermediate) continue;
          numbers.push_back(split_numbers(value.name).second);
        }
        for (size_t j = 0; !numbers.empty() && j < numbers[0].size(); ++j) {
          std::vector<std::string> one;
          for (const auto& pass : numbers) one.push_back(j < pass.size() ? pass[j] : "");
          if (std::any_of(one.begin(), one.end(), [&](const auto& n) { return n != one[0]; })) {
            all.insert(one);
          }
        }
      }
    }
    double worth = 1;
    bool first = true;
    for (const auto& series : all) {
      bool counts_up = true;
      for (size_t i = 1; i < series.size() && counts_up; ++i) {
        counts_up = !series[i].empty() && !series[i - 1].empty() &&
                    std::stoll(series[i]) == std::stoll(series[i - 1]) + 1;
      }
      if (!first || !counts_up) worth *= counts_up ? 0.9 : 0.75;
      first = false;
    }
    return worth;
  }

  void apply(const std::vector<Body*>& bodies, const Fold& fold) {
    std::string signature = "loop";
    for (size_t i = 0; i < fold.period; ++i) {
      signature += ' ' + std::to_string(bodies.front()->at(fold.start + i).kind);
    }
    const int kind = loop_kinds_.try_emplace(signature, next_kind_).first->second;
    next_kind_ = std::max(next_kind_, kind + 1);
    for (Body* body : bodies) {
      Item loop;
      loop.kind = kind;
      const auto first = body->begin() + long(fold.start);
      for (size_t pass = 0; pass < fold.count; ++pass) {
        const auto from = first + long(pass * fold.period);
        loop.passes.emplace_back(std::make_move_iterator(from),
                                 std::make_move_iterator(from + long(fold.period)));
      }
      body->erase(first, first + long(fold.count * fold.period));
      body->insert(body->begin() + long(fold.start), std::move(loop));
    }
  }

  const Graph& graph_;
  const std::function<bool(const Body&)>& fits_;
  Body root_;
  std::map<std::string, int> loop_kinds_;
  int next_kind_ = 0;
  int refusals_ = 0;
};

}  // namespace

Body fold_repeats(const Graph& graph, Body body, const std::function<bool(const Body&)>& fits) {
  return Folder(graph, std::move(body), fits).run();
}

}  // namespace kbench::listing
