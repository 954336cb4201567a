// A model in a test: against a scripted server, with a clock that only sleeping moves.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "kbench/openai_model.h"
#include "tests/models/scripted_server.h"

namespace kbench::testing {

class Asked {
 public:
  /// `config` lacks its URL, name and model.
  explicit Asked(const std::string& url, ModelConfig config = {});

  ModelHooks hooks();
  OpenAiModel& model() { return *model_; }
  /// One question, with the answer.
  Answer ask(Ask ask = {
                 .messages = {{Role::user, "hello"}}, .seed = 7, .purpose = "level1/19 s1 a1"});
  /// The error it ends in.
  std::optional<ModelError> error();

  std::vector<ModelEvent> events() const;
  std::vector<ModelEvent> events(ModelEvent::Kind kind) const;
  std::vector<double> sleeps() const;

  double uniform = 0.5;            ///< what the dice say
  int64_t unix_time = 1000000000;  ///< 2001-09-09 01:46:40 UTC

 private:
  mutable std::mutex mutex_;
  double now_ = 0;
  std::vector<double> sleeps_;
  std::vector<ModelEvent> events_;
  std::unique_ptr<OpenAiModel> model_;
};

}  // namespace kbench::testing
