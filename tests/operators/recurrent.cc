// Recurrent layers from their equations, one unit of one sample at a time. A gate costs the
// multiply-adds of both products, its two biases, their sum and its nonlinearity; a unit's new
// state five operations more.
#include <cmath>

#include "tests/operators/definition.h"

namespace kbench::definitions {
namespace {

double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

/// A cell's weights: W, U, b, d.
struct Cell {
  const Array *w, *u, *b, *d;
};

/// W x + b and U h + d of one gate and unit, kept apart as a GRU needs them.
struct Gate {
  double from_x, from_h;
};
Gate gate(const Cell& cell, int64_t row, const std::vector<double>& x, const std::vector<double>& h,
          double& flops) {
  Gate g{cell.b->at({row}), cell.d->at({row})};
  for (size_t k = 0; k < x.size(); ++k)
    g.from_x += cell.w->at({row, static_cast<int64_t>(k)}) * x[k];
  for (size_t k = 0; k < h.size(); ++k)
    g.from_h += cell.u->at({row, static_cast<int64_t>(k)}) * h[k];
  flops += 2.0 * static_cast<double>(x.size() + h.size()) + 4;
  return g;
}

/// One step: h (and c) become what they are after it.
void lstm_step(const Cell& cell, const std::vector<double>& x, std::vector<double>& h,
               std::vector<double>& c, double& flops) {
  const std::vector<double> before = h;
  const auto n = static_cast<int64_t>(h.size());
  for (int64_t unit = 0; unit < n; ++unit) {
    double g[4];
    for (int64_t k = 0; k < 4; ++k) {
      const Gate sums = gate(cell, k * n + unit, x, before, flops);
      g[k] = sums.from_x + sums.from_h;
    }
    double& state = c[static_cast<size_t>(unit)];
    state = sigmoid(g[1]) * state + sigmoid(g[0]) * std::tanh(g[2]);
    h[static_cast<size_t>(unit)] = sigmoid(g[3]) * std::tanh(state);
    flops += 5;  // three for c, a tanh and a product for h
  }
}

void gru_step(const Cell& cell, const std::vector<double>& x, std::vector<double>& h,
              std::vector<double>&, double& flops) {
  const std::vector<double> before = h;
  const auto n = static_cast<int64_t>(h.size());
  for (int64_t unit = 0; unit < n; ++unit) {
    const Gate r = gate(cell, unit, x, before, flops), z = gate(cell, n + unit, x, before, flops),
               m = gate(cell, 2 * n + unit, x, before, flops);
    const double candidate = std::tanh(m.from_x + sigmoid(r.from_x + r.from_h) * m.from_h);
    const double keep = sigmoid(z.from_x + z.from_h);
    double& state = h[static_cast<size_t>(unit)];
    state = (1 - keep) * candidate + keep * state;
    flops += 5;  // a product for the candidate, four for the mixture
  }
}

using Step = void (*)(const Cell&, const std::vector<double>&, std::vector<double>&,
                      std::vector<double>&, double&);

Answer recurrent(const OperatorCall& call, const std::vector<Array>& in, size_t states, Step step) {
  const bool batch_first = call.attributes.flag("batch_first");
  const int64_t hidden = call.attributes.integer("hidden"),
                layers = call.attributes.integer("layers");
  const int64_t directions = call.attributes.flag("bidirectional") ? 2 : 1;
  const Shape& x = in[0].shape;
  const int64_t batch = x.at(batch_first ? 0 : 1), steps = x.at(batch_first ? 1 : 0);
  Answer answer;
  answer.outputs.assign(1 + states, Array({layers * directions, batch, hidden}));
  Array below = in[0];
  for (int64_t layer = 0; layer < layers; ++layer) {
    Array above(Shape{x[0], x[1], hidden * directions});
    for (int64_t direction = 0; direction < directions; ++direction) {
      const int64_t cell = layer * directions + direction;
      const Array* weights = &in.at(1 + states + 4 * static_cast<size_t>(cell));
      for (int64_t b = 0; b < batch; ++b) {
        std::vector<double> h, c;
        for (int64_t u = 0; u < hidden; ++u) {
          h.push_back(in[1].at({cell, b, u}));
          if (states == 2) c.push_back(in[2].at({cell, b, u}));
        }
        for (int64_t i = 0; i < steps; ++i) {
          const int64_t t = direction == 0 ? i : steps - 1 - i;
          const auto at = [&](int64_t k) { return batch_first ? Index{b, t, k} : Index{t, b, k}; };
          std::vector<double> input;
          for (int64_t k = 0; k < below.shape[2]; ++k) input.push_back(below.at(at(k)));
          step({weights, weights + 1, weights + 2, weights + 3}, input, h, c, answer.flops);
          for (int64_t u = 0; u < hidden; ++u) {
            above.at(at(direction * hidden + u)) = h[static_cast<size_t>(u)];
          }
        }
        for (int64_t u = 0; u < hidden; ++u) {
          answer.outputs[1].at({cell, b, u}) = h[static_cast<size_t>(u)];
          if (states == 2) answer.outputs[2].at({cell, b, u}) = c[static_cast<size_t>(u)];
        }
      }
    }
    below = above;
  }
  answer.outputs[0] = below;
  return answer;
}

}  // namespace

std::vector<Definition> recurrent_definitions() {
  return {
      {"lstm", [](const OperatorCall& call,
                  const std::vector<Array>& in) { return recurrent(call, in, 2, lstm_step); }},
      {"gru", [](const OperatorCall& call,
                 const std::vector<Array>& in) { return recurrent(call, in, 1, gru_step); }},
  };
}

}  // namespace kbench::definitions
