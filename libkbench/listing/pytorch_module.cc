// PyTorch's program of a task as a ModelNew, as a candidate is written.
#include <cmath>
#include <cstring>
#include <limits>
#include <map>
#include <span>
#include <sstream>
#include <type_traits>
#include <utility>

#include "kbench/error.h"
#include "kbench/listing.h"
#include "libkbench/base/text.h"
#include "libkbench/listing/program.h"

namespace kbench {
namespace {

/// A number as Python has it.
template <class T>
std::string number(T value) {
  if constexpr (std::is_floating_point_v<T>) {
    if (std::isinf(value)) return value < 0 ? "-torch.inf" : "torch.inf";
    if (std::isnan(value)) return "torch.nan";
    if (value == 0 && std::signbit(value)) return "-0.0";
  }
  std::ostringstream text;
  text.precision(std::numeric_limits<T>::max_digits10);
  text << value;
  return text.str();
}

/// A tensor's values as a Python list, runs of one value once: `[*[0] * 49, *[-torch.inf] * 7]`.
template <class T>
std::string list_in_runs(std::span<const T> values) {
  constexpr size_t kWidest = 90;
  std::string text, line;
  const auto same_bits = [](const T& a, const T& b) { return std::memcmp(&a, &b, sizeof a) == 0; };
  for (size_t i = 0, end = 0; i < values.size(); i = end) {
    while (end < values.size() && same_bits(values[end], values[i])) ++end;
    const std::string one = number(values[i]);
    const std::string run =
        (end - i == 1 ? one : "*[" + one + "] * " + std::to_string(end - i)) + ",";
    if (line.size() + run.size() > kWidest) text += std::exchange(line, "") + "\n       ";
    line += " " + run;
  }
  return "[\n       " + text + line + "]";
}

std::string tuple_of(const Shape& shape) {
  std::string text;
  for (const int64_t extent : shape) text += std::to_string(extent) + ", ";
  return "(" + text + ")";
}

/// "torch.tensor([...], dtype=torch.int64).reshape(49, 49)"
std::string tensor_of(const Graph::ValueInfo& value) {
  const bool whole = value.type.dtype == DType::i64;
  if (!whole && value.type.dtype != DType::f32) {
    throw Error(ErrorCode::kInternal, "a constant of type " + to_string(value.type));
  }
  return "torch.tensor(" +
         (whole ? list_in_runs(value.data.data<int64_t>())
                : list_in_runs(value.data.data<float>())) +
         ", dtype=torch." + (whole ? "int64" : "float32") + ").reshape(" +
         tuple_of(value.type.shape) + ")";
}

/// Modules of PyTorch's for the weights of recurrent layers, which they keep in one block: cuDNN
/// copies weights that lie apart in every call. By name: "lstm" for weights "lstm.weight_ih_l0" and
/// so on, made by "torch.nn.LSTM(128, 256, 6, batch_first=True)". Layers whose weights are named
/// otherwise than PyTorch's module names them are left out.
std::map<std::string, std::string> recurrent_modules(const Graph& graph) {
  std::map<std::string, std::string> modules;
  for (const Graph::Node& node : graph.nodes()) {
    const std::string op = node.call.op->name;
    if (op != "lstm" && op != "gru") continue;
    const std::string first_name = ".weight_ih_l0";
    const Graph::ValueInfo& first = graph.value(node.inputs[op == "lstm" ? 3 : 2]);
    if (!first.name.ends_with(first_name)) continue;
    const std::string name = first.name.substr(0, first.name.size() - first_name.size());
    if (!is_identifier(name)) continue;
    const Attributes& attributes = node.call.attributes;
    modules[name] = std::string("torch.nn.") + (op == "lstm" ? "LSTM(" : "GRU(") +
                    std::to_string(first.type.shape[1]) + ", " +
                    std::to_string(attributes.integer("hidden")) + ", " +
                    std::to_string(attributes.integer("layers")) +
                    (attributes.flag("batch_first") ? ", batch_first=True" : "") +
                    (attributes.flag("bidirectional") ? ", bidirectional=True" : "") + ")";
  }
  return modules;
}

std::string module_class(const Graph& graph) {
  const auto recurrent = recurrent_modules(graph);
  std::string text =
      "\n\nclass ModelNew(torch.nn.Module):\n"
      "  def __init__(self, *_):\n"
      "    super().__init__()\n"
      "    shapes = {";
  for (const int id : graph.values_of(Graph::Kind::parameter)) {
    const Graph::ValueInfo& value = graph.value(id);
    if (recurrent.contains(value.name.substr(0, value.name.rfind('.')))) continue;
    text += "\n        \"" + value.name + "\": " + tuple_of(value.type.shape) + ",";
  }
  text +=
      "}\n"
      "    self.names = list(shapes)\n"
      "    self.weights = torch.nn.ParameterList(\n"
      "        torch.nn.Parameter(torch.zeros(shape)) for shape in shapes.values())\n";
  for (const auto& [name, constructor] : recurrent) {
    text += "    self." + name + " = " + constructor + "\n";
  }
  const auto constants = graph.values_of(Graph::Kind::constant);
  for (size_t i = 0; i < constants.size(); ++i) {
    text += "    self.register_buffer(\"constant_" + std::to_string(i) + "\", " +
            tensor_of(graph.value(constants[i])) + ")\n";
  }
  if (is_half(graph.dtype())) {
    text += std::string("    self.to(torch.") + std::string(long_name_of(graph.dtype())) + ")\n";
  }
  text +=
      "\n"
      "  def parameters_by_name(self):\n"
      "    p = dict(zip(self.names, self.weights))\n";
  for (const auto& [name, constructor] : recurrent) {
    text += "    p.update((\"" + name + ".\" + name, weight)\n" +
            "             for name, weight in self." + name + ".named_parameters())\n";
  }
  text +=
      "    return p\n"
      "\n"
      "  def forward(self, *inputs):\n";
  if (constants.empty()) return text + "    return forward(*inputs, self.parameters_by_name())\n";
  text += "    c = {";
  for (size_t i = 0; i < constants.size(); ++i) {
    text += "\n        \"" + graph.value(constants[i]).name + "\": self.constant_" +
            std::to_string(i) + ",";
  }
  return text + "}\n    return forward(*inputs, self.parameters_by_name(), c)\n";
}

/// "torch.triu(torch.empty((4, 4, )).uniform_(-1, 1))": a tensor drawn as the task draws it.
std::string drawn_as(const Distribution& drawn, const TensorType& type) {
  using Then = Distribution::Then;
  const auto of_shape = [&](const Shape& shape) {
    const std::string extents = tuple_of(shape);
    const std::string numbers = number(drawn.lo) + ", " + number(drawn.hi);
    if (drawn.kind == Distribution::Kind::randint) {
      return "torch.randint(" + numbers + ", " + extents + ")";
    }
    if (drawn.kind == Distribution::Kind::uniform) {
      return "torch.empty(" + extents + ").uniform_(" + numbers + ")";
    }
    return drawn.lo == 0 && drawn.hi == 1 ? "torch.randn(" + extents + ")"
                                          : "torch.empty(" + extents + ").normal_(" + numbers + ")";
  };
  std::string text = of_shape(type.shape);
  if (type.dtype == DType::boolean) text += ".bool()";
  switch (drawn.then) {
    case Then::nothing:
      return text;
    case Then::symmetrize:
      return "symmetric(" + text + ")";
    case Then::triu:
      return "torch.triu(" + text + ")";
    case Then::tril:
      return "torch.tril(" + text + ")";
    case Then::softmax_last:
      return "torch.softmax(" + text + ", dim=-1)";
    case Then::plus_minus_one:
      return text + ".float() * 2 - 1";
    case Then::offset: {
      Shape offsets(type.shape.size(), 1);
      for (size_t i = 0; i < (offsets.size() > 2 ? 2 : 1); ++i) offsets[i] = type.shape[i];
      Distribution plain = drawn;
      plain.then = Then::nothing;
      return text + " + " + drawn_as(plain, {type.dtype, offsets});
    }
  }
  throw Error(ErrorCode::kInternal, "a distribution that PyTorch's text does not have");
}

}  // namespace

std::string pytorch_problem(const Task& task, const Graph& graph) {
  std::string text = pytorch_code(task, graph);
  const auto parameters = graph.values_of(Graph::Kind::parameter);
  const auto constants = graph.values_of(Graph::Kind::constant);
  const auto inputs = graph.values_of(Graph::Kind::input);
  const std::string names =
      listed(listing::inputs_in_python(graph), [](const auto& input) { return input.second; });
  text +=
      "\n\ndef symmetric(x):\n"
      "  return (x + x.T) / 2\n"
      "\n\nclass Part(torch.nn.Module):\n"
      "  pass\n"
      "\n\nclass Model(torch.nn.Module):\n"
      "  def __init__(self):\n"
      "    super().__init__()\n";
  for (const int id : parameters) {
    const Graph::ValueInfo& value = graph.value(id);
    text +=
        "    self.add(\"" + value.name + "\", " + drawn_as(value.distribution, value.type) + ")\n";
  }
  for (size_t i = 0; i < constants.size(); ++i) {
    text += "    self.register_buffer(\"constant_" + std::to_string(i) + "\", " +
            tensor_of(graph.value(constants[i])) + ")\n";
  }
  text +=
      "\n"
      "  def add(self, name, values):\n"
      "    *path, last = name.split(\".\")\n"
      "    owner = self\n"
      "    for part in path:\n"
      "      if part not in owner._modules:\n"
      "        owner.add_module(part, Part())\n"
      "      owner = owner._modules[part]\n"
      "    owner.register_parameter(last, torch.nn.Parameter(values))\n"
      "\n"
      "  def forward(self, " +
      names + "):\n    p = dict(self.named_parameters())\n";
  if (!constants.empty()) {
    text += "    c = {";
    for (size_t i = 0; i < constants.size(); ++i) {
      text += "\n        \"" + graph.value(constants[i]).name + "\": self.constant_" +
              std::to_string(i) + ",";
    }
    text += "}\n";
  }
  text += "    return forward(" + names + ", p" + (constants.empty() ? "" : ", c") +
          ")\n\n\ndef get_inputs():\n  return [";
  for (const int id : inputs) {
    const Graph::ValueInfo& value = graph.value(id);
    text += "\n      " + drawn_as(value.distribution, value.type) + ",";
  }
  return text + "\n  ]\n\n\ndef get_init_inputs():\n  return []\n";
}

std::string pytorch_module(const Task& task, const Graph& graph) {
  return "# task: " + to_string(task.id) + "\n" + pytorch_code(task, graph) + module_class(graph);
}

}  // namespace kbench
