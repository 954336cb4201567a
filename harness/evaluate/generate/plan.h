// Which chains of attempts a run consists of, and who is asked for each of their attempts.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kbench/task.h"

namespace kbench::generate {

/// Chains are numbered: (task, sample, lane) or (sample, task, lane), the last fastest. A lane is a
/// model, or the one relay.
class Plan {
 public:
  /// repair: each model repairs its own candidates. relay: attempts of a chain go round the models,
  /// each chain beginning with another.
  enum class Strategy { repair, relay };
  /// task: a task's samples one after another, which the judge is quicker with; sample: every
  /// task's first sample before any second.
  enum class Order { task, sample };

  /// Throws kInvalidArgument where there is no task, model or sample, or too many chains (2^31).
  Plan(std::vector<const Task*> tasks, std::vector<std::string> members, int samples,
       Strategy strategy = Strategy::repair, Order order = Order::task);

  uint32_t chains() const { return chains_; }
  const std::vector<const Task*>& tasks() const { return tasks_; }
  const std::vector<std::string>& members() const { return members_; }
  const std::vector<std::string>& lanes() const { return lanes_; }
  int samples() const { return samples_; }
  bool relay() const { return strategy_ == Strategy::relay; }

  struct Chain {
    uint32_t lane = 0;
    uint32_t task = 0;  ///< index into tasks()
    int sample = 1;
  };
  Chain chain(uint32_t number) const;
  uint32_t number(const Chain& chain) const;
  /// Where it is part of the plan.
  std::optional<uint32_t> find(std::string_view model, TaskId task, int sample) const;
  /// Index into members() of who answers this attempt.
  uint32_t member(const Chain& chain, int attempt) const;

 private:
  std::vector<const Task*> tasks_;
  std::vector<std::string> members_, lanes_;
  int samples_;
  Strategy strategy_;
  Order order_;
  uint32_t chains_ = 0;
};

/// "a+b+c": what chains of a relay are called.
std::string relay_name(const std::vector<std::string>& members);

Plan::Strategy strategy_from_name(std::string_view name);  ///< throws kInvalidArgument
std::string_view name_of(Plan::Strategy strategy);
Plan::Order order_from_name(std::string_view name);  ///< throws kInvalidArgument
std::string_view name_of(Plan::Order order);

}  // namespace kbench::generate
