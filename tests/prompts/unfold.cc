#include "tests/prompts/unfold.h"

#include <algorithm>
#include <cctype>
#include <map>
#include <set>
#include <sstream>
#include <stdexcept>
#include <vector>

#include "kbench/candidate.h"
#include "tests/prompts/expression.h"

namespace kbench::test {
namespace {

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

/// The parts between the commas that stand in no brackets.
std::vector<std::string> split(const std::string& text) {
  std::vector<std::string> parts;
  std::string part;
  int depth = 0;
  for (const char c : text) {
    depth += c == '(' || c == '[' || c == '{';
    depth -= c == ')' || c == ']' || c == '}';
    if (c == ',' && depth == 0) {
      parts.push_back(part);
      part.clear();
    } else if (!part.empty() || c != ' ') {
      part += c;
    }
  }
  if (!part.empty()) parts.push_back(part);
  return parts;
}

size_t indent_of(const std::string& line) { return line.find_first_not_of(' '); }

class Reader {
 public:
  Reader(const std::string& listing, const Graph& graph)
      : lines_(lines_of(listing)), graph_(graph) {
    for (size_t id = 0; id < graph.values().size(); ++id) {
      const auto& value = graph.values()[id];
      if (value.kind != Graph::Kind::intermediate) ids_[value.name] = int(id);
    }
  }

  void run() {
    const size_t begin = find("operators, in order") + 1, end = find("where");
    declared("inputs", Graph::Kind::input);
    declared("constants", Graph::Kind::constant);
    unread();
    block(begin, end);
    if (next_ != graph_.nodes().size()) throw std::runtime_error("operators are missing");
    for (const auto& [name, id] : ids_) {
      if (!sized_.contains(name)) throw std::runtime_error(name + " has no shape");
    }
    for (size_t i = 0; i < graph_.outputs().size(); ++i) {
      if (now_.at(graph_.output_name(i)) != graph_.outputs()[i]) {
        throw std::runtime_error(graph_.output_name(i) + " is another value");
      }
    }
    outputs();
  }
  const std::string& line() const { return line_; }

 private:
  size_t find(const std::string& begin) const {
    for (size_t i = 0; i < lines_.size(); ++i) {
      if (lines_[i].starts_with(begin)) return i;
    }
    return lines_.size();
  }

  /// "  NAME: TYPE, anything".
  void declared(const std::string& title, Graph::Kind kind) {
    for (size_t i = find(title) + 1; i < lines_.size() && lines_[i].starts_with("  "); ++i) {
      line_ = lines_[i];
      const size_t colon = line_.find(": "), close = line_.find(']', colon);
      for (const std::string& name : split(line_.substr(2, colon - 2))) {
        if (!ids_.contains(name)) continue;  // what a distribution's word means
        const auto& value = graph_.values()[size_t(ids_.at(name))];
        expect(value.kind == kind, "of another kind");
        size(name, line_.substr(colon + 2, close - colon - 1));
      }
    }
  }
  void unread() {
    const size_t at = find("parameters that no operator reads");
    if (at == lines_.size()) return;
    line_ = lines_[at + 1];
    for (const std::string& one : split(line_)) {
      const size_t colon = one.find(':');
      size(one.substr(0, colon), one.substr(colon + 1));
    }
  }
  void outputs() {
    const size_t at = find("outputs");
    for (size_t i = 0; i < graph_.outputs().size(); ++i) {
      line_ = lines_[at + 1 + i];
      const auto& value = graph_.values()[size_t(graph_.outputs()[i])];
      const size_t colon = line_.find(": ");
      expect(line_.substr(2, colon - 2) == graph_.output_name(i), "another output");
      expect(type_of(line_.substr(colon + 2)) == value.type, "another type");
    }
  }

  void expect(bool condition, const std::string& what) const {
    if (!condition) throw std::runtime_error(what);
  }

  TensorType type_of(const std::string& text) const {
    const size_t open = text.find('[');
    TensorType type;
    if (open > 0) type.dtype = dtype_from_name(text.substr(0, open - 1));
    for (const auto& extent : evaluate_python(text.substr(open), names_).list) {
      type.shape.push_back(extent.integer);
    }
    return type;
  }

  void size(const std::string& name, const std::string& type) {
    expect(type_of(type) == graph_.values()[size_t(ids_.at(name))].type,
           name + " has another type");
    sized_.insert(name);
  }

  void block(size_t begin, size_t end) {
    for (size_t i = begin; i < end;) {
      size_t last = i + 1;
      while (last < end && indent_of(lines_[last]) > indent_of(lines_[i])) ++last;
      const std::string line = lines_[i].substr(indent_of(lines_[i]));
      line_ = line;
      if (line.starts_with("for ")) {
        const size_t open = line.find("range(");
        const std::string index = line.substr(4, line.find(' ', 4) - 4);
        const int64_t times =
            evaluate_python(line.substr(open + 6, line.size() - open - 8), names_).integer;
        for (int64_t pass = 0; pass < times; ++pass) {
          names_[index] = PythonValue{.integer = pass, .text = "", .list = {}};
          block(i + 1, last);
        }
        names_.erase(index);
      } else if (line.starts_with("if ")) {
        const size_t in = line.find(" in ");
        const int64_t pass = names_.at(line.substr(3, in - 3)).integer;
        bool here = false;
        for (const auto& one :
             evaluate_python(line.substr(in + 4, line.size() - in - 5), names_).list) {
          here |= one.integer == pass;
        }
        if (here) block(i + 1, last);
      } else {
        statement(line);
      }
      i = last;
    }
  }

