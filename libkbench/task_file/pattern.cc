#include "libkbench/task_file/pattern.h"

#include <algorithm>
#include <functional>
#include <map>
#include <set>
#include <utility>

namespace kbench::written {
namespace {

/// An entry or an operand: its words, as numbers for them, and its numbers.
struct Row {
  std::vector<int> form;
  std::vector<Known> numbers;
};

constexpr size_t kLongestPeriod = 200, kFewestTurns = 3, kFewestOperands = 4;

/// By how much the numbers of `next` exceed those of `row`; nothing where they differ in more.
std::optional<std::vector<Known>> growth(const Row& row, const Row& next) {
  std::vector<Known> by(row.numbers.size());
  for (size_t i = 0; i < row.numbers.size(); ++i) {
    const Known &a = row.numbers[i], &b = next.numbers[i];
    if (!a || !b) continue;
    if (a->index() != b->index()) return std::nullopt;
    const auto* whole = std::get_if<int64_t>(&*a);
    if (whole == nullptr) {
      if (*a != *b) return std::nullopt;
      by[i] = int64_t{0};
      continue;
    }
    const int64_t more = std::get<int64_t>(*b) - *whole;
    if (more < 0) return std::nullopt;
    by[i] = more;
  }
  return by;
}

/// The rows of one graph; null where there is none of that form.
using RowAt = std::function<const Row*(size_t)>;

/// How often `period` rows from `begin` on come, their numbers growing alike; at most `most` rows.
size_t turns_of(const RowAt& row, size_t begin, size_t period, size_t most) {
  std::vector<std::vector<Known>> first;
  for (size_t turn = 0;; ++turn) {
    for (size_t i = 0; i < period; ++i) {
      const size_t a = begin + turn * period + i, b = a + period;
      if (b >= most) return turn + 1;
      const Row *one = row(a), *next = row(b);
      if (one == nullptr || next == nullptr || one->form != next->form) return turn + 1;
      auto by = growth(*one, *next);
      if (!by || (turn > 0 && *by != first[i])) return turn + 1;
      if (turn == 0) first.push_back(std::move(*by));
    }
  }
}

/// Folds what repeats in all of the graphs: rows[g][i], of equal forms.
std::vector<Block> folded(const std::vector<std::vector<Row>>& rows, size_t fewest_rows) {
  std::vector<Block> blocks;
  const size_t count = rows[0].size();
  for (size_t at = 0; at < count;) {
    size_t best_period = 0, best_turns = 0;
    const size_t longest = std::min(kLongestPeriod, (count - at) / kFewestTurns);
    for (size_t period = 1; period <= longest; ++period) {
      size_t turns = count;
      for (const std::vector<Row>& of_graph : rows) {
        const RowAt row = [&](size_t i) { return &of_graph[i]; };
        turns = std::min(turns, turns_of(row, at, period, count));
        if (turns < kFewestTurns) break;
      }
      if (turns < kFewestTurns || turns * period < fewest_rows) continue;
      if (turns * period <= best_turns * best_period) continue;
      best_period = period;
      best_turns = turns;
    }
    if (best_turns == 0) {
      blocks.push_back({at++, 1, false});
    } else {
      blocks.push_back({at, best_period, true});
      at += best_turns * best_period;
    }
  }
  return blocks;
}

std::vector<Block> unfolded(size_t count) {
  std::vector<Block> blocks;
  for (size_t at = 0; at < count; ++at) blocks.push_back({at, 1, false});
  return blocks;
}

/// Where a block begins in a graph, and how often it comes there.
struct Place {
  size_t at = 0, turns = 1;
};

/// Finds the blocks in `count` rows of a graph. fitting(i, k): row k of the graph as row i of those
/// that the blocks were folded from; null where its words are others.
class Placing {
 public:
  using Fitting = std::function<const Row*(size_t, size_t)>;
  Placing(const std::vector<Block>& blocks, size_t count, Fitting fitting)
      : blocks_(blocks), count_(count), fitting_(std::move(fitting)), places_(blocks.size()) {}

  std::optional<std::vector<Place>> places() {
    if (!place(0, 0)) return std::nullopt;
    return places_;
  }

