// The entries of several graphs laid over each other: what repeats is folded, and every number is a
// column with a value for each graph.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "libkbench/task_file/entries.h"

namespace kbench::written {

/// A number in every graph; unknown where the graph has no such turn of a repeat, or was left out.
using Known = std::optional<Number>;
using Column = std::vector<Known>;

/// `period` items from `at` on, which come more than once where `repeats`.
struct Block {
  size_t at = 0, period = 1;
  bool repeats = false;
};

/// A number of a pattern: its value in the first turn, and by how much it grows from turn to turn.
struct Slot {
  Column first, by_turn;
};

/// An entry as the pattern has it. Slots are in order: those of its texts; then for each block of
/// operands the number of turns where it repeats, the numbers of its names in the first turn, and
/// how much these grow from turn to turn of the block.
struct PatternEntry {
  Entry words;  ///< of one of the graphs: its numbers do not count
  std::vector<Block> operands;
  std::vector<Slot> slots;
  std::vector<const Entry*> at;  ///< in each graph that in the first turn; null where there is none
};

struct PatternBlock {
  std::vector<PatternEntry> entries;
  bool repeats = false;
  Column turns;  ///< where it repeats
};

using Pattern = std::vector<PatternBlock>;

/// Lays entries[g] of every graph over each other. With `fold` repeats are folded as in that of the
/// first `presets` graphs which has most entries; the others have the same blocks, with other
/// numbers of turns. A graph behind the presets that has other entries is marked in `left_out`;
/// nothing where one of the presets has. Graphs that are marked already are not looked at. The
/// pattern points to the entries.
std::optional<Pattern> pattern_of(const std::vector<const std::vector<Entry>*>& entries,
                                  size_t presets, bool fold, std::vector<bool>& left_out);

}  // namespace kbench::written
