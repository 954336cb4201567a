#include "libkbench/task_file/write.h"

#include <algorithm>
#include <set>

#include "kbench/error.h"
#include "libkbench/base/text.h"
#include "libkbench/task_file/entries.h"
#include "libkbench/task_file/extents.h"
#include "libkbench/task_file/fit.h"
#include "libkbench/task_file/fit_expression.h"
#include "libkbench/task_file/pattern.h"

namespace kbench {
namespace written {
namespace {

using Binds = Expression::Binds;

std::string quoted_text(const std::string& text) {
  std::string result = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') result += '\\';
    result += c;
  }
  return result + "\"";
}

/// As YAML takes it between brackets and braces.
std::string in_yaml(const Expression& expression) {
  const bool plain = expression.text.find_first_of(",[]{}#:") == std::string::npos;
  return plain ? expression.text : quoted_text(expression.text);
}

/// "6*t": `by`, which is not 0, a turn.
Expression times(const Expression& by, const std::string& turn) {
  if (by.text == "1") return {turn, Binds::whole, {}};
  const std::string factor = by.binds == Binds::whole ? by.text : "(" + by.text + ")";
  return {factor + "*" + turn, Binds::product, by.variables};
}

/// The sum of those that are not 0.
Expression sum_of(const std::vector<Expression>& parts) {
  Expression sum = literal(int64_t{0});
  for (const Expression& part : parts) {
    if (part.text == "0") continue;
    if (sum.text == "0") {
      sum = part;
    } else if (part.text.starts_with('-') && part.binds == Binds::sum) {
      sum = {sum.text + " - " + part.text.substr(1), Binds::sum, sum.variables};
    } else {
      sum = combined(sum, '+', part);
    }
  }
  return sum;
}

std::string value_text(const VariableValue& value) {
  std::string text = to_string(value);
  if (std::holds_alternative<double>(value)) {
    text = number_text(std::get<double>(value));
    if (text.find_first_not_of("-0123456789") == std::string::npos) text += ".0";
  }
  return text;
}

class Writer {
 public:
  Writer(const Task& task, std::span<const SizedGraph> built)
      : task_(task),
        built_(built),
        presets_(std::min(built.size(), std::size(kAllPresets))),
        left_out_(built.size(), false) {}

  WrittenFile write(const std::string& at) {
    std::vector<const Graph*> graphs;
    for (const SizedGraph& each : built_) graphs.push_back(each.graph);
    const std::vector<Entries> entries = entries_of(graphs, to_string(task_.id));
    const Pattern inputs = pattern(entries, &Entries::inputs, "inputs"),
                  parameters = pattern(entries, &Entries::parameters, "parameters"),
                  data = pattern(entries, &Entries::data, "data"),
                  operators = pattern(entries, &Entries::operators, "operators"),
                  outputs = pattern(entries, &Entries::outputs, "outputs");
    std::vector<Variables> sizes;
    std::vector<bool> counts;
    for (size_t g = 0; g < built_.size(); ++g) {
      sizes.push_back(built_[g].variables);
      counts.push_back(!left_out_[g]);
    }
    fit_.emplace(sizes, presets_, counts);
    turn_ = free_name({"t", "turn", "turn_number"});
    item_ = free_name({"i", "item", "item_number"});
    tensors(inputs, "inputs");
    for (const PatternBlock& block : operators) {
      for (const PatternEntry& entry : block.entries) learn_extents(entry, *fit_);
    }
    tensors(parameters, "parameters");
    values(data);
    body_ += "operators:\n";
    for (const PatternBlock& block : operators) operation(block);
    body_ += "outputs: [" + operands(outputs[0].entries[0], 0, false) + "]\n";
    WrittenFile file;
    for (const Fit::Added& added : fit_->added()) file.added.push_back(added.name);
    const std::set<std::string> unexplained = unexplained_variables();
    file.unexplained.assign(unexplained.begin(), unexplained.end());
    file.text = head(at, file.unexplained) + body_ + tolerance();
    return file;
  }

