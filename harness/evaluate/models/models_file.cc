// models.yaml, read strictly.
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "harness/evaluate/models/transfer.h"
#include "kbench/error.h"
#include "kbench/openai_model.h"
#include "libkbench/base/enum_names.h"
#include "libkbench/base/files.h"
#include "libkbench/base/json_text.h"
#include "libkbench/base/text.h"
#include "libkbench/candidate/source_json.h"
#include "libkbench/candidate/yaml_reader.h"

namespace kbench {
namespace {

using Json = nlohmann::ordered_json;

/// Fields that kbench sends itself, and the setting for each.
const std::pair<const char*, const char*> kOwnFields[] = {
    {"model", "'model'"},
    {"messages", "the prompt"},
    {"prompt", "the prompt"},
    {"stream", "send: {stream: ..}"},
    {"stream_options", "send: {stream: ..}"},
    {"n", "--samples"},
    {"seed", "send: {seed: ..}"},
    {"temperature", "sampling: {temperature: ..}"},
    {"top_p", "sampling: {top_p: ..}"},
    {"max_tokens", "sampling: {max_tokens: ..}"},
    {"max_completion_tokens", "sampling: {max_tokens: ..}"},
    {"reasoning_effort", "thinking: {effort: ..}"},
};

class Reader {
 public:
  Reader(const std::string& text, const std::string& file)
      : yaml_(plain(text, file), file, "a models file") {}

  std::vector<ModelConfig> models() {
    const YamlFields file = yaml_.fields(yaml_.root(), "the file", {"models"}, {"models"});
    const YamlEntry& list = *file.find("models");
    std::vector<ModelConfig> all;
    std::set<std::string> names;
    for (const YAML::Node& item : yaml_.list(list.value, "models")) {
      all.push_back(model(item));
      if (!names.insert(all.back().name).second) {
        fail_parse(yaml_.at(item), "two models are called " +
                                       quoted(std::as_const(all.back().name)) +
                                       "; give one of them another 'name'");
      }
    }
    if (all.empty()) fail_parse(list.at, "models: there is none");
    return all;
  }

 private:
  /// Checks that the text is UTF-8, as it is sent on as JSON.
  static const std::string& plain(const std::string& text, const std::string& file) {
    int number = 1;
    for (size_t begin = 0; begin < text.size(); ++number) {
      const size_t end = std::min(text.find('\n', begin), text.size());
      if (!is_utf8(std::string_view(text).substr(begin, end - begin))) {
        fail_parse({file, number, 0},
                   "not a text in UTF-8; save the file in that encoding, or take out what is no "
                   "letter");
      }
      begin = end + 1;
    }
    return text;
  }

  ModelConfig model(const YAML::Node& node) {
    const YamlFields fields =
        yaml_.fields(node, "a model",
                     {"name", "url", "model", "key_env", "api", "connections", "sampling", "send",
                      "thinking", "timeout", "retry", "price", "ca_file"},
                     {"url", "model"});
    ModelConfig config;
    config.model = text(*fields.find("model"));
    config.url = text(*fields.find("url"));
    try {
      models::parse_url(config.url);
    } catch (const Error& e) {
      fail_parse(yaml_.at(fields.find("url")->value), "url: " + e.message());
    }
    config.name = name_from(config.model);
    if (const auto* f = fields.find("name")) config.name = name(*f);
    if (const auto* f = fields.find("key_env")) config.key_env = variable(*f);
    if (const auto* f = fields.find("ca_file")) config.ca_file = text(*f);
    if (const auto* f = fields.find("api")) {
      config.api = choice(*f, ModelApi::completions);
    }
    if (const auto* f = fields.find("connections")) config.connections = count(*f, 1, 1024);
    if (const auto* f = fields.find("sampling")) sampling(config, f->value);
    if (const auto* f = fields.find("send")) send(config, f->value);
    if (const auto* f = fields.find("thinking")) thinking(config, f->value);
    if (const auto* f = fields.find("timeout")) timeout(config, f->value);
    if (const auto* f = fields.find("retry")) retry(config, f->value);
    if (const auto* f = fields.find("price")) price(config, f->value);
    return config;
  }

