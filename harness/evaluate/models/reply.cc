#include "harness/evaluate/models/reply.h"

#include <curl/curl.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdint>
#include <initializer_list>
#include <nlohmann/json.hpp>
#include <string_view>

#include "kbench/error.h"
#include "libkbench/base/json_text.h"
#include "libkbench/base/text.h"

namespace kbench::models {
namespace {

using PlainJson = nlohmann::json;

const PlainJson& member(const PlainJson& json, const char* name) {
  static const PlainJson null;
  if (!json.is_object()) return null;
  const auto found = json.find(name);
  return found == json.end() ? null : *found;
}

std::string text_of(const PlainJson& json) {
  return json.is_string() ? json.get<std::string>() : "";
}

/// A code that is a string or a number.
std::string code_of(const PlainJson& json) {
  return json.is_number_integer() ? std::to_string(json.get<int64_t>()) : text_of(json);
}

void set_count(std::optional<int64_t>& count, const PlainJson& json) {
  if (json.is_number_unsigned() && json.get<uint64_t>() <= uint64_t{INT64_MAX}) {
    count = json.get<int64_t>();
  }
}

void take_usage(Usage& usage, const PlainJson& json) {
  set_count(usage.input, member(json, "prompt_tokens"));
  set_count(usage.output, member(json, "completion_tokens"));
  set_count(usage.cached, member(json, "prompt_cache_hit_tokens"));
  set_count(usage.cached, member(member(json, "prompt_tokens_details"), "cached_tokens"));
  set_count(usage.reasoning, member(member(json, "completion_tokens_details"), "reasoning_tokens"));
}

/// A message's content: a string, or a list of parts, some of which may be reasoning.
void take_content(Choice& choice, const PlainJson& content) {
  choice.text += text_of(content);
  if (!content.is_array()) return;
  for (const PlainJson& part : content) {
    const std::string type = text_of(member(part, "type"));
    if (type == "text") choice.text += text_of(member(part, "text"));
    if (type != "thinking") continue;
    const PlainJson& thoughts = member(part, "thinking");
    choice.reasoning += text_of(thoughts);
    for (const PlainJson& thought : thoughts.is_array() ? thoughts : PlainJson::array()) {
      choice.reasoning += text_of(member(thought, "text"));
    }
  }
}

std::string beginning(std::string_view body) {
  return body.empty() ? "an empty body" : "'" + shown(body.substr(0, 120), 120) + "'";
}

bool holds_any(const std::string& text, std::initializer_list<std::string_view> phrases) {
  return std::any_of(phrases.begin(), phrases.end(),
                     [&](std::string_view phrase) { return text.find(phrase) != text.npos; });
}

bool is_one_of(int status, std::initializer_list<int> known) {
  return std::find(known.begin(), known.end(), status) != known.end();
}

/// Whether a message says that a parameter, or its value, is not supported. (A value out of range
/// is another error: the request is wrong.)
bool refuses(const std::string& words) {
  return holds_any(
      words, {"unsupported", "not support", "n't support", "unrecognized", "unknown", "unexpected",
              "extra_forbidden", "extra field", "extra input", "not permitted", "not allowed",
              "forbidden", "deprecated", "no longer", "additional properties"});
}

}  // namespace

bool ServerEvents::feed(std::string_view bytes) {
  while (!bytes.empty()) {
    if (after_return_ && bytes.front() == '\n') {
      bytes.remove_prefix(1);
      after_return_ = false;
      continue;
    }
    after_return_ = false;
    size_t end = 0;
    while (end < bytes.size() && bytes[end] != '\n' && bytes[end] != '\r') ++end;
    line_ += bytes.substr(0, end);
    if (line_.size() > most_ || data_.size() > most_) return false;
    if (end == bytes.size()) return true;
    after_return_ = bytes[end] == '\r';
    bytes.remove_prefix(end + 1);
    end_line();
  }
  return true;
}

void ServerEvents::finish() {
  if (!line_.empty()) end_line();
  end_line();
}

void ServerEvents::end_line() {
  std::string_view line = line_;
  if (first_line_ && line.starts_with("\xef\xbb\xbf")) line.remove_prefix(3);
  first_line_ = false;
  if (line.empty()) {
    if (has_data_) event_(data_);
    data_.clear();
    has_data_ = false;
  } else if (line.starts_with("data:") || line == "data") {
    line.remove_prefix(line == "data" ? 4 : 5);
    if (line.starts_with(' ')) line.remove_prefix(1);
    if (has_data_) data_ += '\n';
    data_ += line;
    has_data_ = true;
  }
  line_.clear();
}

bool Reply::feed(std::string_view bytes) {
  if (form_ == Form::unknown && (status_ < 200 || status_ > 299)) form_ = Form::error;
  if (form_ == Form::error) {
    body_ += bytes.substr(0, kErrorBytes - std::min(kErrorBytes, body_.size()));
    return body_.size() < kErrorBytes;
  }
  if (form_ == Form::unknown) {
    // Some servers answer a request for a stream in one piece.
    body_ += bytes;
    const size_t first = body_.find_first_not_of(" \t\r\n");
    if (first == body_.npos) return body_.size() <= kReplyBytes || stop_too_large();
    form_ = body_[first] == '{' ? Form::document : Form::stream;
    if (form_ == Form::document) return body_.size() <= kReplyBytes || stop_too_large();
    const std::string beginning = body_;
    body_.resize(std::min<size_t>(body_.size(), 120));  // for the message, if it is no stream
    return feed(beginning);
  }
  if (form_ == Form::document) {
    body_ += bytes;
    return body_.size() <= kReplyBytes || stop_too_large();
  }
  stream_bytes_ += bytes.size();
  if (!events_.feed(bytes) || stream_bytes_ > kStreamBytes || answer_bytes_ > kReplyBytes) {
    return stop_too_large();
  }
  return !done_ && !error;
}

bool Reply::stop_too_large() {
  too_large = true;
  broken = "the reply is larger than " + std::to_string(kReplyBytes >> 20) + " MiB";
  body_.clear();
  return false;
}

void Reply::event(std::string_view data) {
  if (done_ || error || !broken.empty()) return;
  if (data == "[DONE]") {
    done_ = true;
    return;
  }
  const PlainJson json = PlainJson::parse(data, nullptr, /*allow_exceptions=*/false);
  if (!json.is_object()) {
    broken = "an event of the stream is not JSON: " + beginning(data);
    return;
  }
  if (!member(json, "error").is_null()) {
    error = read_error(0, data);
    return;
  }
  take(json, "delta");
}

void Reply::take(const PlainJson& json, const char* part) {
  if (const std::string name = text_of(member(json, "model")); !name.empty()) served_by = name;
  if (const std::string print = text_of(member(json, "system_fingerprint")); !print.empty()) {
    fingerprint = print;
  }
  if (const PlainJson& counts = member(json, "usage"); counts.is_object())
    take_usage(usage, counts);
  const PlainJson& list = member(json, "choices");
  for (const PlainJson& choice : list.is_array() ? list : PlainJson::array())
    take_choice(choice, part);
}

void Reply::take_choice(const PlainJson& json, const char* part) {
  const PlainJson& number = member(json, "index");
  if (number.is_number_unsigned() && number != 0) return;  // more than is asked for
  Choice& choice = this->choice ? *this->choice : this->choice.emplace();
  const size_t before = choice.text.size() + choice.reasoning.size();
  const PlainJson& message = member(json, part);
  take_content(choice, member(message, "content"));
  choice.text += text_of(member(json, "text"));  // plain completions
  const std::string thoughts = text_of(member(message, "reasoning_content"));
  choice.reasoning += thoughts.empty() ? text_of(member(message, "reasoning")) : thoughts;
  choice.refusal += text_of(member(message, "refusal"));
  if (const std::string finish = text_of(member(json, "finish_reason")); !finish.empty()) {
    choice.finish = finish;
  }
  answer_bytes_ += choice.text.size() + choice.reasoning.size() - before;
}

void Reply::finish(bool cut) {
  if (error || too_large) return;
  if (form_ == Form::error || status_ < 200 || status_ > 299) {
    error = read_error(status_, body_);
  } else if (form_ == Form::document) {
    finish_document();
  } else if (form_ == Form::unknown) {
    broken = "the reply is empty";
  } else {
    events_.finish();
    if (error || !broken.empty()) return;
    if (!choice) {
      broken = "the reply holds no answer: " + beginning(body_);
    } else if (choice->finish.empty()) {
      broken = cut ? "the stream broke off" : "the stream ended without a finish_reason";
    }
  }
}

void Reply::finish_document() {
  const PlainJson json = PlainJson::parse(body_, nullptr, /*allow_exceptions=*/false);
  if (json.is_discarded()) {
    broken = "the reply is not JSON: " + beginning(body_);
  } else if (!member(json, "error").is_null()) {
    error = read_error(0, body_);
  } else {
    take(json, "message");
    if (!choice) broken = "the reply holds no answer: " + beginning(body_);
  }
  body_.clear();
}

ServerError read_error(int status, std::string_view body) {
  ServerError error;
  error.status = status;
  const PlainJson json = PlainJson::parse(body, nullptr, /*allow_exceptions=*/false);
  const PlainJson& inside = member(json, "error");
  const PlainJson& said = inside.is_object() ? inside : json;
  error.code = code_of(member(said, "code"));
  error.type = text_of(member(said, "type"));
  error.parameter = text_of(member(said, "param"));
  error.message = inside.is_string() ? text_of(inside) : text_of(member(said, "message"));
  if (error.message.empty()) {
    // FastAPI: a text, or a list of {"loc": ["body", "max_tokens"], "msg": ...}.
    const PlainJson& detail = member(json, "detail");
    error.message = detail.is_string() ? text_of(detail)
                    : detail.is_null() ? ""
                                       : json_text(detail);
  }
  if (error.message.empty()) error.message = std::string(body.substr(0, 300));
  if (status == 0) {
    const bool is_status =
        error.code.size() == 3 && std::all_of(error.code.begin(), error.code.end(), [](char c) {
          return std::isdigit(static_cast<unsigned char>(c)) != 0;
        });
    error.status = is_status ? std::stoi(error.code) : 500;
  }
  return error;
}

Failure understood(const ServerError& error, const std::vector<std::string>& sent) {
  const std::string code = lowered(error.code), type = lowered(error.type);
  const std::string message = lowered(error.message);
  const std::string kind = code + " " + type;
  const bool wrong_request = is_one_of(error.status, {400, 413, 422});

  if (holds_any(kind, {"context_length_exceeded", "exceed_context_size"}) ||
      (wrong_request &&
       holds_any(message, {"maximum context length", "context length", "context window",
                           "context size", "prompt is too long", "maximum prompt length"}))) {
    return {Remedy::too_long};
  }
  if (holds_any(kind, {"content_filter", "content_policy", "responsibleaipolicyviolation"})) {
    return {Remedy::filtered};
  }
  if (holds_any(kind, {"insufficient_quota", "billing_hard_limit_reached", "billing_not_active",
                       "insufficient_balance", "invalid_api_key", "model_not_found"})) {
    return {Remedy::model};
  }
  if (is_one_of(error.status, {400, 422})) {
    for (const std::string& name : sent) {
      if ((error.parameter == name || find_word(message, name) != message.npos) &&
          refuses(kind + " " + message)) {
        return {Remedy::parameter, name};
      }
    }
  }
  if (is_one_of(error.status, {401, 402, 403, 404}) ||
      (error.status >= 300 && error.status < 400)) {
    return {Remedy::model};
  }
  if (is_one_of(error.status, {408, 409, 425, 429, 500, 502, 503, 504, 529})) {
    return {Remedy::retry, "", is_one_of(error.status, {429, 503, 529})};
  }
  return {Remedy::request};
}

std::optional<double> requested_wait(const Headers& headers, int64_t now) {
  static constexpr double kMost = 1e9;
  const auto seconds = [](const std::string& text) -> std::optional<double> {
    double value = 0;
    if (!read_number(text, value) || !(value >= 0)) return std::nullopt;
    return std::min(value, kMost);
  };
  if (const auto ms = headers.find("retry-after-ms"); ms != headers.end()) {
    if (const auto wait = seconds(ms->second)) return *wait / 1000;
  }
  const auto after = headers.find("retry-after");
  if (after == headers.end()) return std::nullopt;
  if (const auto wait = seconds(after->second)) return wait;
  const time_t date = curl_getdate(after->second.c_str(), nullptr);
  if (date == -1) return std::nullopt;
  return std::clamp(static_cast<double>(date - now), 0.0, kMost);
}

double backoff(int next, double uniform) {
  return uniform * std::min(60.0, std::ldexp(1.0, std::clamp(next - 2, 0, 30)));
}

}  // namespace kbench::models