 private:
  Pattern pattern(const std::vector<Entries>& entries, std::vector<Entry> Entries::*section,
                  const std::string& what) {
    std::vector<const std::vector<Entry>*> lists;
    for (const Entries& each : entries) lists.push_back(&(each.*section));
    auto result = pattern_of(lists, presets_, section != &Entries::data, left_out_);
    if (result) return std::move(*result);
    throw Error(ErrorCode::kUnsupported, to_string(task_.id) + ": its " + what +
                                             " differ between the sizes in more than numbers, "
                                             "which one file cannot say; write one preset, or "
                                             "take sizes at which every block comes three times "
                                             "or more (--preset)");
  }

  std::string free_name(const std::vector<std::string>& names) const {
    for (const std::string& name : names) {
      if (!built_[0].variables.contains(name)) return name;
    }
    return names.back() + "_of_repeat";
  }

  /// Those that change numbers without an expression, and those that change the graph otherwise.
  std::set<std::string> unexplained_variables() const {
    std::set<std::string> names = fit_->unexplained();
    std::vector<std::vector<std::string>> together;
    for (size_t g = presets_; g < built_.size(); ++g) {
      if (!left_out_[g]) continue;
      std::vector<std::string> changed = changed_in(g);
      if (changed.size() == 1) {
        names.insert(changed[0]);
      } else {
        together.push_back(std::move(changed));
      }
    }
    for (const std::vector<std::string>& changed : together) {
      const bool known =
          std::ranges::any_of(changed, [&](const auto& name) { return names.contains(name); });
      if (!known) names.insert(changed.begin(), changed.end());
    }
    return names;
  }

  /// In what a size differs from the preset that is nearest.
  std::vector<std::string> changed_in(size_t size) const {
    std::vector<std::string> fewest;
    for (size_t g = 0; g < presets_; ++g) {
      std::vector<std::string> changed;
      for (const auto& [name, value] : built_[size].variables) {
        const auto own = built_[g].variables.find(name);
        if (own == built_[g].variables.end() || own->second != value) changed.push_back(name);
      }
      if (g == 0 || changed.size() < fewest.size()) fewest = std::move(changed);
    }
    return fewest;
  }

  std::string head(const std::string& at, const std::vector<std::string>& unexplained) const {
    const std::string name = task_.id.own.empty() ? "level" + std::to_string(task_.id.level) +
                                                        "s/task_" + std::to_string(task_.id.number)
                                                  : task_.id.own;
    std::string text = "# " + to_string(task_.id) + " (" + task_.name + ")" + at + "\n";
    if (!unexplained.empty() && built_.size() > presets_) {
      text += "# Not in expressions: what else follows from " + joined_names(unexplained) + "\n";
    }
    text += "kbench_task: 1\nname: " + name + "\ntitle: " + quoted_text(task_.name) +
            "\nfamily: " + quoted_text(task_.family) + "\n";
    std::string variables;
    const auto put = [&](const std::string& name, const auto& value_at) {
      std::vector<std::string> values;
      for (size_t g = 0; g < presets_; ++g) values.push_back(value_text(value_at(g)));
      const std::string &smoke = values.front(), &large = values.back();
      variables += "  " + name + ": ";
      if (std::ranges::all_of(values, [&](const auto& value) { return value == smoke; })) {
        variables += smoke + "\n";
        return;
      }
      variables += "{smoke: " + smoke;
      const std::string& v0 = presets_ > 2 ? values[presets_ - 2] : large;
      if (presets_ > 3 && values[1] != v0) variables += ", train: " + values[1];
      if (v0 != large) variables += ", v0: " + v0;
      variables += ", v0.1: " + large + "}\n";
    };
    std::vector<std::string> order;
    for (const VariableSpec& spec : task_.variables) order.push_back(spec.name);
    for (const auto& [name, value] : built_[0].variables) {
      if (std::ranges::find(order, name) == order.end()) order.push_back(name);
    }
    for (const std::string& name : order) {
      if (!fit_->used().contains(name) || !built_[0].variables.contains(name)) continue;
      put(name, [&](size_t g) { return built_[g].variables.find(name)->second; });
    }
    for (const Fit::Added& added : fit_->added()) {
      put(added.name, [&](size_t g) { return added.values[g]; });
    }
    return text + (variables.empty() ? "" : "variables:\n" + variables);
  }