 private:
  bool place(size_t block, size_t at) {
    if (block == blocks_.size()) return at == count_;
    if (failed_.contains({block, at})) return false;
    const Block& one = blocks_[block];
    size_t most = 0, least = 0;
    if (!one.repeats) {
      most = at < count_ && fitting_(one.at, at) != nullptr ? 1 : 0;
      least = 1;
    } else if (fits(one, at)) {
      most = turns_of([&](size_t k) { return fitting_(one.at + (k - at) % one.period, k); }, at,
                      one.period, count_);
    }
    for (size_t turns = most + 1; turns-- > least;) {
      places_[block] = {at, turns};
      if (place(block + 1, at + turns * one.period)) return true;
    }
    failed_.insert({block, at});
    return false;
  }

  bool fits(const Block& block, size_t at) const {
    for (size_t i = 0; i < block.period; ++i) {
      if (at + i >= count_ || fitting_(block.at + i, at + i) == nullptr) return false;
    }
    return true;
  }

  const std::vector<Block>& blocks_;
  const size_t count_;
  const Fitting fitting_;
  std::vector<Place> places_;
  std::set<std::pair<size_t, size_t>> failed_;
};

Row row_of(const Text& text) {
  return {{text.form}, std::vector<Known>(text.numbers.begin(), text.numbers.end())};
}

std::vector<Row> rows_of(const std::vector<Text>& texts) {
  std::vector<Row> rows;
  for (const Text& text : texts) rows.push_back(row_of(text));
  return rows;
}

bool same_words(const Entry& a, const Entry& b) {
  const auto same = [](const Text& x, const Text& y) { return x.form == y.form; };
  return a.form == b.form &&
         std::equal(a.texts.begin(), a.texts.end(), b.texts.begin(), b.texts.end(), same) &&
         std::equal(a.operands.begin(), a.operands.end(), b.operands.begin(), b.operands.end(),
                    same);
}

/// The numbers of an entry whose operands are those of another one's blocks, `words`; nothing where
/// they are others.
std::optional<Row> row_of(const Entry& entry, const std::vector<Row>& words,
                          const std::vector<Block>& blocks) {
  constexpr int kRepeats = -1, kOnce = -2;  // behind a block's words
  Row row{{entry.form}, {}};
  for (const Text& text : entry.texts) {
    row.form.push_back(text.form);
    row.numbers.insert(row.numbers.end(), text.numbers.begin(), text.numbers.end());
  }
  const std::vector<Row> operands = rows_of(entry.operands);
  const auto places = Placing(blocks, operands.size(), [&](size_t i, size_t k) {
                        return operands[k].form == words[i].form ? &operands[k] : nullptr;
                      }).places();
  if (!places) return std::nullopt;
  for (size_t b = 0; b < blocks.size(); ++b) {
    const Block& block = blocks[b];
    const Place& place = (*places)[b];
    for (size_t i = 0; i < block.period; ++i) row.form.push_back(words[block.at + i].form[0]);
    row.form.push_back(block.repeats ? kRepeats : kOnce);
    if (block.repeats) row.numbers.emplace_back(static_cast<int64_t>(place.turns));
    std::vector<Known> first, by;
    for (size_t i = 0; i < block.period; ++i) {
      const size_t numbers = words[block.at + i].numbers.size();
      std::vector<Known> one(numbers), more(numbers);
      if (place.turns > 0) one = operands[place.at + i].numbers;
      if (place.turns > 1) {
        more = *growth(operands[place.at + i], operands[place.at + block.period + i]);
      }
      first.insert(first.end(), one.begin(), one.end());
      by.insert(by.end(), more.begin(), more.end());
    }
    row.numbers.insert(row.numbers.end(), first.begin(), first.end());
    if (block.repeats) row.numbers.insert(row.numbers.end(), by.begin(), by.end());
  }
  return row;
}

class Merger {
 public:
  /// `folded_of`: of how many graphs what is folded must repeat.
  Merger(const std::vector<const std::vector<Entry>*>& entries, size_t presets, size_t folded_of)
      : entries_(entries), presets_(presets) {
    size_t most = 0;
    for (size_t g = 0; g < presets; ++g) {
      size_t size = entries[g]->size();
      for (const Entry& entry : *entries[g]) size += entry.operands.size();
      if (size <= most) continue;
      most = size;
      guide_ = g;
    }
    for (size_t g = 0; g < folded_of; ++g) {
      if (std::equal(entries[g]->begin(), entries[g]->end(), guide().begin(), guide().end(),
                     same_words)) {
        alike_.push_back(g);
      }
    }
  }

