// PyTorch's functions and tensor methods, as allocations and built-in steps.
#include <algorithm>
#include <map>
#include <set>

#include "kbench/error.h"
#include "libkbench/import/evaluator.h"

namespace kbench::importing {
namespace {

PlanAttribute real_attribute(const std::string& name, Number n) {
  return {name, {as_real(n)}, false, true, ""};
}
PlanAttribute integer_attribute(const std::string& name, int64_t n) {
  return {name, {integer(n)}, false, false, ""};
}

}  // namespace

std::optional<Value> Evaluator::tensor_call(const std::string& name, std::vector<Value>& args,
                                            Named& named, int line) {
  bool any = false;
  for (const Value& a : args) any = any || a.kind == Value::Kind::tensor;
  for (const Value& a : args) {
    if (a.kind == Value::Kind::list) {
      for (const Value& item : a.items) any = any || item.kind == Value::Kind::tensor;
    }
  }
  for (const auto& [key, value] : named) any = any || value.kind == Value::Kind::tensor;
  if (!any) return std::nullopt;
  bool in_place = false;
  for (const auto& [key, value] : named) {
    if (key == "out") stop(ImportObstacle::torch_operator, line, "an operator with out=");
    if (key == "inplace") in_place = decide(value, line);
  }
  if (auto v = shape_call(name, args, named, line)) return v;
  const Value before = in_place && !args.empty() ? args[0] : Value();
  auto result = operator_call(name, args, named, line);
  if (result) changed_in_place(before, *result);
  return result;
}

/// torch.empty, zeros and the like.
std::optional<Value> Evaluator::make_tensor(const std::string& name, std::vector<Value>& args,
                                            Named& named, int line) {
  static const std::set<std::string, std::less<>> kMakers = {
      "empty",      "zeros",      "ones",      "full",      "rand",  "randn",
      "empty_like", "zeros_like", "ones_like", "full_like", "tensor"};
  if (!kMakers.contains(name)) return std::nullopt;
  if (const Value* dtype = argument_of({}, named, 0, {"dtype"})) {
    if (dtype->text.find("float32") == std::string::npos && dtype->text != "torch.float" &&
        dtype->kind != Value::Kind::poison && dtype->kind != Value::Kind::none) {
      stop(ImportObstacle::data_type, line, "a tensor of " + shown(dtype->text, 40));
    }
  }
  std::vector<Number> shape;
  const bool like = name.ends_with("_like");
  bool shaped = true;
  size_t used = 1;
  try {
    if (like) {
      shape = tensor(args.at(0), "a tensor", line).view.shape;
    } else if (const Value* size = argument_of({}, named, 0, {"size"})) {
      shape = numbers(*size, "a size", line);
      used = 0;
    } else if (name == "tensor") {
      if (args.empty() || args[0].kind != Value::Kind::number) shaped = false;
    } else if (!args.empty() && args[0].kind == Value::Kind::list) {
      shape = numbers(args[0], "a size", line);
    } else {
      used = name == "full" ? 1 : args.size();
      for (size_t i = 0; i < used; ++i) shape.push_back(number(args[i], "a size", line));
    }
  } catch (const NotFollowed& why) {
    if (why.obstacle == ImportObstacle::limits) throw;
    shaped = false;  // of a parameter the task knows it
  } catch (const std::out_of_range&) {
    stop(ImportObstacle::python, line, "torch." + name + " of nothing");
  }
  const Value v = temporary(shape, DType::f32);
  plan_.buffers[static_cast<size_t>(v.view.buffer)].shaped = shaped;
  const bool fills =
      name.starts_with("zeros") || name.starts_with("ones") || name.starts_with("full");
  if (fills && shaped && forward_) {
    Number value = real_number(name.starts_with("ones") ? 1 : 0);
    if (name.starts_with("full")) {
      const Value* fill = argument_of(args, named, used, {"fill_value"});
      if (!fill) return std::nullopt;
      value = number(*fill, "what fills a tensor", line);
    }
    no_sized_loop(line);
    plan_.add_fill(v.view.buffer, shape, value, line);
  } else if (name.starts_with("rand") && forward_) {
    stop(ImportObstacle::torch_operator, line, "torch." + name);
  }
  return v;
}

Value Evaluator::reduce(const std::string& op, const Value& in, const Value* dim, bool keep,
                        int line) {
  const Value x = dense(in, line);
  const size_t rank = x.view.shape.size();
  std::vector<int> axes;
  if (!dim || dim->kind == Value::Kind::none) {
    for (size_t i = 0; i < rank; ++i) axes.push_back(static_cast<int>(i));
  } else if (dim->kind == Value::Kind::list) {
    for (const Value& d : dim->items) axes.push_back(axis(d, rank, line));
  } else {
    axes.push_back(axis(*dim, rank, line));
  }
  std::sort(axes.begin(), axes.end());
  for (size_t i = 1; i < axes.size(); ++i) {
    if (axes[i] != axes[i - 1] + 1)
      stop(ImportObstacle::torch_operator, line, "a reduction over dimensions apart");
  }
  if (axes.empty()) stop(ImportObstacle::torch_operator, line, "a reduction of a scalar");
  const auto first = static_cast<std::ptrdiff_t>(axes.front()),
             last = static_cast<std::ptrdiff_t>(axes.back());
  std::vector<Number> flat(x.view.shape.begin(), x.view.shape.begin() + first);
  flat.push_back(product({x.view.shape.begin() + first, x.view.shape.begin() + last + 1}, line));
  flat.insert(flat.end(), x.view.shape.begin() + last + 1, x.view.shape.end());
  const Value y =
      emit(op, {tensor_value(reshaped(x.view, flat, line))},
           {integer_attribute("axis", first), integer_attribute("keepdim", keep)}, line);
  if (!keep || axes.size() == 1) return y;
  std::vector<Number> kept = x.view.shape;
  for (int a : axes) kept[static_cast<size_t>(a)] = integer(1);
  return tensor_value(reshaped(y.view, kept, line));
}

std::optional<Value> Evaluator::operator_call(const std::string& given_name,
                                              std::vector<Value>& args, Named& named, int line) {
  std::string name = given_name;
  for (auto& [key, value] : named) {
    if (key == "input" || key == "x") args.insert(args.begin(), value);
  }
  if (args.empty()) return std::nullopt;
  // "relu_" gives the values that "relu" gives; the call itself replaces what it changed.
  if (name.ends_with('_') && !name.ends_with("__")) name.pop_back();
  static const std::map<std::string, std::string, std::less<>> kUnary = {
      {"relu", "relu"},
      {"sigmoid", "sigmoid"},
      {"tanh", "tanh"},
      {"selu", "selu"},
      {"mish", "mish"},
      {"hardsigmoid", "hardsigmoid"},
      {"hardswish", "hardswish"},
      {"exp", "exp"},
      {"log", "log"},
      {"sin", "sin"},
      {"cos", "cos"},
      {"abs", "abs"},
      {"neg", "neg"},
      {"square", "square"},
      {"sqrt", "sqrt"}};
  if (const auto unary = kUnary.find(name); unary != kUnary.end())
    return emit(unary->second, {args[0]}, {}, line);
  if (name == "gelu" || name == "softplus") {
    const Value* how = argument_of(args, named, 1, {"approximate", "beta"});
    if (how && how->text != "none")
      stop(ImportObstacle::torch_operator, line, name + " with options");
    return emit(name, {args[0]}, {}, line);
  }
  if (name == "silu" || name == "swish")
    return emit("mul", {args[0], emit("sigmoid", {args[0]}, {}, line)}, {}, line);
  if (name == "leaky_relu" || name == "elu") {
    const Value* a = argument_of(args, named, 1, {"negative_slope", "alpha"});
    return emit(
        name, {args[0]},
        {real_attribute(name == "elu" ? "alpha" : "slope",
                        a ? number(*a, "a slope", line) : real_number(name == "elu" ? 1 : 0.01))},
        line);
  }
  if (name == "hardtanh" || name == "clamp" || name == "clip") {
    const Value* lo = argument_of(args, named, 1, {"min", "min_val"});
    const Value* hi = argument_of(args, named, 2, {"max", "max_val"});
    const bool low = lo && lo->kind != Value::Kind::none,
               high = hi && hi->kind != Value::Kind::none;
    if (!low && !high && name == "hardtanh") {
      return emit("clamp", {args[0]},
                  {real_attribute("lo", integer(-1)), real_attribute("hi", integer(1))}, line);
    }
    if (low && high) {
      return emit("clamp", {args[0]},
                  {real_attribute("lo", number(*lo, "a bound", line)),
                   real_attribute("hi", number(*hi, "a bound", line))},
                  line);
    }
    if (low)
      return emit("clamp_min", {args[0]}, {real_attribute("value", number(*lo, "a bound", line))},
                  line);
    if (high)
      return emit("clamp_max", {args[0]}, {real_attribute("value", number(*hi, "a bound", line))},
                  line);
    return std::nullopt;
  }
  static const std::set<std::string, std::less<>> kBinary = {"add", "sub", "mul", "div"};
  if (kBinary.contains(name) && args.size() >= 2) {
    if (argument_of({}, named, 0, {"alpha", "rounding_mode"})) return std::nullopt;
    const bool left = args[0].kind == Value::Kind::tensor,
               right = args[1].kind == Value::Kind::tensor;
    if (left && right) return emit(name, {args[0], args[1]}, {}, line);
    const Number n = number(args[left ? 1 : 0], "an operand", line);
    const Value& x = args[left ? 0 : 1];
    if (left || name == "add" || name == "mul")
      return emit(name + "_scalar", {x}, {real_attribute("value", n)}, line);
    if (name == "sub") {
      return emit("add_scalar", {emit("neg", {x}, {}, line)}, {real_attribute("value", n)}, line);
    }
    return std::nullopt;
  }
  if (name == "pow" && args.size() == 2 && args[1].kind == Value::Kind::number &&
      args[1].number.same()) {
    if (args[1].number.at[0] == 2) return emit("square", {args[0]}, {}, line);
    if (args[1].number.at[0] == 0.5) return emit("sqrt", {args[0]}, {}, line);
    return std::nullopt;
  }
  if ((name == "maximum" || name == "minimum" || name == "max" || name == "min") &&
      args.size() == 2 && args[1].kind == Value::Kind::tensor) {
    return emit(name.starts_with("max") ? "maximum" : "minimum", {args[0], args[1]}, {}, line);
  }
  static const std::map<std::string, std::string, std::less<>> kReduce = {
      {"sum", "sum"},
      {"mean", "mean"},
      {"amax", "max"},
      {"amin", "min"},
      {"max", "max"},
      {"min", "min"},
      {"logsumexp", "logsumexp"},
      {"argmax", "argmax"},
      {"argmin", "argmin"},
      {"norm", "norm"}};
  if (const auto op = kReduce.find(name); op != kReduce.end()) {
    if (name == "norm" && (args.size() > 1 || argument_of({}, named, 0, {"p"})))
      return std::nullopt;
    const Value* dim = argument_of(args, named, 1, {"dim", "axis"});
    const Value* keep = argument_of(args, named, 2, {"keepdim", "keepdims"});
    const Value y = reduce(op->second, args[0], dim, keep && decide(*keep, line), line);
    if ((name == "max" || name == "min") && dim) {
      Value both = list_value({y, opaque_value("the indices of " + name, line)});
      return both;
    }
    return y;
  }
  if (name == "softmax" || name == "log_softmax" || name == "cumsum" || name == "cumprod") {
    const Value* dim = argument_of(args, named, 1, {"dim"});
    if (!dim) return std::nullopt;
    const Value& x = tensor(args[0], name, line);
    return emit(name, {x}, {integer_attribute("axis", axis(*dim, x.view.shape.size(), line))},
                line);
  }
  if ((name == "matmul" || name == "mm" || name == "bmm") && args.size() >= 2) {
    std::vector<Value> sides = {tensor(args[0], name, line), tensor(args[1], name, line)};
    std::vector<PlanAttribute> flags;
    for (size_t i = 0; i < 2; ++i) {
      const size_t rank = sides[i].view.shape.size();
      std::vector<int> swapped(rank);
      for (size_t k = 0; k < rank; ++k) swapped[k] = static_cast<int>(k);
      if (rank >= 2) std::swap(swapped[rank - 1], swapped[rank - 2]);
      if (rank >= 2 && sides[i].view.axes == swapped) {
        sides[i].view.axes.clear();
        std::swap(sides[i].view.shape[rank - 1], sides[i].view.shape[rank - 2]);
        flags.push_back(integer_attribute(i ? "transpose_b" : "transpose_a", 1));
      }
    }
    return emit("matmul", sides, flags, line);
  }
  if (name == "linear" && args.size() >= 2) {
    std::vector<Value> in = {args[0], args[1]};
    const Value* bias = argument_of(args, named, 2, {"bias"});
    if (bias && bias->kind != Value::Kind::none) in.push_back(*bias);
    return emit("linear", in, {}, line);
  }
  if (name == "cat" && args[0].kind == Value::Kind::list && !args[0].items.empty()) {
    const Value* dim = argument_of(args, named, 1, {"dim"});
    const size_t rank = tensor(args[0].items[0], "a part", line).view.shape.size();
    return emit("cat", args[0].items, {integer_attribute("axis", dim ? axis(*dim, rank, line) : 0)},
                line);
  }
  static const std::map<std::string, const char*, std::less<>> kLayers = {
      {"conv1d", "Conv1d"},
      {"conv2d", "Conv2d"},
      {"conv3d", "Conv3d"},
      {"conv_transpose1d", "ConvTranspose1d"},
      {"conv_transpose2d", "ConvTranspose2d"},
      {"conv_transpose3d", "ConvTranspose3d"}};
  if (const auto layer = kLayers.find(name); layer != kLayers.end() && args.size() >= 2) {
    Object object;
    object.type = std::string("nn.") + layer->second;
    object.set("weight", args[1]);
    const bool transposed = name.starts_with("conv_t");
    const std::vector<std::string> options =
        transposed ? std::vector<std::string>{"bias",           "stride", "padding",
                                              "output_padding", "groups", "dilation"}
                   : std::vector<std::string>{"bias", "stride", "padding", "dilation", "groups"};
    for (size_t i = 0; i < options.size(); ++i) {
      if (const Value* v = argument_of(args, named, 2 + i, {options[i].c_str()}))
        object.set(options[i], *v);
    }
    return apply_layer(object, {args[0]}, line);
  }
  static const std::map<std::string, const char*, std::less<>> kPools = {
      {"max_pool1d", "MaxPool1d"},
      {"max_pool2d", "MaxPool2d"},
      {"max_pool3d", "MaxPool3d"},
      {"avg_pool1d", "AvgPool1d"},
      {"avg_pool2d", "AvgPool2d"},
      {"avg_pool3d", "AvgPool3d"},
      {"adaptive_avg_pool2d", "AdaptiveAvgPool2d"}};
  if (const auto pool = kPools.find(name); pool != kPools.end()) {
    std::vector<Value> rest(args.begin() + 1, args.end());
    return apply_layer(*make_layer(pool->second, rest, named, line).object, {args[0]}, line);
  }
  if (name == "group_norm" && args.size() >= 2) {
    Object object;
    object.type = "nn.GroupNorm";
    object.set("num_groups", args[1]);
    const char* options[] = {"weight", "bias", "eps"};
    for (size_t i = 0; i < 3; ++i) {
      if (const Value* v = argument_of(args, named, 2 + i, {options[i]}))
        object.set(options[i], *v);
    }
    return apply_layer(object, {args[0]}, line);
  }
  return std::nullopt;
}

}  // namespace kbench::importing
