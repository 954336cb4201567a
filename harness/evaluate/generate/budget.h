// What a run may still spend.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "harness/evaluate/generate/ledger.h"
#include "kbench/model.h"
#include "kbench/model_config.h"

namespace kbench::generate {

/// Of the whole run, what earlier processes spent on it included; but `seconds` are this process's.
struct BudgetLimits {
  std::optional<double> cost = {};
  std::optional<int64_t> tokens = {};
  std::optional<double> seconds = {};
};

/// Grants a request before it is sent, by the most it can use: a budget is not passed, unless by a
/// server that keeps to no limit, or that says nothing of what it used: then the estimate counts.
/// Not thread-safe.
class Budget {
 public:
  Budget(BudgetLimits limits, const Spent& before) : limits_(limits), spent_(before) {}

  /// The most that one request can use.
  struct Claim {
    int64_t tokens = 0;
    double cost = 0;
  };
  /// Of a prompt of so many characters. Without a limit on the answer the longest so far counts,
  /// and 4,096 tokens at least. A token is taken to have 2 characters or more.
  Claim claim(size_t prompt_characters, const Sampling& sampling,
              const std::optional<ModelPrice>& price, size_t answers = 1) const;

  enum class Grant {
    given,
    wait,   ///< not now: requests under way may use less than they can
    spent,  ///< never
  };
  Grant ask(const Claim& claim);
  /// What a granted request used; nothing for one that stayed unanswered.
  void settle(const Claim& claim, const Usage* usage, const std::optional<ModelPrice>& price);
  /// Of an answer that was paid for before.
  void add(const Usage& usage, const std::optional<double>& cost) { spent_.add(usage, cost); }

  const Spent& spent() const { return spent_; }
  bool limited() const { return limits_.cost || limits_.tokens; }
  /// Which budget it is that a claim did not fit into: "--max-tokens 1000".
  const std::string& reason() const { return reason_; }

 private:
  BudgetLimits limits_;
  Spent spent_;
  double estimated_cost_ = 0;  ///< of answers that did not say
  int64_t estimated_tokens_ = 0;
  Claim claimed_;  ///< by requests under way
  int under_way_ = 0;
  int64_t longest_ = 4096;
  std::string reason_;
};

}  // namespace kbench::generate
