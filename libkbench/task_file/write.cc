// A graph written as a task's file, steps that repeat folded.
#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstring>
#include <optional>
#include <set>

#include "kbench/error.h"
#include "kbench/task_file.h"
#include "kbench/text.h"
#include "libkbench/base/text.h"

namespace kbench {
namespace {

/// A text with its whole numbers apart: two texts that differ in numbers alone have equal `words`.
struct Numbered {
  std::vector<std::string> words;  ///< one more than numbers
  std::vector<int64_t> numbers;
  bool operator==(const Numbered&) const = default;
};

Numbered split(const std::string& text) {
  Numbered result;
  result.words.emplace_back();
  const auto digit = [&](size_t i) {
    return i < text.size() && std::isdigit(static_cast<unsigned char>(text[i]));
  };
  for (size_t i = 0; i < text.size();) {
    if (!digit(i)) {
      result.words.back() += text[i++];
      continue;
    }
    size_t end = i;
    while (digit(end)) ++end;
    // A real or negative number, or one too long to count with, is part of the words.
    const bool real = (i > 0 && text[i - 1] == '-') ||
                      (i > 0 && text[i - 1] == '.' && (i > 1 && digit(i - 2))) ||
                      (end < text.size() && (text[end] == 'e' || text[end] == 'E')) ||
                      (end + 1 < text.size() && text[end] == '.' && digit(end + 1));
    if (real || end - i > 15) {
      result.words.back() += text.substr(i, end - i);
    } else {
      result.numbers.push_back(std::stoll(text.substr(i, end - i)));
      result.words.emplace_back();
    }
    i = end;
  }
  return result;
}

/// "6*t + i + 2": a number that grows by 6 a turn t, by 1 an operand i, from 2.
std::string linear(int64_t first, int64_t by_turn, int64_t by_operand = 0) {
  std::string text;
  for (const auto& [by, variable] : {std::pair(by_turn, "t"), std::pair(by_operand, "i")}) {
    if (by == 0) continue;
    text += (text.empty() ? "" : " + ") + (by == 1 ? "" : std::to_string(by) + "*") + variable;
  }
  if (text.empty()) return std::to_string(first);
  return first == 0 ? text : text + " + " + std::to_string(first);
}

/// A name as YAML takes it, its numbers as they are in turn t and for operand i.
std::string name_in_turn(const Numbered& name, const std::vector<int64_t>& by_turn,
                         const std::vector<int64_t>& by_operand) {
  std::string text = name.words[0];
  bool plain = true;
  for (size_t n = 0; n < name.numbers.size(); ++n) {
    const bool grows = by_turn[n] != 0 || by_operand[n] != 0;
    plain = plain && !grows;
    const std::string number = linear(name.numbers[n], by_turn[n], by_operand[n]);
    text += (grows ? "{" + number + "}" : number) + name.words[n + 1];
  }
  return plain ? text : "\"" + text + "\"";
}

/// An operator's line in parts whose numbers may differ from turn to turn.
struct Line {
  std::string op;
  std::vector<std::string> in, out;
  std::vector<std::string> attributes;  ///< "axis: 1"
};

bool same_form(const Line& a, const Line& b) {
  return a.op == b.op && a.in.size() == b.in.size() && a.out.size() == b.out.size() &&
         a.attributes.size() == b.attributes.size();
}

std::vector<const std::string*> parts_of(const Line& line) {
  std::vector<const std::string*> parts;
  for (const auto* list : {&line.in, &line.out, &line.attributes}) {
    for (const std::string& part : *list) parts.push_back(&part);
  }
  return parts;
}

/// How the numbers of `next` exceed those of `line`; nothing where they differ in more.
std::optional<std::vector<int64_t>> growth(const std::vector<Numbered>& line,
                                           const std::vector<Numbered>& next) {
  std::vector<int64_t> by;
  for (size_t i = 0; i < line.size(); ++i) {
    if (line[i].words != next[i].words) return std::nullopt;
    for (size_t n = 0; n < line[i].numbers.size(); ++n) {
      const int64_t more = next[i].numbers[n] - line[i].numbers[n];
      if (more < 0) return std::nullopt;
      by.push_back(more);
    }
  }
  return by;
}

class FileWriter {
 public:
  FileWriter(const Task& task, const Graph& graph, Preset preset)
      : task_(task), graph_(graph), preset_(preset) {}

