// Calls of operators as lines of text, and the table of them (table.txt) which the reference, the
// eager kernels, and shapes and FLOPs are held to, by the operators' definitions.
//
//   conv2d {2x3x11x13|1x3x5x5} 20x3x5x4 stride=3,2 padding=1  @halves
//
// A line names an operator, the shapes of its inputs and its attributes; words that begin with "@"
// tell a test how to run the line. The shape "()" is that of a tensor without dimensions, and
// "i64:5" is a shape with an element type. A line with braces stands for one line for each of the
// parts between "|"; several braces stand for all combinations. The line of a recurrent layer gives
// the shape of x alone.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tests/operators/samples.h"

namespace kbench::definitions {

struct Row {
  std::string text;
  OperatorCall call;
  std::map<std::string, std::string, std::less<>> words;  ///< "halves": "", "launches": "2"
  /// Of an exact row, "relu 3 : 1 -1 nan => 1 0 nan": what it takes and gives; nothing elsewhere.
  std::vector<Array> inputs, outputs;

  const Definition& definition() const { return definition_of(call.op->name); }
  bool has(std::string_view word) const { return words.contains(word); }
  /// How much the call magnifies rounding errors.
  double condition() const {
    return has("condition") ? std::stod(words.find("condition")->second) : 1;
  }
  /// What "@error" allows, or an exact row; nothing elsewhere.
  std::optional<double> error() const {
    if (has("error")) return std::stod(words.find("error")->second);
    return inputs.empty() ? std::nullopt : std::optional(1e-6);
  }
};

/// One line without braces.
Row row_of(std::string_view line);
inline OperatorCall call_of(std::string_view line) { return row_of(line).call; }
/// The lines of `text`, each as many rows as its braces make; a line that starts with a blank
/// belongs to the one before it, "#" starts a comment.
std::vector<Row> rows_of(std::string_view text);

/// Of table.txt; of the operators of a family.
const std::vector<Row>& table();
std::vector<Row> table(const Family& family);

/// Inputs of the call such that the operator has work to do: both signs for an activation, positive
/// for a logarithm, classes that there are. "@uniform=-1,1" and "@normal=0,2" say otherwise.
std::vector<Array> inputs_of(const Row& row);
/// The row's inputs and what the definition makes of them.
Example example_of(const Row& row);

/// A call's types and attributes, which may not fit each other.
struct Sizes {
  std::vector<TensorType> inputs;
  Attributes attributes;

  /// Replaces every number by what `change` gives for it.
  void for_each_number(const std::function<int64_t(int64_t)>& change);
};
inline Sizes sizes_of(const Row& row) { return {row.call.inputs, row.call.attributes}; }
/// The row with some of its numbers changed, each wherever it stands, so that what belongs together
/// stays together; nothing where the operator has no such sizes.
std::optional<Row> varied(const Row& row, Dice& dice);
/// Whether walking through the definition is quick.
bool is_quick(const OperatorCall& call);

}  // namespace kbench::definitions
