#include "libkbench/listing/naming.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

namespace kbench::listing {
namespace {

/// The line that makes a value, and the index of its result.
using Maker = std::pair<int, size_t>;

/// Gives every operator's result a variable, so that reading the lines in order gives each operand
/// its value in the graph. If a loop's first pass reads a value from before the loop and later
/// passes read the previous pass's, both get the same variable. A value that is read after its
/// variable was assigned again is read by its number.
class Naming {
 public:
  Naming(const Graph& graph, Program& program) : graph_(graph), program_(program) {}

  bool run() {
    if (!index(program_.lines, {})) return false;
    number(program_.lines);
    // Each iteration makes at least one more operand read by number.
    while (!fits_) {
      simulate();
      if (failed_) return false;
    }
    program_.lines = with_copies(std::move(program_.lines));
    name_outputs();
    return true;
  }

 private:
  /// `variable = operand` before a loop, for a line in it whose first pass reads something that has
  /// a name of its own.
  struct Copy {
    int reader = -1;
    size_t operand = 0;
    int loop = -1;
    int group = -1;
    std::vector<Passes> at;  ///< the runs that read the name
    int id = -1;             ///< the value
  };

  bool is_named(int id) const { return graph_.value(id).kind != Graph::Kind::intermediate; }
  int input_of(const Line& line, size_t run, size_t operand) const {
    return graph_.node(line.nodes[run]).inputs[operand];
  }

  bool index(std::vector<Line>& lines, const std::vector<int>& around) {
    if (!index_makers(lines)) return false;
    for (Line& line : lines) {
      if (line.kind == Line::Kind::loop) {
        std::vector<int> inside = around;
        inside.push_back(line.id);
        if (!index(line.loop->body, inside)) return false;
        continue;
      }
      line.operands.resize(graph_.node(line.nodes[0]).inputs.size());
      for (size_t k = 0; k < line.operands.size(); ++k) {
        if (!join(line, k, around)) return false;
      }
    }
    return true;
  }

  /// Indexes these lines and those in their loops first, as an operand may be made by a later line.
  bool index_makers(const std::vector<Line>& lines) {
    for (const Line& line : lines) {
      if (line.kind == Line::Kind::loop) {
        if (!index_makers(line.loop->body)) return false;
        continue;
      }
      const size_t results = graph_.node(line.nodes[0]).outputs.size();
      const size_t operands = graph_.node(line.nodes[0]).inputs.size();
      for (const int node : line.nodes) {
        const auto& outputs = graph_.node(node).outputs;
        if (outputs.size() != results) return false;
        if (graph_.node(node).inputs.size() != operands) return false;
        for (size_t k = 0; k < results; ++k) makers_[outputs[k]] = {line.id, k};
      }
      for (size_t k = 0; k < results; ++k) group({line.id, k});
    }
    return true;
  }

  // --- Groups of results that share a variable
  int group(const Maker& maker) {
    const auto [it, fresh] = groups_.try_emplace(maker, int(parents_.size()));
    if (fresh) parents_.push_back(it->second);
    return it->second;
  }
  int root(int group) const {
    while (parents_[size_t(group)] != group) group = parents_[size_t(group)];
    return group;
  }

  /// Turns what the runs of an operand read into names or one variable.
  bool join(Line& line, size_t operand, const std::vector<int>& around) {
    Reference& reference = line.operands[operand];
    std::vector<Passes> named_at;
    std::set<int> named;
    std::set<int> groups;
    for (size_t run = 0; run < line.nodes.size(); ++run) {
      const int id = input_of(line, run, operand);
      if (is_named(id)) {
        named.insert(id);
        named_at.push_back(line.at[run]);
        reference.names.push_back(graph_.value(id).name);
      } else {
        groups.insert(group(makers_.at(id)));
      }
    }
    if (groups.empty()) return true;
    reference.names.clear();
    reference.kind = Reference::Kind::variable;
    if (!named.empty()) {
      if (named.size() > 1) return false;
      size_t depth = 0;
      while (depth < around.size() &&
             std::any_of(named_at.begin(), named_at.end(),
                         [&](const Passes& at) { return at[depth] != 0; })) {
        ++depth;
      }
      if (depth == around.size()) return false;
      const int fresh = int(parents_.size());
      parents_.push_back(fresh);
      copies_.push_back({line.id, operand, around[depth], fresh, named_at, *named.begin()});
      groups.insert(fresh);
    }
    for (const int other : groups) parents_[size_t(root(other))] = root(*groups.begin());
    group_of_operand_[{line.id, operand}] = *groups.begin();
    return true;
  }

  // --- Variables, in the order of their first assignment
  int variable(int group) {
    const auto [it, fresh] = variable_of_.try_emplace(root(group), int(program_.variables.size()));
    if (fresh) program_.variables.push_back("v" + std::to_string(it->second + 1));
    return it->second;
  }