  std::string text() {
    const std::string name = task_.id.own.empty() ? "level" + std::to_string(task_.id.level) +
                                                        "s/task_" + std::to_string(task_.id.number)
                                                  : task_.id.own;
    out_ = "# " + to_string(task_.id) + " (" + task_.name + ") at preset " +
           std::string(name_of(preset_)) + "\nkbench_task: 1\nname: " + name +
           "\ntitle: " + quoted_text(task_.name) + "\nfamily: " + quoted_text(task_.family) + "\n";
    tensors(Graph::Kind::input, "inputs");
    tensors(Graph::Kind::parameter, "parameters");
    constants();
    out_ += "operators:\n";
    for (const auto& node : graph_.nodes()) add(node);
    write_lines();
    out_ += "outputs: [";
    for (size_t i = 0; i < graph_.outputs().size(); ++i) {
      out_ += (i > 0 ? ", " : "") + name_of_value(graph_.outputs()[i]);
    }
    out_ += "]\n";
    if (!task_.tolerance.reason.empty()) {
      out_ += "tolerance:\n  relative: " + number_text(task_.tolerance.relative) +
              "\n  reason: " + quoted_text(task_.tolerance.reason) + "\n";
    }
    return out_;
  }

 private:
  static std::string quoted_text(const std::string& text) {
    std::string result = "\"";
    for (const char c : text) {
      if (c == '"' || c == '\\') result += '\\';
      result += c;
    }
    return result + "\"";
  }

  std::string name_of_value(int id) const { return graph_.value(id).name; }

  static std::string distribution_text(const Distribution& drawn) {
    std::string text(name_of(drawn.kind));
    if (drawn.kind != Distribution::Kind::normal || drawn.lo != 0 || drawn.hi != 1) {
      text += "(" + number_text(drawn.lo) + ", " + number_text(drawn.hi) + ")";
    }
    if (drawn.then != Distribution::Then::nothing) text += ", " + std::string(name_of(drawn.then));
    return text;
  }

  void tensors(Graph::Kind kind, const char* heading) {
    const std::vector<int> ids = graph_.values_of(kind);
    if (ids.empty()) return;
    out_ += std::string(heading) + ":\n";
    for (const int id : ids) {
      const Graph::ValueInfo& info = graph_.value(id);
      out_ += "  " + info.name + ": {shape: " + to_string(info.type.shape) + ", distribution: \"" +
              distribution_text(info.distribution) + "\"";
      if (info.type.dtype != DType::f32) {
        out_ += ", dtype: " + std::string(kbench::name_of(info.type.dtype));
      }
      out_ += "}\n";
    }
  }

  void constants() {
    const std::vector<int> ids = graph_.values_of(Graph::Kind::constant);
    if (ids.empty()) return;
    out_ += "data:\n";
    for (const int id : ids) {
      const Graph::ValueInfo& info = graph_.value(id);
      out_ += "  " + info.name + ":\n    shape: " + to_string(info.type.shape) + "\n";
      if (info.type.dtype != DType::f32) {
        out_ += "    dtype: " + std::string(kbench::name_of(info.type.dtype)) + "\n";
      }
      out_ += is_causal(info) ? "    causal: true\n"
                              : "    values: \"" + values_text(info.data) + "\"\n";
    }
  }