  static std::string joined_names(const std::vector<std::string>& names) {
    return listed(names, [](const std::string& name) { return name; });
  }

  std::string tolerance() const {
    std::string text;
    if (!task_.tolerance.reason.empty()) {
      text = "tolerance:\n  relative: " + number_text(task_.tolerance.relative) +
             "\n  reason: " + quoted_text(task_.tolerance.reason) + "\n";
    }
    if (!task_.honest.empty()) text += "honest_error:\n";
    for (const auto& [dtype, honest] : task_.honest) {
      text += "  " + std::string(name_of(dtype)) + ": {";
      text += !honest.undefined.empty() ? "undefined: " + quoted_text(honest.undefined)
                                        : "relative: " + number_text(honest.relative) +
                                              ", rms: " + number_text(honest.rms) +
                                              ", elements: " + std::to_string(honest.elements);
      text += "}\n";
    }
    return text;
  }

  /// The number in turn t of the block that repeats, if it is in one.
  Expression in_turn(const Slot& slot, bool repeats, Fit::Rules rules, const std::string& label) {
    const Expression first = fit_->number(slot.first, rules, label);
    if (!repeats) return first;
    const Expression by = fit_->number(slot.by_turn, rules, label + "_step");
    return by.text == "0" ? first : sum_of({times(by, turn_), first});
  }

  static std::string turns_label(const PatternBlock& block) {
    const Entry& first = block.entries[0].words;
    return (first.head.empty() ? first.texts[0].words[0] : first.head + "_") + "turns";
  }

  /// "{turn: count}"
  static std::string repeat_text(const std::string& turn, const Expression& count) {
    return "repeat: {" + turn + ": " + in_yaml(count) + "}";
  }

  /// A name with its numbers; in quotes where one is an expression.
  static std::string name_text(const Text& text, const std::vector<Expression>& numbers) {
    std::string name = text.words[0];
    bool plain = true;
    for (size_t n = 0; n < numbers.size(); ++n) {
      const bool digits = numbers[n].text.find_first_not_of("0123456789") == std::string::npos;
      plain = plain && digits;
      name += (digits ? numbers[n].text : "{" + numbers[n].text + "}") + text.words[n + 1];
    }
    return plain ? name : "\"" + name + "\"";
  }

  /// The text of an entry whose numbers begin at slot `at`, which moves behind them.
  std::string text_of(const Text& text, const PatternEntry& entry, size_t& at, bool repeats) {
    const std::span<const Slot> slots(entry.slots.data() + at, text.numbers.size());
    at += text.numbers.size();
    if (text.kind == Text::Kind::distribution) return distribution(text, slots, repeats);
    std::vector<Expression> numbers;
    for (size_t n = 0; n < slots.size(); ++n) {
      const bool one_of_many = text.kind == Text::Kind::shape || slots.size() > 1;
      const auto rules = text.kind == Text::Kind::name ? Fit::Rules::name : Fit::Rules::exact;
      numbers.push_back(
          in_turn(slots[n], repeats, rules, text.label + (one_of_many ? std::to_string(n) : "")));
    }
    if (text.kind == Text::Kind::name) return name_text(text, numbers);
    bool is_fallback = text.has_fallback && text.fallback.size() == numbers.size();
    for (size_t n = 0; n < numbers.size() && is_fallback; ++n) {
      is_fallback = numbers[n].text == literal(text.fallback[n]).text;
    }
    if (is_fallback) return "";
    if (!text.words[0].ends_with('[')) {
      return numbers.empty() ? text.words[0] : text.words[0] + in_yaml(numbers[0]);
    }
    return text.words[0] + list_text(numbers) + "]";
  }

