// The graph that a task's file means at given sizes.
#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <map>
#include <span>

#include "kbench/candidate_limits.h"
#include "kbench/error.h"
#include "kbench/ops.h"
#include "libkbench/base/text.h"
#include "libkbench/candidate/resolver.h"
#include "libkbench/candidate/symbol_table.h"
#include "libkbench/task_file/task_file.h"

namespace kbench {
namespace {

class FileGraph {
 public:
  FileGraph(const TaskFile& file, Graph& graph)
      : file_(file), graph_(graph), scope_(graph.variables(), {}, graph.dtype()) {}

  void build() {
    for (const VariableSpec& variable : file_.variables) read(variable.name);
    for (const auto& [name, expression] : file_.constants) scope_.define(name, expression);
    for (const DeclaredTensor& each : file_.inputs) declare(each, 0, true);
    for (const DeclaredTensor& each : file_.parameters) declare(each, 0, false);
    for (const DeclaredData& each : file_.data) add_data(each);
    steps(0, file_.operators.size());
    for (const Sourced& each : file_.outputs) graph_.output(value(each));
  }

 private:
  /// Every variable counts as read: what is not named in an expression would be refused by --set.
  void read(const std::string& name) {
    const VariableValue& value = graph_.variables().find(name)->second;
    if (std::holds_alternative<int64_t>(value)) {
      graph_[name];
    } else if (std::holds_alternative<double>(value)) {
      graph_.real(name);
    } else {
      graph_.list(name);
    }
  }

  /// The name with the values of its "{expression}".
  std::string named(const Sourced& name) const {
    std::string text;
    for (size_t at = 0; at < name.text.size();) {
      const size_t open = name.text.find('{', at);
      text += name.text.substr(at, open - at);
      if (open == std::string::npos) break;
      const size_t close = name.text.find('}', open);
      if (close == std::string::npos) fail_parse(name.at, quoted(name.text) + " has no '}'");
      const Sourced inner{name.text.substr(open + 1, close - open - 1), name.at};
      text += std::to_string(scope_.integer(inner, 0, kMaxI32, "a number in a name"));
      at = close + 1;
    }
    return text;
  }

  /// The shape of the tensor at that place.
  Shape shape_of(const Location& at, const std::vector<Sourced>& extents) const {
    Shape shape = scope_.shape(extents);
    int64_t elements = 1;
    for (const int64_t one : shape) {
      if (__builtin_mul_overflow(elements, one, &elements) || elements > kMaxExact) {
        fail_parse(at, "a tensor of shape " + to_string(shape) + " has more than " +
                           std::to_string(kMaxExact) + " elements");
      }
    }
    return shape;
  }

  Distribution distribution(const DrawnFrom& from) const {
    Distribution drawn;
    drawn.kind = from.kind;
    drawn.then = from.then;
    if (from.fan_in) {
      const int64_t inputs = scope_.integer(from.numbers[0], 0, kMaxExact, "a fan_in");
      drawn = weight_init(std::max<int64_t>(inputs, 1));
    } else if (from.weights) {
      drawn.hi = std::round(scope_.real(from.numbers[0]) * 1e6) / 1e6;
      drawn.lo = -drawn.hi;
    } else if (!from.numbers.empty()) {
      drawn.lo = scope_.real(from.numbers[0]);
      drawn.hi = scope_.real(from.numbers[1]);
      const bool range = drawn.kind == Distribution::Kind::uniform;
      if (range ? drawn.lo > drawn.hi : drawn.kind == Distribution::Kind::normal && drawn.hi < 0) {
        fail_parse(from.numbers[0].at, to_string(drawn) + (range ? " has its larger end first"
                                                                 : " has a negative deviation"));
      }
    }
    return drawn;
  }

