// Finds what values are where the errors are.
#include <algorithm>
#include <cmath>

#include "harness/evaluate/diagnose/error_pattern.h"
#include "libkbench/base/text.h"

namespace kbench::diagnose {
namespace {

/// A relation may be off by this multiple of the tolerance, for rounding.
constexpr double kSlack = 4;

class Relation {
 public:
  Relation(const Compared& compared, const std::vector<char>& marked)
      : c_(compared), got_(compared.got), expected_(compared.expected) {
    double squares = 0;
    size_t finite = 0;
    for (size_t i = 0; i < expected_.size(); ++i) {
      if (std::isfinite(expected_[i])) squares += expected_[i] * expected_[i], ++finite;
      if (marked[i]) marked_.push_back(i);
    }
    rms_ = finite > 0 ? std::sqrt(squares / static_cast<double>(finite)) : 0;
  }

  std::string find() const {
    if (marked_.empty()) return "";
    const bool finite = std::all_of(marked_.begin(), marked_.end(), [&](size_t i) {
      return std::isfinite(got_[i]) && std::isfinite(expected_[i]);
    });
    if (!finite) return not_finite();
    for (const auto step : {&Relation::constant, &Relation::affine, &Relation::shifted,
                            &Relation::moved, &Relation::unchanging, &Relation::rearranged}) {
      const std::string text = (this->*step)();
      if (!text.empty()) return text;
    }
    return "";
  }

 private:
  static constexpr size_t kFew = 3;  ///< too few elements to show anything

  /// Whether two values agree, at the outputs' scale or `scale` times it.
  bool near(double value, double other, double scale = 1) const {
    return std::abs(value - other) <=
           kSlack * c_.relative * (rms_ * std::max(std::abs(scale), 1e-6) + std::abs(other));
  }

  /// Whether the expected values differ by more than a relation's tolerance.
  bool varied() const {
    return std::any_of(expected_.begin(), expected_.end(),
                       [&](double v) { return !near(v, expected_.front()); });
  }

  std::string not_finite() const {
    size_t nans = 0, infinite = 0, zeros = 0;
    for (const size_t i : marked_) {
      nans += std::isnan(got_[i]) ? 1 : 0;
      infinite += std::isinf(got_[i]) ? 1 : 0;
      zeros += expected_[i] == 0 ? 1 : 0;
    }
    std::string text =
        std::to_string(nans) + " NaN and " + std::to_string(infinite) + " infinite values";
    if (zeros == marked_.size()) text += ", each where 0 is right";
    return text;
  }

  std::string constant() const {
    const double first = got_[marked_.front()];
    const bool same =
        std::all_of(marked_.begin(), marked_.end(), [&](size_t i) { return got_[i] == first; });
    if (!same || marked_.size() < kFew) return "";
    return digits_text(first, 6) + " at each of them";
  }

  /// got = a * expected + b by least squares: a factor, an offset, or both.
  std::string affine() const {
    if (marked_.size() < 2 * kFew) return "";
    double sum_e = 0, sum_g = 0, ee = 0, ge = 0, errors = 0;
    const auto n = static_cast<double>(marked_.size());
    for (const size_t i : marked_) {
      sum_e += expected_[i];
      sum_g += got_[i];
      ee += expected_[i] * expected_[i];
      ge += got_[i] * expected_[i];
      errors += (got_[i] - expected_[i]) * (got_[i] - expected_[i]);
    }
    // It must explain the errors: any factor near 1 is close to small errors.
    const double most_left = 0.3 * std::sqrt(errors / n);
    const auto fits = [&](double a, double b) {
      return std::all_of(marked_.begin(), marked_.end(), [&](size_t i) {
        const double model = a * expected_[i] + b;
        return near(got_[i], model, a) && std::abs(got_[i] - model) <= most_left;
      });
    };
    const double offset = (sum_g - sum_e) / n;
    if (fits(1, offset)) return "the right value plus " + digits_text(offset, 6);
    const double factor = ee > 0 ? ge / ee : 0;
    if (factor != 0 && fits(factor, 0)) return "the right value times " + digits_text(factor, 6);
    const double spread = ee - sum_e * sum_e / n;
    if (spread <= 0) return "";
    const double slope = (ge - sum_g * sum_e / n) / spread;
    const double intercept = (sum_g - slope * sum_e) / n;
    if (slope == 0 || std::abs(slope) < 1e-3 || !fits(slope, intercept)) return "";
    return "the right value times " + digits_text(slope, 6) + " plus " + digits_text(intercept, 6);
  }

