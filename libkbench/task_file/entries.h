// What a graph says in a task's file, entry by entry, with the numbers apart from the words: two
// graphs of one computation at different sizes have the same words.
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "kbench/graph.h"

namespace kbench::written {

using Number = std::variant<int64_t, double>;

/// A part of an entry.
struct Text {
  /// A number in a name stands in braces where it is an expression; an attribute is left out where
  /// its numbers are `fallback`.
  enum class Kind { name, shape, distribution, attribute };
  Kind kind = Kind::name;
  std::string label;               ///< what a variable would be called that stands for a number
  std::vector<std::string> words;  ///< one more than numbers
  std::vector<Number> numbers;
  std::vector<Number> fallback = {};
  bool has_fallback = false;
  int form = 0;  ///< equal where the words are
};

/// Of an operator, what does not stand in a file and yet explains what does.
struct Extents {
  Shape in, second, out;  ///< of the first two operands, and of the first output
  int64_t fan_in = 0;     ///< of the weights of a convolution
};

/// A line of a file: a tensor that is declared, an operator, or the list of outputs.
struct Entry {
  std::string head;            ///< the operator's name, or what else has no numbers
  std::vector<Text> texts;     ///< of a tensor: name, shape, distribution; of an operator: outputs,
                               ///< attributes
  std::vector<Text> operands;  ///< names
  Extents extents = {};
  int form = 0;  ///< equal where the heads are
};

struct Entries {
  std::vector<Entry> inputs, parameters, data, operators, outputs;
};

/// The entries of every graph. How a parameter's distribution is written depends on all of them.
/// Throws kUnsupported for data of a type that a file cannot have; `task` is what messages call it.
std::vector<Entries> entries_of(const std::vector<const Graph*>& graphs, const std::string& task);

}  // namespace kbench::written