  /// Integers are drawn from a range that their type holds.
  static void require_drawable(const Location& at, const Distribution& drawn, DType dtype) {
    if (dtype == DType::f32) return;
    const bool plain = drawn.kind == Distribution::Kind::randint &&
                       drawn.then == Distribution::Then::nothing && drawn.lo < drawn.hi;
    const bool fits = dtype == DType::boolean ? drawn == randint(0, 2)
                      : dtype == DType::u8    ? drawn.lo >= 0 && drawn.hi <= 256
                                              : drawn.hi - drawn.lo <= 0x1p32;
    if (plain && fits) return;
    fail_parse(at, "an input of " + std::string(name_of(dtype)) + " is drawn by " +
                       (dtype == DType::boolean ? "randint(0, 2)"
                        : dtype == DType::u8    ? "randint(lo, hi) within 0 and 256"
                                                : "randint(lo, hi) of a range up to 2^32") +
                       ", not by " + to_string(drawn));
  }

  /// Calls turn(i) for the turns of a repeat, its variable set.
  template <class F>
  void repeated(const Repeat& repeat, const F& turn) {
    scope_.set_running(running_);
    if (scope_.knows(repeat.variable)) {
      fail_parse(repeat.count.at, "the variable '" + repeat.variable +
                                      "' of a repeat has the name of a shape variable or a "
                                      "constant; use another");
    }
    const int64_t count =
        scope_.integer(repeat.count, 0, static_cast<int64_t>(limits::kLaunches),
                       "the number of times that '" + repeat.variable + "' counts");
    for (int64_t i = 0; i < count; ++i) {
      running_.emplace_back(repeat.variable, i);
      scope_.set_running(running_);
      turn();
      running_.pop_back();
    }
    scope_.set_running(running_);
  }

  void declare(const DeclaredTensor& tensor, size_t depth, bool is_input) {
    if (depth < tensor.repeats.size()) {
      repeated(tensor.repeats[depth], [&] { declare(tensor, depth + 1, is_input); });
      return;
    }
    const std::string name = named(tensor.name);
    Distribution drawn = distribution(tensor.distribution);
    const Shape shape = shape_of(tensor.name.at, tensor.shape);
    require_drawable(tensor.name.at, drawn, tensor.dtype);
    located(tensor.name.at, [&] {
      keep(tensor.name.at, name,
           is_input ? graph_.input(name, shape, drawn, tensor.dtype)
                    : graph_.parameter(name, shape, drawn));
    });
  }

  void add_data(const DeclaredData& data) {
    const TensorType type{data.dtype, shape_of(data.at, data.shape)};
    if (type.elements() > kMostDataValues - data_values_) {
      fail_parse(data.at, "with '" + data.name.text + "', " + to_string(type) +
                              ", the file's data has more than 2^24 values");
    }
    data_values_ += type.elements();
    int64_t there = 0;
    for (const ValueRun& run : data.values) there += run.times;
    if (!data.causal && there != type.elements()) {
      fail_parse(data.at, "'" + data.name.text + "' is " + to_string(type) + ", " +
                              std::to_string(type.elements()) + " values, and the file has " +
                              std::to_string(there));
    }
    Tensor tensor(type);
    if (data.causal) {
      const Shape& shape = type.shape;
      if (shape.size() != 2) fail_parse(data.at, "a causal mask has two dimensions");
      float* to = tensor.data<float>().data();
      for (int64_t row = 0; row < shape[0]; ++row) {
        for (int64_t column = 0; column < shape[1]; ++column) {
          *to++ = column > row ? -std::numeric_limits<float>::infinity() : 0.0f;
        }
      }
    } else {
      fill(tensor, data.values);
    }
    keep(data.name.at, named(data.name), graph_.constant(named(data.name), std::move(tensor)));
  }

  static void fill(Tensor& tensor, const std::vector<ValueRun>& runs) {
    const auto values = [&]<class T>(std::span<T> to, auto value_of) {
      auto at = to.begin();
      for (const ValueRun& run : runs) at = std::fill_n(at, run.times, value_of(run.bits));
    };
    if (tensor.dtype() == DType::f32) {
      values(tensor.data<float>(),
             [](uint64_t bits) { return std::bit_cast<float>(static_cast<uint32_t>(bits)); });
    } else {
      values(tensor.data<int64_t>(), [](uint64_t bits) { return std::bit_cast<int64_t>(bits); });
    }
  }

