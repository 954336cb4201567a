// Follows a kernel file: Python's module, ModelNew's __init__ and forward, and the C++ functions
// that forward calls, over numbers at all sizes at once (Worlds) and tensors that have no data.
#pragma once

#include <initializer_list>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "libkbench/import/plan.h"
#include "libkbench/import/source.h"

namespace kbench::importing {

struct Object;

/// A view of a buffer. Where `axes` is not empty dimension i of the view is axes[i] of the
/// buffer's.
struct View {
  int buffer = -1;
  std::vector<Number> shape;
  std::vector<int> axes;
};

struct Value {
  enum class Kind {
    none,
    number,
    text,
    list,
    tensor,
    pointer,   ///< to a tensor's first element
    dim3,      ///< three items
    object,    ///< an instance, a layer, an extension module
    type,      ///< a class of the file
    function,  ///< of the file, `self` bound
    extern_,   ///< function `text` of an extension
    builtin,   ///< a path ("torch.relu"), or a method (".view") with `self`
    opaque,    ///< something without a number or a tensor: a device, a stream
    poison,    ///< what could not be followed, once it is used
  };
  Kind kind = Kind::none;
  int line = 0;
  Number number;
  std::string text;
  std::vector<Value> items;
  View view;
  std::string element;  ///< pointer: the C++ type it points to
  std::shared_ptr<Object> object;
  std::shared_ptr<Function> function;
  std::shared_ptr<Stmt> type;
  std::shared_ptr<const NotFollowed> why;
  size_t weight = 1;  ///< of a text or list: what copying it costs, in values
  int nesting = 0;    ///< of a list: how deep lists lie in it
  /// Of a list: held by every copy of it, so that a change that another holder would see is told.
  std::shared_ptr<const int> identity;
};

struct Object {
  std::string type;  ///< "nn.Linear", a class's name, "extension"
  std::shared_ptr<Stmt> declared;
  std::map<std::string, Value> attributes;
  std::vector<std::string> order;
  std::vector<std::shared_ptr<CudaSource>> sources;  ///< extension
  void set(const std::string& name, Value value);
};

using Named = std::vector<std::pair<std::string, Value>>;
/// Null where there is none of that name.
const Value* value_of(const Named& all, const std::string& name);
/// The argument by position or by one of its names; null where it is not given.
const Value* argument_of(const std::vector<Value>& args, const Named& named, size_t position,
                         std::initializer_list<const char*> names);

struct NameScope {
  std::map<std::string, Value> names;
  NameScope* outer = nullptr;
  const Object* extension = nullptr;         ///< C++: whose functions and kernels are known
  const CudaSource* source = nullptr;        ///< C++: whose macros and constants
  std::map<std::string, std::string> types;  ///< C++: scalar_t -> float

  static NameScope inside(NameScope& outer) {
    return {{}, &outer, outer.extension, outer.source, outer.types};
  }
};

Value number_value(Number n);
/// Both stop with `limits` where the value is larger than an import follows.
Value text_value(std::string text, int line = 0);
Value list_value(std::vector<Value> items, int line = 0);
Value tensor_value(View view);
Value opaque_value(std::string text, int line);

class Evaluator {
 public:
  Evaluator(const Worlds& worlds, Plan& plan, std::string file);
  /// Runs the file; the plan has its steps afterwards.
  void run(const Block& module);

 private:
  enum class Flow { on, result, leave, next };

  // Values, statements and expressions (values.cc, statements.cc, expressions.cc).
  Flow run_block(const Block& block, NameScope& scope);
  Flow run_statement(const Stmt& s, NameScope& scope);
  Flow run_loop(const Stmt& s, NameScope& scope);
  Flow run_each(const Stmt& s, NameScope& scope);
  void run_module_statement(const Stmt& s, NameScope& scope);
  void poison_targets(const Stmt& s, const Value& poison, NameScope& scope);
  void poison_target(const Expr& target, const Value& poison, NameScope& scope);
  void assign(const Expr& target, Value value, NameScope& scope);
  void declare(const Stmt& s, NameScope& scope);
  Value evaluate(const Expr& e, NameScope& scope);
  Value evaluate_binary(const Expr& e, NameScope& scope);
  Value evaluate_assign(const Expr& e, NameScope& scope);
  Value evaluate_number(const Expr& e);
  Value evaluate_index(const Expr& e, NameScope& scope);
  Value binary(const std::string& op, const Value& a, const Value& b, int line);
  Value lookup(const std::string& name, int line, NameScope& scope);
  Value* find(const std::string& name, NameScope& scope);
  Value member(const Value& base, const std::string& name, int line);
  Value convert(const Value& v, const std::string& type, int line);
  bool decide(const Value& v, int line);
  void count(int line, size_t steps = 1);
  void no_sized_loop(int line) const;

