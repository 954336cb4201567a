// Finds repeated blocks: makes loops of a list of operators.
#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "libkbench/base/text.h"
#include "libkbench/listing/program.h"

namespace kbench::listing {
namespace {

/// A fold must shorten the program to this share of its length; with lines that only some passes
/// have, which are harder to read, to this share of the best exact fold's.
constexpr double kShorter = 0.97, kMuchShorter = 0.75;
/// Lines that a fold must save, as its header and definitions take some.
constexpr size_t kWorth = 4;
/// Gives up after so many folds of one graph did not fit.
constexpr int kMostRefused = 40;
/// How many folds are compared by the names in them, which is slow.
constexpr size_t kMostRanked = 200;

/// The operators of a loop: passes[p] has one for each line, or kNone where the pass lacks it.
struct Loop {
  size_t begin = 0, end = 0;  ///< nodes
  std::vector<std::vector<int>> passes;
};
constexpr int kNone = -1;

/// The text around a name's numbers, and the numbers.
std::pair<std::string, std::vector<std::string>> split_numbers(const std::string& name) {
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  std::pair<std::string, std::vector<std::string>> split;
  for (size_t i = 0; i < name.size(); ++i) {
    if (!is_digit(name[i])) {
      split.first += name[i];
      continue;
    }
    if (i == 0 || !is_digit(name[i - 1])) {
      split.first += '#';
      split.second.emplace_back();
    }
    split.second.back() += name[i];
  }
  return split;
}

/// What two operators must have in common to become one line: the operator, where its operands come
/// from, their names up to the numbers in the last part, ranks and element types.
std::string signature_of(const Graph& graph, const Graph::Node& node) {
  const auto type = [](const TensorType& of) {
    return std::string(name_of(of.dtype)) + std::to_string(of.shape.size());
  };
  std::string text = node.call.op->name;
  for (size_t i = 0; i < node.inputs.size(); ++i) {
    const Graph::ValueInfo& value = graph.value(node.inputs[i]);
    text += '|' + type(node.call.inputs[i]);
    if (value.kind == Graph::Kind::parameter || value.kind == Graph::Kind::constant) {
      // "inception3a.branch1x1.weight": the module's name may vary, its member's may not.
      const size_t last = value.name.rfind('.');
      const size_t before = last == std::string::npos || last == 0
                                ? std::string::npos
                                : value.name.rfind('.', last - 1);
      text += split_numbers(value.name.substr(before + 1)).first;  // npos + 1 is 0
      text += std::to_string(std::ranges::count(value.name, '.'));
    }
  }
  for (const auto& [name, value] : node.call.attributes) {
    text += '|' + std::to_string(value.index());
    if (const auto* list = std::get_if<std::vector<int64_t>>(&value)) {
      text += std::to_string(list->size());
    } else if (!std::holds_alternative<int64_t>(value)) {
      text += to_string(value);
    }
  }
  for (const TensorType& output : node.call.outputs) text += '>' + type(output);
  return text;
}

struct Repeat {
  size_t start = 0, period = 0, count = 0;
  double worth = 0;
};

class Folder {
 public:
  Folder(const Graph& graph, const Cost& cost) : graph_(graph), cost_(cost) {
    std::map<std::string, int> known;
    for (const Graph::Node& node : graph.nodes()) {
      const auto next = static_cast<int>(known.size());
      kinds_.push_back(known.try_emplace(signature_of(graph, node), next).first->second);
    }
    take({}, kAnyLength);
  }

  Program run() {
    const Kept plain = kept_;
    fold_repeats();
    Kept exact = kept_;
    const double least = kMuchShorter * exact.cost;
    for (const size_t numbers : {1, 2}) {
      kept_ = plain;
      const std::optional<Loop> modules = loop_of_modules(numbers);
      if (!modules || !take({*modules}, kAnyLength)) continue;
      fold_repeats();
      if (kept_.cost < least && kept_.cost < exact.cost) exact = kept_;
    }
    return std::move(exact.program);
  }

  Program unfolded() { return std::move(kept_.program); }

 private:
  struct Kept {
    Program program;
    std::vector<Loop> loops;  ///< in order
    double cost = 1;
  };
  static constexpr double kAnyLength = 1e300;

