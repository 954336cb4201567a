// A task's computation as a graph of operators: what shapes, FLOPs, bytes, the CPU reference, the
// eager GPU baseline and the text shown to a candidate's author are all derived from.
#pragma once

#include <cstdint>
#include <deque>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "kbench/random.h"
#include "kbench/tensor.h"
#include "kbench/variables.h"

namespace kbench {

class Graph;

/// An operator's attribute: integer (flags are 0 or 1), real, list of integers, or a word.
using AttributeValue = std::variant<int64_t, double, std::vector<int64_t>, std::string>;
std::string to_string(const AttributeValue& value);

/// Attributes of one call, in the order the operator declares them.
class Attributes {
 public:
  Attributes() = default;
  Attributes(std::initializer_list<std::pair<std::string, AttributeValue>> values)
      : values_(values) {}

  void set(std::string name, AttributeValue value);
  const AttributeValue* find(std::string_view name) const;
  /// The typed value; throws kInternal when it is missing or of another type.
  int64_t integer(std::string_view name) const;
  double real(std::string_view name) const;  ///< an integer is taken as a real
  const std::vector<int64_t>& list(std::string_view name) const;
  const std::string& word(std::string_view name) const;
  bool flag(std::string_view name) const { return integer(name) != 0; }

  auto begin() const { return values_.begin(); }
  auto end() const { return values_.end(); }
  bool empty() const { return values_.empty(); }
  size_t size() const { return values_.size(); }

 private:
  std::vector<std::pair<std::string, AttributeValue>> values_;
};

struct Operator;

/// One use of an operator, as its rules see it: everything but the data.
struct OperatorCall {
  const Operator* op = nullptr;
  std::vector<TensorType> inputs;
  Attributes attributes;
  std::vector<TensorType> outputs;  ///< filled in by the shape rule
};

/// An attribute as an operator declares it: its name and the value taken when it is left out.
/// The default also fixes the type. A required attribute has none.
struct AttributeSpec {
  std::string name;
  AttributeValue fallback;
  bool required = false;
};

/// An operator, defined once, in libkbench/ops/<family>.cc. Its CPU reference stands in
/// reference/ops/<family>.cc, its eager kernel in harness/measure/eager/ops/<family>.cc, each in an
/// explicit table keyed by `name`.
struct Operator {
  std::string name;     ///< unique, snake_case, PyTorch's where there is one
  std::string formula;  ///< what it computes, for people
  /// Of inputs and outputs, for people; where no type is named it is f32.
  std::string shapes = "x [...] -> [...]";
  std::string follows;  ///< whose semantics it has: the call in PyTorch 2.x
  int min_inputs = 1;
  int max_inputs = 1;
  std::vector<AttributeSpec> attributes;
  /// Output types from inputs and attributes; throws kShape saying what does not fit (the caller
  /// prefixes operator and shapes).
  std::vector<TensorType> (*infer)(const OperatorCall& call) = nullptr;
  /// Floating-point operations, as usually counted. A multiply-add is two, a comparison or a
  /// transcendental function one, an elementwise operator one an element by any formula. A
  /// window's taps count wherever they fall. What is done once a row or less often (a mean's
  /// division, a norm's square root) is left out. Null for a view.
  double (*flops)(const OperatorCall& call) = nullptr;
  /// True where the output is the input's memory under another shape: no kernel, no bytes.
  bool is_view = false;
};

/// All operators, sorted by name.
const std::vector<const Operator*>& operators();
/// The operator of that name; throws kNotFound, naming close ones, or saying how it is written.
const Operator& find_operator(std::string_view name);
/// A function of PyTorch's that is no operator here, and how it is written with those there are.
struct WrittenAs {
  std::string_view name, how;
};
std::span<const WrittenAs> written_with_operators();
/// Completes attributes with defaults, checks them against the operator's declaration, runs the
/// shape rule. Errors name the operator and the shapes. This is how a call comes to be, in a graph
/// and in a candidate's built-in step alike.
OperatorCall make_call(const Operator& op, std::vector<TensorType> inputs, Attributes attributes);
/// Bytes a call must move at least: every input and output once; 0 for a view.
double least_bytes(const OperatorCall& call);

/// A value in a graph: cheap to copy, valid as long as its graph.
class Value {
 public:
  Value() = default;
  Value(Graph* graph, int id) : graph_(graph), id_(id) {}

  Graph* graph() const { return graph_; }
  int id() const { return id_; }
  const TensorType& type() const;
  const Shape& shape() const { return type().shape; }
  int64_t dim(int i) const;  ///< extent of dimension i; negative counts from the end
  int rank() const { return static_cast<int>(shape().size()); }