  /// Whether the whole output is moved: got[i] == expected[source(i)], where there is a source.
  template <class Source>
  bool taken_from(Source source) const {
    size_t compared = 0;
    for (size_t i = 0; i < got_.size(); ++i) {
      const int64_t from = source(static_cast<int64_t>(i));
      if (from < 0) continue;
      if (!near(got_[i], expected_[static_cast<size_t>(from)])) return false;
      ++compared;
    }
    return 2 * compared >= got_.size() && compared > kFew;
  }

  std::string shifted() const {
    if (!varied()) return "";
    const std::vector<int64_t> strides = strides_of(c_.shape);
    constexpr int64_t kFarthest = 4;
    for (size_t axis = 0; axis < c_.shape.size(); ++axis) {
      for (int64_t by = -kFarthest; by <= kFarthest; ++by) {
        if (by == 0 || std::abs(by) >= c_.shape[axis]) continue;
        const bool fits = taken_from([&](int64_t i) {
          const int64_t index = i / strides[axis] % c_.shape[axis] + by;
          return index >= 0 && index < c_.shape[axis] ? i + by * strides[axis] : int64_t{-1};
        });
        if (!fits) continue;
        return "the right value of the element " + std::to_string(std::abs(by)) +
               (by > 0 ? " further on" : " before") + " along axis " + std::to_string(axis);
      }
    }
    return "";
  }

  std::string moved() const {
    if (!varied()) return "";
    const size_t rank = c_.shape.size();
    const std::vector<int64_t> strides = strides_of(c_.shape);
    for (size_t axis = 0; axis < rank; ++axis) {
      if (c_.shape[axis] < 2) continue;
      const bool mirrored = taken_from([&](int64_t i) {
        const int64_t index = i / strides[axis] % c_.shape[axis];
        return i + (c_.shape[axis] - 1 - 2 * index) * strides[axis];
      });
      if (mirrored) return "the right values in reverse order along axis " + std::to_string(axis);
    }
    for (size_t a = 0; a < rank; ++a) {
      for (size_t b = a + 1; b < rank; ++b) {
        if (c_.shape[a] < 2 || c_.shape[b] < 2) continue;
        // Element i of the memory read as the shape with a and b swapped.
        Shape swapped = c_.shape;
        std::swap(swapped[a], swapped[b]);
        const std::vector<int64_t> other = strides_of(swapped);
        const bool transposed = taken_from([&](int64_t i) {
          int64_t from = 0;
          for (size_t axis = 0; axis < rank; ++axis) {
            const size_t home = axis == a ? b : axis == b ? a : axis;
            from += i / other[axis] % swapped[axis] * strides[home];
          }
          return from;
        });
        if (transposed) {
          return "the right values transposed (axes " + std::to_string(a) + " and " +
                 std::to_string(b) + ")";
        }
      }
    }
    return "";
  }

  /// One value along an axis along which the right values differ.
  std::string unchanging() const {
    const std::vector<int64_t> strides = strides_of(c_.shape);
    for (size_t axis = 0; axis < c_.shape.size(); ++axis) {
      if (c_.shape[axis] < 2) continue;
      bool same = true, right_differ = false;
      for (size_t i = 0; i < got_.size() && same; ++i) {
        const int64_t at = static_cast<int64_t>(i);
        const auto first =
            static_cast<size_t>(at - at / strides[axis] % c_.shape[axis] * strides[axis]);
        same = got_[i] == got_[first];
        right_differ |= !near(expected_[i], expected_[first]);
      }
      if (same && right_differ) {
        return "the same value for every index along axis " + std::to_string(axis);
      }
    }
    return "";
  }

