#include "reference/ops/recurrent.h"

#include <algorithm>

#include "reference/ops/matmul.h"
#include "reference/parallel.h"
#include "reference/scratch.h"
#include "reference/simd/kernels.h"

namespace kbench::reference {
namespace {

/// One layer in one direction. The inputs' part of every step's gates is one product; what remains
/// of a step is the product with h. That one is cut by hidden units, so that whoever computes all
/// gates of some units goes on to their new state: threads meet once a step.
template <class T>
class Layer {
 public:
  Layer(const T* x, const RecurrentWeights<T>& weights, const RecurrentExtents& e, int64_t gates)
      : e_(e),
        gates_(gates),
        k_(kernels<T>()),
        units_(k_.tile_cols),
        blocks_((e.hidden + units_ - 1) / units_),
        panels_((e.batch + k_.tile_rows - 1) / k_.tile_rows),
        from_x_(e.batch * e.steps * gates * e.hidden),
        weights_(blocks_ * gates * e.hidden * units_),
        bias_(blocks_ * gates * units_),
        state_(panels_ * k_.tile_rows * e.hidden) {
    linear<T>(x, weights.input, weights.input_bias, e.batch * e.steps, e.in, gates * e.hidden,
              from_x_.get());
    pack(weights);
  }

  /// Calls cell(b, from x, from h, distance between gates of the latter, first unit, units, row of
  /// y) for the parts of every step, one step after another.
  template <class Cell>
  void run(T* h, T* y, const Cell& cell) {
    const int64_t work = e_.batch * gates_ * units_ * e_.hidden / 16;
    for (int64_t i = 0; i < e_.steps; ++i) {
      const int64_t t = e_.reverse ? e_.steps - 1 - i : i;
      pack_state(h);
      parallel_for(blocks_, grain_of(work), [&](int64_t begin, int64_t end) {
        const int64_t ld = gates_ * units_;
        Scratch<T> sums(panels_ * k_.tile_rows * ld);
        for (int64_t block = begin; block < end; ++block) {
          multiply(block, sums.get(), ld);
          const int64_t first = block * units_, count = std::min(units_, e_.hidden - first);
          for (int64_t b = 0; b < e_.batch; ++b) {
            const int64_t row = b * e_.batch_step + t * e_.time_step;
            cell(b, from_x_.get() + row * gates_ * e_.hidden + first, sums.get() + b * ld, units_,
                 first, count, y + row * e_.out_pitch + first);
          }
        }
      });
      for (int64_t b = 0; b < e_.batch; ++b) {
        const int64_t row = b * e_.batch_step + t * e_.time_step;
        std::copy_n(y + row * e_.out_pitch, e_.hidden, h + b * e_.hidden);
      }
    }
  }

 private:
  /// weight_hh by blocks of units, [block, gate, hidden, unit], the last block filled up with
  /// zeros.
  void pack(const RecurrentWeights<T>& weights) {
    parallel_for(blocks_ * gates_, grain_of(e_.hidden * units_), [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        const int64_t first = i / gates_ * units_, gate = i % gates_;
        const int64_t count = std::min(units_, e_.hidden - first);
        T* to = weights_.get() + i * e_.hidden * units_;
        if (count < units_) std::fill_n(to, e_.hidden * units_, T(0));
        std::fill_n(bias_.get() + i * units_, units_, T(0));
        for (int64_t u = 0; u < count; ++u) {
          const int64_t row = gate * e_.hidden + first + u;
          bias_[i * units_ + u] = weights.hidden_bias[row];
          for (int64_t k = 0; k < e_.hidden; ++k) {
            to[k * units_ + u] = weights.hidden[row * e_.hidden + k];
          }
        }
      }
    });
  }

  /// h by panels of tile_rows samples, unit by unit, the last panel filled up with zeros.
  void pack_state(const T* h) {
    const int64_t rows = k_.tile_rows;
    for (int64_t b = 0; b < panels_ * rows; ++b) {
      T* to = state_.get() + b / rows * rows * e_.hidden + b % rows;
      for (int64_t k = 0; k < e_.hidden; ++k) {
        to[k * rows] = b < e_.batch ? h[b * e_.hidden + k] : T(0);
      }
    }
  }

  /// sums[b, gate, unit] of one block: bias and weight_hh h.
  void multiply(int64_t block, T* sums, int64_t ld) const {
    for (int64_t b = 0; b < panels_ * k_.tile_rows; ++b) {
      std::copy_n(bias_.get() + block * ld, ld, sums + b * ld);
    }
    for (int64_t gate = 0; gate < gates_; ++gate) {
      const T* weights = weights_.get() + (block * gates_ + gate) * e_.hidden * units_;
      for (int64_t panel = 0; panel < panels_; ++panel) {
        const int64_t row = panel * k_.tile_rows;
        T* to = sums + row * ld + gate * units_;
        k_.tile(k_.tile_rows, k_.tile_cols,
                {.depth = e_.hidden,
                 .a = state_.get() + row * e_.hidden,
                 .a_row = 1,
                 .a_col = k_.tile_rows,
                 .b = weights,
                 .b_row = units_,
                 .start = to,
                 .start_row = ld,
                 .c = to,
                 .c_row = ld});
      }
    }
  }

  const RecurrentExtents& e_;
  const int64_t gates_;
  const Kernels<T>& k_;
  const int64_t units_;  ///< hidden units of a block
  const int64_t blocks_, panels_;
  Scratch<T> from_x_, weights_, bias_, state_;
};

}  // namespace

template <class T>
void lstm(const T* x, const RecurrentWeights<T>& weights, const RecurrentExtents& e, T* h, T* c,
          T* y) {
  Layer<T>(x, weights, e, 4)
      .run(h, y,
           [&](int64_t b, const T* from_x, const T* from_h, int64_t stride, int64_t first,
               int64_t count, T* to) {
             kernels<T>().lstm_cell(from_x, e.hidden, from_h, stride, c + b * e.hidden + first, to,
                                    count);
           });
}

template <class T>
void gru(const T* x, const RecurrentWeights<T>& weights, const RecurrentExtents& e, T* h, T* y) {
  Layer<T>(x, weights, e, 3)
      .run(h, y,
           [&](int64_t b, const T* from_x, const T* from_h, int64_t stride, int64_t first,
               int64_t count, T* to) {
             kernels<T>().gru_cell(from_x, e.hidden, from_h, stride, h + b * e.hidden + first, to,
                                   count);
           });
}

#define KBENCH_INSTANTIATE(T)                                                                  \
  template void lstm<T>(const T*, const RecurrentWeights<T>&, const RecurrentExtents&, T*, T*, \
                        T*);                                                                   \
  template void gru<T>(const T*, const RecurrentWeights<T>&, const RecurrentExtents&, T*, T*);
KBENCH_INSTANTIATE(float)
KBENCH_INSTANTIATE(double)
#undef KBENCH_INSTANTIATE

}  // namespace kbench::reference
