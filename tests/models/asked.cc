#include "tests/models/asked.h"

namespace kbench::testing {

Asked::Asked(const std::string& url, ModelConfig config) {
  config.name = "coder";
  config.model = "some/model";
  config.url = url;
  model_ = std::make_unique<OpenAiModel>(config, hooks());
}

ModelHooks Asked::hooks() {
  return {.event =
              [this](const ModelEvent& event) {
                const std::lock_guard lock(mutex_);
                events_.push_back(event);
              },
          .clock =
              [this] {
                const std::lock_guard lock(mutex_);
                return now_;
              },
          .unix_time = [this] { return unix_time; },
          .uniform = [this] { return uniform; },
          .sleep =
              [this](double seconds, std::stop_token) {
                const std::lock_guard lock(mutex_);
                sleeps_.push_back(seconds);
                now_ += seconds;
              }};
}

Answer Asked::ask(Ask ask) { return model_->ask(ask, {}); }

std::optional<ModelError> Asked::error() {
  try {
    ask();
    return std::nullopt;
  } catch (const ModelError& e) {
    return e;
  }
}

std::vector<ModelEvent> Asked::events() const {
  const std::lock_guard lock(mutex_);
  return events_;
}

std::vector<ModelEvent> Asked::events(ModelEvent::Kind kind) const {
  std::vector<ModelEvent> chosen;
  for (const ModelEvent& event : events()) {
    if (event.kind == kind) chosen.push_back(event);
  }
  return chosen;
}

std::vector<double> Asked::sleeps() const {
  const std::lock_guard lock(mutex_);
  return sleeps_;
}

}  // namespace kbench::testing
