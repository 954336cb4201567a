// Reductions, scans and softmax along one dimension.
#include <cmath>
#include <functional>

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

/// One value for each column of a block.
template <class T>
using ColumnArray = Eigen::Array<T, 1, Dynamic, Eigen::RowMajor, 1, kColumns>;

/// y [outer, m, inner] of elements of Out, a line of x at a time or a block of neighbouring ones:
/// rows(x, y) is given arrays of n and m elements, columns(x, y) tables of as many rows. `work` is
/// what an element costs.
template <class Out, class Rows, class Columns>
void along(const Axis& a, int64_t work, const auto* x, Out* y, int64_t m, const Rows& rows,
           const Columns& columns) {
  const int64_t width = std::min(a.inner, kColumns), blocks = (a.inner + width - 1) / width;
  parallel_blocks(a.outer * blocks, grain_of(work * a.n * width), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      if (a.inner == 1) {
        rows(array(x + i * a.n, a.n), array(y + i * m, m));
      } else {
        const int64_t outer = i / blocks * a.inner, first = i % blocks * width;
        const int64_t count = std::min(width, a.inner - first);
        columns(table(x + outer * a.n + first, a.n, count, a.inner),
                table(y + outer * m + first, m, count, a.inner));
      }
    }
  });
}

/// The same of a call that gives floating-point values.
template <class Rows, class Columns>
void along(const OperatorCall& call, int64_t work, Inputs in, Outputs out, const Rows& rows,
           const Columns& columns) {
  const Axis a = axis_of(call);
  with_type(out[0], [&]<class T>() {
    along(a, work, elements<T>(in, 0), result<T>(out), out[0].elements() / (a.outer * a.inner),
          rows, columns);
  });
}

/// The columns' sums of term(x): of 16 rows in T, of such sums in double; or of all rows in T.
template <class Table, class Term>
ColumnArray<double> column_sums(const Table& x, const Term& term) {
  using T = typename Table::Scalar;
  const int64_t together = is_sequential() ? x.rows() : 16;
  ColumnArray<double> total = ColumnArray<double>::Zero(x.cols());
  ColumnArray<T> part(x.cols());
  for (int64_t i = 0; i < x.rows(); i += together) {
    part = term(x.row(i));
    const int64_t end = std::min<int64_t>(i + together, x.rows());
    for (int64_t j = i + 1; j < end; ++j) part += term(x.row(j));
    total += part.template cast<double>();
  }
  return total;
}

