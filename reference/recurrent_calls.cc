#include <algorithm>

#include "reference/call.h"
#include "reference/ops/recurrent.h"
#include "reference/parallel.h"
#include "reference/scratch.h"

namespace kbench::reference {
namespace {

/// Runs a stack of layers: run(x, weights, extents, state, y) one of them in one direction, whose
/// states begin `state` elements into all of them. `states` initial states come before the weights.
template <class T, class Run>
void run_stack(const OperatorCall& call, Inputs in, Outputs out, size_t states, const Run& run) {
  const Attributes& a = call.attributes;
  const Shape& shape = in[0].shape();
  const bool batch_first = a.flag("batch_first");
  const int64_t layers = a.integer("layers"), directions = a.flag("bidirectional") ? 2 : 1;
  RecurrentExtents e = {.batch = shape[batch_first ? 0 : 1],
                        .steps = shape[batch_first ? 1 : 0],
                        .in = shape[2],
                        .hidden = a.integer("hidden")};
  e.batch_step = batch_first ? e.steps : 1;
  e.time_step = batch_first ? 1 : e.batch;
  e.out_pitch = e.hidden * directions;
  e.concurrent = directions;
  for (size_t s = 0; s < states; ++s) {  // each goes from its initial to its last value in place
    std::copy_n(elements<T>(in, 1 + s), in[1 + s].elements(), out[1 + s].data<T>().data());
  }
  // Layers write the output and one more array of its size in turns, the last one the output.
  T* y = out[0].data<T>().data();
  const Scratch<T> other(layers > 1 ? out[0].elements() : 0);
  const T* x = elements<T>(in, 0);
  for (int64_t layer = 0; layer < layers; ++layer) {
    T* to = (layers - layer) % 2 == 1 ? y : other.get();
    parallel_tasks(directions, [&](int64_t direction) {
      const int64_t cell = layer * directions + direction;
      const size_t at = 1 + states + 4 * static_cast<size_t>(cell);
      const RecurrentWeights<T> weights = {elements<T>(in, at), elements<T>(in, at + 1),
                                           elements<T>(in, at + 2), elements<T>(in, at + 3)};
      RecurrentExtents extents = e;
      extents.reverse = direction == 1;
      run(x, weights, extents, cell * e.batch * e.hidden, to + direction * e.hidden);
    });
    x = to;
    e.in = e.out_pitch;
  }
}

}  // namespace

void run_lstm(const OperatorCall& call, Inputs in, Outputs out) {
  with_type(out[0], [&]<class T>() {
    T* h = out[1].data<T>().data();
    T* c = out[2].data<T>().data();
    run_stack<T>(call, in, out, 2,
                 [&](const T* x, const RecurrentWeights<T>& weights, const RecurrentExtents& e,
                     int64_t state, T* y) { lstm<T>(x, weights, e, h + state, c + state, y); });
  });
}

void run_gru(const OperatorCall& call, Inputs in, Outputs out) {
  with_type(out[0], [&]<class T>() {
    T* h = out[1].data<T>().data();
    run_stack<T>(call, in, out, 1,
                 [&](const T* x, const RecurrentWeights<T>& weights, const RecurrentExtents& e,
                     int64_t state, T* y) { gru<T>(x, weights, e, h + state, y); });
  });
}

}  // namespace kbench::reference
