// Losses.
#include <cmath>

#include "reference/arrays.h"
#include "reference/call.h"

namespace kbench::reference {
namespace {

/// The mean over rows of loss(row); `work` is what a row costs.
template <class Loss>
double mean_of_rows(int64_t rows, int64_t work, const Loss& loss) {
  Array<double> losses(rows);
  parallel_blocks(rows, grain_of(work), [&](int64_t begin, int64_t end) {
    for (int64_t row = begin; row < end; ++row) losses[row] = loss(row);
  });
  return sum(losses) / static_cast<double>(rows);
}

}  // namespace

void run_cross_entropy(const OperatorCall&, Inputs in, Outputs out) {
  const int64_t rows = in[0].shape()[0], classes = in[0].shape()[1];
  const int64_t* target = elements<int64_t>(in, 1);
  for (int64_t i = 0; i < rows; ++i) {
    if (target[i] >= 0 && target[i] < classes) continue;
    throw Error(ErrorCode::kInvalidArgument,
                "cross_entropy: target[" + std::to_string(i) + "] is " + std::to_string(target[i]) +
                    ", not one of " + std::to_string(classes) + " classes");
  }
  with_type(out[0], [&]<class T>() {
    result<T>(out)[0] = static_cast<T>(mean_of_rows(rows, 32 + 8 * classes, [&](int64_t row) {
      const T* x = elements<T>(in, 0) + row * classes;
      const T max = array(x, classes).maxCoeff();
      return std::log(exponential_sum(x, classes, max)) + (max - x[target[row]]);
    }));
  });
}

void run_smooth_l1_loss(const OperatorCall&, Inputs in, Outputs out) {
  const int64_t n = in[0].elements();
  with_type(out[0], [&]<class T>() {
    const double total = parallel_sum(n, kWorthwhile, [&](int64_t begin, int64_t end) {
      const auto d = (array(elements<T>(in, 0) + begin, end - begin) -
                      array(elements<T>(in, 1) + begin, end - begin))
                         .abs();
      const auto bounded = at_most(d, T(1));  // d^2 / 2 below 1, d - 1/2 above
      return sum(bounded * (d - bounded * T(0.5)));
    });
    result<T>(out)[0] = static_cast<T>(total / static_cast<double>(n));
  });
}

void run_kl_div_batchmean(const OperatorCall&, Inputs in, Outputs out) {
  with_type(out[0], [&]<class T>() {
    const auto term_sum = [&](int64_t begin, int64_t end) {
      const auto log_input = block_of(elements<T>(in, 0) + begin, end - begin, T(0));
      const auto target = block_of(elements<T>(in, 1) + begin, end - begin, T(1));
      const Block<T> all = target * (logarithm(target) - log_input);
      const Block<T> terms = (target == T(0)).select(T(0), all);
      return sum(terms);
    };
    const double total =
        parallel_sum(in[0].elements(), kWorthwhile, [&](int64_t begin, int64_t end) {
          double part = 0;
          for (; begin < end; begin += kBlock)
            part += term_sum(begin, std::min(begin + kBlock, end));
          return part;
        });
    result<T>(out)[0] = static_cast<T>(total / static_cast<double>(in[0].shape()[0]));
  });
}

void run_triplet_margin_loss(const OperatorCall& call, Inputs in, Outputs out) {
  const int64_t rows = in[0].shape()[0], features = in[0].shape()[1];
  const double margin = call.attributes.real("margin");
  with_type(out[0], [&]<class T>() {
    result<T>(out)[0] = static_cast<T>(mean_of_rows(rows, 4 * features, [&](int64_t row) {
      const auto anchor = array(elements<T>(in, 0) + row * features, features);
      const auto distance = [&](size_t i) {
        const auto other = array(elements<T>(in, i) + row * features, features);
        return std::sqrt(sum((anchor - other + static_cast<T>(1e-6)).square()));
      };
      const double excess = distance(1) - distance(2) + margin;
      return excess < 0 ? 0 : excess;  // NaN stays
    }));
  });
}

}  // namespace kbench::reference