  void sampling(ModelConfig& config, const YAML::Node& node) {
    const YamlFields fields =
        yaml_.fields(node, "sampling", {"temperature", "top_p", "max_tokens", "extra"});
    Sampling& to = config.sampling;
    if (const auto* f = fields.find("temperature")) {
      to.temperature = f->value.IsNull() ? std::optional<double>() : real(*f, 0, 10);
    }
    if (const auto* f = fields.find("top_p")) {
      to.top_p = f->value.IsNull() ? std::optional<double>() : real(*f, 0, 1);
    }
    if (const auto* f = fields.find("max_tokens")) {
      to.max_tokens = f->value.IsNull() ? std::optional<int64_t>() : count(*f, 1, 1 << 30);
    }
    if (const auto* f = fields.find("extra")) {
      for (const YamlEntry& entry : yaml_.entries(f->value, "extra")) {
        for (const auto& [own, where] : kOwnFields) {
          if (entry.key != own) continue;
          fail_parse(entry.at, "'" + entry.key + "' does not go into extra; it is set by " + where);
        }
      }
      if (f->value.size() > 0) config.extra = json_of(f->value).dump();
    }
  }

  void send(ModelConfig& config, const YAML::Node& node) {
    const YamlFields fields =
        yaml_.fields(node, "send", {"seed", "stream", "token_field", "system"});
    if (const auto* f = fields.find("seed")) config.send_seed = yaml_.boolean(f->value, "seed");
    if (const auto* f = fields.find("stream")) config.stream = yaml_.boolean(f->value, "stream");
    if (const auto* f = fields.find("system")) config.system = yaml_.boolean(f->value, "system");
    if (const auto* f = fields.find("token_field")) {
      config.token_field = choice(*f, TokenField::max_completion_tokens);
    }
  }

  void thinking(ModelConfig& config, const YAML::Node& node) {
    const YamlFields fields = yaml_.fields(node, "thinking", {"tags", "effort"});
    if (const auto* f = fields.find("effort")) config.thinking_effort = text(*f);
    if (const auto* f = fields.find("tags")) {
      config.thinking_tags.clear();
      for (const YAML::Node& tag : yaml_.list(f->value, "tags")) {
        const Sourced written = yaml_.text(tag, "a tag");
        if (written.text.empty() || written.text.find_first_of("<>/ \t\n") != std::string::npos) {
          fail_parse(written.at, "a tag is given by its name alone: think, for </think>");
        }
        config.thinking_tags.push_back(written.text);
      }
    }
  }

  void timeout(ModelConfig& config, const YAML::Node& node) {
    const YamlFields fields =
        yaml_.fields(node, "timeout", {"connect", "first", "silence", "total"});
    constexpr double kLeast = 0.001, kMost = 86400;
    if (const auto* f = fields.find("connect")) config.connect_timeout = real(*f, kLeast, kMost);
    if (const auto* f = fields.find("first")) config.first_timeout = real(*f, kLeast, kMost);
    if (const auto* f = fields.find("silence")) config.silence_timeout = real(*f, kLeast, kMost);
    if (const auto* f = fields.find("total")) config.total_timeout = real(*f, kLeast, kMost);
  }

  void retry(ModelConfig& config, const YAML::Node& node) {
    const YamlFields fields = yaml_.fields(node, "retry", {"tries", "seconds"});
    if (const auto* f = fields.find("tries")) config.tries = count(*f, 1, 1000);
    if (const auto* f = fields.find("seconds")) config.retry_seconds = real(*f, 0, 1e6);
  }

  void price(ModelConfig& config, const YAML::Node& node) {
    const YamlFields fields =
        yaml_.fields(node, "price", {"input", "cached", "output"}, {"input", "output"});
    ModelPrice price;
    price.input = real(*fields.find("input"), 0, 1e9);
    price.output = real(*fields.find("output"), 0, 1e9);
    if (const auto* f = fields.find("cached")) price.cached = real(*f, 0, 1e9);
    config.price = price;
  }

