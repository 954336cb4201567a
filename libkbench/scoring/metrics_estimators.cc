// pass@k, pass^k and the expected best of k, of one task.
#include <algorithm>
#include <string>

#include "kbench/error.h"
#include "kbench/metrics.h"
#include "kbench/score.h"

namespace kbench {
namespace {

void check(const Draws& d, int k) {
  if (d.n >= 0 && d.c >= 0 && d.c <= d.n && d.lost >= 0 && k >= 1) return;
  throw Error(ErrorCode::kInvalidArgument,
              "samples must hold 0 <= c <= n, 0 <= lost and 1 <= k; got n = " +
                  std::to_string(d.n) + ", c = " + std::to_string(d.c) +
                  ", lost = " + std::to_string(d.lost) + ", k = " + std::to_string(k));
}

double all_good(int n, int c, int k) {
  if (c < k) return 0;
  double share = 1;
  for (int i = 0; i < k; ++i) share *= double(c - i) / (n - i);
  return share;
}

}  // namespace

std::optional<Share> pass_at_k(const Draws& d, int k) {
  check(d, k);
  const int n = d.n + d.lost;
  if (n < k) return std::nullopt;
  return Share{pass_at_k(n, d.c, k), pass_at_k(n, d.c + d.lost, k)};
}

std::optional<Share> pass_hat_k(const Draws& d, int k) {
  check(d, k);
  const int n = d.n + d.lost;
  if (n < k) return std::nullopt;
  return Share{all_good(n, d.c, k), all_good(n, d.c + d.lost, k)};
}

std::optional<double> expected_best(std::span<const double> values, int k) {
  check({}, k);
  const int n = static_cast<int>(values.size());
  if (n < k) return std::nullopt;
  double weight = double(k) / n, sum = 0;  // of the last: C(n-1,k-1)/C(n,k)
  for (int i = n; i >= k; --i) {
    sum += weight * values[static_cast<size_t>(i - 1)];
    if (i > k) weight *= double(i - k) / (i - 1);
  }
  return sum;
}

}  // namespace kbench
