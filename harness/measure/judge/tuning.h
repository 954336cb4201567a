// Which configurations of a candidate's kernels are timed, and which are judged. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

namespace kbench::judge {

/// Tunes kernel after kernel: each configuration is timed with the best known ones of the other
/// kernels, so that runs grow with the sum of the configurations, not with their product.
class Tuning {
 public:
  /// `counts`: of each kernel's configurations, at least one each.
  explicit Tuning(const std::vector<size_t>& counts);

  /// The choice to be timed next, an index for each kernel; nothing when all are timed.
  std::optional<std::vector<uint32_t>> next() const;
  /// The time of the choice that next() returned.
  void add(double ns);

  /// The fastest of those timed; of equals the first.
  const std::vector<uint32_t>& best() const { return best_; }
  /// The time of each kernel's configurations, in ns.
  const std::vector<std::vector<double>>& times() const { return times_; }

 private:
  std::vector<uint32_t> best_;
  double best_ns_ = std::numeric_limits<double>::infinity();
  std::vector<std::vector<double>> times_;
  size_t kernel_ = 0;    ///< whose configurations are being timed
  uint32_t config_ = 0;  ///< the next of them
};

}  // namespace kbench::judge
