#include "harness/evaluate/generate/budget.h"

#include <algorithm>

#include "libkbench/base/text.h"

namespace kbench::generate {
Budget::Claim Budget::claim(size_t prompt_characters, const Sampling& sampling,
                            const std::optional<ModelPrice>& price) const {
  const auto input = static_cast<int64_t>(prompt_characters / 2 + 64);
  const int64_t output = sampling.max_tokens.value_or(longest_);
  Claim claim;
  claim.tokens = input + output;
  if (price) claim.cost = (double(input) * price->input + double(output) * price->output) / 1e6;
  return claim;
}

Budget::Grant Budget::ask(const Claim& claim) {
  if (!limited()) {
    ++under_way_;
    return Grant::given;
  }
  const auto fits = [&](const Claim& other) {
    if (limits_.tokens &&
        spent_.input + spent_.output + estimated_tokens_ + other.tokens + claim.tokens >
            *limits_.tokens) {
      reason_ = "--max-tokens " + std::to_string(*limits_.tokens);
      return false;
    }
    if (limits_.cost && spent_.cost + estimated_cost_ + other.cost + claim.cost > *limits_.cost) {
      reason_ = "--max-cost " + digits_text(*limits_.cost, 6);
      return false;
    }
    return true;
  };
  if (fits(claimed_)) {
    claimed_.tokens += claim.tokens;
    claimed_.cost += claim.cost;
    ++under_way_;
    return Grant::given;
  }
  return under_way_ > 0 && fits({}) ? Grant::wait : Grant::spent;
}

void Budget::settle(const Claim& claim, const Usage* usage,
                    const std::optional<ModelPrice>& price) {
  --under_way_;
  if (limited()) {
    claimed_.tokens -= claim.tokens;
    claimed_.cost -= claim.cost;
  }
  if (usage == nullptr) return;
  const std::optional<double> cost = price ? cost_of(*usage, *price) : std::nullopt;
  spent_.add(*usage, cost);
  if (!usage->input || !usage->output) {
    estimated_tokens_ +=
        std::max<int64_t>(claim.tokens - usage->input.value_or(0) - usage->output.value_or(0), 0);
  }
  if (!cost) estimated_cost_ += claim.cost;
  longest_ = std::max(longest_, usage->output.value_or(0));
}

}  // namespace kbench::generate
