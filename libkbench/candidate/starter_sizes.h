// Numbers of a starter that depend on the task's sizes: places in its text that are filled with
// expressions in shape variables, where one is found that holds at every size tried.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "kbench/graph.h"

namespace kbench {

/// Collects numbers as a text is written; each stands in the text as a mark.
class SizeMarks {
 public:
  std::string mark(int64_t value) { return add(static_cast<double>(value), false); }
  std::string mark(double value) { return add(value, true); }
  /// Integers and reals, and lists of them, with their numbers as marks; words as they are.
  std::string mark(const AttributeValue& value);
  std::string mark(const Shape& shape);

  struct Number {
    double value = 0;
    bool real = false;
  };
  const std::vector<Number>& numbers() const { return numbers_; }

 private:
  std::string add(double value, bool real);
  std::vector<Number> numbers_;
};

/// A text with marks, as it comes out at the sizes of one graph.
struct MarkedText {
  const Graph* graph = nullptr;
  std::string text;
  std::vector<SizeMarks::Number> numbers;
};

/// The first text with its marks filled by expressions that give the numbers of all texts at the
/// sizes of their graphs; nothing where texts differ or a number has no expression.
std::optional<std::string> fill_with_expressions(const std::vector<MarkedText>& texts);
/// With the text's own numbers.
std::string fill_with_numbers(const MarkedText& text);

}  // namespace kbench
