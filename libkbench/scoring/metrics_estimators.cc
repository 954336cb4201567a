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

std::vector<double> weights_of_last(int n, int k) {
  check({}, k);
  if (n < k) {
    throw Error(ErrorCode::kInvalidArgument,
                "there are no " + std::to_string(k) + " among " + std::to_string(n) + " values");
  }
  std::vector<double> weights(static_cast<size_t>(n));
  double weight = double(k) / n;  // C(n-1,k-1)/C(n,k)
  for (int i = n; i >= k; --i) {
    weights[static_cast<size_t>(i - 1)] = weight;
    if (i > k) weight *= double(i - k) / (i - 1);
  }
  return weights;
}

std::optional<double> expected_best(std::span<const double> values, int k) {
  check({}, k);
  if (values.size() < static_cast<size_t>(k)) return std::nullopt;
  const std::vector<double> weights = weights_of_last(static_cast<int>(values.size()), k);
  double sum = 0;
  for (size_t i = values.size(); i-- > 0;) sum += weights[i] * values[i];
  return sum;
}

}  // namespace kbench
