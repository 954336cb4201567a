// An evaluator that is a function.
#pragma once

#include <functional>
#include <utility>
#include <vector>

#include "kbench/evaluate.h"

namespace kbench::testing {

class FunctionEvaluator : public Evaluator {
 public:
  using Judge = std::function<Result(const Question&)>;
  using Investigate = std::function<Evidence(const Question&, const Result&)>;
  explicit FunctionEvaluator(Judge judge, Investigate investigate = {})
      : judge_(std::move(judge)), investigate_(std::move(investigate)) {}

  using Evaluator::evaluate;
  Result evaluate(const Question& question, const Observer&, std::stop_token) override {
    return judge_(question);
  }
  std::vector<DeviceSummary> devices() override { return {{.name = "a function"}}; }
  Evidence investigate(const Question& question, const Result& result) override {
    return investigate_ ? investigate_(question, result) : Evidence();
  }

 private:
  Judge judge_;
  Investigate investigate_;
};

}  // namespace kbench::testing
