#include "kbench/exchange.h"

#include <algorithm>
#include <charconv>
#include <nlohmann/json.hpp>

#include "libkbench/base/enum_names.h"
#include "libkbench/base/files.h"
#include "libkbench/base/hash.h"
#include "libkbench/scoring/attempt_json.h"
#include "libkbench/scoring/json_fields.h"

namespace kbench {
namespace {

using Json = nlohmann::ordered_json;

std::string text_or_empty(const JsonField& json, const char* name) {
  return json.has(name) ? json[name].text() : "";
}

constexpr int kMostLevels = 100;  ///< nesting of Answer::sent, which is copied recursively

bool is_deeper(const nlohmann::json& json, int levels) {
  if (!json.is_structured()) return false;
  if (levels == 0) return true;
  return std::ranges::any_of(
      json, [&](const nlohmann::json& inner) { return is_deeper(inner, levels - 1); });
}

/// The number after `field`. The field includes its quotes, so it cannot occur inside a JSON
/// string.
std::optional<int> number_after(std::string_view line, std::string_view field) {
  const size_t at = line.find(field);
  if (at == line.npos) return std::nullopt;
  const char* const begin = line.data() + at + field.size();
  int value = 0;
  const auto [end, error] = std::from_chars(begin, line.data() + line.size(), value);
  if (error != std::errc() || value < 1) return std::nullopt;
  return value;
}

Role role_from(const std::string& name) {
  for (const Role role : {Role::system, Role::user, Role::assistant}) {
    if (name == name_of(role)) return role;
  }
  throw Error(ErrorCode::kInvalidArgument, "'" + name + "' is no role");
}

}  // namespace

std::string to_json(const Exchange& exchange) {
  const Answer& answer = exchange.answer;
  Json json = {{"model", exchange.model}};
  json["task"] = to_string(exchange.task);
  json["sample"] = exchange.sample;
  json["attempt"] = exchange.attempt;
  json["prompt"] = exchange.prompt_hash;
  json["seed"] = exchange.seed;
  if (!answer.sent.empty()) {
    const auto sent = nlohmann::json::parse(answer.sent, nullptr, /*allow_exceptions=*/false);
    json["sent"] = sent.is_object() ? Json(sent) : Json(answer.sent);
  }
  json["answer"] = answer.text;
  if (!answer.reasoning.empty()) json["reasoning"] = answer.reasoning;
  json["finish"] = answer.finish;
  json["usage"] = json_of<Json>(answer.usage);
  if (!answer.served_by.empty()) json["served_by"] = answer.served_by;
  if (!answer.fingerprint.empty()) json["fingerprint"] = answer.fingerprint;
  json["seconds"] = answer.seconds;
  json["tries"] = answer.tries;
  return json_text(json);
}

Exchange exchange_from_json(const std::string& line) {
  const nlohmann::json parsed = parse_json(line, "");
  const std::string file;
  const JsonField json(parsed, file, "");
  Exchange exchange;
  Answer& answer = exchange.answer;
  exchange.model = json["model"].text();
  exchange.task = json["task"].as(parse_task_id);
  exchange.sample = json["sample"].small_integer();
  exchange.attempt = json["attempt"].small_integer();
  exchange.prompt_hash = json["prompt"].text();
  if (json.has("seed")) exchange.seed = json["seed"].seed();
  if (json.has("sent")) {
    const nlohmann::json& sent = parsed["sent"];
    if (is_deeper(sent, kMostLevels)) json["sent"].fail("is nested too deeply");
    answer.sent = sent.is_string() ? sent.get<std::string>() : sent.dump();
  }
  answer.text = json["answer"].text();
  answer.reasoning = text_or_empty(json, "reasoning");
  answer.finish = json["finish"].text();
  if (json.has("usage") && json["usage"].is_object()) {
    read_value(json["usage"], answer.usage, {.all_optional = true});
  }
  answer.served_by = text_or_empty(json, "served_by");
  answer.fingerprint = text_or_empty(json, "fingerprint");
  if (json.has("seconds")) answer.seconds = json["seconds"].real();
  if (json.has("tries")) answer.tries = json["tries"].small_integer();
  return exchange;
}

std::string prompt_hash(const std::vector<Message>& messages) {
  Sha256 hash;
  for (const Message& message : messages) hash.add(name_of(message.role)).add(message.text);
  return hash.hex();
}

std::string messages_json(const std::vector<Message>& messages) {
  Json json = Json::array();
  for (const Message& message : messages) {
    json.push_back({{"role", std::string(name_of(message.role))}, {"content", message.text}});
  }
  return json_text(json);
}

std::vector<Message> messages_from_json(const std::string& text) {
  const nlohmann::json parsed = parse_json(text, "");
  const std::string file;
  std::vector<Message> messages;
  for (const JsonField& json : JsonField(parsed, file, "").items()) {
    messages.push_back({json["role"].as(role_from), json["content"].text()});
  }
  return messages;
}

std::string purpose_of(TaskId task, int sample, int attempt) {
  return to_string(task) + " s" + std::to_string(sample) + " a" + std::to_string(attempt);
}

uint64_t request_seed(uint64_t run_seed, std::string_view model, TaskId task, int sample,
                      int attempt) {
  const std::string digest = Sha256()
                                 .add(std::to_string(run_seed))
                                 .add(model)
                                 .add(purpose_of(task, sample, attempt))
                                 .hex();
  return std::stoull(digest.substr(0, 8), nullptr, 16) & 0x7fffffff;
}

std::pair<int, int> ids_of(std::string_view line) {
  const std::string_view head = line.substr(0, 1000);
  const std::optional<int> sample = number_after(head, ",\"sample\":");
  const std::optional<int> attempt = number_after(head, ",\"attempt\":");
  if (sample && attempt) return {*sample, *attempt};
  const Exchange exchange = exchange_from_json(std::string(line));
  return {exchange.sample, exchange.attempt};
}

std::vector<Exchange> read_transcript(const std::string& path) {
  const std::string text = read_file(path);
  std::vector<Exchange> exchanges;
  int number = 0;
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = text.find('\n', begin);
    if (end == text.npos) break;  // torn
    ++number;
    try {
      exchanges.push_back(exchange_from_json(text.substr(begin, end - begin)));
    } catch (const Error& e) {
      throw Error(ErrorCode::kParse, {path, number, 0}, e.message());
    }
    begin = end + 1;
  }
  return exchanges;
}

std::string_view name_of(Role role) {
  return name_in<Role::assistant>({"system", "user", "assistant"}, role);
}

}  // namespace kbench
