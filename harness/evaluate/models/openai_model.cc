#include "kbench/openai_model.h"

#include <algorithm>

#include "harness/evaluate/models/server.h"

namespace kbench {

class OpenAiModel::State : public models::Server {
 public:
  using Server::Server;
};

OpenAiModel::OpenAiModel(ModelConfig config, ModelHooks hooks)
    : state_(std::make_unique<State>(std::move(config), std::move(hooks))) {}
OpenAiModel::~OpenAiModel() = default;

std::string OpenAiModel::name() const { return state_->config().name; }
const ModelConfig& OpenAiModel::config() const { return state_->config(); }
int OpenAiModel::connections() const { return state_->connections(); }

Answer OpenAiModel::ask(const Ask& ask, std::stop_token stop) {
  models::Answered got = state_->answered(ask, 1, ask.seed, stop);
  return state_->answer_of(got, 0);
}

std::vector<Answer> OpenAiModel::ask_several(const Ask& ask, int count, std::stop_token stop,
                                             std::vector<Answer>* partial) {
  std::vector<Answer> answers;
  try {
    while (std::ssize(answers) < count) {
      const int missing = count - static_cast<int>(answers.size());
      const uint64_t seed = ask.seed + answers.size();
      models::Answered got = state_->answered(ask, std::min(missing, config().choices), seed, stop);
      const size_t came = got.reply ? got.reply->choices.size() : 1;
      for (size_t i = 0; i < came && std::ssize(answers) < count; ++i) {
        answers.push_back(state_->answer_of(got, i));
      }
    }
  } catch (const Error&) {
    if (partial != nullptr) *partial = std::move(answers);
    throw;
  }
  return answers;
}

std::vector<std::string> OpenAiModel::served(std::stop_token stop) { return state_->served(stop); }

}  // namespace kbench
