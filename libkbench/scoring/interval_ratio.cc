#include "libkbench/scoring/interval_ratio.h"

#include <cmath>

namespace kbench {

Interval ratio_of(const Interval& over, const Interval& under) {
  const double down =
      std::hypot(std::log(over.point / over.low), std::log(under.high / under.point));
  const double up = std::hypot(std::log(over.high / over.point), std::log(under.point / under.low));
  const double point = over.point / under.point;
  return {point * std::exp(-down), point, point * std::exp(up)};
}

}  // namespace kbench
