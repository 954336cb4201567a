#include "harness/evaluate/models/failure.h"

#include <algorithm>
#include <initializer_list>
#include <string_view>

#include "libkbench/base/text.h"

namespace kbench::models {
namespace {

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
                       "insufficient_balance"})) {
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

}  // namespace kbench::models
