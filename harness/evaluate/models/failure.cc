#include "harness/evaluate/models/failure.h"

#include <algorithm>
#include <cctype>
#include <initializer_list>
#include <string_view>

namespace kbench::models {
namespace {

std::string lower(std::string text) {
  for (char& c : text) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return text;
}

bool holds_any(const std::string& text, std::initializer_list<std::string_view> phrases) {
  return std::any_of(phrases.begin(), phrases.end(),
                     [&](std::string_view phrase) { return text.find(phrase) != text.npos; });
}

bool is_one_of(int status, std::initializer_list<int> known) {
  return std::find(known.begin(), known.end(), status) != known.end();
}

/// Whether a text holds the name as a word of its own.
bool names(const std::string& text, const std::string& name) {
  const auto is_word = [&](size_t at) {
    return at < text.size() &&
           (std::isalnum(static_cast<unsigned char>(text[at])) != 0 || text[at] == '_');
  };
  for (size_t at = 0; (at = text.find(name, at)) != text.npos; ++at) {
    if ((at == 0 || !is_word(at - 1)) && !is_word(at + name.size())) return true;
  }
  return false;
}

/// What is said of a parameter that a model does not take, or not with this value. (That a value is
/// too large, say, is another matter: the request is wrong.)
bool refuses(const std::string& words) {
  return holds_any(
      words, {"unsupported", "not support", "n't support", "unrecognized", "unknown", "unexpected",
              "extra_forbidden", "extra field", "extra input", "not permitted", "not allowed",
              "forbidden", "deprecated", "no longer", "additional properties"});
}

}  // namespace

Failure understood(const ServerError& error, const std::vector<std::string>& sent) {
  const std::string code = lower(error.code), type = lower(error.type);
  const std::string message = lower(error.message);
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
                       "insufficient_balance"})) {
    return {Remedy::model};
  }
  if (is_one_of(error.status, {400, 422})) {
    for (const std::string& name : sent) {
      if ((error.parameter == name || names(message, name)) && refuses(kind + " " + message)) {
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

}  // namespace kbench::models
