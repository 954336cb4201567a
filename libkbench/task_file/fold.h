// The lines of several graphs laid over each other: what repeats is folded, and every number is a
// column with a value for each graph.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace kbench::written {

using Number = std::variant<int64_t, double>;
/// A number in every graph; unknown where the graph has no such turn of a repeat.
using Known = std::optional<Number>;
using Column = std::vector<Known>;

/// Words around numbers.
struct Row {
  std::vector<std::string> words = {""};  ///< one more than numbers
  std::vector<Number> numbers = {};
  std::vector<std::string> labels = {};  ///< what a variable is called that stands for the number

  Row& add(const std::string& text) {
    words.back() += text;
    return *this;
  }
  Row& add(Number number, std::string label) {
    numbers.push_back(number);
    labels.push_back(std::move(label));
    words.emplace_back();
    return *this;
  }
};

/// A line of a file: its head, the items of a list (an operator's operands), and the rest.
struct Entry {
  Row head = {};
  std::vector<Row> items = {};
  Row tail = {};
};

/// `period` rows from `at` on, which come more than once where `repeats`.
struct Block {
  size_t at = 0, period = 1;
  bool repeats = false;
};

/// A number's value in the first turn, and by how much it grows from turn to turn.
struct Slot {
  Column first, by_turn;
};

/// An entry as all graphs have it. Slots are in order: those of its head and tail; then for each
/// block of items the number of turns where it repeats, the numbers of its rows in the first turn,
/// and how much these grow from turn to turn of the block.
struct Line {
  const Entry* entry;  ///< in one of the graphs: its numbers do not count
  std::vector<Block> items;
  std::vector<Slot> slots;
};

struct Part {
  std::vector<Line> lines;
  bool repeats = false;
  Column turns;  ///< where it repeats
};

/// Lays the entries of every graph over each other, which the result points to. With `fold` repeats
/// are folded as in the graph that has most entries; the others have the same blocks, with other
/// numbers of turns. Nothing where one of the graphs has other entries.
std::optional<std::vector<Part>> merged(const std::vector<std::vector<Entry>>& graphs, bool fold);

}  // namespace kbench::written
