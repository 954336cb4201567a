// Graphs of one computation, one for each preset, as a task's file.
#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstring>
#include <memory>
#include <optional>
#include <set>
#include <span>

#include "kbench/error.h"
#include "kbench/ops.h"
#include "kbench/task_file.h"
#include "libkbench/base/text.h"
#include "libkbench/candidate/symbol_table.h"
#include "libkbench/task_file/fold.h"

namespace kbench {
namespace written {
namespace {

/// Stands at both ends of a name, which is put into quotes where a number in it is an expression.
constexpr char kName = '\1';

std::string in_quotes(const std::string& text) {
  std::string result = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') result += '\\';
    result += c;
  }
  return result + "\"";
}

std::string joined_names(const std::vector<std::string>& names) {
  return listed(names, [](const std::string& name) { return name; });
}

std::string text_of(const Number& number) {
  const auto* whole = std::get_if<int64_t>(&number);
  return whole != nullptr ? std::to_string(*whole) : number_text(std::get<double>(number));
}

// --- Entries of a graph ------------------------------------------------------------------------

/// Adds a name, its whole numbers apart.
void add_name(Row& row, const std::string& name, const std::string& label) {
  constexpr size_t kMostDigits = 15;
  row.add(std::string(1, kName));
  for (size_t i = 0, end = 0; i < name.size(); i = end) {
    while (end < name.size() && std::isdigit(static_cast<unsigned char>(name[end])) != 0) ++end;
    // "007" is no number that could be written again.
    if (end > i && end - i <= kMostDigits && (end == i + 1 || name[i] != '0')) {
      row.add(int64_t{std::stoll(name.substr(i, end - i))}, label);
    } else {
      end = std::max(end, i + 1);
      row.add(name.substr(i, end - i));
    }
  }
  row.add(std::string(1, kName));
}

void add_list(Row& row, const std::vector<int64_t>& values, const std::string& label) {
  row.add("[");
  for (size_t i = 0; i < values.size(); ++i) {
    row.add(i > 0 ? ", " : "").add(values[i], label + std::to_string(i));
  }
  row.add("]");
}

/// The fan-in that weights were drawn for, if their bound is that of one.
std::optional<int64_t> fan_in_of(const Graph::ValueInfo& info) {
  const Distribution& drawn = info.distribution;
  if (info.type.shape.size() < 2 || drawn.kind != Distribution::Kind::uniform || drawn.hi <= 0) {
    return std::nullopt;
  }
  const auto inputs = std::llround(3 / (drawn.hi * drawn.hi));
  const Distribution its = weight_init(std::max<int64_t>(inputs, 1));
  if (its.hi != drawn.hi || its.lo != drawn.lo || drawn.then != its.then) return std::nullopt;
  return inputs;
}

void add_distribution(Row& row, const Graph::ValueInfo& info, bool by_fan_in) {
  using Kind = Distribution::Kind;
  const Distribution& drawn = info.distribution;
  const std::string& label = info.name;
  // A fan-in is a number that a loop can count up; the root of one is not.
  if (by_fan_in) {
    row.add("fan_in(").add(fan_in_of(info).value(), label + "_fan_in").add(")");
    return;
  }
  row.add("\"" + std::string(name_of(drawn.kind)));
  if (drawn.kind == Kind::randint) {
    row.add("(").add(static_cast<int64_t>(drawn.lo), label + "_low");
    row.add(", ").add(static_cast<int64_t>(drawn.hi), label + "_high").add(")");
  } else if (drawn.kind == Kind::uniform && drawn.hi > 0 && drawn.lo == -drawn.hi) {
    row.add("(-").add(drawn.hi, label + "_bound").add(", ").add(drawn.hi, label + "_bound");
    row.add(")");
  } else if (drawn.kind == Kind::uniform || drawn.lo != 0 || drawn.hi != 1) {
    row.add("(").add(drawn.lo, label + "_low").add(", ").add(drawn.hi, label + "_high").add(")");
  }
  if (drawn.then != Distribution::Then::nothing) {
    row.add(", " + std::string(name_of(drawn.then)));
  }
  row.add("\"");
}

bool is_causal(const Graph::ValueInfo& info) {
  const Shape& shape = info.type.shape;
  if (info.type.dtype != DType::f32 || shape.size() != 2) return false;
  const auto values = info.data.data<float>();
  for (int64_t i = 0; i < info.type.elements(); ++i) {
    const float value = values[static_cast<size_t>(i)];
    const bool above = i % shape[1] > i / shape[1];
    if (above ? !(std::isinf(value) && value < 0) : value != 0) return false;
  }
  return true;
}

/// "48*0 -inf": each value with how often it comes.
template <class T>
std::string values_text(std::span<const T> values) {
  std::string text;
  for (size_t i = 0, end = 0; i < values.size(); i = end) {
    // By bits: 0 is not -0.
    while (end < values.size() && std::memcmp(&values[end], &values[i], sizeof(T)) == 0) ++end;
    text += text.empty() ? "" : " ";
    if (end - i > 1) text += std::to_string(end - i) + "*";
    const bool infinite = std::isinf(static_cast<double>(values[i]));
    text += infinite ? (values[i] < 0 ? "-inf" : "inf") : text_of(Number(values[i]));
  }
  return text;
}

Entry tensor_entry(const Graph::ValueInfo& info, bool by_fan_in) {
  Entry entry;
  add_name(entry.head, info.name, info.name + "_number");
  entry.tail.add("shape: ");
  add_list(entry.tail, info.type.shape, info.name + "_dim");
  entry.tail.add(", distribution: ");
  add_distribution(entry.tail, info, by_fan_in);
  if (info.type.dtype != DType::f32) {
    entry.tail.add(", dtype: " + std::string(name_of(info.type.dtype)));
  }
  entry.tail.add("}\n");
  return entry;
}

Entry data_entry(const Graph::ValueInfo& info, const std::string& task) {
  Entry entry;
  add_name(entry.head, info.name, info.name + "_number");
  entry.tail.add("shape: ");
  add_list(entry.tail, info.type.shape, info.name + "_dim");
  const DType dtype = info.type.dtype;
  if (dtype != DType::f32 && dtype != DType::i64) {
    throw Error(ErrorCode::kUnsupported,
                task + ": a task's file has no data of " + std::string(name_of(dtype)));
  }
  if (dtype == DType::i64) entry.tail.add(", dtype: i64");
  if (is_causal(info)) {
    entry.tail.add(", causal: true}\n");
  } else {
    entry.tail.add(",\n    values: \"" +
                   (dtype == DType::f32 ? values_text(info.data.data<float>())
                                        : values_text(info.data.data<int64_t>())) +
                   "\"}\n");
  }
  return entry;
}

using Attribute = std::pair<const Operator*, std::string>;

/// Attributes that have another value than the one which they have if left out.
std::set<Attribute> attributes_said(const std::vector<const Graph*>& graphs) {
  std::set<Attribute> said;
  for (const Graph* graph : graphs) {
    for (const Graph::Node& node : graph->nodes()) {
      for (const AttributeSpec& spec : node.call.op->attributes) {
        const AttributeValue* given = node.call.attributes.find(spec.name);
        if (given != nullptr && (spec.required || *given != spec.fallback)) {
          said.insert({node.call.op, spec.name});
        }
      }
    }
  }
  return said;
}

Entry operator_entry(const Graph& graph, const Graph::Node& node, const std::set<Attribute>& said) {
  const Operator& op = *node.call.op;
  Entry entry;
  entry.head.add("- {op: " + op.name + ", in: ");
  for (const int id : node.inputs) {
    add_name(entry.items.emplace_back(), graph.value(id).name, op.name + "_operand");
  }
  entry.tail.add(node.outputs.size() > 1 ? ", out: [" : ", out: ");
  for (size_t i = 0; i < node.outputs.size(); ++i) {
    if (i > 0) entry.tail.add(", ");
    add_name(entry.tail, graph.value(node.outputs[i]).name, op.name + "_number");
  }
  if (node.outputs.size() > 1) entry.tail.add("]");
  bool any = false;
  for (const AttributeSpec& spec : op.attributes) {
    const AttributeValue* given = node.call.attributes.find(spec.name);
    if (given == nullptr || !said.contains({&op, spec.name})) continue;
    entry.tail.add((any ? ", " : ", attributes: {") + spec.name + ": ");
    any = true;
    const std::string label = op.name + "_" + spec.name;
    if (const auto* list = std::get_if<std::vector<int64_t>>(given)) {
      add_list(entry.tail, *list, label);
    } else if (const auto* word = std::get_if<std::string>(given)) {
      entry.tail.add(*word);
    } else if (const auto* real = std::get_if<double>(given)) {
      entry.tail.add(*real, label);
    } else {
      entry.tail.add(std::get<int64_t>(*given), label);
    }
  }
  entry.tail.add(any ? "}}\n" : "}\n");
  return entry;
}

// --- The file ----------------------------------------------------------------------------------

/// "6*t + 3" of the parts that are not 0.
std::string sum_of(const std::vector<std::string>& parts) {
  std::string sum;
  for (const std::string& part : parts) {
    if (part == "0") continue;
    const bool minus = part.starts_with('-') && !sum.empty();
    sum += (sum.empty() ? "" : minus ? " - " : " + ") + (minus ? part.substr(1) : part);
  }
  return sum.empty() ? "0" : sum;
}

/// `by` a turn.
std::string times(const std::string& by, const std::string& turn) {
  if (by == "0" || by == "1") return by == "0" ? by : turn;
  return (by.find(' ') == std::string::npos ? by : "(" + by + ")") + "*" + turn;
}

class Writer {
 public:
  Writer(const Task& task, std::span<const SizedGraph> built) : task_(task), built_(built) {
    if (built.empty() || built.size() > std::size(kAllPresets)) {
      throw Error(ErrorCode::kInvalidArgument,
                  "a task's file is written of one graph, or of one for each preset");
    }
    for (const VariableSpec& spec : task.variables) names_.insert(spec.name);
    for (const auto& [name, value] : built[0].variables) names_.insert(name);
    turn_ = unused("t");
    item_ = unused("i");
    for (const auto& [name, value] : built[0].variables) {
      const auto spec = std::ranges::find(task.variables, name, &VariableSpec::name);
      if (spec != task.variables.end() && !spec->follows.empty()) continue;
      Variable variable{name, {}, false};
      for (const SizedGraph& each : built) {
        const auto found = each.variables.find(name);
        if (found == each.variables.end()) break;
        if (const auto* whole = std::get_if<int64_t>(&found->second)) {
          variable.values.emplace_back(*whole);
        } else if (const auto* real = std::get_if<double>(&found->second)) {
          variable.values.emplace_back(*real);
        }
      }
      if (variable.values.size() == built.size()) variables_.push_back(std::move(variable));
    }
  }

