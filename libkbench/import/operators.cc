// Built-in steps of an import, and tensors on the way.
#include <algorithm>

#include "kbench/error.h"
#include "libkbench/import/evaluator.h"

namespace kbench::importing {

Value Evaluator::temporary(std::vector<Number> shape, DType dtype) {
  PlanBuffer buffer;
  buffer.dtype = dtype;
  buffer.shape = shape;
  View view;
  view.buffer = plan_.add_buffer(std::move(buffer));
  view.shape = std::move(shape);
  return tensor_value(std::move(view));
}

/// The buffer of a view of dense data; stops where the view is not dense.
int Evaluator::use(const View& view, int line) {
  if (!view.axes.empty()) {
    stop(ImportObstacle::layout, line, "a pointer to a transposed view, which is not dense");
  }
  if (overwritten_.contains(view.buffer)) {
    stop(ImportObstacle::python, line,
         "a tensor that was changed in place is read by another name than the change gave it");
  }
  const PlanBuffer& b = plan_.buffers[static_cast<size_t>(view.buffer)];
  if (b.kind == PlanBuffer::Kind::parameter && b.name.empty()) {
    stop(ImportObstacle::parameters, line,
         "the task has no parameter that '" + shown(b.path, 60) + "' could be");
  }
  return view.buffer;
}

/// An operator in place is a step into another buffer here; the one before is read no more.
void Evaluator::changed_in_place(const Value& before, const Value& after) {
  if (forward_ && before.kind == Value::Kind::tensor && after.kind == Value::Kind::tensor &&
      before.view.buffer != after.view.buffer) {
    overwritten_.insert(before.view.buffer);
  }
}

Value Evaluator::dense(const Value& v, int line) {
  if (v.view.axes.empty()) {
    use(v.view, line);
    return v;
  }
  View base = v.view;
  for (size_t i = 0; i < v.view.axes.size(); ++i) {
    base.shape[static_cast<size_t>(v.view.axes[i])] = v.view.shape[i];
  }
  base.axes.clear();
  PlanAttribute axes{"axes", {}, true, false, ""};
  for (int a : v.view.axes) axes.values.push_back(integer(a));
  return emit("permute", {tensor_value(base)}, {axes}, line);
}

namespace {

/// The output extent of a convolution or pool, transposed or not, in spatial dimension d; a number
/// without an expression for other operators.
Number window_extent(const PlanStep& step, const std::vector<PlanAttribute>& attributes, size_t d,
                     int line) {
  const auto option = [&](const char* name) -> const Number* {
    for (const PlanAttribute& a : attributes) {
      if (a.name == name && a.list && d < a.values.size()) return &a.values[d];
    }
    return nullptr;
  };
  const Number one = integer(1), none = integer(0);
  const Number* stride = option("stride");
  const Number* padding = option("padding");
  const Number* taps = option("kernel");
  if (taps == nullptr && step.in.size() > 1 && d + 2 < step.in[1].shape.size()) {
    taps = &step.in[1].shape[d + 2];
  }
  if (!stride || !padding || !taps || d + 2 >= step.in[0].shape.size())
    return {{0}, nullptr, false, false};
  const Number& in = step.in[0].shape[d + 2];
  const auto of = [&](const char* op, const Number& a, const Number& b) {
    return combine(op, a, b, false, line);
  };
  const Number* given = option("dilation");
  const Number reach = of("*", given ? *given : one, of("-", *taps, one));
  const Number around = of("*", *padding, integer(2));
  if (step.op.starts_with("conv_transpose")) {
    const Number* extra = option("output_padding");
    const Number whole = of("+", of("+", of("*", of("-", in, one), *stride), reach), one);
    return of("+", of("-", whole, around), extra ? *extra : none);
  }
  for (size_t w = 0; w < stride->at.size(); ++w) {
    if (stride->at[w] <= 0) return {{0}, nullptr, false, false};
  }
  return of("+", of("//", of("-", of("-", of("+", in, around), reach), one), *stride), one);
}

}  // namespace

/// Shapes follow from the operator's own rule in every world.
Value Evaluator::emit(const std::string& name, const std::vector<Value>& inputs,
                      std::vector<PlanAttribute> attributes, int line) {
  no_sized_loop(line);
  const Operator& op = find_operator(name);
  if (!forward_) {  // what a weight begins as: only its shape matters
    std::vector<Number> shape;
    bool shaped = true;
    for (const Value& in : inputs) {
      const View& view = tensor(in, "an operand", line).view;
      shaped = shaped && plan_.buffers[static_cast<size_t>(view.buffer)].shaped;
      if (view.shape.size() >= shape.size()) shape = view.shape;
    }
    const Value v = temporary(shape, DType::f32);
    plan_.buffers[static_cast<size_t>(v.view.buffer)].shaped = shaped && op.name != "matmul";
    return v;
  }
  PlanStep step;
  step.line = line;
  step.op = name;
  for (const Value& in : inputs) {
    const Value ready = dense(tensor(in, "an operand", line), line);
    step.in.push_back({ready.view.buffer, ready.view.shape});
  }
  std::vector<std::vector<double>> extents;
  DType dtype = DType::f32;
  for (size_t w = 0; w < worlds_.size(); ++w) {
    const auto infer = [&](size_t world) {
      std::vector<TensorType> types;
      for (const PlanOperand& in : step.in) {
        TensorType t{plan_.buffers[static_cast<size_t>(in.buffer)].dtype, {}};
        for (const Number& n : in.shape) t.shape.push_back(static_cast<int64_t>(n.value(world)));
        types.push_back(std::move(t));
      }
      Attributes given;
      for (const PlanAttribute& a : attributes) {
        if (!a.word.empty()) {
          given.set(a.name, a.word);
        } else if (a.list) {
          std::vector<int64_t> list;
          for (const Number& n : a.values) list.push_back(static_cast<int64_t>(n.value(world)));
          given.set(a.name, list);
        } else if (a.real) {
          given.set(a.name, a.values[0].value(world));
        } else {
          given.set(a.name, static_cast<int64_t>(a.values[0].value(world)));
        }
      }
      return make_call(op, std::move(types), std::move(given)).outputs[0];
    };
    TensorType out;
    try {
      out = infer(w);
    } catch (const Error& e) {
      if (w == worlds_.primary()) stop(ImportObstacle::sizes, line, shown(e.message(), 160));
      if (w < Worlds::kPresets) {
        plan_.only_here(line,
                        "operator " + name + " does not fit at " + std::string(worlds_.preset(w)));
      }
      try {
        out = infer(worlds_.primary());
      } catch (const Error& error) {
        stop(ImportObstacle::sizes, line, shown(error.message(), 160));
      }
    }
    dtype = out.dtype;
    if (extents.empty()) extents.resize(out.shape.size());
    if (extents.size() != out.shape.size())
      stop(ImportObstacle::sizes, line, "a rank that follows from a size");
    for (size_t d = 0; d < extents.size(); ++d)
      extents[d].push_back(static_cast<double>(out.shape[d]));
  }
  std::vector<Number> shape;
  for (size_t d = 0; d < extents.size(); ++d) {
    auto& at = extents[d];
    // An extent equal to an operand's is taken to be that operand's.
    const Number found = values(at, false);
    const Number* same = nullptr;
    for (const PlanOperand& in : step.in) {
      for (const Number& n : in.shape) {
        bool equal = n.sym != nullptr;
        for (size_t w = 0; equal && w < worlds_.size(); ++w) equal = n.value(w) == found.value(w);
        if (equal && !same) same = &n;
      }
    }
    shape.push_back(same ? *same : worlds_.extent(at));
    if (shape.back().sym || d < 2) continue;
    // A window's extent has a formula: taken where it gives the rule's values.
    const Number by_formula = window_extent(step, attributes, d - 2, line);
    bool equal = by_formula.sym != nullptr;
    for (size_t w = 0; equal && w < worlds_.size(); ++w)
      equal = by_formula.value(w) == found.value(w);
    if (equal) shape.back() = by_formula;
  }
  const Value out = temporary(std::move(shape), dtype);
  step.out = {{out.view.buffer, out.view.shape}};
  step.attributes = std::move(attributes);
  plan_.add_step(std::move(step));
  return out;
}

/// The view under another shape; an extent of -1 follows from the others.
View Evaluator::reshaped(const View& view, std::vector<Number> shape, int line) {
  if (!view.axes.empty()) stop(ImportObstacle::layout, line, "a view of a transposed tensor");
  Number all = product(view.shape, line), known = integer(1);
  int open = -1;
  for (size_t i = 0; i < shape.size(); ++i) {
    if (shape[i].same() && shape[i].at[0] == -1) {
      open = static_cast<int>(i);
    } else {
      known = combine("*", known, shape[i], false, line);
    }
  }
  if (open >= 0) {
    Number rest = combine("//", all, known, false, line);
    const Number named = worlds_.extent([&] {
      std::vector<double> at;
      for (size_t w = 0; w < worlds_.size(); ++w) at.push_back(rest.value(w));
      return at;
    }());
    shape[static_cast<size_t>(open)] = named.sym ? named : rest;
    known = combine("*", known, rest, false, line);
  }
  if (all.value(worlds_.primary()) != known.value(worlds_.primary())) {
    stop(ImportObstacle::sizes, line, "a view with another number of elements");
  }
  View v = view;
  v.shape = std::move(shape);
  return v;
}

}  // namespace kbench::importing