  void statement(const std::string& line) {
    const size_t equals = line.find(" = ");
    const std::string left = line.substr(0, equals), right = line.substr(equals + 3);
    if (std::isupper(static_cast<unsigned char>(left[0]))) {
      names_[left] = evaluate_python(right, names_);
      return;
    }
    const size_t open = right.find('(');
    if (open == std::string::npos || right.starts_with("all(")) {
      give(left, operands(right).at(0));
      return;
    }
    call(split(left), right.substr(0, open), right.substr(open));
  }

  void give(const std::string& variable, int id) {
    now_[variable] = id;
    past_[variable].push_back(id);
  }

  void call(const std::vector<std::string>& results, const std::string& name,
            const std::string& rest) {
    expect(next_ < graph_.nodes().size(), "more operators than the graph has");
    const Graph::Node& node = graph_.nodes()[next_++];
    expect(node.call.op->name == name, "the graph has " + node.call.op->name);
    const size_t arrow = rest.find(" -> ");
    const std::string inside =
        rest.substr(1, (arrow == std::string::npos ? rest.size() : arrow) - 2);
    std::vector<int> inputs;
    std::map<std::string, std::string> written;
    for (const std::string& argument : split(inside)) {
      const size_t equals = argument.find('=');
      if (equals != std::string::npos) {
        written[argument.substr(0, equals)] = argument.substr(equals + 1);
      } else {
        for (const int id : operands(argument)) inputs.push_back(id);
      }
    }
    expect(inputs == node.inputs, "other operands");
    for (const AttributeSpec& spec : node.call.op->attributes) {
      const AttributeValue& value = *node.call.attributes.find(spec.name);
      const auto found = written.find(spec.name);
      if (found == written.end()) {
        expect(!spec.required && value == spec.fallback, spec.name + " is left out");
      } else {
        expect(equal(value, found->second), spec.name + " has another value");
        written.erase(found);
      }
    }
    expect(written.empty(), "an attribute that the operator does not have");
    std::vector<TensorType> types;
    if (arrow != std::string::npos) {
      for (const std::string& type : split(rest.substr(arrow + 4))) types.push_back(type_of(type));
    } else if (node.call.attributes.find("shape") != nullptr) {
      types = {{node.call.inputs[0].dtype, node.call.attributes.list("shape")}};
    } else {
      types = {node.call.inputs[0]};
    }
    expect(types == node.call.outputs, "other types");
    expect(results.size() == node.outputs.size(), "another number of results");
    for (size_t i = 0; i < results.size(); ++i) give(results[i], node.outputs[i]);
  }

  bool equal(const AttributeValue& value, const std::string& text) const {
    if (std::holds_alternative<double>(value) || std::holds_alternative<std::string>(value)) {
      return to_string(value) == text;
    }
    const PythonValue read = evaluate_python(text, names_);
    if (const auto* integer = std::get_if<int64_t>(&value)) return read.integer == *integer;
    const auto& list = std::get<std::vector<int64_t>>(value);
    if (read.kind != PythonValue::Kind::list) {
      return std::all_of(list.begin(), list.end(), [&](int64_t v) { return v == read.integer; });
    }
    if (read.list.size() != list.size()) return false;
    for (size_t i = 0; i < list.size(); ++i) {
      if (read.list[i].integer != list[i]) return false;
    }
    return true;
  }

  std::vector<int> operands(const std::string& text) {
    const size_t all = text.find("all(");
    if (all <= 1 && text.find(")[") != std::string::npos) {
      const size_t close = text.find(")[");
      const auto& past = past_.at(text.substr(all + 4, close - all - 4));
      const std::string index = text.substr(close + 2, text.size() - close - 3);
      const size_t colon = index.find(':');
      if (colon == std::string::npos) {
        return {past.at(size_t(evaluate_python(index, names_).integer))};
      }
      const auto begin = evaluate_python(index.substr(0, colon), names_).integer;
      const auto end = evaluate_python(index.substr(colon + 1), names_).integer;
      return {past.begin() + begin, past.begin() + end};
    }
    if (now_.contains(text)) return {now_.at(text)};
    std::string name;
    size_t i = 0;
    for (; i < text.size() && text[i] != ':'; ++i) {
      if (text[i] != '{') {
        name += text[i];
        continue;
      }
      const size_t close = text.find('}', i);
      const PythonValue value = evaluate_python(text.substr(i + 1, close - i - 1), names_);
      name += value.kind == PythonValue::Kind::text ? value.text : std::to_string(value.integer);
      i = close;
    }
    expect(ids_.contains(name), "there is no " + name);
    if (i < text.size()) size(name, text.substr(i + 1));
    return {ids_.at(name)};
  }

  std::vector<std::string> lines_;
  const Graph& graph_;
  std::map<std::string, int> ids_;
  std::set<std::string> sized_;
  std::map<std::string, PythonValue> names_;
  std::map<std::string, int> now_;
  std::map<std::string, std::vector<int>> past_;
  size_t next_ = 0;
  std::string line_;
};

}  // namespace

std::string unfold(const std::string& listing, const Task& task, const Graph& graph) {
  Reader reader(listing, graph);
  try {
    reader.run();
  } catch (const std::exception& e) {
    return to_string(task.id) + ": " + e.what() + " in: " + reader.line();
  }
  return "";
}

}  // namespace kbench::test
