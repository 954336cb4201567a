// A graph's operators as a program with loops: repeated parts appear once, with what changes from
// pass to pass. The listing and the PyTorch code are printed from it.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "kbench/graph.h"

namespace kbench::listing {

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

/// An operator, or a copy `variable = operand`, in all its runs.
struct Line {
  bool copy = false;
  std::vector<int> at = {0};        ///< the pass of each run; some passes may lack the line
  std::vector<int> nodes;           ///< operation: the node of each run
  std::vector<Reference> operands;  ///< operation: the inputs; copy: one
  std::vector<int> results;         ///< variables
};

/// A loop, or lines that run once.
struct Block {
  std::vector<Line> lines;
  int times = 1;
};

struct Program {
  std::vector<Block> blocks;
  std::vector<std::string> variables;  ///< names; an output's own name if one line makes it
  /// "output = v3" at the end, for outputs whose last value has another name.
  std::vector<std::pair<std::string, Reference>> outputs;
};

/// Fills in operands, results, copies, variables and outputs of a program whose lines have their
/// nodes. False if no variables make the program compute the graph; it must then not be used.
bool name_variables(const Graph& graph, Program& program);

/// The length of a program, in any unit.
using Cost = std::function<double(const Program&)>;

/// The graph, folded so that it costs least; unfolded if it has at most `most_unfolded` operators.
/// Read line by line, the program gives exactly the graph's nodes in order, with their inputs;
/// other folds are rejected.
Program fold(const Graph& graph, const Cost& cost, size_t most_unfolded = 24);
/// The graph, folded so that its listing is short.
Program folded(const Graph& graph);

/// What Python's programs call the inputs, by value id: their names, but for those that Python or
/// the programs have a meaning for, which get a '_'.
std::map<int, std::string> inputs_in_python(const Graph& graph);

}  // namespace kbench::listing
