// Recurrent layers against their equations, unit by unit in double.
#include "tests/reference/calls.h"

namespace kbench::reference {
namespace {

template <class T>
class RecurrentLayer : public ::testing::Test {};
TYPED_TEST_SUITE(RecurrentLayer, RealTypes);

struct RecurrentSizes {
  int64_t batch, steps, features, hidden, layers, directions;
  bool batch_first;
};

double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

/// A call's inputs, and the equations applied to them.
template <class T>
class RecurrentExample {
 public:
  RecurrentExample(const RecurrentSizes& sizes, int64_t gates) : s(sizes), gates_(gates) {
    const Shape x =
        s.batch_first ? Shape{s.batch, s.steps, s.features} : Shape{s.steps, s.batch, s.features};
    const int64_t cells = s.layers * s.directions;
    add(x, 1);
    for (size_t i = 0; i < states(); ++i) add({cells, s.batch, s.hidden}, 1);
    for (int64_t cell = 0; cell < cells; ++cell) {
      const int64_t in = cell < s.directions ? s.features : s.hidden * s.directions;
      add({gates * s.hidden, in}, 0.5);
      add({gates * s.hidden, s.hidden}, 0.5);
      add({gates * s.hidden}, 0.5);
      add({gates * s.hidden}, 0.5);
    }
    for (size_t i = 0; i < states(); ++i) {
      const auto values = inputs[1 + i].template data<T>();
      state[i].assign(values.begin(), values.end());
    }
    solve();
  }

  Attributes attributes() const {
    return {{"hidden", s.hidden},
            {"layers", s.layers},
            {"bidirectional", s.directions - 1},
            {"batch_first", int64_t{s.batch_first}}};
  }

  RecurrentSizes s;
  std::vector<Tensor> inputs;
  std::vector<double> output;
  std::vector<double> state[2];  ///< h and, where there is one, c

 private:
  size_t states() const { return gates_ == 4 ? 2 : 1; }

  void add(const Shape& shape, double scale) {
    auto values = random_array<T>(element_count(shape), static_cast<uint32_t>(inputs.size()));
    for (T& v : values) v *= static_cast<T>(scale);
    inputs.push_back(tensor_of<T>(shape, values));
  }

  void solve() {
    const auto x = inputs[0].template data<T>();
    std::vector<double> previous(x.begin(), x.end());
    int64_t in = s.features;
    for (int64_t layer = 0; layer < s.layers; ++layer) {
      output.assign(s.batch * s.steps * s.hidden * s.directions, 0);
      for (int64_t d = 0; d < s.directions; ++d) {
        for (int64_t i = 0; i < s.steps; ++i) {
          const int64_t t = d == 0 ? i : s.steps - 1 - i;
          for (int64_t b = 0; b < s.batch; ++b) {
            const int64_t row = s.batch_first ? b * s.steps + t : t * s.batch + b;
            step(layer * s.directions + d, b, &previous[row * in], in,
                 &output[row * s.hidden * s.directions + d * s.hidden]);
          }
        }
      }
      previous = output;
      in = s.hidden * s.directions;
    }
  }

  void step(int64_t cell, int64_t b, const double* x, int64_t in, double* y) {
    const Tensor* weights = &inputs[1 + states() + 4 * cell];
    double* h = &state[0][(cell * s.batch + b) * s.hidden];
    std::vector<double> from_x, from_h;
    for (int64_t row = 0; row < gates_ * s.hidden; ++row) {
      from_x.push_back(weights[2].at(row));
      from_h.push_back(weights[3].at(row));
      for (int64_t k = 0; k < in; ++k) from_x.back() += weights[0].at(row * in + k) * x[k];
      for (int64_t k = 0; k < s.hidden; ++k) {
        from_h.back() += weights[1].at(row * s.hidden + k) * h[k];
      }
    }
    for (int64_t u = 0; u < s.hidden; ++u) {
      const auto gate_x = [&](int64_t g) { return from_x[g * s.hidden + u]; };
      const auto gate_h = [&](int64_t g) { return from_h[g * s.hidden + u]; };
      if (gates_ == 4) {
        const auto gate = [&](int64_t g) { return gate_x(g) + gate_h(g); };
        double& c = state[1][(cell * s.batch + b) * s.hidden + u];
        c = sigmoid(gate(1)) * c + sigmoid(gate(0)) * std::tanh(gate(2));
        y[u] = sigmoid(gate(3)) * std::tanh(c);
      } else {
        const double reset = sigmoid(gate_x(0) + gate_h(0)), keep = sigmoid(gate_x(1) + gate_h(1));
        y[u] = (1 - keep) * std::tanh(gate_x(2) + reset * gate_h(2)) + keep * h[u];
      }
    }
    std::copy_n(y, s.hidden, h);
  }

  int64_t gates_;
};

// Hidden sizes below and across a block of units, batches across a panel of rows.
const RecurrentSizes kSizes[] = {{3, 5, 7, 11, 1, 1, true},
                                 {3, 5, 7, 11, 1, 1, false},
                                 {13, 3, 5, 51, 2, 1, true},
                                 {5, 7, 3, 6, 3, 2, false},
                                 {1, 6, 9, 5, 2, 2, true}};

TYPED_TEST(RecurrentLayer, LstmFollowsItsEquations) {
  using T = TypeParam;
  for (const RecurrentSizes& sizes : kSizes) {
    const RecurrentExample<T> example(sizes, 4);
    const auto outputs = run_call<T>("lstm", example.inputs, example.attributes());
    expect_close(values_of<T>(outputs[0]), example.output, 100);
    expect_close(values_of<T>(outputs[1]), example.state[0], 100);
    expect_close(values_of<T>(outputs[2]), example.state[1], 100);
  }
}

TYPED_TEST(RecurrentLayer, GruFollowsItsEquations) {
  using T = TypeParam;
  for (const RecurrentSizes& sizes : kSizes) {
    const RecurrentExample<T> example(sizes, 3);
    const auto outputs = run_call<T>("gru", example.inputs, example.attributes());
    expect_close(values_of<T>(outputs[0]), example.output, 100);
    expect_close(values_of<T>(outputs[1]), example.state[0], 100);
  }
}

}  // namespace
}  // namespace kbench::reference