  std::string rearranged() const {
    if (!varied() || got_.size() < 2 * kFew) return "";
    std::vector<double> got = got_, expected = expected_;
    std::sort(got.begin(), got.end());
    std::sort(expected.begin(), expected.end());
    for (size_t i = 0; i < got.size(); ++i) {
      if (!near(got[i], expected[i], 1e-3)) return "";
    }
    return "the right values, in other places";
  }

  const Compared& c_;
  const std::vector<double>&got_, &expected_;
  std::vector<size_t> marked_;
  double rms_ = 0;
};

size_t count(const std::vector<char>& marks) {
  return static_cast<size_t>(std::count(marks.begin(), marks.end(), 1));
}

std::string of(size_t part, size_t whole) {
  return std::to_string(part) + " of " + std::to_string(whole);
}

}  // namespace

std::vector<char> wrong_elements(const Compared& c) {
  double squares = 0;
  size_t finite = 0;
  for (const double v : c.expected) {
    if (std::isfinite(v)) squares += v * v, ++finite;
  }
  const double rms = finite > 0 ? std::sqrt(squares / static_cast<double>(finite)) : 0;
  std::vector<char> wrong(c.got.size());
  for (size_t i = 0; i < wrong.size(); ++i) {
    const double error = std::abs(c.got[i] - c.expected[i]);
    const bool right = std::isfinite(c.expected[i])
                           ? error <= c.relative * (rms + std::abs(c.expected[i]))
                           : c.got[i] == c.expected[i];
    wrong[i] = right ? 0 : 1;
  }
  return wrong;
}

std::string relation_of(const Compared& compared, const std::vector<char>& marked) {
  return Relation(compared, marked).find();
}

std::string error_pattern(const Compared& c) {
  std::vector<char> wrong = wrong_elements(c);
  const size_t total = wrong.size();
  if (count(wrong) == 0) return "";
  std::string text;
  const auto add = [&](const std::string& part) { text += (text.empty() ? "" : "; ") + part; };
  if (!c.again.empty()) {
    Compared runs = c;
    runs.expected = c.again;
    for (size_t i = 0; i < total; ++i) {  // A NaN again is no difference.
      if (std::isnan(runs.got[i]) && std::isnan(runs.expected[i])) {
        runs.got[i] = runs.expected[i] = 0;
      }
    }
    const std::vector<char> differ = wrong_elements(runs);
    std::vector<char> both = differ;  // elements that were not written differ anyway
    for (size_t i = 0; i < total && !c.written.empty(); ++i) both[i] = both[i] && c.written[i];
    if (count(both) > 0) {
      add("not the same in two runs on the same inputs, in " + of(count(both), total) +
          " elements: a race, or memory that is read before it is written");
    }
  }
  if (!c.written.empty()) {
    std::vector<char> unwritten(total);
    for (size_t i = 0; i < total; ++i) unwritten[i] = c.written[i] ? 0 : 1;
    const size_t missing = count(unwritten);
    if (missing > 0) {
      const std::string where = region_of(c.shape, unwritten);
      add("never written: " + (where.empty() ? of(missing, total) + " elements" : where));
      for (size_t i = 0; i < total; ++i) wrong[i] = wrong[i] && !unwritten[i];
      if (count(wrong) == 0) return text;
    }
  }
  const size_t bad = count(wrong);
  const std::string where = region_of(c.shape, wrong, c.expected);
  add(bad == total ? "every element is wrong"
      : !where.empty()
          ? std::string("wrong only ") + (where.rfind("where", 0) == 0 ? "" : "in ") + where
          : of(bad, total) + " elements are wrong, in no simple pattern of places");
  const std::string relation = relation_of(c, wrong);
  if (!relation.empty()) text += ": they hold " + relation;
  return text;
}

}  // namespace kbench::diagnose