  // Calls (calls.cc).
  Value call(const Expr& e, NameScope& scope);
  bool change_list(const Expr& receiver, const std::string& name, std::vector<Value> args,
                   NameScope& scope, int line);
  Value call_value(const Value& callee, std::vector<Value> args, Named named, int line);
  Value call_function(const Function& f, std::vector<Value> args, Named named, NameScope& outer,
                      int line);
  Value call_extension(const Object& extension, const std::string& name, std::vector<Value> args,
                       int line);
  Value call_builtin(const std::string& path, std::vector<Value>& args, Named& named, int line);
  Value call_python(const std::string& path, std::vector<Value>& args, Named& named, int line);
  Value instantiate(const std::shared_ptr<Stmt>& type, std::vector<Value> args, Named named,
                    int line);
  Value load_inline(const std::vector<Value>& args, const Named& named, int line);
  const Function* method(const Stmt& type, const std::string& name) const;
  std::optional<Value> container_call(Object& self, const std::string& name,
                                      const std::vector<Value>& args, int line);

  // PyTorch in Python (torch.cc, views.cc, layers.cc).
  std::optional<Value> tensor_call(const std::string& name, std::vector<Value>& args, Named& named,
                                   int line);
  std::optional<Value> shape_call(const std::string& name, std::vector<Value>& args, Named& named,
                                  int line);
  std::optional<Value> conversion_call(const std::string& name, const std::vector<Value>& args,
                                       int line);
  std::optional<Value> size_call(const std::string& name, const std::vector<Value>& args,
                                 const Named& named, int line);
  std::optional<Value> reshape_call(const std::string& name, const std::vector<Value>& args,
                                    const Named& named, int line);
  std::optional<Value> permute_call(const std::string& name, const std::vector<Value>& args,
                                    int line);
  std::optional<Value> make_tensor(const std::string& name, std::vector<Value>& args, Named& named,
                                   int line);
  std::optional<Value> operator_call(const std::string& name, std::vector<Value>& args,
                                     Named& named, int line);
  Value reduce(const std::string& op, const Value& x, const Value* dim, bool keep, int line);
  Value make_layer(const std::string& type, std::vector<Value>& args, Named& named, int line);
  Value apply_layer(Object& layer, std::vector<Value> args, int line);
  Value parameter(std::vector<Number> shape, bool shaped);
  void name_parameters(const Object& object, const std::string& prefix, int depth);
  void match_parameters();
  void shape_parameters(Object& object, int depth);
  std::optional<Value> fixed_by_task(const std::string& name) const;
  Value bind_model();
  void bind_outputs(const Value& returned, int line);
  void require_parameters();

  // Built-in steps (operators.cc).
  Value emit(const std::string& op, const std::vector<Value>& inputs,
             std::vector<PlanAttribute> attributes, int line);
  Value dense(const Value& tensor, int line);
  int use(const View& view, int line);
  void changed_in_place(const Value& before, const Value& after);
  Value temporary(std::vector<Number> shape, DType dtype);
  View reshaped(const View& view, std::vector<Number> shape, int line);

  // C++ (host.cc, launch.cc).
  Value cpp_call(const Expr& e, NameScope& scope);
  std::optional<Value> cpp_builtin(const std::string& name, const Expr& e, NameScope& scope);
  std::optional<Value> cpp_tensor_method(const Value& self, const std::string& name, const Expr& e,
                                         NameScope& scope);
  Value cpp_allocate(const std::string& name, const std::vector<Value>& args, int line);
  Value launch(const Expr& e, NameScope& scope);
  Value dispatch_types(const Expr& e, NameScope& scope);
  std::string spelled(const std::string& type, NameScope& scope, int line);
  PlanArgument argument(const Value& v, const std::string& type, const std::string& what, int line);

  // Arguments.
  const Value& tensor(const Value& v, const std::string& what, int line);
  Number number(const Value& v, const std::string& what, int line);
  std::vector<Number> numbers(const Value& v, const std::string& what, int line);
  int64_t plain(const Value& v, const std::string& what, int line);
  int axis(const Value& v, size_t rank, int line);

  const Worlds& worlds_;
  Plan& plan_;
  std::string file_;
  NameScope globals_;
  std::map<std::string, std::shared_ptr<Stmt>> types_;
  std::set<int> overwritten_;  ///< buffers whose tensors an operator in place replaced
  Value result_;
  int depth_ = 0;
  size_t steps_ = 0;
  int sized_loops_ = 0;
  int nested_poisons_ = 0;
  bool cpp_ = false;
  bool forward_ = false;  ///< in __init__ nothing is computed
};

}  // namespace kbench::importing