  std::string write(const std::string& at) {
    std::vector<const Graph*> graphs;
    for (const SizedGraph& each : built_) graphs.push_back(each.graph);
    const std::set<Attribute> said = attributes_said(graphs);
    using Kind = Graph::Kind;
    // Weights of a fan-in in one graph and of none in another are written by their bounds.
    std::set<std::string> without;
    for (const Graph* graph : graphs) {
      for (const int id : graph->values_of(Kind::parameter)) {
        if (!fan_in_of(graph->value(id))) without.insert(graph->value(id).name);
      }
    }
    const auto tensors = [&without](Kind kind) {
      return [&without, kind](const Graph& graph) {
        std::vector<Entry> entries;
        for (const int id : graph.values_of(kind)) {
          const Graph::ValueInfo& info = graph.value(id);
          const bool by_fan_in = kind == Kind::parameter && !without.contains(info.name);
          entries.push_back(tensor_entry(info, by_fan_in));
        }
        return entries;
      };
    };
    section("inputs", true, tensors(Kind::input));
    section("parameters", true, tensors(Kind::parameter));
    section("data", false, [&](const Graph& graph) {
      std::vector<Entry> entries;
      for (const int id : graph.values_of(Kind::constant)) {
        entries.push_back(data_entry(graph.value(id), to_string(task_.id)));
      }
      return entries;
    });
    section("operators", true, [&](const Graph& graph) {
      std::vector<Entry> entries;
      for (const auto& node : graph.nodes()) entries.push_back(operator_entry(graph, node, said));
      return entries;
    });
    section("outputs", false, [](const Graph& graph) {
      Entry entry;
      for (const int id : graph.outputs()) {
        add_name(entry.items.emplace_back(), graph.value(id).name, "output");
      }
      return std::vector{entry};
    });
    return head(at) + body_ + tolerance();
  }

