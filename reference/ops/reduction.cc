// Reductions, scans and softmax along one dimension.
#include <cmath>

#include "reference/arrays.h"
#include "reference/call.h"

namespace kbench::reference {
namespace {

constexpr int64_t kColumns = 64;     // that are worked on together
constexpr int64_t kPiece = 1 << 16;  // elements of a sum that are worth handing to another thread
constexpr int64_t kExpWork = 8;      // steps that an exponential counts for

/// A tensor as [outer, n, inner], n being the dimension's extent: rows of n elements where inner is
/// 1, columns of n elsewhere.
struct Axis {
  int64_t outer = 1, n = 1, inner = 1;
};

Axis axis_of(const OperatorCall& call) {
  const Shape& shape = call.inputs[0].shape;
  const int64_t axis = axis_index(call);
  return {element_count(Shape(shape.begin(), shape.begin() + axis)), shape[axis],
          element_count(Shape(shape.begin() + axis + 1, shape.end()))};
}

/// Calls body(row) for every row.
template <class Body>
void for_rows(const Axis& axis, int64_t work, const Body& body) {
  parallel_blocks(axis.outer, grain_of(work * axis.n), [&](int64_t begin, int64_t end) {
    for (int64_t row = begin; row < end; ++row) body(row);
  });
}

/// Calls body(outer, first, columns) for every block of columns.
template <class Body>
void for_columns(const Axis& axis, int64_t work, const Body& body) {
  const int64_t blocks = (axis.inner + kColumns - 1) / kColumns;
  const int64_t grain = grain_of(work * axis.n * std::min(axis.inner, kColumns));
  parallel_blocks(axis.outer * blocks, grain, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const int64_t first = i % blocks * kColumns;
      body(i / blocks, first, std::min(kColumns, axis.inner - first));
    }
  });
}

/// One value for each column of a block.
template <class T>
using ColumnArray = Eigen::Array<T, 1, Dynamic, Eigen::RowMajor, 1, kColumns>;

/// The columns' sums of term(x): of 16 rows in T, of such sums in double.
template <class Table, class Term>
ColumnArray<double> column_sums(const Table& x, const Term& term) {
  constexpr int64_t kTogether = 16;
  using T = typename Table::Scalar;
  ColumnArray<double> total = ColumnArray<double>::Zero(x.cols());
  ColumnArray<T> part(x.cols());
  for (int64_t i = 0; i < x.rows(); i += kTogether) {
    part = term(x.row(i));
    const int64_t end = std::min<int64_t>(i + kTogether, x.rows());
    for (int64_t j = i + 1; j < end; ++j) part += term(x.row(j));
    total += part.template cast<double>();
  }
  return total;
}

/// y [outer, inner] = finish(the sum of term(x) along n), in pieces that are added up in order.
template <class Term, class Finish>
void add_up(const OperatorCall& call, Inputs in, Outputs out, const Term& term,
            const Finish& finish) {
  const Axis a = axis_of(call);
  const int64_t width = std::min(a.inner, kColumns), blocks = (a.inner + width - 1) / width;
  const int64_t piece = kPiece / width, pieces = (a.n + piece - 1) / piece;
  std::vector<double> parts(a.outer * pieces * a.inner);
  with_type(out[0], [&]<class T>() {
    const T* x = elements<T>(in, 0);
    const int64_t grain = grain_of(std::min(a.n, piece) * width);
    parallel_blocks(a.outer * pieces * blocks, grain, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        const int64_t outer = i / blocks / pieces, row = i / blocks % pieces * piece;
        const int64_t rows = std::min(piece, a.n - row), column = i % blocks * width;
        const T* from = x + (outer * a.n + row) * a.inner + column;
        double* to = parts.data() + i / blocks * a.inner + column;
        if (a.inner == 1) {
          *to = sum(term(array(from, rows)));
        } else {
          const int64_t columns = std::min(width, a.inner - column);
          table(to, 1, columns, columns) = column_sums(table(from, rows, columns, a.inner), term);
        }
      }
    });
    parallel_blocks(a.outer * a.inner, grain_of(pieces), [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        const double* part = parts.data() + i / a.inner * pieces * a.inner + i % a.inner;
        result<T>(out)[i] = static_cast<T>(finish(array(part, pieces, a.inner).sum()));
      }
    });
  });
}

/// The largest (or, of -x, the smallest) element along n; NaN wins.
template <bool largest>
void extreme(const OperatorCall& call, Inputs in, Outputs out) {
  const Axis a = axis_of(call);
  with_type(out[0], [&]<class T>() {
    const T* x = elements<T>(in, 0);
    T* y = result<T>(out);
    if (a.inner == 1) {
      return for_rows(a, 1, [&](int64_t row) {
        const auto line = array(x + row * a.n, a.n);
        y[row] = largest ? line.template maxCoeff<Eigen::PropagateNaN>()
                         : line.template minCoeff<Eigen::PropagateNaN>();
      });
    }
    for_columns(a, 1, [&](int64_t outer, int64_t first, int64_t columns) {
      const auto from = table(x + outer * a.n * a.inner + first, a.n, columns, a.inner);
      ColumnArray<T> best = from.row(0);
      for (int64_t i = 1; i < a.n; ++i) {
        if constexpr (largest) {
          best = larger(best, from.row(i));
        } else {
          best = smaller(best, from.row(i));
        }
      }
      table(y + outer * a.inner + first, 1, columns, columns) = best;
    });
  });
}

