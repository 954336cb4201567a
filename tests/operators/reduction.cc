// Reductions, scans and softmax: walked a line at a time. Counted is what is done an element; what
// is done once a line (a mean's division, a logarithm) is not.
#include <cmath>

#include "tests/operators/definition.h"

namespace kbench::definitions {
namespace {

/// A line along the axis, and where floating-point operations are counted.
struct Line {
  const std::vector<double>& x;
  double& flops;

  double sum() const {
    double total = 0;
    for (double v : x) {
      total += v;
      flops += 1;
    }
    return total;
  }
  double norm() const {
    double squares = 0;
    for (double v : x) {
      squares += v * v;
      flops += 2;
    }
    return std::sqrt(squares);
  }
  /// The place of the first element that `better` prefers to every earlier one.
  template <class Better>
  double first(Better better) const {
    size_t best = 0;
    for (size_t i = 0; i < x.size(); ++i) {
      if (better(x[i], x[best])) best = i;
      flops += 1;
    }
    return static_cast<double>(best);
  }
  double largest() const { return x[static_cast<size_t>(first(greater))]; }
  /// max + log(sum(exp(x - max))): a comparison, a difference, an exponential and a sum an element.
  double logsumexp() const {
    const double max = largest();
    double total = 0;
    for (double v : x) {
      total += std::exp(v - max);
      flops += 3;
    }
    return max + std::log(total);
  }

  static bool greater(double a, double b) { return a > b; }
  static bool less(double a, double b) { return a < b; }
};

/// Calls visit(index of the line's first element, line) for every line along the axis.
template <class Visit>
void for_each_line(const OperatorCall& call, const Array& x, Visit visit) {
  const auto axis = static_cast<size_t>(call.attributes.integer("axis"));
  Shape starts = x.shape;
  starts.at(axis) = 1;
  for_each_index(starts, [&](Index i) {
    std::vector<double> line;
    for (; i[axis] < x.shape[axis]; ++i[axis]) line.push_back(x.at(i));
    i[axis] = 0;
    visit(i, axis, line);
  });
}

/// A number a line, the dimension dropped or kept with an extent of 1.
Definition reduction(const char* op, double (*of_line)(const Line& line),
                     DType dtype = DType::f32) {
  return {op, [of_line, dtype](const OperatorCall& call, const std::vector<Array>& in) {
            const bool keep = call.attributes.flag("keepdim");
            const int64_t axis = call.attributes.integer("axis");
            Shape shape = in[0].shape;
            if (keep) {
              shape.at(static_cast<size_t>(axis)) = 1;
            } else {
              shape.erase(shape.begin() + axis);
            }
            Answer answer{{Array(shape, dtype)}, 0};
            for_each_line(call, in[0], [&](Index i, size_t, const std::vector<double>& x) {
              if (!keep) i.erase(i.begin() + axis);
              answer.outputs[0].at(i) = of_line({x, answer.flops});
            });
            return answer;
          }};
}

/// A line for a line.
Definition along_axis(const char* op, std::vector<double> (*of_line)(const Line& line),
                      double units = 8) {
  return {op,
          [of_line](const OperatorCall& call, const std::vector<Array>& in) {
            Answer answer{{Array(in[0].shape)}, 0};
            for_each_line(call, in[0], [&](Index i, size_t axis, const std::vector<double>& x) {
              for (double v : of_line({x, answer.flops})) {
                answer.outputs[0].at(i) = v;
                ++i[axis];
              }
            });
            return answer;
          },
          1e-5, units};
}

template <class Step>
std::vector<double> scanned(const Line& line, double start, Step step) {
  std::vector<double> y;
  for (double v : line.x) {
    start = step(start, v);
    line.flops += 1;
    y.push_back(start);
  }
  return y;
}

std::vector<double> softmax(const Line& line) {
  const double lse = line.logsumexp();
  std::vector<double> y;
  for (double v : line.x) {
    y.push_back(std::exp(v - lse));  // the exponential is there already: what is left is a division
    line.flops += 1;
  }
  return y;
}

std::vector<double> log_softmax(const Line& line) {
  const double lse = line.logsumexp();
  std::vector<double> y;
  for (double v : line.x) {
    y.push_back(v - lse);
    line.flops += 1;
  }
  return y;
}

}  // namespace

std::vector<Definition> reduction_definitions() {
  return {
      reduction("sum", [](const Line& l) { return l.sum(); }),
      reduction("mean", [](const Line& l) { return l.sum() / static_cast<double>(l.x.size()); }),
      reduction(
          "argmax", [](const Line& l) { return l.first(Line::greater); }, DType::i64),
      reduction("max", [](const Line& l) { return l.largest(); }),
      reduction("min", [](const Line& l) { return l.x[static_cast<size_t>(l.first(Line::less))]; }),
      reduction(
          "argmin", [](const Line& l) { return l.first(Line::less); }, DType::i64),
      reduction("norm", [](const Line& l) { return l.norm(); }),
      reduction("logsumexp", [](const Line& l) { return l.logsumexp(); }),
      along_axis(
          "cumsum",
          [](const Line& l) {
            return scanned(l, 0, [](double total, double v) { return total + v; });
          },
          0),
      along_axis(
          "cumprod",
          [](const Line& l) {
            return scanned(l, 1, [](double product, double v) { return product * v; });
          },
          0),
      along_axis("softmax", softmax),
      along_axis("log_softmax", log_softmax),
  };
}

}  // namespace kbench::definitions