 private:
  /// A number's name, with its value at each of the presets.
  struct Variable {
    std::string name;
    std::vector<Number> values;
    bool own;  ///< of the file, not of the task
    bool used = false;
  };

  std::string unused(const std::string& name) {
    std::string free = name;
    const auto taken = [&](const std::string& text) {
      return names_.contains(text) ||
             std::ranges::find(expression_functions(), text) != expression_functions().end();
    };
    for (int i = 2; taken(free); ++i) free = name + "_" + std::to_string(i);
    names_.insert(free);
    return free;
  }

  /// Where a number stands. One in a name or of turns may be a variable and so much more: names
  /// are numbered through, and the first turn of a repeat is often a step by itself.
  enum class In { value, name, turns };

  /// The number, or the variable that has its values.
  std::string number(const Column& column, const std::string& label, In in = In::value) {
    const auto first = std::ranges::find_if(column, [](const Known& one) { return bool(one); });
    if (first == column.end()) return "0";  // of a turn that no graph has
    const auto all = [&](const auto& holds) {
      for (size_t g = 0; g < column.size(); ++g) {
        if (column[g] && !holds(*column[g], g)) return false;
      }
      return true;
    };
    if (all([&](const Number& one, size_t) { return one == **first; })) return text_of(**first);
    for (Variable& variable : variables_) {
      if (!all([&](const Number& one, size_t g) { return one == variable.values[g]; })) continue;
      variable.used = true;
      return variable.name;
    }
    for (Variable& variable : variables_) {
      const bool may_be = in == In::turns || (in == In::name && variable.own);
      if (!may_be || !std::holds_alternative<int64_t>(variable.values[0])) continue;
      const auto more = [&](const Number& one, size_t g) {
        return std::get<int64_t>(one) - std::get<int64_t>(variable.values[g]);
      };
      const int64_t by = more(**first, static_cast<size_t>(first - column.begin()));
      if (all([&](const Number& one, size_t g) { return more(one, g) == by; })) {
        variable.used = true;
        return sum_of({variable.name, std::to_string(by)});
      }
    }
    std::string name;
    for (const char c : label) {
      const char fit = is_word_character(c) ? c : '_';
      if (fit != '_' || !name.ends_with('_')) name += fit;
    }
    if (name.empty() || std::isdigit(static_cast<unsigned char>(name[0])) != 0) name = "n" + name;
    Variable& added = variables_.emplace_back(Variable{unused(name), {}, true, true});
    for (const Known& one : column) added.values.push_back(one.value_or(**first));
    return added.name;
  }

