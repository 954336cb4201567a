#include "libkbench/core/in_words.h"

#include <algorithm>
#include <iomanip>
#include <map>
#include <set>
#include <sstream>

#include "kbench/error.h"
#include "kbench/task.h"
#include "libkbench/base/text.h"

namespace kbench {
namespace {

std::string number(double value) {
  std::ostringstream text;
  text << value;
  return text.str();
}

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

std::string counted(size_t n, const char* noun) {
  return std::to_string(n) + " " + noun + (n == 1 ? "" : "s");
}

std::string rule_in_words(const Task& task, DType dtype) {
  const Bounds bounds = bounds_of(task, dtype);
  const std::string text = "|c - r| <= " + digits_text(bounds.relative, 3) +
                           " * (s + |r|) for every element, s the RMS of the output";
  if (!is_half(dtype)) return text;
  return text + ";\n  the RMS of |c - r| / (s + |r|) over all elements at most " +
         digits_text(bounds.rms, 3) + "; r is not rounded to " + std::string(long_name_of(dtype));
}

std::string sizes_of(const Task& task, const Variables& variables) {
  std::string nearest;
  size_t fewest = variables.size() + 1;
  for (Preset preset : {Preset::v0_1, Preset::v0, Preset::train, Preset::smoke}) {
    std::string text = "preset " + std::string(name_of(preset));
    size_t differ = 0;
    for (const auto& [name, value] : variables_of(task, preset)) {
      const auto it = variables.find(name);
      if (it == variables.end() || it->second == value) continue;
      text += (differ++ ? ", " : " with ") + name + "=" + to_string(it->second);
    }
    if (differ < fewest) nearest = text;
    fewest = std::min(fewest, differ);
  }
  return nearest;
}

std::string sizes_read(const Graph& graph) {
  return listed(graph.variables_read(), [&](const std::string& name) {
    return name + "=" + to_string(graph.variables().find(name)->second);
  });
}

std::string preset_in_words(std::string_view preset, DType dtype) {
  return preset_in_words(preset, name_of(dtype));
}

std::string preset_in_words(std::string_view preset, std::string_view dtype) {
  std::string text(preset);
  if (!dtype.empty() && dtype != name_of(DType::f32)) text += " in " + std::string(dtype);
  return text;
}

std::map<std::string, std::string> meanings_of(const Distribution& distribution) {
  using Then = Distribution::Then;
  std::map<std::string, std::string> meanings;
  switch (distribution.kind) {
    case Distribution::Kind::uniform:
      meanings["uniform(lo, hi)"] = "lo <= x < hi";
      break;
    case Distribution::Kind::normal:
      meanings["normal"] = "mean 0 and standard deviation 1, or normal(mean, deviation)";
      break;
    case Distribution::Kind::randint:
      meanings["randint(lo, hi)"] = "an integer, lo <= n < hi; as bool, n is 0 or 1";
      break;
  }
  switch (distribution.then) {
    case Then::nothing:
      break;
    case Then::symmetrize:
      meanings["symmetrize"] = "then (X + its transpose) / 2: the matrix is symmetric";
      break;
    case Then::triu:
      meanings["triu"] = "then zero below the diagonal: the matrix is upper triangular";
      break;
    case Then::tril:
      meanings["tril"] = "then zero above the diagonal: the matrix is lower triangular";
      break;
    case Then::softmax_last:
      meanings["softmax_last"] = "then softmax over the last dimension: rows are probabilities";
      break;
    case Then::plus_minus_one:
      meanings["plus_minus_one"] = "then 2 x - 1: from 0 or 1 to -1 or 1, as f32";
      break;
    case Then::offset:
      meanings["offset"] =
          "plus a number for each index of the first two dimensions (of the first, where there are "
          "two), drawn alike: means differ from sample to sample and channel to channel";
      break;
  }
  return meanings;
}

std::string contents_of(const Tensor& data) {
  std::map<double, int64_t> counts;
  for (int64_t i = 0; i < data.elements(); ++i) ++counts[data.at(i)];
  const Shape& shape = data.shape();
  if (counts.size() == 2 && shape.size() == 2 && shape[0] == shape[1] && shape[0] > 1) {
    const int64_t n = shape[0];
    const double below = data.at(0), above = data.at(1);
    bool triangle = below != above;
    for (int64_t i = 0; triangle && i < n * n; ++i) {
      triangle = data.at(i) == (i % n > i / n ? above : below);
    }
    if (triangle) return number(below) + " on and below the diagonal, " + number(above) + " above";
  }
  if (counts.size() > 3) {
    return "values from " + number(counts.begin()->first) + " to " + number(counts.rbegin()->first);
  }
  return listed(counts, [](const auto& entry) {
    return number(entry.first) + " at " + counted(static_cast<size_t>(entry.second), "place");
  });
}

// The text of `kbench show`: a task for a reader who has never seen the original.

std::string describe(const Task& task, const Graph& graph) {
  return Description(task, graph).text();
}

}  // namespace kbench