 private:
  Graph* graph_ = nullptr;
  int id_ = -1;
};

/// Parameters under a prefix, as a module's are in a PyTorch state_dict: "conv" owns "conv.weight".
class Module {
 public:
  Module(Graph* graph, std::string prefix) : graph_(graph), prefix_(std::move(prefix)) {}
  Value parameter(const std::string& name, Shape shape, Distribution distribution) const;
  /// The sub-module "prefix.name".
  Module module(const std::string& name) const;
  Graph* graph() const { return graph_; }

 private:
  std::string full_name(const std::string& name) const;
  Graph* graph_;
  std::string prefix_;
};

/// See the top of the file. Built by a task's function; read by everything else.
class Graph {
 public:
  enum class Kind {
    input,         ///< drawn anew for every timed sample
    parameter,     ///< a weight: drawn once a trial; a candidate's setup may see it
    constant,      ///< data the task builds itself (a mask, an index table)
    intermediate,  ///< an operator's result
  };
  struct ValueInfo {
    std::string name;  ///< an intermediate's is its own in a task's file, else "v1", "v2" and so on
    TensorType type;
    Kind kind = Kind::intermediate;
    Distribution distribution;  ///< of inputs and parameters
    Tensor data;                ///< of constants
    int producer = -1;          ///< the node it comes from
  };
  struct Node {
    OperatorCall call;
    std::vector<int> inputs;   ///< value ids
    std::vector<int> outputs;  ///< value ids
  };

  /// `dtype`: of kTaskDTypes, what floating tensors are stored in outside of operators.
  explicit Graph(Variables variables = {}, DType dtype = DType::f32)
      : variables_(std::move(variables)), dtype_(dtype) {}
  Graph(const Graph&) = delete;
  Graph& operator=(const Graph&) = delete;

  // --- what a task's function uses -------------------------------------------------------------
  /// An integer shape variable; throws kNotFound, or kInvalidArgument when it is not an integer.
  int64_t operator[](std::string_view variable) const;
  double real(std::string_view variable) const;
  const std::vector<int64_t>& list(std::string_view variable) const;
  /// A list, or an integer as a list of one: an option that holds for every dimension.
  std::vector<int64_t> sizes(std::string_view variable) const;
  bool has(std::string_view variable) const { return variables_.contains(variable); }

  Value input(const std::string& name, Shape shape, Distribution distribution = normal(),
              DType dtype = DType::f32);
  Value parameter(const std::string& name, Shape shape,
                  Distribution distribution = uniform(-0.5, 0.5));
  Value constant(const std::string& name, Tensor data);
  Module module(const std::string& name) { return Module(this, name); }
  /// Declares the next output. A single output is called "output", several "output0", "output1"...
  void output(Value value);
  /// Gives an intermediate value a name of its own, which no other value has.
  void rename(Value value, const std::string& name);

  // --- what operators use ----------------------------------------------------------------------
  /// Adds a node; returns its outputs.
  std::vector<Value> apply(const Operator& op, const std::vector<Value>& inputs,
                           Attributes attributes = {});

  // --- what readers use ------------------------------------------------------------------------
  const std::deque<ValueInfo>& values() const { return values_; }
  const std::vector<Node>& nodes() const { return nodes_; }  ///< in an order that can be run
  const ValueInfo& value(int id) const { return values_[static_cast<size_t>(id)]; }
  const Node& node(int number) const { return nodes_[static_cast<size_t>(number)]; }
  const std::vector<int>& outputs() const { return outputs_; }  ///< value ids
  std::vector<int> values_of(Kind kind) const;                  ///< ids, in declaration order
  DType dtype() const { return dtype_; }
  /// The type of an input, parameter, constant or output in memory and in files: of dtype() where
  /// the value is f32. In the graph itself, whose operators know of no other precision, it is f32.
  TensorType stored_type(int id) const { return stored(value(id).type); }
  TensorType stored(const TensorType& type) const {
    return {type.dtype == DType::f32 ? dtype_ : type.dtype, type.shape};
  }
  /// A call with its operands' types in memory.
  OperatorCall stored(OperatorCall call) const;
  /// Name of output i as candidates and files call it.
  std::string output_name(size_t i) const;
  const Variables& variables() const { return variables_; }
  /// The preset that build_graph() was given; empty where there was none.
  const std::string& preset() const { return preset_; }
  void set_preset(std::string_view preset) { preset_ = preset; }
  /// Variables the task's function read; the rest follow from these (bias_shape, say).
  const std::set<std::string, std::less<>>& variables_read() const { return read_; }

  double flops() const;
  /// Least bytes of the whole task: inputs, parameters and constants once, outputs once.
  double least_bytes() const;

 private:
  const VariableValue& variable(std::string_view name) const;
  Value add_value(ValueInfo info);

  Variables variables_;
  DType dtype_ = DType::f32;
  std::string preset_;
  mutable std::set<std::string, std::less<>> read_;
  std::deque<ValueInfo> values_;
  std::vector<Node> nodes_;
  std::vector<int> outputs_;
};
std::string_view name_of(Graph::Kind kind);  ///< "input", "parameter", ...

}  // namespace kbench