  /// The next number of a line: first, and more in each turn of a repeat.
  std::string in_turn(const Slot& slot, const std::string& label, In in = In::value) {
    return sum_of(
        {times(number(slot.by_turn, label + "_step"), turn_), number(slot.first, label, in)});
  }

  /// The row with these for its numbers.
  static std::string text_with(const Row& row, const std::vector<std::string>& numbers) {
    std::string text, name;
    bool in_name = false;
    const auto put = [&](const std::string& word) {
      for (const char c : word) {
        if (c != kName) {
          (in_name ? name : text) += c;
          continue;
        }
        in_name = !in_name;
        if (in_name) continue;
        text += name.find('{') == std::string::npos ? name : in_quotes(name);
        name.clear();
      }
    };
    put(row.words[0]);
    for (size_t n = 0; n < numbers.size(); ++n) {
      const bool digits = numbers[n].find_first_not_of("0123456789") == std::string::npos;
      put(in_name && !digits ? "{" + numbers[n] + "}" : numbers[n]);
      put(row.words[n + 1]);
    }
    return text;
  }

  static bool is_in_name(const Row& row, size_t number) {
    size_t marks = 0;
    for (size_t i = 0; i <= number; ++i) marks += std::ranges::count(row.words[i], kName);
    return marks % 2 == 1;
  }