  void number(std::vector<Line>& lines) {
    for (Line& line : lines) {
      if (line.kind == Line::Kind::loop) {
        for (const Copy& copy : copies_) {
          if (copy.loop == line.id) variable(copy.group);
        }
        number(line.loop->body);
        continue;
      }
      for (size_t k = 0; k < graph_.node(line.nodes[0]).outputs.size(); ++k) {
        line.results.push_back(variable(group({line.id, k})));
      }
      for (size_t k = 0; k < line.operands.size(); ++k) {
        const auto joined = group_of_operand_.find({line.id, k});
        if (joined == group_of_operand_.end()) continue;
        // It is assigned before it is read and so has a number, or a copy gives it one.
        line.operands[k].variable = variable(joined->second);
      }
    }
  }

  // --- Simulation of the program
  void simulate() {
    now_.assign(program_.variables.size(), -1);
    past_.assign(program_.variables.size(), {});
    next_run_.clear();
    next_node_ = 0;
    fits_ = true;
    execute(program_.lines, {});
    if (next_node_ != int(graph_.nodes().size())) failed_ = true;
  }

  void give(int variable, int value) {
    now_[size_t(variable)] = value;
    past_[size_t(variable)].push_back(value);
  }

  void execute(std::vector<Line>& lines, const Passes& at) {
    for (Line& line : lines) {
      if (failed_) return;
      if (line.kind != Line::Kind::loop) {
        const size_t run = next_run_[line.id];
        if (run < line.at.size() && line.at[run] == at) execute(line);
        continue;
      }
      for (const Copy& copy : copies_) {
        if (copy.loop == line.id) give(variable(copy.group), copy.id);
      }
      const size_t entry = next_run_[line.id]++;
      for (int64_t pass = 0; pass < line.loop->times[entry]; ++pass) {
        Passes inside = at;
        inside.push_back(int(pass));
        execute(line.loop->body, inside);
      }
    }
  }

  void execute(Line& line) {
    const size_t run = next_run_[line.id]++;
    const int node = line.nodes[run];
    if (node != next_node_++) {
      failed_ = true;
      return;
    }
    for (size_t k = 0; k < line.operands.size(); ++k) {
      Reference& reference = line.operands[k];
      if (reference.kind == Reference::Kind::named) continue;
      const int wanted = input_of(line, run, k);
      if (run == 0) reference.counts.clear();
      if (reference.kind == Reference::Kind::variable) {
        if (now_[size_t(reference.variable)] == wanted) continue;
        reference.kind = Reference::Kind::history;
        fits_ = false;
        continue;
      }
      const auto& past = past_[size_t(reference.variable)];
      const auto found = std::find(past.rbegin(), past.rend(), wanted);
      if (found == past.rend()) failed_ = true;
      reference.counts.push_back(past.rend() - found - 1);
    }
    for (size_t k = 0; k < line.results.size(); ++k) {
      give(line.results[k], graph_.node(node).outputs[k]);
    }
  }

  // --- Results
  std::vector<Line> with_copies(std::vector<Line> lines) {
    std::vector<Line> all;
    for (Line& line : lines) {
      if (line.kind == Line::Kind::loop) {
        line.loop->body = with_copies(std::move(line.loop->body));
        for (const Copy& copy : copies_) {
          if (copy.loop != line.id) continue;
          Line made;
          made.kind = Line::Kind::copy;
          made.at = line.at;
          made.results = {variable(copy.group)};
          made.operands.resize(1);
          made.operands[0].names.assign(made.at.size(), graph_.value(copy.id).name);
          all.push_back(std::move(made));
        }
      }
      all.push_back(std::move(line));
    }
    return all;
  }

  void name_outputs() {
    for (size_t i = 0; i < graph_.outputs().size(); ++i) {
      const int id = graph_.outputs()[i];
      Reference reference;
      if (is_named(id)) {
        reference.names = {graph_.value(id).name};
      } else {
        const size_t held = size_t(variable(group(makers_.at(id))));
        std::string& name = program_.variables[held];
        if (past_[held].size() == 1 && name[0] == 'v') {
          name = graph_.output_name(i);
          continue;
        }
        reference.variable = int(held);
        reference.kind = Reference::Kind::variable;
        if (now_[held] != id) {
          reference.kind = Reference::Kind::history;
          const auto found = std::find(past_[held].begin(), past_[held].end(), id);
          reference.counts = {found - past_[held].begin()};
        }
      }
      program_.outputs.emplace_back(graph_.output_name(i), reference);
    }
  }

  const Graph& graph_;
  Program& program_;
  std::map<int, Maker> makers_;  ///< key: value
  std::map<Maker, int> groups_;
  std::map<std::pair<int, size_t>, int> group_of_operand_;
  std::vector<int> parents_;
  std::map<int, int> variable_of_;  ///< key: root of a group
  std::vector<Copy> copies_;
  std::vector<int> now_;
  std::vector<std::vector<int>> past_;
  std::map<int, size_t> next_run_;
  int next_node_ = 0;
  bool fits_ = false;
  bool failed_ = false;
};

}  // namespace

bool name_variables(const Graph& graph, Program& program) { return Naming(graph, program).run(); }

}  // namespace kbench::listing
