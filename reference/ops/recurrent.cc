#include "reference/ops/recurrent.h"

#include <algorithm>

#include "reference/ops/matmul.h"
#include "reference/parallel.h"
#include "reference/scratch.h"
#include "reference/simd/kernels.h"

namespace kbench::reference {
namespace {

/// One layer in one direction. The inputs' part of every step's gates is one product; what remains
/// of a step is the product with h. Samples know nothing of each other, so each thread takes some
/// of them through all steps and waits for nobody; weight_hh comes from its second-level cache.
template <class T>
class Layer {
 public:
  Layer(const T* x, const RecurrentWeights<T>& weights, const RecurrentExtents& e, int64_t gates)
      : e_(e),
        gates_(gates),
        k_(kernels<T>()),
        units_(k_.tile_cols),
        blocks_((e.hidden + units_ - 1) / units_),
        from_x_(e.batch * e.steps * gates * e.hidden),
        weights_(blocks_ * gates * e.hidden * units_),
        bias_(weights.hidden_bias) {
    linear<T>(x, weights.input, weights.input_bias, e.batch * e.steps, e.in, gates * e.hidden,
              from_x_.get());
    pack(weights.hidden);
  }

  /// Calls cell(b, from x, from h, distance between gates of the latter, first unit, units, row of
  /// y) for the parts of every step, one step after another.
  template <class Cell>
  void run(T* h, T* y, const Cell& cell) const {
    const int64_t groups = std::clamp<int64_t>(thread_count() / e_.concurrent, 1, e_.batch);
    parallel_tasks(groups, [&](int64_t group) {
      const int64_t begin = e_.batch * group / groups, end = e_.batch * (group + 1) / groups;
      const Scratch<T> sums((end - begin) * gates_ * units_);
      for (int64_t i = 0; i < e_.steps; ++i) {
        step(e_.reverse ? e_.steps - 1 - i : i, begin, end, h, y, sums.get(), cell);
      }
    });
  }

 private:
  /// weight_hh by blocks of units, [block, gate, hidden, unit], the last block filled up with
  /// zeros.
  void pack(const T* weights) {
    parallel_for(blocks_ * gates_, grain_of(e_.hidden * units_), [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        const int64_t first = i / gates_ * units_, gate = i % gates_, size = e_.hidden * units_;
        k_.pack_cols({weights + (gate * e_.hidden + first) * e_.hidden, e_.hidden, 1},
                     std::min(units_, e_.hidden - first), e_.hidden, size,
                     weights_.get() + i * size);
      }
    });
  }

  /// One step of samples [begin, end).
  template <class Cell>
  void step(int64_t t, int64_t begin, int64_t end, T* h, T* y, T* sums, const Cell& cell) const {
    const int64_t ld = gates_ * units_;
    const auto row = [&](int64_t b) { return b * e_.batch_step + t * e_.time_step; };
    for (int64_t block = 0; block < blocks_; ++block) {
      const int64_t first = block * units_, count = std::min(units_, e_.hidden - first);
      for (int64_t gate = 0; gate < gates_; ++gate) {
        for (int64_t b = begin; b < end; b += k_.tile_rows) {
          k_.tile(static_cast<int>(std::min<int64_t>(k_.tile_rows, end - b)),
                  static_cast<int>(count),
                  {.depth = e_.hidden,
                   .a = h + b * e_.hidden,
                   .a_row = e_.hidden,
                   .a_col = 1,
                   .b = weights_.get() + (block * gates_ + gate) * e_.hidden * units_,
                   .b_row = units_,
                   .start = bias_ + gate * e_.hidden + first,
                   .start_row = 0,
                   .c = sums + (b - begin) * ld + gate * units_,
                   .c_row = ld});
        }
      }
      for (int64_t b = begin; b < end; ++b) {
        cell(b, from_x_.get() + row(b) * gates_ * e_.hidden + first, sums + (b - begin) * ld,
             units_, first, count, y + row(b) * e_.out_pitch + first);
      }
    }
    for (int64_t b = begin; b < end; ++b) {
      std::copy_n(y + row(b) * e_.out_pitch, e_.hidden, h + b * e_.hidden);
    }
  }

  const RecurrentExtents& e_;
  const int64_t gates_;
  const Kernels<T>& k_;
  const int64_t units_;  ///< hidden units of a block
  const int64_t blocks_;
  Scratch<T> from_x_, weights_;
  const T* bias_;
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