  /// The row, whose slots begin at `at`, which moves behind them.
  std::string text_of_row(const Row& row, const Line& line, size_t& at) {
    std::vector<std::string> numbers;
    for (size_t n = 0; n < row.numbers.size(); ++n) {
      numbers.push_back(
          in_turn(line.slots[at++], row.labels[n], is_in_name(row, n) ? In::name : In::value));
    }
    return text_with(row, numbers);
  }

  /// The items, whose slots begin at `at`.
  std::string items(const Line& line, size_t at) {
    std::vector<std::string> texts;
    for (const Block& block : line.items) {
      const std::span rows(line.entry->items.data() + block.at, block.period);
      const std::string count = block.repeats ? in_turn(line.slots[at++], "items", In::turns) : "";
      size_t by = at;
      for (const Row& row : rows) by += row.numbers.size();
      std::vector<std::string> names;
      for (const Row& row : rows) {
        std::vector<std::string> numbers;
        for (size_t n = 0; n < row.numbers.size(); ++n) {
          const std::string first = in_turn(line.slots[at++], row.labels[n], In::name);
          numbers.push_back(
              !block.repeats
                  ? first
                  : sum_of(
                        {times(in_turn(line.slots[by++], row.labels[n] + "_step"), item_), first}));
        }
        names.push_back(text_with(row, numbers));
      }
      at = block.repeats ? by : at;
      texts.push_back(!block.repeats
                          ? names[0]
                          : (names.size() == 1 ? "{name: " + names[0]
                                               : "{names: [" + joined_names(names) + "]") +
                                ", repeat: {" + item_ + ": " + count + "}}");
    }
    const bool one = line.items.size() == 1 && !line.items[0].repeats;
    return one ? texts[0] : "[" + joined_names(texts) + "]";
  }

  void section(const std::string& name, bool fold, const auto& entries_of) {
    std::vector<std::vector<Entry>> graphs;
    for (const SizedGraph& each : built_) graphs.push_back(entries_of(*each.graph));
    const auto parts = merged(graphs, fold);
    if (!parts) {
      throw Error(ErrorCode::kUnsupported,
                  to_string(task_.id) + ": its " + name +
                      " differ between the presets in more than numbers, which one file cannot "
                      "say; write one preset, or take sizes at which every block comes three "
                      "times or more (--preset)");
    }
    if (parts->empty()) return;
    const bool steps = name == "operators", outputs = name == "outputs";
    body_ += name + (outputs ? ": " : ":\n");
    for (const Part& part : *parts) {
      std::string repeat, indent = "  ";
      if (part.repeats) {
        const Entry& first = *part.lines[0].entry;
        const std::string label = steps ? "turns" : first.head.words[0].substr(1) + "turns";
        repeat = "repeat: {" + turn_ + ": " + number(part.turns, label, In::turns) + "}";
      }
      if (steps && part.repeats) {
        body_ += "  - " + repeat + "\n    steps:\n";
        indent = "      ";
      }
      for (const Line& line : part.lines) {
        size_t at = 0;
        const std::string head = text_of_row(line.entry->head, line, at),
                          tail = text_of_row(line.entry->tail, line, at);
        if (steps) {
          body_ += indent + head + items(line, at) + tail;
        } else if (outputs) {
          body_ += items(line, at) + "\n";
        } else {
          body_ += indent + head + ": {" + (repeat.empty() ? "" : repeat + ", ") + tail;
        }
      }
    }
  }

