#include <algorithm>

#include "reference/arrays.h"
#include "reference/call.h"
#include "reference/parallel.h"
#include "reference/scratch.h"

namespace kbench::reference {
namespace {

/// A row a sample; gates stand side by side.
template <class T>
using Rows = Eigen::Array<T, Dynamic, Dynamic, Eigen::RowMajor>;
template <class T>
struct Lstm {
  static constexpr int64_t kGates = 4, kStates = 2;
  /// state = {h, c}; the gates' order is input, forget, cell, output.
  static void step(const Rows<T>& from_x, const Rows<T>& from_h, Rows<T>* state) {
    const int64_t hidden = state[0].cols();
    const auto gate = [&](int64_t g) {
      return from_x.middleCols(g * hidden, hidden) + from_h.middleCols(g * hidden, hidden);
    };
    state[1] = logistic(gate(1)) * state[1] + logistic(gate(0)) * gate(2).tanh();
    state[0] = logistic(gate(3)) * state[1].tanh();
  }
};

template <class T>
struct Gru {
  static constexpr int64_t kGates = 3, kStates = 1;
  /// state = {h}; the gates' order is reset, update, new.
  static void step(const Rows<T>& from_x, const Rows<T>& from_h, Rows<T>* state) {
    const int64_t hidden = state[0].cols();
    const auto x = [&](int64_t g) { return from_x.middleCols(g * hidden, hidden); };
    const auto h = [&](int64_t g) { return from_h.middleCols(g * hidden, hidden); };
    const auto reset = logistic(x(0) + h(0)), keep = logistic(x(1) + h(1));
    state[0] = (1 - keep) * (x(2) + reset * h(2)).tanh() + keep * state[0];
  }
};

/// One layer in one direction. Samples and steps are rows of x and y.
template <class T>
struct Layer {
  int64_t batch, steps, in, hidden;
  int64_t batch_step, time_step;  ///< row (b, t) is b * batch_step + t * time_step
  int64_t out_step;               ///< elements between rows of y
  bool reverse;                   ///< steps are taken from the last to the first
  const T* x;
  const T* input_weight;
  const T* hidden_weight;
  const T* input_bias;
  const T* hidden_bias;
  T* states[2];  ///< [batch, hidden], before the first step on entry and after the last on return
  T* y;
};

/// The inputs' part of every step's gates is one product; what remains of a step is the product
/// with h. Samples know nothing of each other: some at a time go through all steps.
template <class T, template <class> class Cell>
void run_layer(const Layer<T>& l) {
  constexpr int64_t kSamples = 5;
  // Of a product with h: so few that OpenBLAS leaves the operands where they lie, up to 100^3.
  constexpr int64_t kUnits = 64;
  const int64_t width = Cell<T>::kGates * l.hidden;
  const Scratch<T> from_inputs(l.batch * l.steps * width);
  linear(l.x, l.input_weight, l.input_bias, l.batch * l.steps, l.in, width, from_inputs.get());
  parallel_blocks(l.batch, kSamples, [&](int64_t begin, int64_t end) {
    const int64_t samples = end - begin;
    Rows<T> from_x(samples, width), from_h(samples, width), state[Cell<T>::kStates];
    for (int64_t s = 0; s < Cell<T>::kStates; ++s) {
      state[s] = table(l.states[s] + begin * l.hidden, samples, l.hidden, l.hidden);
    }
    for (int64_t i = 0; i < l.steps; ++i) {
      const int64_t t = l.reverse ? l.steps - 1 - i : i;
      const int64_t first = begin * l.batch_step + t * l.time_step;
      from_x = table(from_inputs.get() + first * width, samples, width, l.batch_step * width);
      from_h = array(l.hidden_bias, width).transpose().replicate(samples, 1);
      for (int64_t unit = 0; unit < width; unit += kUnits) {
        gemm<T>(samples, std::min(kUnits, width - unit), l.hidden, {state[0].data(), l.hidden},
                {l.hidden_weight + unit * l.hidden, l.hidden, true}, T(1), from_h.data() + unit,
                width);
      }
      Cell<T>::step(from_x, from_h, state);
      table(l.y + first * l.out_step, samples, l.hidden, l.batch_step * l.out_step) = state[0];
    }
    for (int64_t s = 0; s < Cell<T>::kStates; ++s) {
      table(l.states[s] + begin * l.hidden, samples, l.hidden, l.hidden) = state[s];
    }
  });
}

/// A stack of layers; the initial states come before the weights.
template <class T, template <class> class Cell>
void run_stack(const OperatorCall& call, Inputs in, Outputs out) {
  const Attributes& a = call.attributes;
  const Shape& shape = in[0].shape();
  const bool batch_first = a.flag("batch_first");
  const int64_t layers = a.integer("layers"), directions = a.flag("bidirectional") ? 2 : 1;
  const int64_t hidden = a.integer("hidden");
  const int64_t batch = shape[batch_first ? 0 : 1], steps = shape[batch_first ? 1 : 0];
  constexpr int64_t kStates = Cell<T>::kStates;
  for (int64_t s = 1; s <= kStates; ++s) {  // each goes from its initial to its last value in place
    std::copy_n(elements<T>(in, s), in[s].elements(), out[s].data<T>().data());
  }
  // Layers write the output and one more array of its size in turns, the last one the output.
  const Scratch<T> other(layers > 1 ? out[0].elements() : 0);
  const T* x = elements<T>(in, 0);
  for (int64_t layer = 0; layer < layers; ++layer) {
    T* y = (layers - layer) % 2 == 1 ? result<T>(out) : other.get();
    parallel_tasks(directions, [&](int64_t direction) {
      const int64_t cell = layer * directions + direction;
      const int64_t at = 1 + kStates + 4 * cell;
      Layer<T> l = {.batch = batch,
                    .steps = steps,
                    .in = layer == 0 ? shape[2] : hidden * directions,
                    .hidden = hidden,
                    .batch_step = batch_first ? steps : 1,
                    .time_step = batch_first ? 1 : batch,
                    .out_step = hidden * directions,
                    .reverse = direction == 1,
                    .x = x,
                    .input_weight = elements<T>(in, at),
                    .hidden_weight = elements<T>(in, at + 1),
                    .input_bias = elements<T>(in, at + 2),
                    .hidden_bias = elements<T>(in, at + 3),
                    .states = {},
                    .y = y + direction * hidden};
      for (int64_t s = 0; s < kStates; ++s) {
        l.states[s] = out[1 + s].data<T>().data() + cell * batch * hidden;
      }
      run_layer<T, Cell>(l);
    });
    x = y;
  }
}

}  // namespace

void run_lstm(const OperatorCall& call, Inputs in, Outputs out) {
  with_type(out[0], [&]<class T>() { run_stack<T, Lstm>(call, in, out); });
}

void run_gru(const OperatorCall& call, Inputs in, Outputs out) {
  with_type(out[0], [&]<class T>() { run_stack<T, Gru>(call, in, out); });
}

}  // namespace kbench::reference
