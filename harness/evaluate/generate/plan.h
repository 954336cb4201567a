// The chains of attempts of a run.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kbench/task.h"

namespace kbench::generate {

/// Chains are numbered by (task, sample, member), the last index varying fastest: all samples of a
/// task in a row, which is quicker to judge. A member is a model.
class Plan {
 public:
  /// Throws kInvalidArgument if there is no task, model or sample, or more than 2^31 chains.
  Plan(std::vector<const Task*> tasks, std::vector<std::string> members, int samples);

  uint32_t chains() const { return chains_; }
  const std::vector<const Task*>& tasks() const { return tasks_; }
  const std::vector<std::string>& members() const { return members_; }
  int samples() const { return samples_; }

  struct Chain {
    uint32_t member = 0;
    uint32_t task = 0;  ///< index into tasks()
    int sample = 1;
  };
  Chain chain(uint32_t number) const;
  uint32_t number(const Chain& chain) const;
  /// Nothing if the plan has no such chain.
  std::optional<uint32_t> find(std::string_view model, TaskId task, int sample) const;

 private:
  std::vector<const Task*> tasks_;
  std::vector<std::string> members_;
  int samples_;
  uint32_t chains_ = 0;
};

}  // namespace kbench::generate
