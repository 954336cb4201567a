// Layers of torch.nn: the weights they own, and the built-in steps they are.
#include <algorithm>
#include <map>

#include "kbench/error.h"
#include "libkbench/import/evaluator.h"

namespace kbench::importing {
namespace {

/// A layer's arguments by position, after KernelBench's PyTorch.
const std::vector<std::string>* argument_names(const std::string& type) {
  static const std::vector<std::string> kConv = {"in_channels", "out_channels", "kernel_size",
                                                 "stride",      "padding",      "dilation",
                                                 "groups",      "bias",         "padding_mode"};
  static const std::vector<std::string> kTransposed = {
      "in_channels",    "out_channels", "kernel_size", "stride",   "padding",
      "output_padding", "groups",       "bias",        "dilation", "padding_mode"};
  static const std::vector<std::string> kMaxPool = {"kernel_size", "stride",         "padding",
                                                    "dilation",    "return_indices", "ceil_mode"};
  static const std::vector<std::string> kAvgPool = {
      "kernel_size", "stride", "padding", "ceil_mode", "count_include_pad", "divisor_override"};
  static const std::vector<std::string> kBatch = {"num_features", "eps", "momentum", "affine",
                                                  "track_running_stats"};
  static const std::map<std::string, std::vector<std::string>, std::less<>> kOthers = {
      {"Linear", {"in_features", "out_features", "bias"}},
      {"GroupNorm", {"num_groups", "num_channels", "eps", "affine"}},
      {"LayerNorm", {"normalized_shape", "eps", "elementwise_affine", "bias"}},
      {"AdaptiveAvgPool2d", {"output_size"}},
      {"ReLU", {"inplace"}},
      {"LeakyReLU", {"negative_slope", "inplace"}},
      {"Sigmoid", {}},
      {"Tanh", {}},
      {"GELU", {"approximate"}},
      {"SELU", {"inplace"}},
      {"ELU", {"alpha", "inplace"}},
      {"Softplus", {"beta", "threshold"}},
      {"Mish", {"inplace"}},
      {"Hardsigmoid", {"inplace"}},
      {"Hardswish", {"inplace"}},
      {"SiLU", {"inplace"}},
      {"Hardtanh", {"min_val", "max_val", "inplace"}},
      {"Softmax", {"dim"}},
      {"LogSoftmax", {"dim"}},
      {"Identity", {}},
      {"Dropout", {"p", "inplace"}},
      {"Flatten", {"start_dim", "end_dim"}}};
  if (type.starts_with("ConvTranspose")) return &kTransposed;
  if (type.starts_with("Conv")) return &kConv;
  if (type.starts_with("MaxPool")) return &kMaxPool;
  if (type.starts_with("AvgPool")) return &kAvgPool;
  if (type.starts_with("BatchNorm") || type.starts_with("InstanceNorm")) return &kBatch;
  const auto found = kOthers.find(type);
  return found == kOthers.end() ? nullptr : &found->second;
}

int dimensions(const std::string& type) {
  return type.ends_with("1d") ? 1 : type.ends_with("2d") ? 2 : type.ends_with("3d") ? 3 : 0;
}

std::vector<Number> each(std::vector<Number> given, int dims) {
  if (given.size() == 1) given.resize(static_cast<size_t>(dims), given[0]);
  return given;
}

}  // namespace

/// A weight of ModelNew; which of the task's it is follows later (match_parameters).
Value Evaluator::parameter(std::vector<Number> shape, bool shaped) {
  PlanBuffer buffer;
  buffer.kind = PlanBuffer::Kind::parameter;
  buffer.shape = shape;
  buffer.shaped = shaped;
  View view;
  view.buffer = plan_.add_buffer(std::move(buffer));
  view.shape = std::move(shape);
  return tensor_value(std::move(view));
}

Value Evaluator::make_layer(const std::string& type, std::vector<Value>& args, Named& named,
                            int line) {
  Value v;
  v.kind = Value::Kind::object;
  v.line = line;
  v.object = std::make_shared<Object>();
  Object& layer = *v.object;
  layer.type = "nn." + type;
  if (type == "Sequential" || type == "ModuleList") {
    std::vector<Value> parts = args;
    if (args.size() == 1 && args[0].kind == Value::Kind::list) parts = args[0].items;
    for (size_t i = 0; i < parts.size(); ++i) layer.set(std::to_string(i), parts[i]);
    return v;
  }
  if (type == "ParameterList" || type == "ParameterDict") {
    stop(ImportObstacle::python, line, "nn." + type);
  }
  const auto* names = argument_names(type);
  if (!names) {
    Value poison;
    poison.kind = Value::Kind::poison;
    poison.why = std::make_shared<NotFollowed>(
        NotFollowed{ImportObstacle::torch_operator, line,
                    "the layer nn." + shown(type, 40) + " is no built-in step"});
    return poison;
  }
  for (size_t i = 0; i < args.size() && i < names->size(); ++i) layer.set((*names)[i], args[i]);
  for (const auto& [key, value] : named) layer.set(key, value);
  const auto option = [&](const std::string& name, bool fallback) {
    const auto found = layer.attributes.find(name);
    return found == layer.attributes.end() || found->second.kind == Value::Kind::poison
               ? fallback
               : decide(found->second, line);
  };
  // Extents that are not known leave the shape to the task.
  const auto extents = [&](std::vector<std::string> of, std::vector<Number>& shape) {
    try {
      for (const std::string& name : of) {
        const auto found = layer.attributes.find(name);
        if (found == layer.attributes.end()) return false;
        for (const Number& n : numbers(found->second, name, line)) shape.push_back(n);
      }
      return true;
    } catch (const NotFollowed&) {
      return false;
    }
  };
  const auto own = [&](const std::string& name, std::vector<std::string> of) {
    std::vector<Number> shape;
    const bool shaped = extents(std::move(of), shape);
    if (!shaped) shape.clear();
    layer.set(name, parameter(std::move(shape), shaped));
  };
  const int dims = dimensions(type);
  if (type == "Linear") {
    const bool bias = option("bias", true);
    own("weight", {"out_features", "in_features"});
    if (bias)
      own("bias", {"out_features"});
    else
      layer.set("bias", Value());
  } else if (type.starts_with("Conv")) {
    const bool bias = option("bias", true);
    std::vector<Number> shape;
    bool shaped =
        extents(type.starts_with("ConvT") ? std::vector<std::string>{"in_channels", "out_channels"}
                                          : std::vector<std::string>{"out_channels", "in_channels"},
                shape);
    if (shaped && layer.attributes.contains("groups")) {
      try {
        shape[1] = combine("//", shape[1], number(layer.attributes["groups"], "groups", line),
                           false, line);
      } catch (const NotFollowed&) {
        shaped = false;
      }
    }
    std::vector<Number> kernel;
    shaped = extents({"kernel_size"}, kernel) && shaped;
    kernel = each(kernel, dims);
    shape.insert(shape.end(), kernel.begin(), kernel.end());
    if (!shaped) shape.clear();
    layer.set("weight", parameter(std::move(shape), shaped));
    if (bias)
      own("bias", {"out_channels"});
    else
      layer.set("bias", Value());
  } else if (type.starts_with("BatchNorm") || type.starts_with("InstanceNorm") ||
             type == "GroupNorm" || type == "LayerNorm") {
    const char* affine = type == "LayerNorm" ? "elementwise_affine" : "affine";
    if (option(affine, !type.starts_with("Instance"))) {
      const std::string of = type == "LayerNorm"   ? "normalized_shape"
                             : type == "GroupNorm" ? "num_channels"
                                                   : "num_features";
      own("weight", {of});
      own("bias", {of});
    } else {
      layer.set("weight", Value());
      layer.set("bias", Value());
    }
    if (!layer.attributes.contains("eps")) layer.set("eps", number_value(real_number(1e-5)));
  }
  // As PyTorch's layers have them, for host code that is given conv.stride[0].
  if (type.starts_with("Conv")) {
    const std::map<std::string, int> kDefaults = {
        {"stride", 1}, {"padding", 0}, {"dilation", 1}, {"output_padding", 0}, {"kernel_size", 1}};
    for (const auto& [name, value] : kDefaults) {
      Value& at = layer.attributes[name];
      if (at.kind == Value::Kind::none) at = number_value(integer(value));
      if (at.kind == Value::Kind::number)
        at = list_value(std::vector<Value>(static_cast<size_t>(dims), at));
    }
    if (!layer.attributes.contains("groups")) layer.attributes["groups"] = number_value(integer(1));
  }
  return v;
}

/// The methods of modules that add a part; nothing for other methods. Stops at a method of a
/// container that is not followed, as it could change the parts.
std::optional<Value> Evaluator::container_call(Object& self, const std::string& name,
                                               const std::vector<Value>& args, int line) {
  if (name == "add_module" || name == "register_module") {
    if (args.size() != 2 || args[0].kind != Value::Kind::text) {
      stop(ImportObstacle::python, line, "the arguments of " + quote(name));
    }
    self.set(args[0].text, args[1]);
    return Value();
  }
  if (self.type != "nn.Sequential" && self.type != "nn.ModuleList") return std::nullopt;
  static const std::vector<std::string> kHarmless = {"to", "cuda", "eval", "train", "float"};
  if (std::find(kHarmless.begin(), kHarmless.end(), name) != kHarmless.end()) return std::nullopt;
  std::vector<Value> parts = args;
  if (name == "extend" && args.size() == 1 && args[0].kind == Value::Kind::list) {
    parts = args[0].items;
  } else if (name != "append" || args.size() != 1) {
    stop(ImportObstacle::python, line, "the method " + quote(name) + " of " + self.type);
  }
  for (const Value& part : parts) self.set(std::to_string(self.order.size()), part);
  return Value();
}

Value Evaluator::apply_layer(Object& layer, std::vector<Value> args, int line) {
  const std::string type = layer.type.substr(layer.type.find('.') + 1);
  if (args.empty()) stop(ImportObstacle::python, line, "a layer of nothing");
  if (type == "Sequential") {
    Value v = args[0];
    for (const std::string& name : layer.order)
      v = call_value(layer.attributes[name], {v}, {}, line);
    return v;
  }
  const Value x = tensor(args[0], "what a layer is given", line);
  const auto known = [&](const std::string& name) -> const Value* {
    const auto found = layer.attributes.find(name);
    if (found == layer.attributes.end() || found->second.kind == Value::Kind::none) return nullptr;
    if (found->second.kind == Value::Kind::poison) throw *found->second.why;
    return &found->second;
  };
  const int dims = dimensions(type);
  std::vector<Value> in = {x};
  for (const char* name : {"weight", "bias"}) {
    if (const Value* weight = known(name); weight && weight->kind == Value::Kind::tensor)
      in.push_back(*weight);
  }
  std::vector<PlanAttribute> attributes;
  const auto list = [&](const std::string& name, const std::string& from, int fallback) {
    const Value* given = known(from);
    if (given && given->kind == Value::Kind::text)
      stop(ImportObstacle::torch_operator, line, from + "='" + given->text + "'");
    attributes.push_back(
        {name,
         each(given ? numbers(*given, from, line) : std::vector<Number>{integer(fallback)}, dims),
         true, false, ""});
  };
  const auto real = [&](const std::string& name, const std::string& from, double fallback) {
    const Value* given = known(from);
    attributes.push_back({name,
                          {given ? as_real(number(*given, from, line)) : real_number(fallback)},
                          false,
                          true,
                          ""});
  };
  const auto whole = [&](const std::string& name, const std::string& from, int fallback) {
    const Value* given = known(from);
    attributes.push_back(
        {name, {given ? number(*given, from, line) : integer(fallback)}, false, false, ""});
  };
  if (type == "Linear") return emit("linear", in, {}, line);
  if (type.starts_with("Conv")) {
    if (const Value* mode = known("padding_mode"); mode && mode->text != "zeros") {
      stop(ImportObstacle::torch_operator, line, "padding_mode");
    }
    const bool transposed = type.starts_with("ConvT");
    list("stride", "stride", 1);
    list("padding", "padding", 0);
    if (transposed) list("output_padding", "output_padding", 0);
    list("dilation", "dilation", 1);
    whole("groups", "groups", 1);
    return emit((transposed ? "conv_transpose" : "conv") + std::to_string(dims) + "d", in,
                attributes, line);
  }
  if (type.starts_with("BatchNorm") || type.starts_with("InstanceNorm") || type == "GroupNorm") {
    if (type == "GroupNorm") whole("groups", "num_groups", 1);
    real("eps", "eps", 1e-5);
    return emit(type == "GroupNorm"         ? "group_norm"
                : type.starts_with("Batch") ? "batch_norm"
                                            : "instance_norm",
                in, attributes, line);
  }
  if (type == "LayerNorm") {
    const Value* shape = known("normalized_shape");
    const size_t count = shape && shape->kind == Value::Kind::list ? shape->items.size() : 1;
    attributes.push_back({"dims", {integer(static_cast<int64_t>(count))}, false, false, ""});
    real("eps", "eps", 1e-5);
    return emit("layer_norm", in, attributes, line);
  }
  if (type.starts_with("MaxPool") || type.starts_with("AvgPool")) {
    if (const Value* pad = known("count_include_pad"); pad && !decide(*pad, line)) {
      stop(ImportObstacle::torch_operator, line, "count_include_pad=False");
    }
    list("kernel", "kernel_size", 1);
    const Value* stride = known("stride");
    list("stride", stride ? "stride" : "kernel_size", 1);
    list("padding", "padding", 0);
    if (type.starts_with("Max")) list("dilation", "dilation", 1);
    if (const Value* ceil = known("ceil_mode"); ceil && decide(*ceil, line)) {
      attributes.push_back({"ceil_mode", {integer(1)}, false, false, ""});
    }
    return emit((type.starts_with("Max") ? "max_pool" : "avg_pool") + std::to_string(dims) + "d",
                {x}, attributes, line);
  }
  if (type == "AdaptiveAvgPool2d") {
    const Value* size = known("output_size");
    if (!size) stop(ImportObstacle::torch_operator, line, "an adaptive pool without a size");
    attributes.push_back({"output", each(numbers(*size, "output_size", line), 2), true, false, ""});
    return emit("adaptive_avg_pool2d", {x}, attributes, line);
  }
  if (type == "Identity") return x;
  if (type == "Dropout") {
    const Value* p = known("p");
    if (p && number(*p, "p", line).value(0) == 0) return x;
    stop(ImportObstacle::torch_operator, line, "a dropout");
  }
  std::string name;
  for (char c : type) name += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  if (name == "leakyrelu") name = "leaky_relu";
  if (name == "logsoftmax") name = "log_softmax";
  std::vector<Value> operands = {x};
  Named options;
  for (const char* option : {"negative_slope", "alpha", "min_val", "max_val", "dim", "approximate",
                             "start_dim", "end_dim", "beta"}) {
    if (const Value* v = known(option)) options.emplace_back(option, *v);
  }
  if (name == "flatten" && !known("start_dim"))
    options.emplace_back("start_dim", number_value(integer(1)));
  if (auto v = tensor_call(name, operands, options, line)) {
    if (const Value* in_place = known("inplace"); in_place && decide(*in_place, line)) {
      changed_in_place(x, *v);
    }
    return *v;
  }
  stop(ImportObstacle::torch_operator, line, "the layer nn." + shown(type, 40));
}

}  // namespace kbench::importing