  /// Keeps the program with these loops, if it computes the graph and costs at most this share of
  /// what is kept.
  bool take(const std::vector<Loop>& loops, double share) {
    Program program;
    const auto once = [&](size_t begin, size_t end) {
      Block& block = program.blocks.emplace_back();
      for (size_t node = begin; node < end; ++node) {
        block.lines.emplace_back().nodes = {static_cast<int>(node)};
      }
    };
    size_t next = 0;
    for (const Loop& loop : loops) {
      once(next, loop.begin);
      Block& block = program.blocks.emplace_back();
      block.times = static_cast<int>(loop.passes.size());
      for (size_t i = 0; i < loop.passes[0].size(); ++i) {
        Line& line = block.lines.emplace_back();
        line.at.clear();
        for (int pass = 0; pass < block.times; ++pass) {
          const int node = loop.passes[static_cast<size_t>(pass)][i];
          if (node == kNone) continue;
          line.at.push_back(pass);
          line.nodes.push_back(node);
        }
      }
      next = loop.end;
    }
    once(next, kinds_.size());
    if (!name_variables(graph_, program)) return false;
    const double cost = cost_(program);
    if (cost > share * kept_.cost) return false;
    kept_ = {std::move(program), loops, cost};
    return true;
  }

  /// Adds exact repeats, those that save most first.
  void fold_repeats() {
    int refused = 0;
    for (bool folded = true; folded && refused <= kMostRefused;) {
      folded = false;
      for (const Repeat& repeat : repeats()) {
        Loop loop{repeat.start, repeat.start + repeat.period * repeat.count, {}};
        for (size_t node = loop.begin; node < loop.end; ++node) {
          if ((node - loop.begin) % repeat.period == 0) loop.passes.emplace_back();
          loop.passes.back().push_back(static_cast<int>(node));
        }
        std::vector<Loop> loops = kept_.loops;
        loops.insert(std::ranges::upper_bound(loops, loop.begin, {}, &Loop::begin), loop);
        folded = take(loops, kShorter);
        if (folded || ++refused > kMostRefused) break;
      }
    }
  }

