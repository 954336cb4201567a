// Elementwise operators, with one input and with two that broadcast.
#include <algorithm>
#include <string>

#include "harness/measure/eager/planning.h"
#include "harness/measure/eager/registry.h"

namespace kbench::eager {
namespace {

constexpr int64_t kQuads = 4;  // loads an invocation has in flight

/// `function` as shaders/unary.comp names it, `value` the operator's number.
CallPlan unary(const OperatorCall& call, const DeviceTraits& traits, const char* function,
               double value = 0, double second = 0) {
  const int64_t n = call.outputs[0].elements();
  const int64_t groups = std::max<int64_t>(1, ceil_div(n / 4, kThreads * kQuads));
  Launch launch = make_launch("unary.comp", {{"THREADS", kThreads}, {"QUADS", kQuads}},
                              {input(0), output(0)}, groups, traits);
  launch.macros.emplace_back("FUNCTION", function);
  launch.add(n / 4).add(n % 4).add(groups).add_real(value).add_real(second);
  return {{launch}, {}};
}

CallPlan relu(const OperatorCall& call, const DeviceTraits& traits) {
  return unary(call, traits, "relu");
}
CallPlan leaky_relu(const OperatorCall& call, const DeviceTraits& traits) {
  return unary(call, traits, "leaky_relu", call.attributes.real("slope"));
}
CallPlan sigmoid(const OperatorCall& call, const DeviceTraits& traits) {
  return unary(call, traits, "sigmoid");
}
CallPlan gelu(const OperatorCall& call, const DeviceTraits& traits) {
  return unary(call, traits, "gelu");
}
CallPlan square(const OperatorCall& call, const DeviceTraits& traits) {
  return unary(call, traits, "square");
}
CallPlan square_root(const OperatorCall& call, const DeviceTraits& traits) {
  return unary(call, traits, "square_root");
}
/// add_scalar, sub_scalar, mul_scalar, div_scalar: the shader's functions have the same names.
CallPlan with_number(const OperatorCall& call, const DeviceTraits& traits) {
  return unary(call, traits, call.op->name.c_str(), call.attributes.real("value"));
}

/// The shader's function, or GLSL's, has the operator's name.
CallPlan by_own_name(const OperatorCall& call, const DeviceTraits& traits) {
  return unary(call, traits, call.op->name.c_str());
}
CallPlan tangent(const OperatorCall& call, const DeviceTraits& traits) {
  return unary(call, traits, "hyperbolic_tangent");
}
CallPlan negative(const OperatorCall& call, const DeviceTraits& traits) {
  return unary(call, traits, "negative");
}
CallPlan elu(const OperatorCall& call, const DeviceTraits& traits) {
  return unary(call, traits, "elu", call.attributes.real("alpha"));
}
CallPlan clamp(const OperatorCall& call, const DeviceTraits& traits) {
  return unary(call, traits, "clamp_both", call.attributes.real("lo"), call.attributes.real("hi"));
}
CallPlan round_to(const OperatorCall& call, const DeviceTraits& traits) {
  return unary(call, traits, ("rounded_to_" + call.attributes.word("format")).c_str());
}

CallPlan cast(const OperatorCall& call, const DeviceTraits& traits) {
  const TensorType &x = call.inputs[0], &y = call.outputs[0];
  const int64_t n = y.elements();
  const int64_t groups = std::max<int64_t>(1, ceil_div(ceil_div(n, 4), kThreads * kQuads));
  Launch launch = make_launch("cast.comp",
                              {{"THREADS", kThreads},
                               {"QUADS", kQuads},
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
  const int64_t groups = std::max<int64_t>(1, ceil_div(n / 4, kThreads * kQuads));
  Launch launch = make_launch("mask.comp", {{"THREADS", kThreads}, {"QUADS", kQuads}},
                              {input(0), input(1), output(0)}, groups, traits);
  launch.add(n / 4).add(n % 4).add(groups);
  return {{launch}, {}};
}

/// `macro` is OPERATION with a symbol, or FUNCTION with a name.
CallPlan binary(const OperatorCall& call, const DeviceTraits& traits, const char* symbol,
                const char* macro = "OPERATION") {
  const int64_t n = call.outputs[0].elements();
  const std::vector<Dimension> dims =
      merge_dims(call.outputs[0].shape, call.inputs[0].shape, call.inputs[1].shape);
  const Dimension& inner = dims[0];
  const int64_t width = inner.extent % 4 == 0 ? 4 : 1;
  const int64_t outer = static_cast<int64_t>(dims.size()) - 1;
  const int64_t groups = ceil_div(n / width, kThreads * kQuads);
  Launch launch = make_launch("binary.comp",
                              {{"THREADS", kThreads},
                               {"PIECES", kQuads},
                               {"WIDTH", width},
                               {"OUTER", outer},
                               {"A_INNER", inner.a},
                               {"B_INNER", inner.b}},
                              {input(0), input(1), output(0)}, groups, traits);
  launch.macros.emplace_back(macro, symbol);
  launch.add(n / width).add(inner.extent / width).add(groups);
  for (int64_t d = 1; d <= outer; ++d) launch.add(dims[d].extent);
  for (int64_t d = 1; d <= outer; ++d) launch.add(dims[d].a);
  for (int64_t d = 1; d <= outer; ++d) launch.add(dims[d].b);
  return {{launch}, {}};
}

CallPlan add(const OperatorCall& call, const DeviceTraits& traits) {
  return binary(call, traits, "+");
}
CallPlan sub(const OperatorCall& call, const DeviceTraits& traits) {
  return binary(call, traits, "-");
}
CallPlan mul(const OperatorCall& call, const DeviceTraits& traits) {
  return binary(call, traits, "*");
}
CallPlan div(const OperatorCall& call, const DeviceTraits& traits) {
  return binary(call, traits, "/");
}
CallPlan maximum(const OperatorCall& call, const DeviceTraits& traits) {
  return binary(call, traits, "max_nan", "FUNCTION");
}
CallPlan minimum(const OperatorCall& call, const DeviceTraits& traits) {
  return binary(call, traits, "min_nan", "FUNCTION");
}

}  // namespace

const std::vector<EagerKernel>& elementwise_kernels() {
  static const std::vector<EagerKernel> kernels = {
      {"relu", relu},
      {"leaky_relu", leaky_relu},
      {"sigmoid", sigmoid},
      {"gelu", gelu},
      {"square", square},
      {"sqrt", square_root},
      {"add_scalar", with_number},
      {"sub_scalar", with_number},
      {"mul_scalar", with_number},
      {"div_scalar", with_number},
      {"add", add},
      {"sub", sub},
      {"mul", mul},
      {"div", div},
      {"maximum", maximum},
      {"minimum", minimum},
      {"mul_mask", mul_mask},
      {"tanh", tangent},
      {"neg", negative},
      {"elu", elu},
      {"clamp", clamp},
      {"clamp_min", with_number},
      {"clamp_max", with_number},
      {"selu", by_own_name},
      {"softplus", by_own_name},
      {"mish", by_own_name},
      {"hardsigmoid", by_own_name},
      {"hardswish", by_own_name},
      {"round_to", round_to},
      {"cast", cast},
      {"exp", by_own_name},
      {"log", by_own_name},
      {"abs", by_own_name},
  };
  return kernels;
}

}  // namespace kbench::eager