  std::string text(const YamlEntry& entry) {
    const Sourced value = yaml_.text(entry.value, entry.key);
    if (value.text.empty()) fail_parse(value.at, entry.key + ": is empty");
    if (value.text.find_first_of("\r\n") != std::string::npos) {
      fail_parse(value.at, entry.key + ": has several lines");
    }
    return value.text;
  }
  static bool is_name_character(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' ||
           c == '_' || c == '-';
  }
  std::string name(const YamlEntry& entry) {
    const std::string value = text(entry);
    if (value.size() > 100 || value.front() == '.' || value.front() == '-' ||
        !std::all_of(value.begin(), value.end(), is_name_character)) {
      fail_parse(yaml_.at(entry.value),
                 "name: " + quoted(value) +
                     " cannot name a folder; use letters, digits, '.', '_' and '-', 100 at most");
    }
    return value;
  }
  /// "Qwen2.5-Coder-7B" of "Qwen/Qwen2.5-Coder-7B".
  static std::string name_from(const std::string& model) {
    std::string name = model.substr(model.rfind('/') + 1).substr(0, 100);
    for (char& c : name) {
      if (!is_name_character(c)) c = '-';
    }
    name.erase(0, std::min(name.find_first_not_of(".-"), name.size()));
    return name.empty() ? "model" : name;
  }
  std::string variable(const YamlEntry& entry) {
    const std::string value = text(entry);
    const bool is_name = std::all_of(value.begin(), value.end(), [](char c) {
      return is_name_character(c) && c != '.' && c != '-';
    });
    // It may be the key itself, so the message does not show it.
    if (!is_name) {
      fail_parse(yaml_.at(entry.value),
                 "key_env: this is the name of an environment variable that holds the key, "
                 "letters, digits and '_' only; never the key itself");
    }
    return value;
  }
  template <class E>
  E choice(const YamlEntry& entry, E last) {
    const std::string value = text(entry);
    if (const auto known = value_named(value, last)) return *known;
    fail_parse(yaml_.at(entry.value),
               entry.key + ": is " + quoted(value) + ", not one of " + joined(names_to(last)));
  }
  int count(const YamlEntry& entry, int64_t least, int64_t most) {
    const int64_t value = yaml_.integer(entry.value, entry.key);
    if (value < least || value > most) {
      fail_parse(yaml_.at(entry.value), entry.key + ": is " + std::to_string(value) + ", not " +
                                            std::to_string(least) + " to " + std::to_string(most));
    }
    return static_cast<int>(value);
  }
  double real(const YamlEntry& entry, double least, double most) {
    const Sourced value = yaml_.text(entry.value, entry.key);
    double number = 0;
    if (!read_number(value.text, number) || !(number >= least && number <= most)) {
      fail_parse(value.at, entry.key + ": is " + quoted(value.text) + ", not a number from " +
                               number_text(least) + " to " + number_text(most));
    }
    return number;
  }

  /// A value as JSON: plain scalars by their form, quoted ones as strings.
  Json json_of(const YAML::Node& node) {
    if (node.IsMap()) {
      Json json = Json::object();
      for (const YamlEntry& entry : yaml_.entries(node, "extra")) {
        json[entry.key] = json_of(entry.value);
      }
      return json;
    }
    if (node.IsSequence()) {
      Json json = Json::array();
      for (const YAML::Node& item : node) json.push_back(json_of(item));
      return json;
    }
    if (node.IsNull()) return nullptr;
    const std::string& text = node.Scalar();
    if (node.Tag() != "!") {
      if (text == "true" || text == "false") return text == "true";
      int64_t integer = 0;
      if (read_number(text, integer)) return integer;
      double number = 0;
      if (read_number(text, number) && std::isfinite(number)) return number;
    }
    return text;
  }

  YamlReader yaml_;
};

}  // namespace

std::vector<ModelConfig> parse_models(const std::string& text, const std::string& file) {
  return Reader(text, file).models();
}

std::vector<ModelConfig> read_models(const std::string& path) {
  return parse_models(read_file(path), path);
}

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
