// How much a run may still spend.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "harness/evaluate/generate/ledger.h"
#include "kbench/model.h"
#include "kbench/openai_model.h"

namespace kbench::generate {

/// Limits for the whole run, including what earlier processes spent on it; `seconds` is for this
/// process alone.
struct BudgetLimits {
  std::optional<double> cost = {};
  std::optional<int64_t> tokens = {};
  std::optional<double> seconds = {};
};

/// Grants each request before it is sent, by the most that it can use, so that a budget is not
/// exceeded. Exceptions: a server that ignores the token limit, and one that does not report its
/// usage (the estimate counts then). Not thread-safe.
class Budget {
 public:
  Budget(BudgetLimits limits, const Spent& before) : limits_(limits), spent_(before) {}

  /// The most that one request can use.
  struct Claim {
    int64_t tokens = 0;
    double cost = 0;
  };
  /// For a prompt of `prompt_characters`, counting at least 2 characters a token. Without a limit
  /// on the answer, its length is taken to be that of the longest answer so far, and at least 4,096
  /// tokens.
  Claim claim(size_t prompt_characters, const Sampling& sampling,
              const std::optional<ModelPrice>& price) const;

  enum class Grant {
    given,
    wait,   ///< not now: requests under way may yet use less than they claimed
    spent,  ///< never
  };
  Grant ask(const Claim& claim);
  /// Records what a granted request used; null if it was not answered.
  void settle(const Claim& claim, const Usage* usage, const std::optional<ModelPrice>& price);
  /// Adds an answer that an earlier process paid for.
  void add(const Usage& usage, const std::optional<double>& cost) { spent_.add(usage, cost); }

  const Spent& spent() const { return spent_; }
  bool limited() const { return limits_.cost || limits_.tokens; }
  /// The budget that a claim did not fit into: "--max-tokens 1000".
  const std::string& reason() const { return reason_; }

 private:
  BudgetLimits limits_;
  Spent spent_;
  double estimated_cost_ = 0;  ///< of answers without reported usage
  int64_t estimated_tokens_ = 0;
  Claim claimed_;  ///< by requests under way
  int under_way_ = 0;
  int64_t longest_ = 4096;
  std::string reason_;
};

}  // namespace kbench::generate
