#include "libkbench/task_file/fold.h"

#include <algorithm>
#include <functional>
#include <map>
#include <set>

namespace kbench::written {
namespace {

/// An entry, or an item of one: its words, and its numbers.
struct Flat {
  std::string form;
  std::vector<Known> numbers;
};

constexpr size_t kLongestPeriod = 200, kFewestTurns = 3, kFewestItems = 4;

/// By how much the numbers of `next` exceed those of `row`; nothing where they differ in more.
std::optional<std::vector<Known>> growth(const Flat& row, const Flat& next) {
  std::vector<Known> by(row.numbers.size());
  for (size_t i = 0; i < row.numbers.size(); ++i) {
    const Known &a = row.numbers[i], &b = next.numbers[i];
    if (!a || !b) continue;
    const auto *from = std::get_if<int64_t>(&*a), *to = std::get_if<int64_t>(&*b);
    if (a != b && (from == nullptr || to == nullptr || *to < *from)) return std::nullopt;
    by[i] = a == b ? 0 : *to - *from;
  }
  return by;
}

/// A row of a graph; null where there is none of that form.
using FlatAt = std::function<const Flat*(size_t)>;

/// How often `period` rows from `begin` on come, their numbers growing alike; at most `end` rows.
size_t turns_of(const FlatAt& row, size_t begin, size_t period, size_t end) {
  std::vector<std::vector<Known>> first;
  for (size_t turn = 0;; ++turn) {
    for (size_t i = 0; i < period; ++i) {
      const size_t a = begin + turn * period + i, b = a + period;
      if (b >= end) return turn + 1;
      const Flat *one = row(a), *next = row(b);
      if (one == nullptr || next == nullptr || one->form != next->form) return turn + 1;
      auto by = growth(*one, *next);
      if (!by || (turn > 0 && *by != first[i])) return turn + 1;
      if (turn == 0) first.push_back(std::move(*by));
    }
  }
}

/// Folds what repeats in all of the graphs: rows[g][i], of equal forms.
std::vector<Block> folded(const std::vector<std::vector<Flat>>& rows, size_t fewest_rows) {
  std::vector<Block> blocks;
  const size_t count = rows[0].size();
  for (size_t at = 0; at < count;) {
    size_t best_period = 0, best_turns = 0;
    const size_t longest = std::min(kLongestPeriod, (count - at) / kFewestTurns);
    for (size_t period = 1; period <= longest; ++period) {
      size_t turns = count;
      for (const std::vector<Flat>& graph : rows) {
        turns = std::min(turns, turns_of([&](size_t i) { return &graph[i]; }, at, period, count));
        if (turns < kFewestTurns) break;
      }
      if (turns < kFewestTurns || turns * period < fewest_rows) continue;
      if (turns * period <= best_turns * best_period) continue;
      best_period = period;
      best_turns = turns;
    }
    blocks.push_back({at, std::max<size_t>(best_period, 1), best_turns > 0});
    at += std::max<size_t>(best_turns * best_period, 1);
  }
  return blocks;
}

/// Where a block begins in a graph, and how often it comes there.
struct Place {
  size_t at = 0, turns = 1;
};

/// Row k of a graph as row i of those that the blocks were folded from; null where its words are
/// others.
using Fitting = std::function<const Flat*(size_t i, size_t k)>;

/// The blocks in `count` rows of a graph.
std::optional<std::vector<Place>> places_of(const std::vector<Block>& blocks, size_t count,
                                            const Fitting& fitting) {
  std::vector<Place> places(blocks.size());
  std::set<std::pair<size_t, size_t>> failed;
  const std::function<bool(size_t, size_t)> place = [&](size_t block, size_t at) {
    for (; block < blocks.size() && !blocks[block].repeats; ++block, ++at) {
      if (at >= count || fitting(blocks[block].at, at) == nullptr) return false;
      places[block] = {at, 1};
    }
    if (block == blocks.size()) return at == count;
    if (failed.contains({block, at})) return false;
    const Block& one = blocks[block];
    const auto row = [&](size_t k) { return fitting(one.at + (k - at) % one.period, k); };
    bool fits = at + one.period <= count;
    for (size_t i = 0; i < one.period && fits; ++i) fits = row(at + i) != nullptr;
    // From most turns down to none.
    for (size_t turns = fits ? turns_of(row, at, one.period, count) + 1 : 1; turns-- > 0;) {
      places[block] = {at, turns};
      if (place(block + 1, at + turns * one.period)) return true;
    }
    failed.insert({block, at});
    return false;
  };
  return place(0, 0) ? std::optional(std::move(places)) : std::nullopt;
}

Flat flat(const Row& row) {
  Flat result;
  for (const std::string& word : row.words) result.form += word + '\n';
  result.numbers.assign(row.numbers.begin(), row.numbers.end());
  return result;
}

std::vector<Flat> flat(const std::vector<Row>& rows) {
  std::vector<Flat> all;
  for (const Row& row : rows) all.push_back(flat(row));
  return all;
}

void append(std::vector<Known>& to, const std::vector<Known>& more) {
  to.insert(to.end(), more.begin(), more.end());
}

/// An entry whose items are those of another one's blocks, `words`; nothing where they are others.
std::optional<Flat> flat(const Entry& entry, const std::vector<Flat>& words,
                         const std::vector<Block>& blocks) {
  const std::vector<Flat> items = flat(entry.items);
  const auto places = places_of(blocks, items.size(), [&](size_t i, size_t k) {
    return items[k].form == words[i].form ? &items[k] : nullptr;
  });
  if (!places) return std::nullopt;
  Flat result = flat(entry.head);
  const Flat tail = flat(entry.tail);
  result.form += tail.form;
  append(result.numbers, tail.numbers);
  for (size_t b = 0; b < blocks.size(); ++b) {
    const auto& [from, period, repeats] = blocks[b];
    const auto& [at, turns] = (*places)[b];
    if (repeats) result.numbers.emplace_back(static_cast<int64_t>(turns));
    result.form += repeats ? "repeat\n" : "once\n";
    std::vector<Known> by;
    for (size_t i = 0; i < period; ++i) {
      const std::vector<Known> unknown(words[from + i].numbers.size());
      result.form += words[from + i].form;
      append(result.numbers, turns > 0 ? items[at + i].numbers : unknown);
      append(by, turns > 1 ? *growth(items[at + i], items[at + period + i]) : unknown);
    }
    if (repeats) append(result.numbers, by);
  }
  return result;
}

bool same_words(const Entry& a, const Entry& b) {
  const auto same = [](const Row& x, const Row& y) { return x.words == y.words; };
  return same(a.head, b.head) && same(a.tail, b.tail) &&
         std::equal(a.items.begin(), a.items.end(), b.items.begin(), b.items.end(), same);
}

size_t size_of(const std::vector<Entry>& entries) {
  size_t size = entries.size();
  for (const Entry& entry : entries) size += entry.items.size();
  return size;
}

}  // namespace

std::optional<std::vector<Part>> merged(const std::vector<std::vector<Entry>>& graphs, bool fold) {
  const std::vector<Entry>& guide = *std::ranges::max_element(graphs, {}, size_of);
  std::vector<std::vector<Flat>> words;  // of the guide's entries, the items
  std::vector<std::vector<Block>> blocks_of;
  std::vector<Flat> flats;
  for (const Entry& entry : guide) {
    words.push_back(flat(entry.items));
    blocks_of.push_back(words.back().empty()
                            ? std::vector<Block>()
                            : folded({words.back()}, fold ? kFewestItems : SIZE_MAX));
    flats.push_back(*flat(entry, words.back(), blocks_of.back()));
  }
  // Graphs that have its words one for one: what is folded repeats in all of these.
  std::vector<std::vector<Flat>> alike = {flats};
  for (const std::vector<Entry>& graph : graphs) {
    if (!std::equal(graph.begin(), graph.end(), guide.begin(), guide.end(), same_words)) continue;
    alike.emplace_back();
    for (size_t i = 0; i < graph.size(); ++i) {
      auto one = flat(graph[i], words[i], blocks_of[i]);
      if (!one) return std::nullopt;
      alike.back().push_back(std::move(*one));
    }
  }
  std::vector<Block> blocks;
  if (fold) blocks = folded(alike, 0);
  for (size_t i = 0; !fold && i < guide.size(); ++i) blocks.push_back({i, 1, false});

  std::vector<Part> parts;
  const Column unknown(graphs.size());
  for (const Block& block : blocks) {
    Part& part = parts.emplace_back(Part{{}, block.repeats, unknown});
    for (size_t i = block.at; i < block.at + block.period; ++i) {
      part.lines.push_back({&guide[i], blocks_of[i],
                            std::vector<Slot>(flats[i].numbers.size(), {unknown, unknown})});
    }
  }
  for (size_t g = 0; g < graphs.size(); ++g) {
    std::map<std::pair<size_t, size_t>, std::optional<Flat>> known;
    const auto fitting = [&](size_t i, size_t k) -> const Flat* {
      const auto [at, fresh] = known.try_emplace({i, k});
      if (fresh) at->second = flat(graphs[g][k], words[i], blocks_of[i]);
      return at->second && at->second->form == flats[i].form ? &*at->second : nullptr;
    };
    const auto places = places_of(blocks, graphs[g].size(), fitting);
    if (!places) return std::nullopt;
    for (size_t b = 0; b < blocks.size(); ++b) {
      const auto& [from, period, repeats] = blocks[b];
      const auto& [at, turns] = (*places)[b];
      parts[b].turns[g] = static_cast<int64_t>(turns);
      for (size_t i = 0; i < period && turns > 0; ++i) {
        const Flat& first = *fitting(from + i, at + i);
        std::vector<Known> by(first.numbers.size());
        if (turns > 1) by = *growth(first, *fitting(from + i, at + period + i));
        std::vector<Slot>& slots = parts[b].lines[i].slots;
        for (size_t n = 0; n < slots.size(); ++n) {
          slots[n].first[g] = first.numbers[n];
          slots[n].by_turn[g] = by[n];
        }
      }
    }
  }
  return parts;
}

}  // namespace kbench::written