  std::optional<Pattern> pattern(bool fold, std::vector<bool>& left_out) {
    fold_operands();
    std::vector<std::vector<Row>> rows;
    for (const size_t g : alike_) {
      rows.emplace_back();
      for (size_t i = 0; i < guide().size(); ++i) {
        rows.back().push_back(*row_of((*entries_[g])[i], words_[i], operands_[i]));
      }
    }
    const size_t of_guide = static_cast<size_t>(std::ranges::find(alike_, guide_) - alike_.begin());
    for (const Row& row : rows[of_guide]) forms_.push_back(row.form);
    blocks_ = fold ? folded(rows, 0) : unfolded(guide().size());
    start_pattern(rows[of_guide]);
    for (size_t g = 0; g < entries_.size(); ++g) {
      if (left_out[g]) continue;
      if (add(g)) continue;
      if (g < presets_) return std::nullopt;
      left_out[g] = true;
    }
    return std::move(pattern_);
  }

 private:
  const std::vector<Entry>& guide() const { return *entries_[guide_]; }

  void fold_operands() {
    for (size_t i = 0; i < guide().size(); ++i) {
      words_.push_back(rows_of(guide()[i].operands));
      std::vector<std::vector<Row>> rows;
      for (const size_t g : alike_) rows.push_back(rows_of((*entries_[g])[i].operands));
      operands_.push_back(folded(rows, kFewestOperands));
    }
  }

  void start_pattern(const std::vector<Row>& rows) {
    const Column unknown(entries_.size());
    for (const Block& block : blocks_) {
      PatternBlock& one = pattern_.emplace_back();
      one.repeats = block.repeats;
      one.turns = unknown;
      for (size_t i = block.at; i < block.at + block.period; ++i) {
        one.entries.push_back({guide()[i], operands_[i],
                               std::vector<Slot>(rows[i].numbers.size(), {unknown, unknown}),
                               std::vector<const Entry*>(entries_.size())});
      }
    }
  }

  /// Enters the numbers of graph g; false where it has other entries.
  bool add(size_t g) {
    const std::vector<Entry>& entries = *entries_[g];
    std::map<std::pair<size_t, size_t>, std::optional<Row>> known;
    const auto fitting = [&](size_t i, size_t k) -> const Row* {
      const auto [at, fresh] = known.try_emplace({i, k});
      if (fresh) {
        at->second = row_of(entries[k], words_[i], operands_[i]);
        if (at->second && at->second->form != forms_[i]) at->second.reset();
      }
      return at->second ? &*at->second : nullptr;
    };
    const auto places = Placing(blocks_, entries.size(), fitting).places();
    if (!places) return false;
    for (size_t b = 0; b < blocks_.size(); ++b) {
      const Block& block = blocks_[b];
      const Place& place = (*places)[b];
      pattern_[b].turns[g] = static_cast<int64_t>(place.turns);
      for (size_t i = 0; i < block.period && place.turns > 0; ++i) {
        const Row& first = *fitting(block.at + i, place.at + i);
        std::vector<Known> by(first.numbers.size());
        if (place.turns > 1) {
          by = *growth(first, *fitting(block.at + i, place.at + block.period + i));
        }
        pattern_[b].entries[i].at[g] = &entries[place.at + i];
        std::vector<Slot>& slots = pattern_[b].entries[i].slots;
        for (size_t n = 0; n < slots.size(); ++n) {
          slots[n].first[g] = first.numbers[n];
          slots[n].by_turn[g] = by[n];
        }
      }
    }
    return true;
  }

  const std::vector<const std::vector<Entry>*>& entries_;
  const size_t presets_;
  size_t guide_ = 0;                          ///< the graph that is folded
  std::vector<size_t> alike_;                 ///< graphs that have its words one for one
  std::vector<std::vector<Row>> words_;       ///< of each of its entries, the operands
  std::vector<std::vector<Block>> operands_;  ///< and their blocks
  std::vector<std::vector<int>> forms_;
  std::vector<Block> blocks_;
  Pattern pattern_;
};

}  // namespace

std::optional<Pattern> pattern_of(const std::vector<const std::vector<Entry>*>& entries,
                                  size_t presets, bool fold, std::vector<bool>& left_out) {
  const std::vector<bool> left_out_before = left_out;
  auto pattern = Merger(entries, presets, entries.size()).pattern(fold, left_out);
  if (pattern) return pattern;
  // What repeats at the presets and not at all other sizes.
  left_out = left_out_before;
  return Merger(entries, presets, presets).pattern(fold, left_out);
}

}  // namespace kbench::written
