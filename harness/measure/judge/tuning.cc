#include "harness/measure/judge/tuning.h"

namespace kbench::judge {

Tuning::Tuning(const std::vector<size_t>& counts) : best_(counts.size(), 0) {
  for (const size_t count : counts) times_.emplace_back(count, 0);
}

std::optional<std::vector<uint32_t>> Tuning::next() const {
  if (kernel_ >= times_.size()) return std::nullopt;
  std::vector<uint32_t> choice = best_;
  choice[kernel_] = config_;
  return choice;
}

void Tuning::add(double ns) {
  if (kernel_ >= times_.size()) return;
  times_[kernel_][config_] = ns;
  if (ns < best_ns_) {
    best_ns_ = ns;
    best_[kernel_] = config_;
  }
  ++config_;
  // The first configuration of a later kernel stands with the best of those before: that is known.
  while (kernel_ < times_.size() && config_ >= times_[kernel_].size()) {
    ++kernel_;
    config_ = 1;
    if (kernel_ < times_.size()) times_[kernel_][0] = best_ns_;
  }
}

}  // namespace kbench::judge