  std::string head(const std::string& at) const {
    const std::string name = task_.id.own.empty() ? "level" + std::to_string(task_.id.level) +
                                                        "s/task_" + std::to_string(task_.id.number)
                                                  : task_.id.own;
    std::string text = "# " + to_string(task_.id) + " (" + task_.name + ")" + at + "\n";
    std::string variables;
    const auto put = [&](const Variable& variable) {
      std::vector<std::string> values;
      for (const Number& value : variable.values) {
        values.push_back(text_of(value));
        const bool whole = values.back().find_first_not_of("-0123456789") == std::string::npos;
        if (whole && std::holds_alternative<double>(value)) values.back() += ".0";
      }
      const std::string &smoke = values.front(), &large = values.back();
      const std::string& v0 = values.size() > 2 ? values[values.size() - 2] : large;
      variables += "  " + variable.name + ": {smoke: " + smoke;
      if (values.size() > 3 && values[1] != v0) variables += ", train: " + values[1];
      if (v0 != large) variables += ", v0: " + v0;
      variables += ", v0.1: " + large + "}\n";
    };
    for (const VariableSpec& spec : task_.variables) {
      const auto known = std::ranges::find(variables_, spec.name, &Variable::name);
      if (known != variables_.end() && known->used) put(*known);
    }
    for (const Variable& variable : variables_) {
      const bool of_task = std::ranges::any_of(
          task_.variables, [&](const VariableSpec& spec) { return spec.name == variable.name; });
      if (variable.used && !of_task) put(variable);
    }
    if (!variables.empty()) {
      text +=
          "# A number that differs between the presets is a variable; none follows from another.\n";
    }
    return text + "kbench_task: 1\nname: " + name + "\ntitle: " + in_quotes(task_.name) +
           "\nfamily: " + in_quotes(task_.family) + "\n" +
           (variables.empty() ? "" : "variables:\n" + variables);
  }

  std::string tolerance() const {
    std::string text;
    if (!task_.tolerance.reason.empty()) {
      text = "tolerance:\n  relative: " + number_text(task_.tolerance.relative) +
             "\n  reason: " + in_quotes(task_.tolerance.reason) + "\n";
    }
    if (!task_.honest.empty()) text += "honest_error:\n";
    for (const auto& [dtype, honest] : task_.honest) {
      text += "  " + std::string(name_of(dtype)) + ": {";
      text += !honest.undefined.empty() ? "undefined: " + in_quotes(honest.undefined)
                                        : "relative: " + number_text(honest.relative) +
                                              ", rms: " + number_text(honest.rms) +
                                              ", elements: " + std::to_string(honest.elements);
      text += "}\n";
    }
    return text;
  }

  const Task& task_;
  const std::span<const SizedGraph> built_;
  std::set<std::string> names_;  ///< of the file's variables
  std::vector<Variable> variables_;
  std::string turn_, item_;
  std::string body_;
};

}  // namespace
}  // namespace written

std::string task_file_text(const Task& task, const Graph& graph, Preset preset) {
  const SizedGraph built[] = {{{}, &graph}};
  return written::Writer(task, built).write(" at preset " + std::string(name_of(preset)));
}

std::string task_file_text(const Task& task, std::span<const SizedGraph> built) {
  return written::Writer(task, built).write("");
}

std::string task_file_text(const Task& task) {
  std::vector<std::unique_ptr<Graph>> graphs;
  std::vector<SizedGraph> built;
  for (const Preset preset : kAllPresets) {
    graphs.push_back(build_graph(task, preset));
    built.push_back({graphs.back()->variables(), graphs.back().get()});
  }
  return task_file_text(task, built);
}

}  // namespace kbench
