#include "kbench/openai_model.h"

#include <nlohmann/json.hpp>

#include "harness/evaluate/models/server.h"
#include "libkbench/base/enum_names.h"
#include "libkbench/base/json_text.h"

namespace kbench {

std::string_view name_of(ModelEvent::Kind kind) {
  return name_in<ModelEvent::Kind::model_lost>(
      {"retry", "wait", "parameter", "connections", "insecure", "given_up", "model_lost"}, kind);
}

std::string to_json(const ModelEvent& event) {
  nlohmann::ordered_json json = {{"event", std::string(name_of(event.kind))},
                                 {"model", event.model}};
  if (!event.purpose.empty()) json["purpose"] = event.purpose;
  json["text"] = event.text;
  if (event.seconds > 0) json["seconds"] = event.seconds;
  if (event.status > 0) json["status"] = event.status;
  return json_text(json);
}

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

Answer OpenAiModel::ask(const Ask& ask, std::stop_token stop) { return state_->ask(ask, stop); }

std::vector<std::string> OpenAiModel::served(std::stop_token stop) { return state_->served(stop); }

}  // namespace kbench