  /// A step may give a new value to a name that a step has written, not to one that is declared.
  void keep(const Location& at, const std::string& name, Value value, bool by_step = false) {
    const auto [known, added] = values_.emplace(name, Named{value, by_step});
    if (added) return;
    if (!by_step || !known->second.by_step) fail_parse(at, "there are two tensors '" + name + "'");
    known->second.value = value;
  }

  Value value(const Sourced& name) const {
    const std::string text = named(name);
    const auto found = values_.find(text);
    if (found != values_.end()) return found->second.value;
    std::vector<std::string> known;
    for (const auto& each : values_) known.push_back(each.first);
    fail_parse(name.at, "there is no tensor " + quoted(text) + suggestion(text, known));
  }

  /// What the call throws, at a place of the file.
  template <class F>
  void located(const Location& at, const F& call) const {
    try {
      call();
    } catch (const Error& error) {
      if (!error.location().file.empty()) throw;
      fail_parse(at, error.message());
    }
  }

  /// The operands between two indices, inside so many repeats.
  void operands(const std::vector<Operand>& all, size_t begin, size_t end, size_t depth,
                std::vector<Value>& inputs) {
    while (begin < end) {
      const std::vector<Repeat>& repeats = all[begin].repeats;
      if (repeats.size() == depth) {
        inputs.push_back(value(all[begin++].name));
        continue;
      }
      size_t last = begin + 1;
      while (last < end && all[last].repeats.size() > depth &&
             all[last].repeats[depth].group == repeats[depth].group) {
        ++last;
      }
      repeated(repeats[depth], [&] { operands(all, begin, last, depth + 1, inputs); });
      begin = last;
    }
  }

  void step(const Step& step) {
    if (++steps_ > limits::kLaunches) {
      fail_parse(step.at, "with its repeats the task has more than " +
                              std::to_string(limits::kLaunches) + " operators");
    }
    const Operator& op = find_operator(step.op);
    std::vector<Value> inputs;
    operands(step.in, 0, step.in.size(), 0, inputs);
    Attributes attributes;
    for (const StepAttribute& given : step.attributes) {
      attributes.set(given.name, resolve_attribute(given, op, scope_));
    }
    located(step.at, [&] {
      const std::vector<Value> outputs = graph_.apply(op, inputs, std::move(attributes));
      if (outputs.size() != step.out.size()) {
        fail_parse(step.at, "operator '" + step.op + "' has " + std::to_string(outputs.size()) +
                                " outputs, but 'out' names " + std::to_string(step.out.size()));
      }
      for (size_t i = 0; i < outputs.size(); ++i) {
        const std::string name = named(step.out[i].name);
        if (!values_.contains(name) && !is_automatic(name)) graph_.rename(outputs[i], name);
        keep(step.out[i].name.at, name, outputs[i], true);
      }
    });
  }

  /// "v12": as graphs name values that have no other name.
  static bool is_automatic(const std::string& name) {
    return name[0] == 'v' && name.find_first_not_of("0123456789", 1) == std::string::npos;
  }

  /// The steps between two indices, inside the repeats that are running.
  void steps(size_t begin, size_t end) {
    const size_t depth = running_.size();
    while (begin < end) {
      const Step& first = file_.operators[begin];
      if (first.repeats.size() == depth) {
        step(first);
        ++begin;
        continue;
      }
      const Repeat& repeat = first.repeats[depth];
      const size_t last = end_of_repeat(file_.operators, begin, end, depth);
      repeated(repeat, [&] { steps(begin, last); });
      begin = last;
    }
  }

  struct Named {
    Value value;
    bool by_step;
  };

  const TaskFile& file_;
  Graph& graph_;
  SymbolTable scope_;
  SymbolTable::Running running_;
  std::map<std::string, Named> values_;
  size_t steps_ = 0;
  int64_t data_values_ = 0;  ///< made so far
};

}  // namespace

void build_graph_of(const TaskFile& file, Graph& graph) { FileGraph(file, graph).build(); }

}  // namespace kbench
