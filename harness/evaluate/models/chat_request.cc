#include "harness/evaluate/models/chat_request.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "kbench/exchange.h"
#include "libkbench/base/json_text.h"

namespace kbench::models {
namespace {

using Json = nlohmann::ordered_json;

/// The messages. For a model without system messages, they are put before the first user message.
std::vector<Message> messages_for(const ModelConfig& config, const std::vector<Message>& given) {
  if (config.system) return given;
  std::vector<Message> messages;
  std::string system;
  for (const Message& message : given) {
    if (message.role == Role::system) {
      system += message.text + "\n\n";
      continue;
    }
    messages.push_back(message);
    if (message.role == Role::user) messages.back().text.insert(0, std::exchange(system, ""));
  }
  if (!system.empty()) messages.push_back({Role::user, system});
  return messages;
}

}  // namespace

bool Dialect::takes(const std::string& parameter) const {
  return std::find(refused.begin(), refused.end(), parameter) == refused.end();
}

Dialect first_dialect(const ModelConfig& config) {
  Dialect dialect;
  dialect.may_rename = config.token_field == TokenField::automatic;
  if (config.token_field == TokenField::max_completion_tokens) {
    dialect.token_field = "max_completion_tokens";
  }
  return dialect;
}

bool learn(Dialect& dialect, const std::string& parameter) {
  if (parameter == dialect.token_field) {
    if (!dialect.may_rename) return false;  // without a token limit, costs are not limited
    dialect.token_field = "max_completion_tokens";
    dialect.may_rename = false;
    return true;
  }
  if (!dialect.takes(parameter)) return false;
  dialect.refused.push_back(parameter);
  return true;
}

ChatRequest make_request(const ModelConfig& config, const Dialect& dialect, const Ask& ask) {
  ChatRequest request;
  Json json = {{"model", config.model}};
  const auto set = [&](const std::string& name, const Json& value) {
    if (!dialect.takes(name)) return;
    json[name] = value;
    request.optional.push_back(name);
  };
  const auto temperature =
      ask.sampling.temperature ? ask.sampling.temperature : config.sampling.temperature;
  const auto top_p = ask.sampling.top_p ? ask.sampling.top_p : config.sampling.top_p;
  const auto most = ask.sampling.max_tokens ? ask.sampling.max_tokens : config.sampling.max_tokens;
  if (temperature) set("temperature", *temperature);
  if (top_p) set("top_p", *top_p);
  if (most) set(dialect.token_field, *most);
  if (config.send_seed) set("seed", ask.seed & 0x7fffffff);
  if (config.stream) {
    json["stream"] = true;
    set("stream_options", {{"include_usage", true}});
  }
  if (!config.thinking_effort.empty()) json["reasoning_effort"] = config.thinking_effort;
  if (!config.extra.empty()) json.update(Json::parse(config.extra));
  request.sent = json_text(json);

  const std::vector<Message> messages = messages_for(config, ask.messages);
  if (config.api == ModelApi::chat) {
    request.path = "/chat/completions";
    json["messages"] = Json::parse(messages_json(messages));
  } else {
    request.path = "/completions";
    std::string prompt;
    for (const Message& message : messages) {
      prompt += (prompt.empty() ? "" : "\n\n") + message.text;
    }
    json["prompt"] = prompt;
  }
  request.body = json_text(json);
  return request;
}

}  // namespace kbench::models