  static bool is_causal(const Graph::ValueInfo& info) {
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

  std::string values_text(const Tensor& tensor) const {
    std::string text;
    const auto put = [&](const std::string& value, int64_t times) {
      text += (text.empty() ? "" : " ") + (times > 1 ? std::to_string(times) + "*" : "") + value;
    };
    const auto runs = [&](auto values, const auto& written) {
      for (size_t i = 0; i < values.size();) {
        size_t end = i + 1;
        // By bits: 0 is not -0.
        while (end < values.size() &&
               std::memcmp(&values[end], &values[i], sizeof values[i]) == 0) {
          ++end;
        }
        put(written(values[i]), static_cast<int64_t>(end - i));
        i = end;
      }
    };
    if (tensor.dtype() == DType::f32) {
      runs(tensor.data<float>(), [](float value) {
        return std::isinf(value) ? std::string(value < 0 ? "-inf" : "inf") : number_text(value);
      });
    } else if (tensor.dtype() == DType::i64) {
      runs(tensor.data<int64_t>(), [](int64_t value) { return std::to_string(value); });
    } else {
      throw Error(ErrorCode::kUnsupported, to_string(task_.id) + ": a task's file has no data of " +
                                               std::string(kbench::name_of(tensor.dtype())));
    }
    return text;
  }

  void add(const Graph::Node& node) {
    Line line;
    line.op = node.call.op->name;
    for (const int id : node.inputs) line.in.push_back(name_of_value(id));
    for (const int id : node.outputs) line.out.push_back(name_of_value(id));
    for (const AttributeSpec& spec : node.call.op->attributes) {
      const AttributeValue* given = node.call.attributes.find(spec.name);
      if (given == nullptr || (!spec.required && *given == spec.fallback)) continue;
      const auto* real = std::get_if<double>(given);
      line.attributes.push_back(spec.name + ": " +
                                (real != nullptr ? number_text(*real) : to_string(*given)));
    }
    std::vector<Numbered> parts;
    for (const std::string* part : parts_of(line)) parts.push_back(split(*part));
    lines_.push_back(std::move(line));
    parts_.push_back(std::move(parts));
  }

  /// How often the `period` lines from `begin` on come, their numbers growing alike; 1: once.
  size_t turns(size_t begin, size_t period) const {
    const auto grows = [&](size_t line, size_t turn) -> std::optional<std::vector<int64_t>> {
      const size_t a = begin + turn * period + line, b = a + period;
      if (b >= lines_.size() || !same_form(lines_[a], lines_[b])) return std::nullopt;
      return growth(parts_[a], parts_[b]);
    };
    std::vector<std::vector<int64_t>> first;
    for (size_t line = 0; line < period; ++line) {
      const auto by = grows(line, 0);
      if (!by) return 1;
      first.push_back(*by);
    }
    size_t turn = 1;
    for (;; ++turn) {
      for (size_t line = 0; line < period; ++line) {
        const auto by = grows(line, turn);
        if (!by || *by != first[line]) return turn + 1;
      }
    }
  }

  void write_lines() {
    constexpr size_t kLongest = 200, kFewestTurns = 3;
    for (size_t at = 0; at < lines_.size();) {
      size_t best_period = 0, best_turns = 0;
      for (size_t period = 1; period <= std::min(kLongest, (lines_.size() - at) / kFewestTurns);
           ++period) {
        const size_t count = turns(at, period);
        if (count < kFewestTurns || count * period <= best_turns * best_period) continue;
        best_period = period;
        best_turns = count;
      }
      if (best_turns == 0) {
        out_ += "  - " + line_text(at, 0) + "\n";
        ++at;
        continue;
      }
      out_ += "  - repeat: {t: " + std::to_string(best_turns) + "}\n    steps:\n";
      for (size_t i = 0; i < best_period; ++i) {
        out_ += "      - " + line_text(at + i, best_period) + "\n";
      }
      at += best_turns * best_period;
    }
  }

  /// Line i, as one of a block that repeats after `period` lines; 0: of none.
  std::string line_text(size_t i, size_t period) const {
    const Line& line = lines_[i];
    std::vector<std::vector<int64_t>> by;
    for (size_t part = 0; part < parts_[i].size(); ++part) {
      std::vector<int64_t> more(parts_[i][part].numbers.size(), 0);
      for (size_t n = 0; period > 0 && n < more.size(); ++n) {
        more[n] = parts_[i + period][part].numbers[n] - parts_[i][part].numbers[n];
      }
      by.push_back(std::move(more));
    }
    const auto names = [&](size_t first, size_t count) {
      constexpr size_t kFewestOperands = 4;
      if (count >= kFewestOperands) {
        const std::string listed = listed_in_turns(i, first, count, by);
        if (!listed.empty()) return listed;
      }
      std::string text;
      for (size_t k = 0; k < count; ++k) {
        const std::vector<int64_t>& more = by[first + k];
        text += (k > 0 ? ", " : "") +
                name_in_turn(parts_[i][first + k], more, std::vector<int64_t>(more.size(), 0));
      }
      return count == 1 ? text : "[" + text + "]";
    };
    std::string text = "{op: " + line.op + ", in: " + names(0, line.in.size()) +
                       ", out: " + names(line.in.size(), line.out.size());
    const size_t first = line.in.size() + line.out.size();
    for (size_t k = 0; k < line.attributes.size(); ++k) {
      text += k == 0 ? ", attributes: {" : ", ";
      const Numbered& attribute = parts_[i][first + k];
      text += attribute.words[0];
      for (size_t n = 0; n < attribute.numbers.size(); ++n) {
        const int64_t more = by[first + k][n];
        text += (more != 0 ? linear(attribute.numbers[n], more)
                           : std::to_string(attribute.numbers[n])) +
                attribute.words[n + 1];
      }
    }
    return text + (line.attributes.empty() ? "}" : "}}");
  }

  /// Operands whose names grow alike as one; empty where they do not. `by_turn`: how each part of
  /// the line grows from turn to turn.
  std::string listed_in_turns(size_t line, size_t first, size_t count,
                              const std::vector<std::vector<int64_t>>& by_turn) const {
    const Numbered &one = parts_[line][first], &two = parts_[line][first + 1];
    const auto by = growth({one}, {two});
    if (!by || std::ranges::all_of(*by, [](int64_t more) { return more == 0; })) return "";
    for (size_t k = 1; k < count; ++k) {
      if (by_turn[first + k] != by_turn[first] ||
          growth({parts_[line][first + k - 1]}, {parts_[line][first + k]}) != by) {
        return "";
      }
    }
    return "{name: " + name_in_turn(one, by_turn[first], *by) +
           ", repeat: {i: " + std::to_string(count) + "}}";
  }

  const Task& task_;
  const Graph& graph_;
  const Preset preset_;
  std::string out_;
  std::vector<Line> lines_;
  std::vector<std::vector<Numbered>> parts_;  ///< of each line, its texts in order
};

}  // namespace

std::string task_file_text(const Task& task, const Graph& graph, Preset preset) {
  return FileWriter(task, graph, preset).text();
}

}  // namespace kbench
