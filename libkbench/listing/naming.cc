// Names variables for the results of a program's lines.
#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "libkbench/listing/program.h"

namespace kbench::listing {
namespace {

/// Gives every operator's result a variable, so that reading the lines in order gives each operand
/// its value in the graph. If a loop's first pass reads a value from before the loop and later
/// passes read the previous pass's, both get the same variable. A value that is read after its
/// variable was assigned again is read by its number.
class Naming {
 public:
  Naming(const Graph& graph, Program& program) : graph_(graph), program_(program) {}

  bool run() {
    if (!group_results()) return false;
    for (size_t b = 0; b < program_.blocks.size(); ++b) {
      for (Line& line : program_.blocks[b].lines) {
        line.operands.resize(node(line, 0).inputs.size());
        for (size_t k = 0; k < line.operands.size(); ++k) {
          if (!join(line, k, b)) return false;
        }
      }
    }
    number();
    // Each iteration makes at least one more operand read by number.
    while (!fits_) {
      if (!simulate()) return false;
    }
    insert_copies();
    name_outputs();
    return true;
  }

 private:
  /// `variable = operand` before a loop, for lines in it whose first pass reads something that has
  /// a name of its own.
  struct Copy {
    size_t block = 0;
    int group = -1;
    int id = -1;  ///< the value
  };

  bool is_named(int id) const { return graph_.value(id).kind != Graph::Kind::intermediate; }
  const Graph::Node& node(const Line& line, size_t run) const {
    return graph_.node(line.nodes[run]);
  }

  // --- Groups of results that share a variable
  /// Gives each result of a line a group of its own; false where the runs have unlike numbers of
  /// results or operands.
  bool group_results() {
    for (const Block& block : program_.blocks) {
      for (const Line& line : block.lines) {
        const int first = static_cast<int>(parents_.size());
        for (size_t k = 0; k < node(line, 0).outputs.size(); ++k) add_group();
        for (size_t run = 0; run < line.nodes.size(); ++run) {
          const auto& [call, inputs, outputs] = node(line, run);
          if (outputs.size() != node(line, 0).outputs.size()) return false;
          if (inputs.size() != node(line, 0).inputs.size()) return false;
          for (size_t k = 0; k < outputs.size(); ++k) {
            group_of_[outputs[k]] = first + static_cast<int>(k);
          }
        }
      }
    }
    return true;
  }

  int add_group() {
    parents_.push_back(static_cast<int>(parents_.size()));
    return parents_.back();
  }
  int root(int group) const {
    while (parents_[static_cast<size_t>(group)] != group) {
      group = parents_[static_cast<size_t>(group)];
    }
    return group;
  }

  /// Turns what the runs of an operand read into names or one variable.
  bool join(Line& line, size_t operand, size_t block) {
    Reference& reference = line.operands[operand];
    std::set<int> named, groups;
    bool only_first = true;  // pass reads names
    for (size_t run = 0; run < line.nodes.size(); ++run) {
      const int id = node(line, run).inputs[operand];
      if (is_named(id)) {
        named.insert(id);
        only_first = only_first && line.at[run] == 0;
        reference.names.push_back(graph_.value(id).name);
      } else {
        groups.insert(group_of_.at(id));
      }
    }
    if (groups.empty()) return true;
    reference.names.clear();
    reference.kind = Reference::Kind::variable;
    if (!named.empty()) {
      if (named.size() > 1 || !only_first) return false;
      const int fresh = add_group();
      copies_.push_back({block, fresh, *named.begin()});
      groups.insert(fresh);
    }
    for (const int other : groups) {
      parents_[static_cast<size_t>(root(other))] = root(*groups.begin());
    }
    group_of_operand_[&reference] = *groups.begin();
    return true;
  }

  // --- Variables, in the order of their first assignment
  int variable(int group) {
    const auto [at, fresh] =
        variable_of_.try_emplace(root(group), static_cast<int>(program_.variables.size()));
    if (fresh) program_.variables.push_back("v" + std::to_string(at->second + 1));
    return at->second;
  }

