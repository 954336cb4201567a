// The chains of attempts of a run, and which model makes each attempt.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kbench/task.h"

namespace kbench::generate {

/// Chains are numbered by (task, sample, lane) or (sample, task, lane), the last index varying
/// fastest. A lane is a model, or the single lane of a relay.
class Plan {
 public:
  /// repair: each model repairs its own candidates. relay: the models take turns in a chain, and
  /// each chain starts with another model.
  enum class Strategy { repair, relay };
  /// task: all samples of a task in a row, which is quicker to judge; sample: the first sample of
  /// every task before any second one.
  enum class Order { task, sample };

  /// Throws kInvalidArgument if there is no task, model or sample, or more than 2^31 chains.
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
  /// Nothing if the plan has no such chain.
  std::optional<uint32_t> find(std::string_view model, TaskId task, int sample) const;
  /// Index into members() of the model that makes this attempt.
  uint32_t member(const Chain& chain, int attempt) const;

 private:
  std::vector<const Task*> tasks_;
  std::vector<std::string> members_, lanes_;
  int samples_;
  Strategy strategy_;
  Order order_;
  uint32_t chains_ = 0;
};

/// the name of a relay's lane
std::string relay_name(const std::vector<std::string>& members);

Plan::Strategy strategy_from_name(std::string_view name);  ///< throws kInvalidArgument
std::string_view name_of(Plan::Strategy strategy);
Plan::Order order_from_name(std::string_view name);  ///< throws kInvalidArgument
std::string_view name_of(Plan::Order order);

}  // namespace kbench::generate
