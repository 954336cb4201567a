// A graph's operators as a program with loops: what repeats is there once, with what changes from
// pass to pass beside it. Listing and code are printed from it.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "kbench/graph.h"

namespace kbench::prompts {

/// Pass numbers of the loops around a line, outermost first.
using Passes = std::vector<int>;

/// One operand, or what a copy copies, over all runs of its line.
struct Reference {
  enum class Kind {
    named,     ///< inputs, parameters or constants: `names`, one a run
    variable,  ///< what `variable` holds at that moment
    history,   ///< value number `counts[run]` of all that `variable` was given, from 0
  };
  Kind kind = Kind::named;
  int variable = -1;
  std::vector<std::string> names;
  std::vector<int64_t> counts;
};

struct Loop;

/// An operator in all its runs, a copy `variable = operand` in all its runs, or a loop.
struct Line {
  enum class Kind { operation, copy, loop };
  Kind kind = Kind::operation;
  int id = -1;                      ///< unlike every other line's
  std::vector<Passes> at;           ///< of each run; some passes may have none
  std::vector<int> nodes;           ///< operation: the node of each run
  std::vector<Reference> operands;  ///< operation: the inputs; copy: one
  std::vector<int> results;         ///< variables
  std::shared_ptr<Loop> loop;
};

struct Loop {
  std::vector<Line> body;
  std::vector<int64_t> times;  ///< passes, each time that it is entered: Line::at
};

struct Program {
  std::vector<Line> lines;
  std::vector<std::string> variables;  ///< names; an output's own where a line makes just that
  /// "output = v3" at the end, where the last value has another name.
  std::vector<std::pair<std::string, Reference>> outputs;
};

/// How long a program reads, in any unit.
using Cost = std::function<double(const Program&)>;

/// The graph folded to what costs least, or as it is where it has at most `most_unfolded`
/// operators. Reading the program line by line gives the nodes in their order, with their inputs,
/// exactly: a fold of which that is not so is not made.
Program fold(const Graph& graph, const Cost& cost, size_t most_unfolded = 24);

}  // namespace kbench::prompts