  void number() {
    for (size_t b = 0; b < program_.blocks.size(); ++b) {
      for (const Copy& copy : copies_) {
        if (copy.block == b) variable(copy.group);
      }
      for (Line& line : program_.blocks[b].lines) {
        for (const int id : node(line, 0).outputs) {
          line.results.push_back(variable(group_of_.at(id)));
        }
        for (Reference& reference : line.operands) {
          const auto joined = group_of_operand_.find(&reference);
          // It is assigned before it is read and so has a number, or a copy gives it one.
          if (joined != group_of_operand_.end()) reference.variable = variable(joined->second);
        }
      }
    }
  }

  // --- Simulation of the program
  bool simulate() {
    now_.assign(program_.variables.size(), -1);
    past_.assign(program_.variables.size(), {});
    fits_ = true;
    int next_node = 0;
    for (size_t b = 0; b < program_.blocks.size(); ++b) {
      for (const Copy& copy : copies_) {
        if (copy.block == b) give(variable(copy.group), copy.id);
      }
      Block& block = program_.blocks[b];
      std::vector<size_t> next_run(block.lines.size());
      for (int pass = 0; pass < block.times; ++pass) {
        for (size_t i = 0; i < block.lines.size(); ++i) {
          Line& line = block.lines[i];
          size_t& run = next_run[i];
          if (run == line.at.size() || line.at[run] != pass) continue;
          if (line.nodes[run] != next_node++ || !execute(line, run)) return false;
          ++run;
        }
      }
    }
    return next_node == static_cast<int>(graph_.nodes().size());
  }

  void give(int variable, int value) {
    now_[static_cast<size_t>(variable)] = value;
    past_[static_cast<size_t>(variable)].push_back(value);
  }

  bool execute(Line& line, size_t run) {
    for (size_t k = 0; k < line.operands.size(); ++k) {
      Reference& reference = line.operands[k];
      if (reference.kind == Reference::Kind::named) continue;
      const int wanted = node(line, run).inputs[k];
      const auto held = static_cast<size_t>(reference.variable);
      if (run == 0) reference.counts.clear();
      if (reference.kind == Reference::Kind::variable) {
        if (now_[held] == wanted) continue;
        reference.kind = Reference::Kind::history;
        fits_ = false;
        continue;
      }
      const auto found = std::find(past_[held].rbegin(), past_[held].rend(), wanted);
      if (found == past_[held].rend()) return false;
      reference.counts.push_back(past_[held].rend() - found - 1);
    }
    for (size_t k = 0; k < line.results.size(); ++k) {
      give(line.results[k], node(line, run).outputs[k]);
    }
    return true;
  }

  // --- Results
  void insert_copies() {
    std::vector<Block> blocks;
    for (size_t b = 0; b < program_.blocks.size(); ++b) {
      Block before;
      for (const Copy& copy : copies_) {
        if (copy.block != b) continue;
        Line& line = before.lines.emplace_back();
        line.copy = true;
        line.results = {variable(copy.group)};
        line.operands.resize(1);
        line.operands[0].names = {graph_.value(copy.id).name};
      }
      blocks.push_back(std::move(before));
      blocks.push_back(std::move(program_.blocks[b]));
    }
    program_.blocks = std::move(blocks);
  }

  void name_outputs() {
    for (size_t i = 0; i < graph_.outputs().size(); ++i) {
      const int id = graph_.outputs()[i];
      Reference reference;
      if (is_named(id)) {
        reference.names = {graph_.value(id).name};
      } else {
        const auto held = static_cast<size_t>(variable(group_of_.at(id)));
        std::string& name = program_.variables[held];
        if (past_[held].size() == 1 && name[0] == 'v') {
          name = graph_.output_name(i);
          continue;
        }
        reference.variable = static_cast<int>(held);
        reference.kind = Reference::Kind::variable;
        if (now_[held] != id) {
          reference.kind = Reference::Kind::history;
          reference.counts = {std::ranges::find(past_[held], id) - past_[held].begin()};
        }
      }
      program_.outputs.emplace_back(graph_.output_name(i), reference);
    }
  }

  const Graph& graph_;
  Program& program_;
  std::map<int, int> group_of_;  ///< key: value
  std::map<const Reference*, int> group_of_operand_;
  std::vector<int> parents_;
  std::map<int, int> variable_of_;  ///< key: root of a group
  std::vector<Copy> copies_;
  std::vector<int> now_;
  std::vector<std::vector<int>> past_;
  bool fits_ = false;
};

}  // namespace

bool name_variables(const Graph& graph, Program& program) { return Naming(graph, program).run(); }

}  // namespace kbench::listing