  /// Items of a list; a list variable's name for all of its elements.
  std::string list_text(const std::vector<Expression>& items) const {
    std::string text;
    for (size_t i = 0; i < items.size(); ++i) {
      std::string item = in_yaml(items[i]);
      const std::string& first = items[i].text;
      if (first.ends_with("[0]")) {
        const std::string list = first.substr(0, first.size() - 3);
        const size_t length = fit_->length_of_list(list);
        bool all = length > 0 && i + length <= items.size();
        for (size_t k = 0; k < length && all; ++k) {
          all = items[i + k].text == list + "[" + std::to_string(k) + "]";
        }
        if (all) {
          item = list;
          i += length - 1;
        }
      }
      text += (text.empty() ? "" : ", ") + item;
    }
    return text;
  }

  /// In quotes.
  std::string distribution(const Text& text, std::span<const Slot> slots, bool repeats) {
    if (slots.size() == 1) {
      const Expression number = in_turn(slots[0], repeats, Fit::Rules::exact, text.label);
      return quoted_text(text.words[0] + number.text + text.words[1]);
    }
    const bool uniform = text.words[0] == "uniform(";
    if (uniform && text.words[2] == ")") {
      if (const auto bound = fit_->weights_bound(slots[0].first, slots[1].first)) {
        return quoted_text("weights(" + bound->text + ")");
      }
    }
    const Expression high =
        in_turn(slots[1], repeats, Fit::Rules::real, text.label + (uniform ? "_high" : "_spread"));
    const bool opposite =
        std::ranges::equal(slots[0].first, slots[1].first, [](const Known& low, const Known& high) {
          return low.has_value() == high.has_value() &&
                 (!low || (std::holds_alternative<double>(*low) &&
                           std::get<double>(*low) == -std::get<double>(*high)));
        });
    const Expression low =
        opposite ? Expression{"-" + (high.binds == Binds::sum ? "(" + high.text + ")" : high.text),
                              Binds::sum, high.variables}
                 : in_turn(slots[0], repeats, Fit::Rules::real,
                           text.label + (uniform ? "_low" : "_mean"));
    std::string drawn = text.words[0] + low.text + text.words[1] + high.text + text.words[2];
    const std::string standard = "normal(0, 1)";
    if (drawn.starts_with(standard)) drawn = "normal" + drawn.substr(standard.size());
    return quoted_text(drawn);
  }

  void tensors(const Pattern& pattern, const std::string& heading) {
    if (pattern.empty()) return;
    body_ += heading + ":\n";
    for (const PatternBlock& block : pattern) {
      const std::string repeat =
          block.repeats ? repeat_text(turn_, fit_->number(block.turns, Fit::Rules::exact,
                                                          turns_label(block))) +
                              ", "
                        : "";
      for (const PatternEntry& entry : block.entries) {
        size_t at = 0;
        const std::vector<Text>& texts = entry.words.texts;
        const std::string name = text_of(texts[0], entry, at, block.repeats),
                          shape = text_of(texts[1], entry, at, block.repeats),
                          drawn = text_of(texts[2], entry, at, block.repeats);
        body_ += "  " + name + ": {" + repeat + "shape: " + shape + ", distribution: " + drawn;
        if (!entry.words.head.empty()) body_ += ", dtype: " + entry.words.head;
        body_ += "}\n";
      }
    }
  }

  void values(const Pattern& pattern) {
    if (pattern.empty()) return;
    body_ += "data:\n";
    for (const PatternBlock& block : pattern) {
      const PatternEntry& entry = block.entries[0];
      size_t at = 0;
      const std::string name = text_of(entry.words.texts[0], entry, at, false),
                        shape = text_of(entry.words.texts[1], entry, at, false);
      body_ += "  " + name + ":\n    shape: " + shape + "\n" + entry.words.head;
    }
  }