/// The index of the first largest or smallest element along n, of the first NaN where there is one.
template <bool largest>
void index_of_extreme(const OperatorCall& call, Inputs in, Outputs out) {
  const Axis a = axis_of(call);
  int64_t* y = result<int64_t>(out);
  with_type(in[0], [&]<class T>() {
    const T* x = elements<T>(in, 0);
    if (a.inner == 1) {
      return for_rows(a, 1, [&](int64_t row) {
        const T* line = x + row * a.n;
        const T best = largest ? array(line, a.n).template maxCoeff<Eigen::PropagateNaN>()
                               : array(line, a.n).template minCoeff<Eigen::PropagateNaN>();
        const bool nan = std::isnan(best);
        y[row] =
            std::find_if(line, line + a.n, [=](T v) { return nan ? std::isnan(v) : v == best; }) -
            line;
      });
    }
    for_columns(a, 1, [&](int64_t outer, int64_t first, int64_t columns) {
      using Index = std::conditional_t<sizeof(T) == 4, int32_t, int64_t>;  // as wide as T
      const T* from = x + outer * a.n * a.inner + first;
      T best[kColumns];
      Index at[kColumns] = {};
      std::copy_n(from, columns, best);
      for (int64_t i = 1; i < a.n; ++i) {
        const T* row = from + i * a.inner;
        for (int64_t c = 0; c < columns; ++c) {
          const bool wins = largest ? row[c] > best[c] : row[c] < best[c];
          const bool take = wins | ((row[c] != row[c]) & (best[c] == best[c]));
          at[c] = take ? static_cast<Index>(i) : at[c];
          best[c] = take ? row[c] : best[c];
        }
      }
      std::copy_n(at, columns, y + outer * a.inner + first);
    });
  });
}

/// Running values along n: next(total, x) follows total, in double.
template <class Next>
void scan(const OperatorCall& call, Inputs in, Outputs out, double start, const Next& next) {
  Axis a = axis_of(call);
  with_type(out[0], [&]<class T>() {
    const T* x = elements<T>(in, 0);
    T* y = result<T>(out);
    if (a.inner > 1) {
      return for_columns(a, 1, [&](int64_t outer, int64_t first, int64_t columns) {
        const int64_t at = outer * a.n * a.inner + first;
        const auto from = table(x + at, a.n, columns, a.inner);
        auto to = table(y + at, a.n, columns, a.inner);
        ColumnArray<double> total = ColumnArray<double>::Constant(columns, start);
        for (int64_t i = 0; i < a.n; ++i) {
          total = next(total, from.row(i).template cast<double>());
          to.row(i) = total.template cast<T>();
        }
      });
    }
    constexpr int64_t kRows = 8;  // at once, since one alone waits for its own additions
    parallel_blocks(a.outer, kRows, [&](int64_t begin, int64_t end) {
      const auto run = [&]<int rows>() {
        const auto from = table(x + begin * a.n, rows, a.n, a.n);
        auto to = table(y + begin * a.n, rows, a.n, a.n);
        using Totals = Eigen::Array<double, rows, 1>;
        Totals total = Totals::Constant(start);
        for (int64_t i = 0; i < a.n; ++i) {
          total = next(total, from.col(i).template head<rows>().template cast<double>());
          to.col(i).template head<rows>() = total.template cast<T>();
        }
      };
      if (end - begin == kRows) return run.template operator()<kRows>();
      for (; begin < end; ++begin) run.template operator()<1>();
    });
  });
}

/// max + log(sum), sum being that of exp(x - max). Infinities are the result themselves: their
/// differences would be NaN.
template <class T>
T log_sum(T max, double sum) {
  return std::isinf(max) ? max : max + static_cast<T>(std::log(sum));
}

/// The columns' maxima and sums of exp(x - max); use(i, terms) is given row i's terms. What is not
/// of a whole vector is filled up with zeros.
template <class T>
struct ColumnExponentials {
  ColumnArray<T> max;
  ColumnArray<double> sum;

  template <class Table, class Use>
  ColumnExponentials(const Table& x, const Use& use) : max(x.row(0)) {
    constexpr int64_t kVector = 64 / sizeof(T);
    const int64_t columns = x.cols(), filled = (columns + kVector - 1) / kVector * kVector;
    for (int64_t i = 1; i < x.rows(); ++i) max = larger(max, x.row(i));
    ColumnArray<T> terms = ColumnArray<T>::Zero(filled);
    sum = ColumnArray<double>::Zero(columns);
    for (int64_t i = 0; i < x.rows(); ++i) {
      terms.head(columns) = x.row(i) - max;
      terms = exponential(terms);
      sum += terms.head(columns).template cast<double>();
      use(i, terms.head(columns));
    }
  }
};
constexpr auto kUnused = [](int64_t, const auto&) {};

}  // namespace

