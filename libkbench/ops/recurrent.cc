// Recurrent layers: one operator for a whole stack of layers and directions.
#include <cmath>

#include "kbench/ops.h"
#include "libkbench/ops/families.h"

namespace kbench {
namespace {

/// Shapes of a recurrent call. Inputs are x, the initial states, then for each layer and direction
/// weight_ih, weight_hh, bias_ih, bias_hh.
struct RecurrentShape {
  int64_t batch, steps, features, hidden, layers, directions;
};

RecurrentShape checked_shape(const OperatorCall& call, int64_t gates, size_t states) {
  const Attributes& a = call.attributes;
  const Shape& x = call.inputs[0].shape;
  require_shape(x.size() == 3, "the input must have three dimensions");
  const bool batch_first = a.flag("batch_first");
  const RecurrentShape s{
      x[batch_first ? 0 : 1], x[batch_first ? 1 : 0], x[2],
      a.integer("hidden"),    a.integer("layers"),    a.flag("bidirectional") + 1};
  require_shape(s.hidden > 0 && s.layers > 0, "hidden and layers must be positive");
  const int64_t cells = multiply_add(s.layers, s.directions, 0);
  const int64_t weights = multiply_add(4, cells, 0);
  require_shape(
      static_cast<int64_t>(call.inputs.size()) - 1 - static_cast<int64_t>(states) == weights,
      "expected " + std::to_string(weights) + " weights and biases");
  for (size_t i = 0; i < call.inputs.size(); ++i) require_float(call, i);
  for (size_t i = 1; i <= states; ++i) {
    require_shape(call.inputs[i].shape == Shape{cells, s.batch, s.hidden},
                  "an initial state must be [layers * directions, batch, hidden]");
  }
  for (int64_t cell = 0; cell < cells; ++cell) {
    const size_t at = 1 + states + 4 * static_cast<size_t>(cell);
    const int64_t in = cell < s.directions ? s.features : multiply_add(s.hidden, s.directions, 0);
    const int64_t rows = multiply_add(gates, s.hidden, 0);
    require_shape(call.inputs[at].shape == Shape{rows, in} &&
                      call.inputs[at + 1].shape == Shape{rows, s.hidden} &&
                      call.inputs[at + 2].shape == Shape{rows} &&
                      call.inputs[at + 3].shape == Shape{rows},
                  "weights of layer " + std::to_string(cell / s.directions) + " do not fit");
  }
  return s;
}

template <int64_t gates, size_t states>
std::vector<TensorType> recurrent_type(const OperatorCall& call) {
  const RecurrentShape s = checked_shape(call, gates, states);
  Shape output = call.inputs[0].shape;
  output[2] = multiply_add(s.hidden, s.directions, 0);
  const TensorType state{DType::f32, {s.layers * s.directions, s.batch, s.hidden}};
  std::vector<TensorType> types = {{DType::f32, output}, state};
  if (states == 2) types.push_back(state);
  return types;
}

/// A gate's multiply-adds, its two biases, the sum of both products and a nonlinearity; five
/// operations for a unit's new state.
template <int64_t gates, size_t states>
double recurrent_flops(const OperatorCall& call) {
  const RecurrentShape s = checked_shape(call, gates, states);
  const auto hidden = static_cast<double>(s.hidden), directions = static_cast<double>(s.directions);
  double units = 0;  // operations of a unit, over the layers
  for (int64_t layer = 0; layer < s.layers; ++layer) {
    const double in = layer == 0 ? static_cast<double>(s.features) : hidden * directions;
    units += static_cast<double>(gates) * (2 * (in + hidden) + 4) + 5;
  }
  return units * hidden * directions * static_cast<double>(s.batch) * static_cast<double>(s.steps);
}

template <int64_t gates, size_t states>
Operator recurrent(std::string name, std::string formula, std::string follows) {
  return {.name = std::move(name),
          .formula = std::move(formula) +
                     "; with bidirectional 1 every layer has a second set of weights that takes "
                     "the steps from last to first, the h of both side by side; a layer's h are "
                     "the next one's x; states are [layers * directions, batch, hidden]; x is "
                     "[batch, steps, features], with batch_first 0 [steps, batch, features]",
          .shapes =
              "x [N, T, F], states [layers * directions, N, H], then of each layer and "
              "direction W [gates * H, F], U [gates * H, H], b and d [gates * H] -> "
              "[N, T, directions * H] and the states",
          .follows = std::move(follows),
          .min_inputs = 1 + static_cast<int>(states) + 4,
          .max_inputs = 1 + static_cast<int>(states) + 4 * 32,
          .attributes = {{"hidden", int64_t{1}, true},
                         {"layers", int64_t{1}},
                         {"bidirectional", int64_t{0}},
                         {"batch_first", int64_t{1}}},
          .infer = recurrent_type<gates, states>,
          .flops = recurrent_flops<gates, states>};
}

RecurrentValues recur(const std::string& name, int64_t gates, std::vector<Value> inputs,
                      const Module& module, const Recurrent& options) {
  const int64_t directions = options.bidirectional ? 2 : 1;
  const double bound = std::round(1.5 / std::sqrt(static_cast<double>(options.hidden)) * 1e6) / 1e6;
  const Distribution weights = uniform(-bound, bound);
  // Gates of some units stay open or shut, so that a state reaches over hundreds of steps: with
  // small biases the last few dozen would be all that the results depend on.
  const Distribution biases = uniform(-5, 5);
  const int64_t rows = gates * options.hidden, features = dim_for(name, inputs[0], 2);
  for (int64_t layer = 0; layer < options.layers; ++layer) {
    for (int64_t direction = 0; direction < directions; ++direction) {
      const std::string suffix = "_l" + std::to_string(layer) + (direction == 1 ? "_reverse" : "");
      const int64_t in = layer == 0 ? features : options.hidden * directions;
      inputs.push_back(module.parameter("weight_ih" + suffix, {rows, in}, weights));
      inputs.push_back(module.parameter("weight_hh" + suffix, {rows, options.hidden}, weights));
      inputs.push_back(module.parameter("bias_ih" + suffix, {rows}, biases));
      inputs.push_back(module.parameter("bias_hh" + suffix, {rows}, biases));
    }
  }
  const auto values = module.graph()->apply(find_operator(name), inputs,
                                            {{"hidden", options.hidden},
                                             {"layers", options.layers},
                                             {"bidirectional", int64_t{options.bidirectional}},
                                             {"batch_first", int64_t{options.batch_first}}});
  return {values[0], values[1], values.size() > 2 ? values[2] : Value()};
}

}  // namespace

const std::vector<Operator>& recurrent_operators() {
  static const std::vector<Operator> operators = {
      recurrent<4, 2>(
          "lstm",
          "inputs x, h0, c0 and for each layer and direction W, U, b, d (weight_ih, weight_hh, "
          "bias_ih, bias_hh); at each step t gates i, f, g, o = the four quarters of W x_t + b + U "
          "h + d, c = sigmoid(f) * c + sigmoid(i) * tanh(g), h = sigmoid(o) * tanh(c); outputs "
          "every h of the last layer, the last h and the last c of every layer and direction",
          "torch.nn.LSTM(features, hidden, layers, batch_first=..., bidirectional=...)"),
      recurrent<3, 1>("gru",
                      "inputs x, h0 and for each layer and direction W, U, b, d (weight_ih, "
                      "weight_hh, bias_ih, bias_hh); at each step t r, z, n = the three thirds of "
                      "W x_t + b, s, y, m = those of U h + d, n = tanh(n + sigmoid(r + s) * m), h "
                      "= (1 - sigmoid(z + y)) * n + sigmoid(z + y) * h; outputs every h of the "
                      "last layer and the last h of every layer and direction",
                      "torch.nn.GRU(features, hidden, layers, batch_first=..., bidirectional=...)"),
  };
  return operators;
}

RecurrentValues lstm(Value x, Value h0, Value c0, const Module& module, Recurrent options) {
  return recur("lstm", 4, {x, h0, c0}, module, options);
}

RecurrentValues gru(Value x, Value h0, const Module& module, Recurrent options) {
  return recur("gru", 3, {x, h0}, module, options);
}

}  // namespace kbench