  /// The repeats outside of loops that save enough, the best first.
  std::vector<Repeat> repeats() const {
    std::vector<int> kinds = kinds_;
    for (const Loop& loop : kept_.loops) {
      for (size_t i = loop.begin; i < loop.end; ++i) kinds[i] = kNone - static_cast<int>(i);
    }
    const size_t n = kinds.size();
    std::vector<Repeat> found;
    const auto consider = [&](size_t start, size_t period, size_t count) {
      if (count < 2 || (count - 1) * period < kWorth) return;
      found.push_back({start, period, count, static_cast<double>((count - 1) * period)});
    };
    for (size_t period = 1; period <= n / 2; ++period) {
      for (size_t i = 0; i + period < n;) {
        size_t equal = 0;
        while (i + period + equal < n && kinds[i + equal] == kinds[i + equal + period]) ++equal;
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
    const auto better = [](const Repeat& a, const Repeat& b) { return a.worth > b.worth; };
    std::ranges::stable_sort(found, better);
    if (found.size() > kMostRanked) found.resize(kMostRanked);
    for (Repeat& repeat : found) repeat.worth *= neatness(repeat);
    std::ranges::stable_sort(found, better);
    return found;
  }

  /// 1 if the passes differ by one number in the parameters' names that goes up by one, less for
  /// any other series: a fold should begin where a module begins.
  double neatness(const Repeat& repeat) const {
    std::set<std::vector<std::string>> all;
    for (size_t i = repeat.start; i < repeat.start + repeat.period; ++i) {
      for (size_t k = 0; k < graph_.nodes()[i].inputs.size(); ++k) {
        std::map<size_t, std::vector<std::string>> numbers;  // by their place in the name
        for (size_t pass = 0; pass < repeat.count; ++pass) {
          const int id = graph_.nodes()[i + pass * repeat.period].inputs[k];
          if (graph_.value(id).kind == Graph::Kind::intermediate) continue;
          const auto of_name = split_numbers(graph_.value(id).name).second;
          for (size_t j = 0; j < of_name.size(); ++j) numbers[j].push_back(of_name[j]);
        }
        for (const auto& [place, series] : numbers) {
          if (std::ranges::count(series, series[0]) < std::ssize(series)) all.insert(series);
        }
      }
    }
    double worth = 1;
    bool first = true;
    for (const auto& series : all) {
      bool counts_up = true;
      for (size_t i = 1; i < series.size(); ++i) {
        int64_t one = 0, next = 0;
        counts_up = counts_up && read_number(series[i - 1], one) && read_number(series[i], next) &&
                    next == one + 1;
      }
      if (!first || !counts_up) worth *= counts_up ? 0.9 : 0.75;
      first = false;
    }
    return worth;
  }

  /// "layers.0.blocks.1" of a parameter's name, with so many numbers; empty if it has fewer.
  static std::string module_of(const std::string& name, size_t numbers) {
    for (size_t from = 0, seen = 0; from < name.size();) {
      const size_t to = std::min(name.find('.', from), name.size());
      const bool number = to > from && name.find_first_not_of("0123456789", from) >= to;
      if (number && ++seen == numbers && to < name.size()) return name.substr(0, to);
      from = to + 1;
    }
    return "";
  }

  /// The module of the first parameter that the operator reads and that is in one.
  std::string module_of(const Graph::Node& node, size_t numbers) const {
    for (const int id : node.inputs) {
      if (graph_.value(id).kind != Graph::Kind::parameter) continue;
      const std::string module = module_of(graph_.value(id).name, numbers);
      if (!module.empty()) return module;
    }
    return "";
  }

  bool reads_parameters(size_t node) const {
    return std::ranges::any_of(graph_.nodes()[node].inputs, [&](int id) {
      return graph_.value(id).kind == Graph::Kind::parameter;
    });
  }

  /// reshape, permute, roll: one tensor in, the same values out.
  bool only_moves(size_t at) const {
    const Graph::Node& node = graph_.nodes()[at];
    const auto flops = node.call.op->flops;
    return node.inputs.size() == 1 && node.outputs.size() == 1 &&
           (flops == nullptr || flops(node.call) == 0);
  }

  /// The blocks that are numbered in parameters' names ("layers.0.blocks.1" has two numbers), even
  /// if some have operators that others lack.
  std::optional<Loop> loop_of_modules(size_t numbers) const {
    // A block begins at the first operator that reads its parameters.
    std::vector<size_t> starts;
    std::vector<std::string> modules;
    size_t end = 0;
    for (size_t i = 0; i < kinds_.size(); ++i) {
      const std::string module = module_of(graph_.nodes()[i], numbers);
      if (module.empty()) continue;
      if (!modules.empty() && split_numbers(modules[0]).first != split_numbers(module).first) {
        continue;
      }
      end = i + 1;
      if (!modules.empty() && modules.back() == module) continue;
      starts.push_back(i);
      modules.push_back(module);
    }
    // Not if a block's operators are not consecutive.
    if (starts.size() < 3 || std::set(modules.begin(), modules.end()).size() != modules.size()) {
      return std::nullopt;
    }
    // Operators before a start that only reorder data belong to the block too.
    for (size_t& start : starts) {
      while (start > 0 && only_moves(start - 1)) --start;
    }
    // The last block ends with the operators that other blocks have after their last parameter.
    const std::set<int> known(kinds_.begin() + static_cast<ptrdiff_t>(starts.front()),
                              kinds_.begin() + static_cast<ptrdiff_t>(starts.back()));
    while (end < kinds_.size() && !reads_parameters(end) && known.contains(kinds_[end])) ++end;
    starts.push_back(end);
    // Kinds in an order that has those of every pass in it.
    std::vector<int> all;
    for (size_t pass = 0; pass + 1 < starts.size(); ++pass) {
      all = merged(all, {kinds_.begin() + static_cast<ptrdiff_t>(starts[pass]),
                         kinds_.begin() + static_cast<ptrdiff_t>(starts[pass + 1])});
    }
    Loop loop{starts.front(), end, {}};
    for (size_t pass = 0; pass + 1 < starts.size(); ++pass) {
      std::vector<int>& nodes = loop.passes.emplace_back();
      size_t next = starts[pass];
      for (const int kind : all) {
        const bool here = next < starts[pass + 1] && kinds_[next] == kind;
        nodes.push_back(here ? static_cast<int>(next++) : kNone);
      }
    }
    return loop;
  }

  /// A shortest sequence that both are in.
  static std::vector<int> merged(const std::vector<int>& a, const std::vector<int>& b) {
    // Of what both have, the most from a[i] and b[j] on.
    std::vector<std::vector<int>> most(a.size() + 1, std::vector<int>(b.size() + 1, 0));
    for (size_t i = a.size(); i-- > 0;) {
      for (size_t j = b.size(); j-- > 0;) {
        most[i][j] =
            a[i] == b[j] ? most[i + 1][j + 1] + 1 : std::max(most[i + 1][j], most[i][j + 1]);
      }
    }
    std::vector<int> both;
    for (size_t i = 0, j = 0; i < a.size() || j < b.size();) {
      if (i < a.size() && j < b.size() && a[i] == b[j]) {
        both.push_back(a[i]);
        ++i, ++j;
      } else if (j == b.size() || (i < a.size() && most[i + 1][j] >= most[i][j + 1])) {
        both.push_back(a[i++]);
      } else {
        both.push_back(b[j++]);
      }
    }
    return both;
  }

  const Graph& graph_;
  const Cost& cost_;
  std::vector<int> kinds_;  ///< of each node: equal for operators that are interchangeable
  Kept kept_;
};

}  // namespace

Program fold(const Graph& graph, const Cost& cost, size_t most_unfolded) {
  Folder folder(graph, cost);
  return graph.nodes().size() <= most_unfolded ? folder.unfolded() : folder.run();
}

}  // namespace kbench::listing