/// y [outer, inner] = finish(the sum of term(x) along n), in pieces that are added up in order.
template <class Term>
void add_up(const OperatorCall& call, Inputs in, Outputs out, const Term& term,
            const std::function<double(double)>& finish) {
  const Axis a = axis_of(call);
  const int64_t width = std::min(a.inner, kColumns), blocks = (a.inner + width - 1) / width;
  const int64_t piece = is_sequential() ? a.n : kPiece / width, pieces = (a.n + piece - 1) / piece;
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

constexpr auto kItself = [](const auto& x) { return x; };  // one term for sums and means

/// Which of two, and of a row, wins: NaN where there is one, and else as beats() has it.
struct Largest {
  static auto of(const auto& a, const auto& b) { return larger(a, b); }
  static auto of_row(const auto& x) { return x.template maxCoeff<Eigen::PropagateNaN>(); }
  static bool beats(auto a, auto b) { return a > b; }
};
struct Smallest {
  static auto of(const auto& a, const auto& b) { return smaller(a, b); }
  static auto of_row(const auto& x) { return x.template minCoeff<Eigen::PropagateNaN>(); }
  static bool beats(auto a, auto b) { return a < b; }
};

template <class Wins, class Table>
ColumnArray<typename Table::Scalar> winners_of_columns(const Table& x) {
  ColumnArray<typename Table::Scalar> best = x.row(0);
  for (int64_t i = 1; i < x.rows(); ++i) best = Wins::of(best, x.row(i));
  return best;
}

template <class Wins>
void extreme(const OperatorCall& call, Inputs in, Outputs out) {
  along(
      call, 1, in, out, [](const auto& x, auto y) { y[0] = Wins::of_row(x); },
      [](const auto& x, auto y) { y.row(0) = winners_of_columns<Wins>(x); });
}

/// The index of the first winner along n.
template <class Wins>
void index_of_extreme(const OperatorCall& call, Inputs in, Outputs out) {
  const auto row = [](const auto& x, auto y) {
    const auto best = Wins::of_row(x);
    const auto same = [=](auto v) { return std::isnan(best) ? std::isnan(v) : v == best; };
    y[0] = std::find_if(x.data(), x.data() + x.size(), same) - x.data();
  };
  const auto columns = []<class X>(const X& x, auto y) {
    using T = typename X::Scalar;
    using Index = std::conditional_t<sizeof(T) == 4, int32_t, int64_t>;  // as wide as T
    T best[kColumns];
    Index at[kColumns] = {};
    std::copy_n(x.data(), x.cols(), best);
    for (int64_t i = 1; i < x.rows(); ++i) {
      const T* line = x.data() + i * x.outerStride();
      for (int64_t c = 0; c < x.cols(); ++c) {
        const T v = line[c], b = best[c];
        const bool take = Wins::beats(v, b) | ((v != v) & (b == b));
        at[c] = take ? static_cast<Index>(i) : at[c];
        best[c] = take ? v : b;
      }
    }
    std::copy_n(at, x.cols(), y.data());
  };
  with_type(in[0], [&]<class T>() {
    along(axis_of(call), 1, elements<T>(in, 0), result<int64_t>(out), 1, row, columns);
  });
}

/// Running values along n: next(total, x) follows total, in double or in the elements' own type.
template <class Next>
void scan(const OperatorCall& call, Inputs in, Outputs out, double start, const Next& next) {
  // A sum or product of two floats rounded by way of double is the float one.
  const bool own_type = is_sequential();
  const auto columns = [&](const auto& x, auto y) {
    using T = typename std::decay_t<decltype(x)>::Scalar;
    ColumnArray<double> total = ColumnArray<double>::Constant(x.cols(), start);
    for (int64_t i = 0; i < x.rows(); ++i) {
      total = next(total, x.row(i).template cast<double>());
      y.row(i) = total.template cast<T>();
      if (own_type) total = y.row(i).template cast<double>();
    }
  };
  // Several rows at once, since one alone waits for its own additions.
  const auto rows = [&]<int count>(const auto& x, auto y) {
    using T = typename std::decay_t<decltype(x)>::Scalar;
    using Totals = Eigen::Array<double, count, 1>;
    Totals total = Totals::Constant(start);
    for (int64_t i = 0; i < x.cols(); ++i) {
      total = next(total, x.col(i).template head<count>().template cast<double>());
      y.col(i).template head<count>() = total.template cast<T>();
      if (own_type) total = y.col(i).template head<count>().template cast<double>();
    }
  };
  const Axis a = axis_of(call);
  const auto none = [](const auto&, auto) {};
  if (a.inner > 1) return along(call, 1, in, out, none, columns);
  with_type(out[0], [&]<class T>() {
    constexpr int kRows = 8;
    parallel_blocks(a.outer, kRows, [&](int64_t begin, int64_t end) {
      const auto x = table(elements<T>(in, 0) + begin * a.n, end - begin, a.n, a.n);
      auto y = table(result<T>(out) + begin * a.n, end - begin, a.n, a.n);
      if (end - begin == kRows) return rows.template operator()<kRows>(x, y);
      for (int64_t i = 0; i < end - begin; ++i) {
        rows.template operator()<1>(x.middleRows(i, 1), y.middleRows(i, 1));
      }
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
  ColumnExponentials(const Table& x, const Use& use) : max(winners_of_columns<Largest>(x)) {
    constexpr int64_t kVector = 64 / sizeof(T);
    const int64_t columns = x.cols(), filled = (columns + kVector - 1) / kVector * kVector;
    ColumnArray<T> terms = ColumnArray<T>::Zero(filled);
    sum = ColumnArray<double>::Zero(columns);
    for (int64_t i = 0; i < x.rows(); ++i) {
      terms.head(columns) = x.row(i) - max;
      terms = exponential(terms);
      sum += terms.head(columns).template cast<double>();
      if (is_sequential()) sum = sum.template cast<T>().template cast<double>();
      use(i, terms.head(columns));
    }
  }
};
constexpr auto kUnused = [](int64_t, const auto&) {};

}  // namespace

void run_sum(const OperatorCall& call, Inputs in, Outputs out) {
  add_up(call, in, out, kItself, [](double sum) { return sum; });
}

void run_mean(const OperatorCall& call, Inputs in, Outputs out) {
  const double scale = 1 / static_cast<double>(axis_of(call).n);
  add_up(call, in, out, kItself, [=](double sum) { return sum * scale; });
}

void run_norm(const OperatorCall& call, Inputs in, Outputs out) {
  add_up(
      call, in, out, [](const auto& x) { return x.square(); },
      [](double sum) { return std::sqrt(sum); });
}

void run_max(const OperatorCall& call, Inputs in, Outputs out) { extreme<Largest>(call, in, out); }

void run_min(const OperatorCall& call, Inputs in, Outputs out) { extreme<Smallest>(call, in, out); }

void run_argmax(const OperatorCall& call, Inputs in, Outputs out) {
  index_of_extreme<Largest>(call, in, out);
}

void run_argmin(const OperatorCall& call, Inputs in, Outputs out) {
  index_of_extreme<Smallest>(call, in, out);
}

void run_cumsum(const OperatorCall& call, Inputs in, Outputs out) {
  scan(call, in, out, 0, [](const auto& total, const auto& x) { return total + x; });
}

void run_cumprod(const OperatorCall& call, Inputs in, Outputs out) {
  scan(call, in, out, 1, [](const auto& total, const auto& x) { return total * x; });
}

void run_softmax(const OperatorCall& call, Inputs in, Outputs out) {
  const auto row = []<class X>(const X& x, auto y) {
    const auto max = x.maxCoeff();
    const double total = exponential_sum(x.data(), x.size(), max, y.data());
    y *= static_cast<typename X::Scalar>(1 / total);
  };
  const auto columns = []<class X>(const X& x, auto y) {
    using T = typename X::Scalar;
    const ColumnExponentials<T> e(x, [&](int64_t i, const auto& terms) { y.row(i) = terms; });
    const ColumnArray<T> scale = e.sum.inverse().template cast<T>();
    for (int64_t i = 0; i < x.rows(); ++i) y.row(i) *= scale;
  };
  along(call, kExpWork, in, out, row, columns);
}

void run_logsumexp(const OperatorCall& call, Inputs in, Outputs out) {
  const auto row = []<class X>(const X& x, auto y) {
    const auto max = x.template maxCoeff<Eigen::PropagateNaN>();
    y[0] = log_sum(max, exponential_sum(x.data(), x.size(), max));
  };
  const auto columns = []<class X>(const X& x, auto y) {
    const ColumnExponentials<typename X::Scalar> e(x, kUnused);
    for (int64_t c = 0; c < x.cols(); ++c) y(0, c) = log_sum(e.max[c], e.sum[c]);
  };
  along(call, kExpWork, in, out, row, columns);
}

void run_log_softmax(const OperatorCall& call, Inputs in, Outputs out) {
  const auto row = []<class X>(const X& x, auto y) {
    const auto max = x.maxCoeff();
    const double total = exponential_sum(x.data(), x.size(), max);
    y = x - max - static_cast<typename X::Scalar>(std::log(total));
  };
  const auto columns = []<class X>(const X& x, auto y) {
    using T = typename X::Scalar;
    const ColumnExponentials<T> e(x, kUnused);
    const ColumnArray<T> log = e.sum.log().template cast<T>();
    for (int64_t i = 0; i < x.rows(); ++i) y.row(i) = x.row(i) - e.max - log;
  };
  along(call, kExpWork, in, out, row, columns);
}

}  // namespace kbench::reference