  void operation(const PatternBlock& block) {
    std::string indent = "  ";
    if (block.repeats) {
      body_ +=
          "  - " +
          repeat_text(turn_, fit_->number(block.turns, Fit::Rules::exact, turns_label(block))) +
          "\n    steps:\n";
      indent = "      ";
    }
    for (const PatternEntry& entry : block.entries) {
      std::vector<std::string> out, attributes;
      size_t at = 0;
      for (const Text& text : entry.words.texts) {
        const std::string written = text_of(text, entry, at, block.repeats);
        if (written.empty()) continue;
        (text.kind == Text::Kind::name ? out : attributes).push_back(written);
      }
      const bool one = entry.operands.size() == 1;
      const std::string in = operands(entry, at, block.repeats);
      body_ += indent + "- {op: " + entry.words.head + ", in: " + (one ? in : "[" + in + "]") +
               ", out: " + (out.size() == 1 ? out[0] : "[" + joined_names(out) + "]");
      if (!attributes.empty()) body_ += ", attributes: {" + joined_names(attributes) + "}";
      body_ += "}\n";
    }
  }

  /// The operands, whose slots begin at `at`.
  std::string operands(const PatternEntry& entry, size_t at, bool repeats) {
    std::vector<std::string> items;
    for (const Block& block : entry.operands) {
      Expression count;
      if (block.repeats) {
        count = in_turn(entry.slots[at++], repeats, Fit::Rules::exact, entry.words.head + "_count");
      }
      size_t numbers = 0;
      for (size_t i = 0; i < block.period; ++i) {
        numbers += entry.words.operands[block.at + i].numbers.size();
      }
      size_t by_operand = at + numbers;
      std::vector<std::string> names;
      for (size_t i = 0; i < block.period; ++i) {
        const Text& text = entry.words.operands[block.at + i];
        const std::string label =
            entry.words.head.empty() ? "output_number" : entry.words.head + "_operand";
        std::vector<Expression> expressions;
        for (size_t n = 0; n < text.numbers.size(); ++n, ++at) {
          Expression number = in_turn(entry.slots[at], repeats, Fit::Rules::name, label);
          if (block.repeats) {
            const Expression by =
                in_turn(entry.slots[by_operand++], repeats, Fit::Rules::exact, label + "_step");
            if (by.text != "0") number = sum_of({times(by, item_), number});
          }
          expressions.push_back(std::move(number));
        }
        names.push_back(name_text(text, expressions));
      }
      if (!block.repeats) {
        items.push_back(names[0]);
        continue;
      }
      at = by_operand;
      items.push_back(
          (names.size() == 1 ? "{name: " + names[0] : "{names: [" + joined_names(names) + "]") +
          ", " + repeat_text(item_, count) + "}");
    }
    return joined_names(items);
  }

  const Task& task_;
  const std::span<const SizedGraph> built_;
  const size_t presets_;
  std::vector<bool> left_out_;
  std::optional<Fit> fit_;
  std::string turn_, item_;
  std::string body_;
};

}  // namespace

WrittenFile write_file(const Task& task, std::span<const SizedGraph> built, const std::string& at) {
  if (built.empty()) {
    throw Error(ErrorCode::kInvalidArgument, "a task's file is written of one graph at least");
  }
  return Writer(task, built).write(at);
}

}  // namespace written

std::string task_file_text(const Task& task, const Graph& graph, Preset preset) {
  const SizedGraph built[] = {{{}, &graph}};
  return written::write_file(task, built, " at preset " + std::string(name_of(preset))).text;
}

std::string task_file_text(const Task& task, std::span<const SizedGraph> built) {
  return written::write_file(task, built).text;
}

std::string task_file_text(const Task& task) {
  return task_file_text(task, written::SizesAround(task).built());
}

}  // namespace kbench