void run_sum(const OperatorCall& call, Inputs in, Outputs out) {
  add_up(
      call, in, out, [](const auto& x) { return x; }, [](double sum) { return sum; });
}

void run_mean(const OperatorCall& call, Inputs in, Outputs out) {
  const double scale = 1 / static_cast<double>(axis_of(call).n);
  add_up(
      call, in, out, [](const auto& x) { return x; }, [=](double sum) { return sum * scale; });
}

void run_norm(const OperatorCall& call, Inputs in, Outputs out) {
  add_up(
      call, in, out, [](const auto& x) { return x.square(); },
      [](double sum) { return std::sqrt(sum); });
}

void run_max(const OperatorCall& call, Inputs in, Outputs out) { extreme<true>(call, in, out); }
void run_min(const OperatorCall& call, Inputs in, Outputs out) { extreme<false>(call, in, out); }

void run_argmax(const OperatorCall& call, Inputs in, Outputs out) {
  index_of_extreme<true>(call, in, out);
}
void run_argmin(const OperatorCall& call, Inputs in, Outputs out) {
  index_of_extreme<false>(call, in, out);
}

void run_cumsum(const OperatorCall& call, Inputs in, Outputs out) {
  scan(call, in, out, 0, [](const auto& total, const auto& x) { return total + x; });
}
void run_cumprod(const OperatorCall& call, Inputs in, Outputs out) {
  scan(call, in, out, 1, [](const auto& total, const auto& x) { return total * x; });
}

void run_softmax(const OperatorCall& call, Inputs in, Outputs out) {
  const Axis a = axis_of(call);
  with_type(out[0], [&]<class T>() {
    const T* x = elements<T>(in, 0);
    T* y = result<T>(out);
    if (a.inner == 1) {
      return for_rows(a, kExpWork, [&](int64_t row) {
        const T* from = x + row * a.n;
        auto to = array(y + row * a.n, a.n);
        to *=
            static_cast<T>(1 / exponential_sum(from, a.n, array(from, a.n).maxCoeff(), to.data()));
      });
    }
    for_columns(a, kExpWork, [&](int64_t outer, int64_t first, int64_t columns) {
      const int64_t at = outer * a.n * a.inner + first;
      auto to = table(y + at, a.n, columns, a.inner);
      const ColumnExponentials<T> e(table(x + at, a.n, columns, a.inner),
                                    [&](int64_t i, const auto& terms) { to.row(i) = terms; });
      const ColumnArray<T> scale = e.sum.inverse().template cast<T>();
      for (int64_t i = 0; i < a.n; ++i) to.row(i) *= scale;
    });
  });
}

void run_logsumexp(const OperatorCall& call, Inputs in, Outputs out) {
  const Axis a = axis_of(call);
  with_type(out[0], [&]<class T>() {
    const T* x = elements<T>(in, 0);
    T* y = result<T>(out);
    if (a.inner == 1) {
      return for_rows(a, kExpWork, [&](int64_t row) {
        const T* from = x + row * a.n;
        const T max = array(from, a.n).template maxCoeff<Eigen::PropagateNaN>();
        y[row] = log_sum(max, exponential_sum(from, a.n, max));
      });
    }
    for_columns(a, kExpWork, [&](int64_t outer, int64_t first, int64_t columns) {
      const auto from = table(x + outer * a.n * a.inner + first, a.n, columns, a.inner);
      const ColumnExponentials<T> e(from, kUnused);
      T* to = y + outer * a.inner + first;
      for (int64_t c = 0; c < columns; ++c) to[c] = log_sum(e.max[c], e.sum[c]);
    });
  });
}

void run_log_softmax(const OperatorCall& call, Inputs in, Outputs out) {
  const Axis a = axis_of(call);
  with_type(out[0], [&]<class T>() {
    const T* x = elements<T>(in, 0);
    T* y = result<T>(out);
    if (a.inner == 1) {
      return for_rows(a, kExpWork, [&](int64_t row) {
        const auto from = array(x + row * a.n, a.n);
        const T max = from.maxCoeff();
        const T log = static_cast<T>(std::log(exponential_sum(from.data(), a.n, max)));
        array(y + row * a.n, a.n) = from - max - log;
      });
    }
    for_columns(a, kExpWork, [&](int64_t outer, int64_t first, int64_t columns) {
      const int64_t at = outer * a.n * a.inner + first;
      const auto from = table(x + at, a.n, columns, a.inner);
      auto to = table(y + at, a.n, columns, a.inner);
      const ColumnExponentials<T> e(from, kUnused);
      const ColumnArray<T> log = e.sum.log().template cast<T>();
      for (int64_t i = 0; i < a.n; ++i) to.row(i) = from.row(i) - e.max - log;
    });
  });
}

}  // namespace kbench::reference
