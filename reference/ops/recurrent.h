// Recurrent layers.
#pragma once

#include <cstdint>

namespace kbench::reference {

/// Extents of one layer in one direction, and where its steps lie: those of x as rows of `in`
/// elements, batch * steps of them, row (b, t) at b * batch_step + t * time_step, and those of y
/// likewise as rows of `out_pitch` elements.
struct RecurrentExtents {
  int64_t batch = 1, steps = 1, in = 1, hidden = 1;
  int64_t batch_step = 1, time_step = 1;
  int64_t out_pitch = 1;
  bool reverse = false;    ///< steps are taken from the last to the first
  int64_t concurrent = 1;  ///< layers that share the threads, run at the same time
};

/// What one layer has in one direction: weight_ih [gates * hidden, in], weight_hh [gates * hidden,
/// hidden] and their biases.
template <class T>
struct RecurrentWeights {
  const T* input;
  const T* hidden;
  const T* input_bias;
  const T* hidden_bias;
};

/// y[b, t, 0 ... hidden) is h after the step; h and c [batch, hidden] hold the state before the
/// first step on entry and that after the last on return.
template <class T>
void lstm(const T* x, const RecurrentWeights<T>& weights, const RecurrentExtents& extents, T* h,
          T* c, T* y);
template <class T>
void gru(const T* x, const RecurrentWeights<T>& weights, const RecurrentExtents& extents, T* h,
         T* y);

}  // namespace kbench::reference
