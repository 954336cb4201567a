#include "kbench/model_config.h"

#include <nlohmann/json.hpp>

#include "libkbench/base/enum_names.h"
#include "libkbench/base/json_text.h"

namespace kbench {
namespace {

using Json = nlohmann::ordered_json;

}  // namespace

std::string_view name_of(ModelApi api) {
  return name_in<ModelApi::completions>({"chat", "completions"}, api);
}

std::string_view name_of(TokenField field) {
  return name_in<TokenField::max_completion_tokens>({"auto", "max_tokens", "max_completion_tokens"},
                                                    field);
}

std::string to_json(const ModelConfig& config) {
  Json json = {{"name", config.name}, {"url", config.url}, {"model", config.model}};
  if (!config.key_env.empty()) json["key_env"] = config.key_env;
  json["api"] = name_of(config.api);
  json["connections"] = config.connections;
  json["sampling"] = {{"temperature", or_null(config.sampling.temperature)},
                      {"top_p", or_null(config.sampling.top_p)},
                      {"max_tokens", or_null(config.sampling.max_tokens)}};
  if (!config.extra.empty()) json["sampling"]["extra"] = Json::parse(config.extra);
  json["send"] = {{"seed", config.send_seed},
                  {"stream", config.stream},
                  {"token_field", name_of(config.token_field)},
                  {"system", config.system}};
  json["thinking"] = {{"tags", config.thinking_tags}};
  if (!config.thinking_effort.empty()) json["thinking"]["effort"] = config.thinking_effort;
  json["timeout"] = {{"connect", config.connect_timeout},
                     {"first", config.first_timeout},
                     {"silence", config.silence_timeout},
                     {"total", config.total_timeout}};
  json["retry"] = {{"tries", config.tries}, {"seconds", config.retry_seconds}};
  if (config.price) {
    json["price"] = {{"input", config.price->input}};
    if (config.price->cached) json["price"]["cached"] = *config.price->cached;
    json["price"]["output"] = config.price->output;
  }
  if (!config.ca_file.empty()) json["ca_file"] = config.ca_file;
  return json_text(json);
}

std::optional<double> cost_of(const Usage& usage, const ModelPrice& price) {
  // Tokens that are free cost nothing, known or not.
  if ((!usage.input && price.input > 0) || (!usage.output && price.output > 0)) return std::nullopt;
  const auto input = static_cast<double>(usage.input.value_or(0));
  const auto cached = std::min(input, static_cast<double>(usage.cached.value_or(0)));
  const auto output = static_cast<double>(usage.output.value_or(0));
  return ((input - cached) * price.input + cached * price.cached.value_or(price.input) +
          output * price.output) /
         1e6;
}

}  // namespace kbench
