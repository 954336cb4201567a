// Numbers of a starter that depend on the task's sizes: they are marked in its text, and replaced
// by expressions over shape variables where one is found that holds at every size tried.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "kbench/graph.h"

namespace kbench {

/// Collects the numbers of a text; in the text each is a mark.
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

/// A text with marks, written for the sizes of one graph.
struct MarkedText {
  const Graph* graph = nullptr;
  std::string text;
  std::vector<SizeMarks::Number> numbers;
};

/// The first text with its marks filled by expressions that give the numbers of all texts at the
/// sizes of their graphs; nothing where texts differ or a number has no expression.
std::optional<std::string> fill_with_expressions(const std::vector<MarkedText>& texts);
/// The text with its own numbers in place of the marks.
std::string fill_with_numbers(const MarkedText& text);

}  // namespace kbench
