// A graph's operators as a program with loops: repeated parts appear once, with what changes from
// pass to pass. The listing and the PyTorch code are printed from it.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "kbench/graph.h"

namespace kbench::listing {

/// Pass numbers of the loops around a line, outermost first.
using Passes = std::vector<int>;

/// An operand, or the source of a copy, over all runs of its line.
struct Reference {
  enum class Kind {
    named,     ///< inputs, parameters or constants: `names`, one for each run
    variable,  ///< the current value of `variable`
    history,   ///< value number `counts[run]`, from 0, of those that `variable` has held
  };
  Kind kind = Kind::named;
  int variable = -1;
  std::vector<std::string> names;
  std::vector<int64_t> counts;
};

struct Loop;

/// An operator, a copy `variable = operand`, or a loop, in all its runs.
struct Line {
  enum class Kind { operation, copy, loop };
  Kind kind = Kind::operation;
  int id = -1;                      ///< unlike every other line's
  std::vector<Passes> at;           ///< of each run; some passes may lack the line
  std::vector<int> nodes;           ///< operation: the node of each run
  std::vector<Reference> operands;  ///< operation: the inputs; copy: one
  std::vector<int> results;         ///< variables
  std::shared_ptr<Loop> loop;
};

struct Loop {
  std::vector<Line> body;
  std::vector<int64_t> times;  ///< passes, each time the loop is entered: Line::at
};

struct Program {
  std::vector<Line> lines;
  std::vector<std::string> variables;  ///< names; an output's own name if one line makes it
  /// "output = v3" at the end, for outputs whose last value has another name.
  std::vector<std::pair<std::string, Reference>> outputs;
};

/// The length of a program, in any unit.
using Cost = std::function<double(const Program&)>;

/// The graph, folded so that it costs least; unfolded if it has at most `most_unfolded` operators.
/// Read line by line, the program gives exactly the graph's nodes in order, with their inputs;
/// other folds are rejected.
Program fold(const Graph& graph, const Cost& cost, size_t most_unfolded = 24);

}  // namespace kbench::listing
