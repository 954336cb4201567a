// Prints a program line by line; derived classes define how an operator reads.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "libkbench/listing/program.h"
#include "libkbench/listing/series.h"

namespace kbench::listing {

class Printer {
 public:
  Printer(const Graph& graph, const Program& program, std::set<std::string> taken);
  virtual ~Printer() = default;

 protected:
  /// All lines, each ended by a newline, with `indent` in front.
  std::string print(const std::string& indent);

  /// The right side of an operator's line.
  virtual std::string operation(const Line& line) = 0;
  /// An input, a parameter or a constant.
  virtual std::string named(const Line& line, const Reference& reference) = 0;
  /// Value number `number` of those that the variable has held, or the range first to last.
  virtual std::string past(const std::string& variable, const std::string& number) = 0;
  virtual std::string past_range(const std::string& variable, int64_t first, int64_t last) = 0;
  /// Text that follows a line that assigns the variable; may be empty.
  virtual std::string after(const std::string& variable) = 0;

  std::string operand(const Line& line, const Reference& reference);
  /// All operands; a long run of values of one variable becomes a range.
  std::vector<std::string> operands(const Line& line);
  std::string number(const Line& line, const std::vector<int64_t>& values) {
    return series_.number(line.at, values);
  }
  /// "[10, A, 56, 56]": the shape, with one entry of `shapes` for each run.
  std::string shape(const Line& line, const std::vector<Shape>& shapes);
  /// An attribute over all runs: the numbers of a list, or a single number.
  std::vector<std::string> attribute(const Line& line, const std::string& name);
  const OperatorCall& call(const Line& line, size_t run = 0) const;

  const Graph& graph_;
  const Program& program_;
  Series series_;
  std::set<int> remembered_;  ///< variables whose past values are read

 private:
  std::string print(const Line& line, const std::string& indent);
};

}  // namespace kbench::listing
