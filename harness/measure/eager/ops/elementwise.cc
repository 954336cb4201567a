// Elementwise operators, with one input and with two that broadcast.
#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

#include "harness/measure/eager/planning.h"

namespace kbench::eager {
namespace {

/// An operator of one input: its function in shaders/unary.comp, or GLSL's, and the attributes that
/// are the function's numbers.
struct Unary {
  std::string_view name;
  const char* function;
  const char* first = nullptr;
  const char* second = nullptr;
};
constexpr Unary kUnary[] = {
    {"abs", "abs"},
    {"add_scalar", "add_scalar", "value"},
    {"clamp", "clamp_both", "lo", "hi"},
    {"clamp_max", "clamp_max", "value"},
    {"clamp_min", "clamp_min", "value"},
    {"cos", "cosine"},
    {"cube", "cube"},
    {"div_scalar", "div_scalar", "value"},
    {"elu", "elu", "alpha"},
    {"exp", "exp"},
    {"gelu", "gelu"},
    {"hardsigmoid", "hardsigmoid"},
    {"hardswish", "hardswish"},
    {"leaky_relu", "leaky_relu", "slope"},
    {"log", "log"},
    {"mish", "mish"},
    {"mul_scalar", "mul_scalar", "value"},
    {"neg", "negative"},
    {"relu", "relu"},
    {"selu", "selu"},
    {"sigmoid", "sigmoid"},
    {"sin", "sine"},
    {"softplus", "softplus"},
    {"sqrt", "square_root"},
    {"square", "square"},
    {"sub_scalar", "sub_scalar", "value"},
    {"tanh", "hyperbolic_tangent"},
};

CallPlan plan_unary(const OperatorCall& call, const DeviceTraits& traits, std::string function,
                    double first, double second) {
  const int64_t n = call.outputs[0].elements();
  const int64_t groups = std::max<int64_t>(1, ceil_div(n / 4, kThreads * loads_in_flight(call)));
  Launch launch =
      make_launch("unary.comp", {{"THREADS", kThreads}, {"QUADS", loads_in_flight(call)}},
                  {input(0), output(0)}, groups, traits);
  launch.macros.emplace_back("FUNCTION", std::move(function));
  launch.add(n / 4).add(n % 4).add(groups).add_real(first).add_real(second);
  return {{launch}, {}};
}

CallPlan unary(const OperatorCall& call, const DeviceTraits& traits) {
  const auto& each = *std::ranges::find(kUnary, call.op->name, &Unary::name);
  const auto number = [&](const char* name) { return name ? call.attributes.real(name) : 0; };
  return plan_unary(call, traits, each.function, number(each.first), number(each.second));
}

CallPlan round_to(const OperatorCall& call, const DeviceTraits& traits) {
  return plan_unary(call, traits, "rounded_to_" + call.attributes.word("format"), 0, 0);
}

CallPlan cast(const OperatorCall& call, const DeviceTraits& traits) {
  const TensorType &x = call.inputs[0], &y = call.outputs[0];
  const int64_t n = y.elements();
  const int64_t groups =
      std::max<int64_t>(1, ceil_div(ceil_div(n, 4), kThreads * loads_in_flight(call)));
  Launch launch = make_launch("cast.comp",
                              {{"THREADS", kThreads},
                               {"QUADS", loads_in_flight(call)},
                               {"FROM_BYTES", static_cast<int64_t>(size_of(x.dtype))},
                               {"TO_BYTES", static_cast<int64_t>(size_of(y.dtype))}},
                              {input(0), output(0)}, groups, traits);
  launch.macros.emplace_back("FROM_" + std::string(name_of(x.dtype)), "1");
  launch.macros.emplace_back("TO_" + std::string(name_of(y.dtype)), "1");
  launch.add(n / 4).add(n % 4).add(groups);
  return {{launch}, {}};
}

CallPlan mul_mask(const OperatorCall& call, const DeviceTraits& traits) {
  const int64_t n = call.outputs[0].elements();
  const int64_t groups = std::max<int64_t>(1, ceil_div(n / 4, kThreads * loads_in_flight(call)));
  Launch launch =
      make_launch("mask.comp", {{"THREADS", kThreads}, {"QUADS", loads_in_flight(call)}},
                  {input(0), input(1), output(0)}, groups, traits);
  launch.add(n / 4).add(n % 4).add(groups);
  return {{launch}, {}};
}

/// An operator of two inputs, as shaders/binary.comp has it: OPERATION is a symbol, FUNCTION a
/// name.
struct Binary {
  std::string_view name;
  const char* macro;
  const char* value;
};
constexpr Binary kBinary[] = {
    {"add", "OPERATION", "+"},          {"sub", "OPERATION", "-"},
    {"mul", "OPERATION", "*"},          {"div", "OPERATION", "/"},
    {"maximum", "FUNCTION", "max_nan"}, {"minimum", "FUNCTION", "min_nan"},
};

CallPlan binary(const OperatorCall& call, const DeviceTraits& traits) {
  const auto& each = *std::ranges::find(kBinary, call.op->name, &Binary::name);
  const int64_t n = call.outputs[0].elements();
  const std::vector<Dimension> dims =
      merge_dims(call.outputs[0].shape, call.inputs[0].shape, call.inputs[1].shape);
  const Dimension& inner = dims[0];
  const int64_t width = inner.extent % 4 == 0 ? 4 : 1;
  const int64_t outer = static_cast<int64_t>(dims.size()) - 1;
  const int64_t groups = ceil_div(n / width, kThreads * loads_in_flight(call));
  Launch launch = make_launch("binary.comp",
                              {{"THREADS", kThreads},
                               {"PIECES", loads_in_flight(call)},
                               {"WIDTH", width},
                               {"OUTER", outer},
                               {"A_INNER", inner.a},
                               {"B_INNER", inner.b}},
                              {input(0), input(1), output(0)}, groups, traits);
  launch.macros.emplace_back(each.macro, each.value);
  launch.add(n / width).add(inner.extent / width).add(groups);
  for (int64_t d = 1; d <= outer; ++d) launch.add(dims[d].extent);
  for (int64_t d = 1; d <= outer; ++d) launch.add(dims[d].a);
  for (int64_t d = 1; d <= outer; ++d) launch.add(dims[d].b);
  return {{launch}, {}};
}

}  // namespace

const std::vector<EagerKernel>& elementwise_kernels() {
  static const std::vector<EagerKernel> kernels = [] {
    std::vector<EagerKernel> all = {{"cast", cast}, {"mul_mask", mul_mask}, {"round_to", round_to}};
    for (const Unary& each : kUnary) all.push_back({std::string(each.name), unary});
    for (const Binary& each : kBinary) all.push_back({std::string(each.name), binary});
    return all;
  }();
  return kernels;
}

}  // namespace kbench::eager
