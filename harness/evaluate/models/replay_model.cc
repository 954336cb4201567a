#include <unordered_map>

#include "kbench/exchange.h"

namespace kbench {

class ReplayModel::State {
 public:
  struct Recorded {
    std::string prompt_hash;
    Answer answer;
  };
  std::string name;
  std::unordered_map<std::string, Recorded> by_purpose;
  OtherPrompt other = OtherPrompt::refuse;
};

ReplayModel::ReplayModel(std::string name, std::vector<Exchange> exchanges, OtherPrompt other)
    : state_(std::make_unique<State>()) {
  for (Exchange& exchange : exchanges) {
    if (exchange.model != name) continue;
    const std::string purpose = purpose_of(exchange.task, exchange.sample, exchange.attempt);
    state_->by_purpose[purpose] = {std::move(exchange.prompt_hash), std::move(exchange.answer)};
  }
  state_->name = std::move(name);
  state_->other = other;
}

ReplayModel::~ReplayModel() = default;

std::string ReplayModel::name() const { return state_->name; }

Answer ReplayModel::ask(const Ask& ask, std::stop_token) {
  const auto found = state_->by_purpose.find(ask.purpose);
  if (found == state_->by_purpose.end()) {
    throw ModelError(ModelError::Reach::request,
                     "model '" + state_->name + "': no answer is recorded for " + ask.purpose);
  }
  const State::Recorded& recorded = found->second;
  if (state_->other == OtherPrompt::refuse && recorded.prompt_hash != prompt_hash(ask.messages)) {
    throw ModelError(ModelError::Reach::request, "model '" + state_->name +
                                                     "': the answer recorded for " + ask.purpose +
                                                     " was given to another prompt");
  }
  return recorded.answer;
}

}  // namespace kbench
