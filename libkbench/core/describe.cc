// The text of `kbench show`: a task for a reader who has never seen the original.
#include <algorithm>
#include <iomanip>
#include <map>
#include <set>
#include <sstream>

#include "kbench/task.h"
#include "libkbench/base/text.h"
#include "libkbench/core/in_words.h"

namespace kbench {
namespace {

constexpr size_t kWidth = 100;

/// The pieces one after the other, in lines of kWidth where they allow it, all but the first of
/// them indented.
std::string wrapped(const std::vector<std::string>& pieces, size_t indent) {
  std::string text, line;
  for (const std::string& piece : pieces) {
    if (!line.empty() && line.size() + piece.size() > kWidth) {
      line.erase(line.find_last_not_of(' ') + 1);
      text += line + "\n";
      line = std::string(indent, ' ');
    }
    line += piece;
  }
  line.erase(line.find_last_not_of(' ') + 1);
  return text + line + "\n";
}

std::vector<std::string> words(const std::string& text) {
  std::vector<std::string> pieces;
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find(' ', at), text.size() - 1) + 1;
    pieces.push_back(text.substr(at, end - at));
    at = end;
  }
  return pieces;
}

class Description {
 public:
  Description(const Task& task, const Graph& graph) : task_(task), graph_(graph) {
    for (const auto& node : graph.nodes()) read_.insert(node.inputs.begin(), node.inputs.end());
    read_.insert(graph.outputs().begin(), graph.outputs().end());
    for (const auto& value : graph.values()) {
      if (value.kind != Graph::Kind::intermediate) width_ = std::max(width_, value.name.size());
    }
  }

  std::string text() {
    out_ << to_string(task_.id) << "  " << task_.name << "  (" << task_.family << ")\n\n";
    variables();
    values(Graph::Kind::input, "inputs");
    values(Graph::Kind::parameter, "parameters");
    values(Graph::Kind::constant, "constants, the same for every run");
    out_ << "outputs\n";
    for (size_t i = 0; i < graph_.outputs().size(); ++i) {
      out_ << "  " << padded(graph_.output_name(i))
           << to_string(graph_.stored_type(graph_.outputs()[i])) << "\n";
    }
    out_ << "operators, in order (v1, v2 and so on are results on the way)\n";
    if (is_half(graph_.dtype())) {
      out_ << "  (right values are computed in f64 and rounded nowhere on the way)\n";
    }
    for (const auto& node : graph_.nodes()) operator_line(node);
    operators();
    draws();
    work();
    return out_.str();
  }

 private:
  std::string padded(std::string name) const {
    name.resize(std::max(width_, name.size()), ' ');
    return name + "  ";
  }

  void variables() {
    out_ << "shape variables (" << sizes_of(task_, graph_.variables()) << ")\n";
    for (const auto& name : graph_.variables_read()) {
      out_ << "  " << padded(name) << to_string(graph_.variables().find(name)->second) << "\n";
    }
  }

  void values(Graph::Kind kind, const char* title) {
    const auto ids = graph_.values_of(kind);
    if (ids.empty()) return;
    out_ << title << "\n";
    for (int id : ids) {
      const auto& value = graph_.value(id);
      out_ << "  " << padded(value.name) << to_string(graph_.stored(value.type))
           << (kind == Graph::Kind::constant ? "  " + contents_of(value.data)
                                             : "  drawn from " + to_string(value.distribution))
           << (read_.contains(id) ? "" : "; no operator reads it") << "\n";
    }
  }

  std::string name_of_value(int id) const {
    for (size_t i = 0; i < graph_.outputs().size(); ++i) {
      if (graph_.outputs()[i] == id) return graph_.output_name(i);
    }
    return graph_.value(id).name;
  }

  void operator_line(const Graph::Node& node) {
    std::vector<std::string> arguments, pieces = {"  "};
    for (int id : node.inputs) arguments.push_back(name_of_value(id));
    for (const auto& [name, value] : node.call.attributes) {
      arguments.push_back(name + "=" + to_string(value));
    }
    for (size_t i = 0; i < node.outputs.size(); ++i) {
      pieces.back() += (i ? ", " : "") + name_of_value(node.outputs[i]);
    }
    pieces.back() += " = " + node.call.op->name + "(";
    for (size_t i = 0; i < arguments.size(); ++i) {
      pieces.push_back(arguments[i] + (i + 1 < arguments.size() ? ", " : ")  "));
    }
    for (size_t i = 0; i < node.call.outputs.size(); ++i) {
      pieces.push_back((i ? "" : "->  ") + to_string(graph_.stored(node.call.outputs[i])) +
                       (i + 1 < node.call.outputs.size() ? ", " : ""));
    }
    out_ << wrapped(pieces, 6);
  }

  /// The operators' formulas, and the share of the work that each has.
  void operators() {
    struct Use {
      size_t calls = 0;
      double flops = 0;
    };
    std::map<std::string, Use> uses;
    for (const auto& node : graph_.nodes()) {
      Use& use = uses[node.call.op->name];
      ++use.calls;
      if (node.call.op->flops) use.flops += node.call.op->flops(node.call);
    }
    out_ << "where (tensors are row-major: the last index runs fastest)\n";
    for (const auto& [name, use] : uses) {
      const Operator& op = find_operator(name);
      out_ << wrapped(words("  " + name + ": " + counted(use.calls, "call") +
                            share_of(use.flops / graph_.flops()) + "; as PyTorch's " + op.follows),
                      10)
           << wrapped(words("      " + op.formula), 6);
    }
  }

  static std::string share_of(double share) {
    if (share == 0) return "";
    std::ostringstream percent;
    percent << std::fixed << std::setprecision(1) << share * 100;
    return share < 0.001 ? ", under 0.1% of the work" : ", " + percent.str() + "% of the work";
  }

  /// The meanings of the words for distributions.
  void draws() {
    std::map<std::string, std::string> draws;
    for (const auto& value : graph_.values()) {
      if (value.kind == Graph::Kind::input || value.kind == Graph::Kind::parameter) {
        draws.merge(meanings_of(value.distribution));
      }
    }
    out_ << "drawn from\n";
    for (const auto& [word, meaning] : draws) out_ << "  " << word << ": " << meaning << "\n";
  }

  void work() {
    out_ << "work\n  " << scaled_text(graph_.flops()) << "FLOP (a multiply-add is two), at least "
         << scaled_text(graph_.least_bytes())
         << "B moved (inputs, parameters, constants\n  and outputs once), " << std::fixed
         << std::setprecision(2) << graph_.flops() / graph_.least_bytes() << " FLOP a byte\n";
    const auto integers = [this](int id) { return graph_.value(id).type.dtype == DType::i64; };
    out_ << "tolerance\n";
    if (std::ranges::all_of(graph_.outputs(), integers)) {
      out_ << "  none: every element is the very number\n";
      return;
    }
    out_ << "  " << rule_in_words(task_, graph_.dtype());
    if (!is_half(graph_.dtype()) && !task_.tolerance.reason.empty())
      out_ << " (" << task_.tolerance.reason << ")";
    out_ << "\n";
  }

  const Task& task_;
  const Graph& graph_;
  std::set<int> read_;
  size_t width_ = 12;
  std::ostringstream out_;
};

}  // namespace

std::string describe(const Task& task, const Graph& graph) {
  return Description(task, graph).text();
}

}  // namespace kbench
